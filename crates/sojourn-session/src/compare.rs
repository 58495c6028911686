//! What comparisons of conditions, checks and assertions mean.
//!
//! Two sides that both are decimals (`-12`, `4.50`, `1e3`) are compared as numbers, exactly,
//! however many digits they have. Otherwise they are compared as text, byte by byte.

use std::cmp::Ordering;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub enum Comparison {
    /// `=`
    #[serde(rename = "=")]
    Equal,
    /// `!=`
    #[serde(rename = "!=")]
    Unequal,
    /// `>`
    #[serde(rename = ">")]
    Above,
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `<`
    #[serde(rename = "<")]
    Below,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
}

impl Comparison {
    /// Whether it holds between two texts.
    pub fn holds(self, left: &str, right: &str) -> bool {
        let order = match (Decimal::parse(left), Decimal::parse(right)) {
            (Some(left), Some(right)) => left.order(&right),
            _ => left.cmp(right),
        };
        self.accepts(order)
    }

    /// Whether it holds between two numbers; never if one of them is none.
    pub fn holds_numbers(self, left: f64, right: f64) -> bool {
        left.partial_cmp(&right).is_some_and(|order| self.accepts(order))
    }

    fn accepts(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }

    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// The comparison that is written so.
    pub fn of_sign(sign: &str) -> Option<Self> {
        let all =
            [Self::Equal, Self::Unequal, Self::Above, Self::AtLeast, Self::Below, Self::AtMost];
        all.into_iter().find(|comparison| comparison.sign() == sign)
    }
}

/// A decimal: 0.d1d2d3… · 10^exponent, with neither leading nor trailing zeros in its digits.
struct Decimal<'a> {
    is_negative: bool,
    /// Digits before and behind the point.
    digits: (&'a [u8], &'a [u8]),
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// `-12`, `+.5`, `4.50`, `1e-3`; nothing else.
    fn parse(text: &'a str) -> Option<Self> {
        let (is_negative, text) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            all => (false, all),
        };
        let mantissa_end = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, power) = match mantissa_end {
            Some(at) => (&text[..at], power(&text[at + 1..])?),
            None => (text, 0),
        };
        let point = mantissa.iter().position(|&byte| byte == b'.');
        let (whole, fraction) = match point {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        let is_digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
        let has_digits = !whole.is_empty() || !fraction.is_empty();
        (has_digits && is_digits(whole) && is_digits(fraction))
            .then(|| Self::normal(is_negative, whole, fraction, power))
    }

    fn normal(is_negative: bool, whole: &'a [u8], fraction: &'a [u8], power: i64) -> Self {
        let zeros = |bytes: &[u8]| bytes.iter().take_while(|&&byte| byte == b'0').count();
        let mut whole = &whole[zeros(whole)..];
        let trailing = fraction.iter().rev().take_while(|&&byte| byte == b'0').count();
        let mut fraction = &fraction[..fraction.len() - trailing];
        // Lengths of text: far below what would not fit.
        let mut exponent = power.saturating_add(whole.len() as i64);
        if whole.is_empty() {
            let leading = zeros(fraction);
            fraction = &fraction[leading..];
            exponent = exponent.saturating_sub(leading as i64);
        }
        if fraction.is_empty() {
            let trailing = whole.iter().rev().take_while(|&&byte| byte == b'0').count();
            whole = &whole[..whole.len() - trailing];
        }
        Self { is_negative, digits: (whole, fraction), exponent }
    }

    fn is_zero(&self) -> bool {
        self.digits.0.is_empty() && self.digits.1.is_empty()
    }

    fn order(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign.is_ne() || self.is_zero() {
            return by_sign;
        }
        let digits = |number: &Self| {
            let (whole, fraction) = number.digits;
            whole.iter().chain(fraction)
        };
        let size = self.exponent.cmp(&other.exponent);
        let size = size.then_with(|| digits(self).cmp(digits(other)));
        if self.is_negative { size.reverse() } else { size }
    }
}

/// The digits of an exponent, with a sign; beyond what fits, the largest there is.
fn power(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits
        .iter()
        .fold(0_i64, |size, digit| size.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    // Halved, so that lengths of digits can be added.
    let size = size.min(i64::MAX / 2);
    Some(if is_negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_numbers_and_the_rest_is_text() {
        use Comparison::{Above, AtLeast, AtMost, Below, Equal, Unequal};
        for (left, comparison, right) in [
            ("10", Above, "9"),
            ("1.0", Equal, "1"),
            ("-0", Equal, "0.00"),
            ("1e3", Equal, "1000"),
            ("-2", Below, "1"),
            ("-10", Below, "-9.5"),
            ("4555666777888999", Below, "4555666777889000"),
            ("99999999999999999999999999", Above, "99999999999999999999999998.9"),
            ("1e99999999999999999999", Above, "5"),
            ("a", Above, "A"),
            ("", Unequal, "0"),
            ("", Equal, ""),
            ("10", Below, "9x"),
            ("inf", AtLeast, "inf"),
            (" 1", AtMost, "1"),
            (".", Unequal, "0"),
            ("200", AtMost, "200"),
        ] {
            assert!(comparison.holds(left, right), "{left} {} {right}", comparison.sign());
        }
        assert!(!Equal.holds("1e", "1") && !Equal.holds("--1", "1"));
        assert!(!Unequal.holds_numbers(f64::NAN, 1.0));
        assert_eq!(Comparison::of_sign("<="), Some(AtMost));
        assert_eq!(Comparison::of_sign("=="), None);
    }

    /// A decimal of at most four places as a whole number of ten-thousandths.
    fn scaled(whole: i64, fraction: u16, places: usize) -> (String, i128) {
        let digits = format!("{fraction:04}");
        let shown = if whole < 0 { format!("-{}", -whole) } else { whole.to_string() };
        let kept = &digits[..places];
        let size = i128::from(whole.unsigned_abs()) * 10_000
            + format!("{kept:0<4}").parse::<i128>().unwrap();
        let value = if whole < 0 { -size } else { size };
        (if places == 0 { shown } else { format!("{shown}.{kept}") }, value)
    }

    proptest! {
        #[test]
        fn whole_ten_thousandths_agree(
            a in -2_000_i64..2_000, b in -2_000_i64..2_000,
            c in 0_u16..10_000, d in 0_u16..10_000, e in 0_usize..=4, f in 0_usize..=4,
        ) {
            let (left, left_value) = scaled(a, c, e);
            let (right, right_value) = scaled(b, d, f);
            for sign in ["=", "!=", ">", ">=", "<", "<="] {
                let comparison = Comparison::of_sign(sign).unwrap();
                let expected = comparison.accepts(left_value.cmp(&right_value));
                let holds = comparison.holds(&left, &right);
                prop_assert_eq!(holds, expected, "{} {} {}", left, sign, right);
            }
        }

        #[test]
        fn powers_of_ten_move_the_point(
            digits in 1_u64..1_000_000, power in -5_i32..5, other in 1_u64..1_000_000,
        ) {
            let ten = |power: i32| 10_u128.pow((power + 5) as u32);
            let scale = |number: u64, power| u128::from(number) * ten(power);
            let expected = scale(digits, power).cmp(&scale(other, 0));
            let left = format!("{digits}e{power}");
            prop_assert_eq!(Comparison::Above.holds(&left, &other.to_string()), expected.is_gt());
            prop_assert_eq!(Comparison::Equal.holds(&left, &other.to_string()), expected.is_eq());
        }
    }
}
