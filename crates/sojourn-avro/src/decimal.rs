//! Decimals: two's complement bytes, most significant first, as exact text.

/// Longest number, bytes: writing one takes time by the square of its length.
const BYTES_MAX: usize = 256;

/// `-12.50` of the bytes of -1250 and scale 2.
pub(crate) fn text(bytes: &[u8], scale: u32) -> Result<String, &'static str> {
    if bytes.len() > BYTES_MAX {
        return Err("a decimal of more than 256 bytes");
    }
    let is_negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let mut magnitude = bytes.to_vec();
    if is_negative {
        let mut carry = true;
        for byte in magnitude.iter_mut().rev() {
            let (sum, over) = (!*byte).overflowing_add(u8::from(carry));
            (*byte, carry) = (sum, over);
        }
    }
    // Least significant digit first.
    let mut digits = Vec::new();
    while magnitude.iter().any(|byte| *byte != 0) {
        let mut rest = 0_u32;
        for byte in &mut magnitude {
            let dividend = rest * 256 + u32::from(*byte);
            // Both fit: the rest is below 10.
            (*byte, rest) = ((dividend / 10) as u8, dividend % 10);
        }
        digits.push(b'0' + rest as u8);
    }
    let scale = scale as usize;
    while digits.len() <= scale {
        digits.push(b'0');
    }
    let mut text = String::with_capacity(digits.len() + 2);
    if is_negative {
        text.push('-');
    }
    for (place, digit) in digits.iter().enumerate().rev() {
        text.push(char::from(*digit));
        if place == scale && scale > 0 {
            text.push('.');
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn numbers_are_exact() {
        for (bytes, scale, expected) in [
            (&[][..], 0, "0"),
            (&[0], 2, "0.00"),
            (&[0x04, 0xe2], 2, "12.50"),
            (&[0xfb, 0x1e], 2, "-12.50"),
            (&[0xff], 3, "-0.001"),
            (&[0x80], 0, "-128"),
            (&[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 0, "2361183241434822606847"),
        ] {
            assert_eq!(text(bytes, scale).unwrap(), expected);
        }
        assert!(text(&[1; 257], 0).is_err());
    }

    proptest::proptest! {
        #[test]
        fn as_an_integer_of_the_machine(number: i128) {
            proptest::prop_assert_eq!(text(&number.to_be_bytes(), 0).unwrap(), number.to_string());
        }
    }
}
