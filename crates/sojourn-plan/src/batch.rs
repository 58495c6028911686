//! Requests that carry several events, each of which is a journey.

use crate::Selector;

/// Most events of a request.
pub const BATCH_MAX: u32 = 10_000;

/// How a root sends the events of several journeys in one request: one arrival, so many journeys,
/// which share its scheduled instant.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Events of each request.
    pub size: u32,
    /// How they are put together.
    pub form: BatchForm,
    /// Where the answer says which were accepted: a list of them, or their number. The first so
    /// many were. `None`: an answer as expected has accepted all, another one none.
    pub accepted: Option<Selector>,
}

/// How a batch's events stand in the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchForm {
    /// A JSON array.
    #[default]
    Array,
    /// A line each.
    Lines,
}

impl BatchForm {
    /// What comes before the first event, between two, and after the last.
    pub fn around(self) -> [&'static str; 3] {
        match self {
            Self::Array => ["[", ",", "]"],
            Self::Lines => ["", "\n", "\n"],
        }
    }
}
