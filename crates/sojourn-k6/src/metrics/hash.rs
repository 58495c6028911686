//! The hash of the interning tables: quick on a few hundred contiguous bytes.

/// Folds sixteen bytes at a time by two wide multiplications that need not wait for each other.
/// Collisions cost a comparison, nothing more, so it need not withstand an adversary.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    const OTHER: u64 = 0xD1B5_4A32_D192_ED03;
    let mut states = [bytes.len() as u64 ^ 0x2545_F491_4F6C_DD1D, OTHER];
    let (chunks, rest) = bytes.as_chunks::<16>();
    for chunk in chunks {
        states = folded(states, chunk, [ODD, OTHER]);
    }
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let [one, two] = folded(states, &last, [ODD, OTHER]);
    fold(one ^ two.rotate_left(32), ODD)
}

fn folded(states: [u64; 2], chunk: &[u8; 16], odd: [u64; 2]) -> [u64; 2] {
    let chunk = u128::from_le_bytes(*chunk);
    [fold(states[0] ^ chunk as u64, odd[0]), fold(states[1] ^ (chunk >> 64) as u64, odd[1])]
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn similar_keys_fall_apart() {
        let hashes: HashSet<u64> =
            (0..100_000_u32).map(|k| hash(format!("status=200&id={k}").as_bytes())).collect();
        assert_eq!(hashes.len(), 100_000);
        // What the tables index by.
        let low: HashSet<u64> = hashes.iter().map(|hash| hash % 1024).collect();
        let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert_eq!((low.len(), high.len()), (1024, 128));
        assert_ne!(hash(b"a"), hash(b"a\0"));
    }
}
