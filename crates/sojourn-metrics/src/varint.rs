//! Little-endian base-128 numbers: seven bits a byte, the high bit says that more follow.

/// Appends a number.
#[inline]
pub fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a wide number.
pub fn write_wide(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number from the front of `bytes`; `None` when they end early or it is above 64 bits.
#[inline]
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    // Nearly every number in a run file is small.
    if let [byte @ 0..0x80, rest @ ..] = bytes {
        *bytes = rest;
        return Some(u64::from(*byte));
    }
    u64::try_from(read_wide(bytes)?).ok()
}

/// Takes a wide number from the front of `bytes`; `None` when they end early or it is above 128
/// bits.
pub fn read_wide(bytes: &mut &[u8]) -> Option<u128> {
    let mut value = 0u128;
    let mut shift = 0;
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u128::from(byte & 0x7F);
        // The last byte of 128 bits, the nineteenth, has two of them.
        if shift >= 126 && (shift > 126 || part > 3) {
            return None;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_survive(value: u128, narrow: u64, shift in 0u32..128) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            write_wide(&mut bytes, value);
            write(&mut bytes, narrow);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(read_wide(&mut rest), Some(value));
            prop_assert_eq!(read(&mut rest), Some(narrow));
            prop_assert!(rest.is_empty());
            prop_assert_eq!(read(&mut &bytes[..0]), None);
        }

        #[test]
        fn garbage_is_refused_not_wrapped(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut rest = bytes.as_slice();
            let value = read_wide(&mut rest);
            let mut again = Vec::new();
            if let Some(value) = value {
                write_wide(&mut again, value);
                // Overlong forms are read, so the canonical one may be shorter, never longer.
                prop_assert!(again.len() <= bytes.len() - rest.len());
            }
        }
    }

    #[test]
    fn more_than_the_width_is_refused() {
        assert_eq!(read_wide(&mut [0xFF; 19].as_slice()), None);
        let mut above = Vec::new();
        write_wide(&mut above, u128::from(u64::MAX) + 1);
        assert_eq!(read(&mut above.as_slice()), None);
    }
}
