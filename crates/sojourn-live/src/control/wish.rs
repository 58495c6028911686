//! A rate that is asked for, as people write it.

/// A rate that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateWish {
    /// So many times the plan's: `2x`, `50%`; `0x` is a pause.
    Factor(f64),
    /// So many arrivals per second: `120/s`.
    PerS(f64),
}

impl RateWish {
    /// Reads `2x`, `1.5x`, `50%`, `120/s`. Errs, in words, with anything else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is no rate: write 2x, 1.5x, 50%, 120/s or 0x");
        let number = |digits: &str| match digits.trim_end().parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(wrong()),
        };
        if let Some(digits) = text.strip_suffix(['x', 'X', '×']) {
            number(digits).map(Self::Factor)
        } else if let Some(digits) = text.strip_suffix('%') {
            number(digits).map(|percent| Self::Factor(percent / 100.0))
        } else if let Some(digits) = text.strip_suffix("/s") {
            number(digits).map(Self::PerS)
        } else {
            // A bare number could be either.
            Err(wrong())
        }
    }
}

/// As [`RateWish::parse`] reads it.
impl std::fmt::Display for RateWish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Factor(factor) => write!(f, "{factor}x"),
            Self::PerS(per_s) => write!(f, "{per_s}/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_percentages_and_rates_are_read_and_all_else_refused() {
        let of = |text: &str| RateWish::parse(text);
        assert_eq!(of("2x"), Ok(RateWish::Factor(2.0)));
        assert_eq!(of(" 1.5 x "), Ok(RateWish::Factor(1.5)));
        assert_eq!(of("50%"), Ok(RateWish::Factor(0.5)));
        assert_eq!(of("0x"), Ok(RateWish::Factor(0.0)));
        assert_eq!(of("120/s"), Ok(RateWish::PerS(120.0)));
        for wrong in ["", "2", "x", "-1x", "nanx", "infx", "1e999x", "120/m", "2xx", "%"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        for wish in [RateWish::Factor(0.1), RateWish::PerS(12.5)] {
            assert_eq!(of(&wish.to_string()), Ok(wish));
        }
    }
}
