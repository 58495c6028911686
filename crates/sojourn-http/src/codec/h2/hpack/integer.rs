//! Integers with a prefix, RFC 7541 §5.1.

use super::Broken;

/// Nothing in a block needs more: blocks and tables are far smaller.
const VALUE_MAX: usize = 1 << 24;

/// Takes an integer off the input, whose first byte gives it the lowest `prefix_bits`.
pub(super) fn read(input: &mut &[u8], prefix_bits: u8) -> Result<usize, Broken> {
    let cut = Broken("a header block that ends inside a field");
    let (first, mut rest) = input.split_first().ok_or(cut)?;
    let prefix_max = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(*first) & prefix_max;
    if value == prefix_max {
        let mut shift = 0;
        loop {
            let (byte, after) = rest.split_first().ok_or(cut)?;
            rest = after;
            // The shift is bounded too: zeros may be padded without end.
            if shift > 21 {
                return Err(Broken("a header block with an absurd number in it"));
            }
            value += usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        if value > VALUE_MAX {
            return Err(Broken("a header block with an absurd number in it"));
        }
    }
    *input = rest;
    Ok(value)
}

/// Appends an integer; `first` has the bits above the prefix.
pub(super) fn write(value: usize, prefix_bits: u8, first: u8, out: &mut Vec<u8>) {
    let prefix_max = (1_usize << prefix_bits) - 1;
    if value < prefix_max {
        out.push(first | value as u8);
        return;
    }
    out.push(first | prefix_max as u8);
    let mut rest = value - prefix_max;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn examples_of_the_rfc() {
        let check = |value: usize, prefix_bits: u8, bytes: &[u8]| {
            let mut out = Vec::new();
            write(value, prefix_bits, 0, &mut out);
            assert_eq!(out, bytes);
            let mut input = bytes;
            assert_eq!(read(&mut input, prefix_bits), Ok(value));
            assert!(input.is_empty());
        };
        check(10, 5, &[0b01010]);
        check(1337, 5, &[31, 154, 10]);
        check(42, 8, &[42]);
    }

    #[test]
    fn absurd_and_cut_off_numbers_are_refused() {
        for bytes in [
            &[][..],
            &[0xff],
            &[0xff, 0x80],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
            &[0xff, 0xff, 0xff, 0xff, 0x0f],
        ] {
            assert!(read(&mut &*bytes, 7).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in 0..VALUE_MAX, prefix_bits in 1_u8..=8) {
            let mut out = Vec::new();
            write(value, prefix_bits, 0, &mut out);
            out.push(7);
            let mut input = out.as_slice();
            prop_assert_eq!(read(&mut input, prefix_bits), Ok(value));
            prop_assert_eq!(input, &[7]);
        }
    }
}
