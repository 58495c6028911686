//! A threshold's text: `aggregation operator number`.

use std::fmt;

use crate::metrics::MetricKind;

/// A threshold's text, understood: `p(95) < 500`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expression {
    /// What of the metric is looked at.
    pub aggregation: Aggregation,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub bound: f64,
}

/// What of a metric a threshold looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggregation {
    /// The sum of a counter.
    Count,
    /// The share of a rate; a counter's sum per second.
    Rate,
    /// The last value of a gauge.
    Value,
    /// The mean of a trend.
    Avg,
    /// The least of a trend.
    Min,
    /// The greatest of a trend.
    Max,
    /// The middle of a trend.
    Med,
    /// A percentile of a trend, 0 to 100.
    Percentile(f64),
}

/// How a threshold compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==` or `===`
    Equal,
    /// `!=`
    Unequal,
}

/// What is wrong with a threshold's text, in k6's words and some more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// No operator between two operands.
    #[error(
        "failed parsing threshold expression \"{text}\"; reason: malformed threshold expression; \
         write an aggregation, one of <, <=, >, >=, ==, ===, != and a number, as in 'p(95)<500'"
    )]
    Shape {
        /// As it is written.
        text: String,
    },
    /// An unknown word before the operator.
    #[error(
        "failed parsing threshold expression's \"{text}\" left hand side; reason: failed parsing \
         method from expression; '{word}' is none of count, rate, value, avg, min, max, med and \
         p(N)"
    )]
    Aggregation {
        /// What stands there.
        word: String,
        /// As it is written.
        text: String,
    },
    /// Something else than a percentage between `p(` and `)`.
    #[error(
        "failed parsing threshold expression's \"{text}\" left hand side; reason: malformed \
         percentile value, provide a number between 0 and 100"
    )]
    Percentile {
        /// As it is written.
        text: String,
    },
    /// Something else than a number after the operator.
    #[error(
        "failed parsing threshold expression's \"{text}\" right hand side; reason: '{word}' is no \
         number"
    )]
    Bound {
        /// What stands there.
        word: String,
        /// As it is written.
        text: String,
    },
}

impl Expression {
    /// Reads a threshold's text.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let whole = || text.to_owned();
        let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!');
        let Some(begin) = text.find(is_operator) else {
            return Err(ExpressionError::Shape { text: whole() });
        };
        let length = text[begin..].find(|c| !is_operator(c)).unwrap_or(text.len() - begin);
        let (left, right) = (text[..begin].trim(), text[begin + length..].trim());
        if right.is_empty() {
            return Err(ExpressionError::Shape { text: whole() });
        }
        let operator = match &text[begin..begin + length] {
            "<" => Operator::Less,
            "<=" => Operator::AtMost,
            ">" => Operator::Greater,
            ">=" => Operator::AtLeast,
            "==" | "===" => Operator::Equal,
            "!=" => Operator::Unequal,
            _ => return Err(ExpressionError::Shape { text: whole() }),
        };
        let aggregation = Aggregation::parse(left, text)?;
        let Some(bound) = number(right) else {
            return Err(ExpressionError::Bound { word: right.to_owned(), text: whole() });
        };
        Ok(Self { aggregation, operator, bound })
    }

    /// Whether a value keeps to it.
    pub fn holds(&self, value: f64) -> bool {
        match self.operator {
            Operator::Less => value < self.bound,
            Operator::AtMost => value <= self.bound,
            Operator::Greater => value > self.bound,
            Operator::AtLeast => value >= self.bound,
            Operator::Equal => value == self.bound,
            Operator::Unequal => value != self.bound,
        }
    }
}

