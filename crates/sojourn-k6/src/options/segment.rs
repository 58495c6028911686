//! Parts of a load, for several processes that share one: fractions from 0 to 1.

use std::fmt;

use serde_json::Value;

use crate::options::{error::Wrong, table::Kind};

/// A fraction from 0 to 1, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Above the line.
    pub numerator: u64,
    /// Below it; never zero.
    pub denominator: u64,
}

/// Largest denominator, so that products of several stay exact.
const DENOMINATOR_MAX: u64 = 1_000_000_000;

impl Fraction {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let divisor = greatest_common_divisor(numerator, denominator);
        let numerator = numerator.checked_div(divisor)?;
        let denominator = denominator.checked_div(divisor)?;
        let fits = denominator > 0 && denominator <= DENOMINATOR_MAX && numerator <= denominator;
        fits.then_some(Self { numerator, denominator })
    }

    /// `1/4`, `0.25` or `25%`.
    fn parse(text: &str) -> Option<Self> {
        if let Some(percent) = text.strip_suffix('%') {
            let (numerator, denominator) = decimal(percent)?;
            return Self::new(numerator, denominator.checked_mul(100)?);
        }
        if let Some((numerator, denominator)) = text.split_once('/') {
            return Self::new(numerator.parse().ok()?, denominator.parse().ok()?);
        }
        let (numerator, denominator) = decimal(text)?;
        Self::new(numerator, denominator)
    }

    /// As a float.
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Which of two is less, exactly.
    fn is_below(self, other: Self) -> bool {
        u128::from(self.numerator) * u128::from(other.denominator)
            < u128::from(other.numerator) * u128::from(self.denominator)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(formatter, "{}", self.numerator),
            denominator => write!(formatter, "{}/{denominator}", self.numerator),
        }
    }
}

/// Digits with at most one point, as a fraction.
fn decimal(text: &str) -> Option<(u64, u64)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if (whole.is_empty() && part.is_empty()) || part.len() > 9 {
        return None;
    }
    let digits = format!("{whole}{part}");
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let denominator = 10_u64.pow(u32::try_from(part.len()).ok()?);
    Some((digits.parse().ok()?, denominator))
}

pub(crate) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A part of the load: from a fraction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins.
    pub from: Fraction,
    /// Where it ends.
    pub to: Fraction,
}

impl Default for Segment {
    fn default() -> Self {
        Self { from: Fraction::ZERO, to: Fraction::ONE }
    }
}

impl Segment {
    /// The part with this number, from 0, of so many that are alike. `None` where there is no such
    /// part.
    pub fn nth(number: u32, of: u32) -> Option<Self> {
        let (number, of) = (u64::from(number), u64::from(of));
        Some(Self { from: Fraction::new(number, of)?, to: Fraction::new(number + 1, of)? })
    }

    /// How much of the whole it is.
    pub fn length(&self) -> f64 {
        self.to.value() - self.from.value()
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.from, self.to)
    }
}

impl Kind for Segment {
    const EMPTY_IS_NONE: bool = true;

    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Self::from_text(&String::from_json(value)?)
    }

    /// `0:1/4`, or only its end.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        let (from, to) = text.split_once(':').unwrap_or(("0", text));
        let segment = Fraction::parse(from).zip(Fraction::parse(to));
        let segment = segment.filter(|(from, to)| from.is_below(*to));
        segment.map(|(from, to)| Self { from, to }).ok_or_else(|| {
            Wrong::new(format!("`{text}` is no part of 0 to 1 such as 1/4:1/2 or 25%:50%"))
        })
    }

    fn to_json(&self) -> Value {
        Value::String(self.to_string())
    }
}

/// All parts of a load: `0,1/4,1/2,1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentSequence(pub Vec<Segment>);

impl SegmentSequence {
    /// So many parts that are alike.
    pub fn alike(count: u32) -> Self {
        Self((0..count).filter_map(|number| Segment::nth(number, count)).collect())
    }
}

impl Kind for SegmentSequence {
    const EMPTY_IS_NONE: bool = true;

    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Self::from_text(&String::from_json(value)?)
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let wrong = || Wrong::new(format!("`{text}` is no ascending list such as 0,1/4,1/2,1"));
        let points: Option<Vec<_>> = text.split(',').map(Fraction::parse).collect();
        let points = points.filter(|points| points.len() > 1).ok_or_else(wrong)?;
        if points.windows(2).any(|pair| !pair[0].is_below(pair[1])) {
            return Err(wrong());
        }
        let pairs = points.windows(2);
        Ok(Self(pairs.map(|pair| Segment { from: pair[0], to: pair[1] }).collect()))
    }

    fn to_json(&self) -> Value {
        let first = self.0.first().map(|segment| segment.from);
        let points = first.into_iter().chain(self.0.iter().map(|segment| segment.to));
        let texts: Vec<_> = points.map(|point| point.to_string()).collect();
        Value::String(texts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_alike_are_those_that_can_be_written() {
        for count in [1, 2, 3, 4, 7, 256] {
            let SegmentSequence(parts) = SegmentSequence::alike(count);
            assert_eq!(parts.len(), count as usize);
            for (number, part) in (0..).zip(&parts) {
                let text = format!("{number}/{count}:{}/{count}", number + 1);
                assert_eq!(Segment::from_text(&text).ok(), Some(*part), "{text}");
            }
        }
        assert_eq!((Segment::nth(3, 3), Segment::nth(0, 0)), (None, None));
    }
}
