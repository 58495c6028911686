//! How many events of a stage a journey waits for.

use serde_json::Value;

use crate::Selector;

/// Most distinct members a stage may wait for.
pub const MEMBERS_MAX: u32 = 1_000_000;

/// How many distinct members reach a stage.
#[derive(Clone, Debug)]
pub enum Expect {
    /// So many; 1 for an ordinary stage.
    Members(u32),
    /// As many as a value says, which each journey is told for itself.
    Told {
        /// Where the value is.
        from: Selector,
        /// In what.
        by: Teller,
    },
}

/// What says how many members a stage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teller {
    /// The event of this stage: an earlier one, or the stage itself.
    Stage(usize),
    /// The answer to this step.
    Step(usize),
}

impl Expect {
    /// Whether members have to be told apart.
    pub fn is_several(&self) -> bool {
        !matches!(self, Self::Members(1))
    }
}

/// The number that a value stands for: a whole number, in text or not, or the length of a list.
/// `None` for anything else, and beyond [`MEMBERS_MAX`].
pub fn members_of(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
            whole.map(|number| number as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Array(items) => u64::try_from(items.len()).ok(),
        _ => None,
    };
    let number = number.and_then(|number| u32::try_from(number).ok());
    number.filter(|&number| number <= MEMBERS_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_lists_say_how_many() {
        for (value, expected) in [
            (json!(3), Some(3)),
            (json!(3.0), Some(3)),
            (json!(0), Some(0)),
            (json!(" 12 "), Some(12)),
            (json!(["a", "b"]), Some(2)),
            (json!([]), Some(0)),
            (json!(1_000_000), Some(1_000_000)),
            (json!(1_000_001), None),
            (json!(-1), None),
            (json!(2.5), None),
            (json!(1e300), None),
            (json!("many"), None),
            (json!(null), None),
            (json!({"n": 1}), None),
        ] {
            assert_eq!(members_of(&value), expected, "{value}");
        }
    }
}