impl Aggregation {
    fn parse(word: &str, text: &str) -> Result<Self, ExpressionError> {
        Ok(match word {
            "count" => Self::Count,
            "rate" => Self::Rate,
            "value" => Self::Value,
            "avg" => Self::Avg,
            "min" => Self::Min,
            "max" => Self::Max,
            "med" => Self::Med,
            _ => {
                let inner = word.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
                let Some(inner) = inner else {
                    let (word, text) = (word.to_owned(), text.to_owned());
                    return Err(ExpressionError::Aggregation { word, text });
                };
                let percent = number(inner).filter(|percent| (0.0..=100.0).contains(percent));
                let wrong = || ExpressionError::Percentile { text: text.to_owned() };
                Self::Percentile(percent.ok_or_else(wrong)?)
            }
        })
    }

    /// Whether metrics of this kind have it.
    pub fn suits(self, kind: MetricKind) -> bool {
        match self {
            Self::Count => kind == MetricKind::Counter,
            Self::Rate => matches!(kind, MetricKind::Counter | MetricKind::Rate),
            Self::Value => kind == MetricKind::Gauge,
            Self::Avg | Self::Min | Self::Max | Self::Med | Self::Percentile(_) => {
                kind == MetricKind::Trend
            }
        }
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count => f.write_str("count"),
            Self::Rate => f.write_str("rate"),
            Self::Value => f.write_str("value"),
            Self::Avg => f.write_str("avg"),
            Self::Min => f.write_str("min"),
            Self::Max => f.write_str("max"),
            Self::Med => f.write_str("med"),
            Self::Percentile(percent) => write!(f, "p({percent})"),
        }
    }
}

/// A decimal number, `inf` or `nan`; underscores between digits are passed over, as k6 does.
fn number(text: &str) -> Option<f64> {
    let digits = text.replace('_', "");
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_understood() {
        for (text, aggregation, operator, bound) in [
            ("count>5", Aggregation::Count, Operator::Greater, 5.0),
            (" rate <= 0.05 ", Aggregation::Rate, Operator::AtMost, 0.05),
            ("value!=-1.5e3", Aggregation::Value, Operator::Unequal, -1500.0),
            ("p(99.9) === 7", Aggregation::Percentile(99.9), Operator::Equal, 7.0),
            ("p(1e1)<1_000", Aggregation::Percentile(10.0), Operator::Less, 1000.0),
            ("p(+5)<Infinity", Aggregation::Percentile(5.0), Operator::Less, f64::INFINITY),
            ("med==0", Aggregation::Med, Operator::Equal, 0.0),
        ] {
            assert_eq!(Expression::parse(text), Ok(Expression { aggregation, operator, bound }));
        }
    }

    #[test]
    fn wrong_texts_say_what_is_wrong() {
        for (text, part) in [
            ("", "malformed threshold"),
            ("count", "malformed threshold"),
            ("count=1", "malformed threshold"),
            ("count=<1", "malformed threshold"),
            ("count>", "malformed threshold"),
            ("foo<1", "'foo' is none of"),
            ("<1", "failed parsing method"),
            ("p (95)<1", "failed parsing method"),
            ("p95<1", "failed parsing method"),
            ("p(101)<1", "malformed percentile"),
            ("p(nan)<1", "malformed percentile"),
            ("p( 95 )<1", "malformed percentile"),
            ("p()<1", "malformed percentile"),
            ("count<500ms", "'500ms' is no number"),
            ("count<1<2", "'1<2' is no number"),
            ("count>= - 5", "'- 5' is no number"),
        ] {
            let error = Expression::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
    proptest! {
        #[test]
        fn odd_texts_are_refused_and_named(text in "[a-z0-9()<>=! .é-]{0,12}") {
            match Expression::parse(&text) {
                Ok(parsed) => prop_assert!(text.contains(&parsed.aggregation.to_string()[..1])),
                Err(error) => prop_assert!(error.to_string().contains(&text)),
            }
        }

        #[test]
        fn what_is_understood_means_what_it_says(
            percent in 0.0..=100.0, bound in -1e9..1e9, value in -1e9..1e9,
        ) {
            let parsed = Expression::parse(&format!(" p({percent}) >= {bound}")).unwrap();
            prop_assert_eq!(parsed.aggregation, Aggregation::Percentile(percent));
            prop_assert_eq!(parsed.holds(value), value >= bound);
        }
    }
}
