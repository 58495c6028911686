//! The hash of the interning tables: quick on a few hundred contiguous bytes.

/// Folds eight bytes at a time by a wide multiplication. Collisions cost a comparison, nothing
/// more, so it need not withstand an adversary.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = bytes.len() as u64 ^ 0x2545_F491_4F6C_DD1D;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        state = fold(state ^ u64::from_le_bytes(*chunk), ODD);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(fold(state ^ u64::from_le_bytes(last), ODD), ODD)
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}
