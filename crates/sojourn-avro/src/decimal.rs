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

/// The bytes of `-12.50` at scale 2: the fewest, or so many. Up to 38 digits.
pub(crate) fn bytes(text: &str, scale: u32, size: Option<usize>) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{text}` is no decimal of {scale} places and up to 38 digits");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let places = usize::try_from(scale).map_err(|_| wrong())?;
    // Zeros at the end say nothing.
    let fraction = fraction.trim_end_matches('0');
    let is_digits = fraction.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || fraction.len() > places || places > 38 || !is_digits {
        return Err(wrong());
    }
    let number: i128 = format!("{whole}{fraction:0<places$}").parse().map_err(|_| wrong())?;
    let all = number.to_be_bytes();
    let sign = if number < 0 { 0xff } else { 0 };
    let mut first = 0;
    // A byte that only repeats the sign of the next is not needed.
    while first < all.len() - 1 && all[first] == sign && (all[first + 1] ^ sign) < 0x80 {
        first += 1;
    }
    let fewest = &all[first..];
    match size {
        None => Ok(fewest.to_vec()),
        Some(size) if size < fewest.len() => Err(format!("{} does not fit {size} bytes", wrong())),
        Some(size) => {
            let mut padded = vec![sign; size - fewest.len()];
            padded.extend(fewest);
            Ok(padded)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, text};

    #[test]
    fn texts_become_their_bytes() {
        for (given, scale, size, expected) in [
            ("0", 2, None, &[0][..]),
            ("12.50", 2, None, &[0x04, 0xe2]),
            ("-12.5", 2, None, &[0xfb, 0x1e]),
            ("-128", 0, None, &[0x80]),
            ("128", 0, None, &[0, 0x80]),
            ("-1", 0, Some(4), &[0xff; 4]),
        ] {
            assert_eq!(bytes(given, scale, size).unwrap(), expected, "{given}");
        }
        for wrong in ["1.234", "x", "", "1.2.3", "1.-2", "1e2"] {
            assert!(bytes(wrong, 2, None).is_err(), "{wrong}");
        }
        assert!(bytes("256", 0, Some(1)).is_err());
    }

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
        fn there_and_back(number: i64, scale in 0_u32..9) {
            let shown = text(&number.to_be_bytes(), scale).unwrap();
            let written = bytes(&shown, scale, None).unwrap();
            proptest::prop_assert_eq!(text(&written, scale).unwrap(), shown);
        }

        #[test]
        fn as_an_integer_of_the_machine(number: i128) {
            proptest::prop_assert_eq!(text(&number.to_be_bytes(), 0).unwrap(), number.to_string());
        }
    }
}
