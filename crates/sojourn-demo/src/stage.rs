//! The four stages of a payment, each named for the event that reaches it.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A stage of a payment's journey. Work is named for the event it produces: the service time of
/// `created` is what the consumer of `PaymentInitiated` takes to append `PaymentCreated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The API accepted the payment: `PaymentInitiated`.
    Initiated,
    /// The payment service provider knows it: `PaymentCreated`.
    Created,
    /// The provider settled it: `PaymentSettled`.
    Settled,
    /// The customer was notified: `PaymentCompleted`.
    Completed,
}

impl Stage {
    /// All stages, in the order of a journey.
    pub const ALL: [Self; 4] = [Self::Initiated, Self::Created, Self::Settled, Self::Completed];

    /// Position in a journey, from zero.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The stage's name in configuration and in the status reply.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initiated => "initiated",
            Self::Created => "created",
            Self::Settled => "settled",
            Self::Completed => "completed",
        }
    }

    /// The event type that reaches this stage, as the header `type` and the payload carry it.
    pub const fn event_type(self) -> &'static str {
        match self {
            Self::Initiated => "PaymentInitiated",
            Self::Created => "PaymentCreated",
            Self::Settled => "PaymentSettled",
            Self::Completed => "PaymentCompleted",
        }
    }

    /// The stage that an event type reaches.
    pub fn of_event_type(event_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.event_type() == event_type)
    }

    /// The stage after this one.
    pub fn next(self) -> Option<Self> {
        Self::ALL.get(self.index() + 1).copied()
    }

    /// The stage before this one.
    pub fn previous(self) -> Option<Self> {
        self.index().checked_sub(1).map(|index| Self::ALL[index])
    }
}

/// A text that names no stage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no stage {text:?}; the stages are initiated, created, settled and completed")]
pub struct StageError {
    text: String,
}

impl FromStr for Stage {
    type Err = StageError;

    fn from_str(text: &str) -> Result<Self, StageError> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.name() == text)
            .ok_or_else(|| StageError { text: text.to_owned() })
    }
}

/// Serde form of a stage as its event type, for the ground-truth log.
pub(crate) mod as_event_type {
    use super::Stage;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(stage: &Stage, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(stage.event_type())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Stage, D::Error> {
        let text = String::deserialize(from)?;
        Stage::of_event_type(&text)
            .ok_or_else(|| D::Error::custom(format!("unknown event type {text:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_follow_each_other() {
        assert_eq!(Stage::Initiated.previous(), None);
        assert_eq!(Stage::Completed.next(), None);
        for stage in Stage::ALL {
            assert_eq!(Stage::of_event_type(stage.event_type()), Some(stage));
            assert_eq!(stage.name().parse(), Ok(stage));
            if let Some(next) = stage.next() {
                assert_eq!(next.previous(), Some(stage));
            }
        }
        assert_eq!(Stage::of_event_type("PaymentRefunded"), None);
        let error = "refunded".parse::<Stage>().unwrap_err().to_string();
        assert!(error.contains("\"refunded\""), "{error}");
    }
}
