//! What a threshold can be about.

use crate::names;

use super::{Statistic, poison::PoisonSubject};

/// A resolved subject, borrowing its names from the threshold.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subject {
    /// A distribution, which needs a statistic.
    Journey(String),
    Hop(String),
    /// A trend with a stage or a step in it: its metric, the tag of its name, and the name.
    Trend(&'static str, &'static str, String),
    /// A step's trend over all steps.
    Steps(&'static str),
    Lag,
    /// A count of journeys: its metric, of which journey, and as a share of which other.
    Journeys(&'static str, Option<String>, Option<&'static str>),
    /// A count with a stage's or a step's name: its metric, the tag, and the name.
    Named(&'static str, &'static str, String),
    /// A count of events that belong to no phase.
    Events(&'static str),
    /// The share of a journey's completions that took this alternative.
    BranchRatio(String),
    /// Events of a stage, repeated ones too, by those that were new.
    Deliveries(String),
    /// Failed step requests by all of them, of one step or of all.
    ErrorsRate(Option<String>),
    ErrorsCount(Option<String>),
    Drain,
    BacklogSlope,
    /// Violations of a limit, over the whole run.
    Violations(String),
    /// A figure of poisoned journeys, which no other subject counts.
    Poison(PoisonSubject),
}

/// The unit of a subject's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Time,
    Number,
    Share,
    PerSecond,
}

/// Counts of journeys, and whose share they can be.
const JOURNEY_COUNTS: &[(&str, &str, Option<&str>)] = &[
    ("scheduled", names::JOURNEYS_SCHEDULED, None),
    ("missed", names::JOURNEYS_MISSED, Some(names::JOURNEYS_SCHEDULED)),
    ("started", names::JOURNEYS_STARTED, None),
    ("completed", names::JOURNEYS_COMPLETED, Some(names::JOURNEYS_STARTED)),
    ("late", names::JOURNEYS_LATE, Some(names::JOURNEYS_STARTED)),
    ("lost", names::JOURNEYS_LOST, Some(names::JOURNEYS_STARTED)),
    ("failed", names::JOURNEYS_FAILED, Some(names::JOURNEYS_STARTED)),
    ("root_failed", names::JOURNEYS_ROOT_FAILED, Some(names::JOURNEYS_STARTED)),
    ("key_reused", names::KEY_REUSED, None),
    ("duplicates", names::STAGE_DUPLICATES, None),
    ("not_accepted", names::BATCH_EVENTS_REFUSED, Some(names::JOURNEYS_STARTED)),
    ("batches_in_part", names::BATCHES_PART, None),
    ("second_branches", names::STAGE_SECOND_BRANCH, None),
];

/// Counts of events that belong to no phase.
const EVENT_COUNTS: &[(&str, &str)] = &[
    ("after_failure", names::EVENTS_AFTER_FAILURE),
    ("foreign", names::EVENTS_FOREIGN),
    ("orphans", names::EVENTS_ORPHAN),
    ("unattributed", names::EVENTS_UNATTRIBUTED),
    ("undecodable", names::EVENTS_UNDECODABLE),
];

/// Trends of a step.
pub(super) const STEP_TRENDS: &[(&str, &str)] = &[
    ("response", names::STEP_RESPONSE),
    ("response_ok", names::STEP_RESPONSE_OK),
    ("response_failed", names::STEP_RESPONSE_FAILED),
    ("service", names::STEP_SERVICE),
    ("blocked", names::STEP_BLOCKED),
    ("dns", names::STEP_DNS),
    ("connect", names::STEP_CONNECT),
    ("tls", names::STEP_TLS),
    ("send", names::STEP_SEND),
    ("wait", names::STEP_WAIT),
    ("receive", names::STEP_RECEIVE),
    ("received_bytes", names::STEP_RECEIVED_BYTES),
    ("sent_bytes", names::STEP_SENT_BYTES),
];

impl Subject {
    /// The subject of these parts, the statistic left out; `None` when there is none such.
    pub(super) fn of(parts: &[impl AsRef<str>]) -> Option<Self> {
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        match parts.as_slice() {
            ["lag"] => Some(Self::Lag),
            ["drain"] => Some(Self::Drain),
            ["backlog", "slope"] => Some(Self::BacklogSlope),
            ["errors", "rate"] => Some(Self::ErrorsRate(None)),
            ["errors", "count"] => Some(Self::ErrorsCount(None)),
            ["journey", name @ .., count] if !name.is_empty() && is_journey_count(count) => {
                journeys(count, Some(name.join(".")), false)
            }
            ["journey", name @ .., count, "share"] if !name.is_empty() => {
                journeys(count, Some(name.join(".")), true)
            }
            ["journey", name @ ..] if !name.is_empty() => Some(Self::Journey(name.join("."))),
            ["branch", name @ .., "ratio"] if !name.is_empty() => {
                Some(Self::BranchRatio(name.join(".")))
            }
            ["branch", name @ ..] if !name.is_empty() => {
                Some(Self::Trend(names::BRANCH_DURATION, names::STAGE, name.join(".")))
            }
            ["limit", name @ .., "violations"] if !name.is_empty() => {
                Some(Self::Violations(name.join(".")))
            }
            ["poison", rest @ ..] => PoisonSubject::of(rest).map(Self::Poison),
            ["stage", name @ .., figure] if !name.is_empty() => stage(name.join("."), figure),
            ["step", name @ .., "errors", "rate"] if !name.is_empty() => {
                Some(Self::ErrorsRate(Some(name.join("."))))
            }
            ["step", name @ .., "errors", "count"] if !name.is_empty() => {
                Some(Self::ErrorsCount(Some(name.join("."))))
            }
            ["step", name @ .., figure] if !name.is_empty() => {
                let metric = lookup(STEP_TRENDS, figure)?;
                Some(Self::Trend(metric, names::STEP, name.join(".")))
            }
            [figure] if lookup(STEP_TRENDS, figure).is_some() => {
                Some(Self::Steps(lookup(STEP_TRENDS, figure)?))
            }
            [count] => match lookup(EVENT_COUNTS, count) {
                Some(metric) => Some(Self::Events(metric)),
                None => journeys(count, None, false),
            },
            [count, "share"] => journeys(count, None, true),
            _ => None,
        }
    }

    /// Whether it is a single number already.
    pub(super) fn is_value(&self) -> bool {
        match self {
            Self::Journey(_) | Self::Hop(_) | Self::Trend(..) | Self::Steps(_) | Self::Lag => false,
            Self::Poison(poison) => poison.is_value(),
            _ => true,
        }
    }

    /// The unit of this statistic of it.
    pub(super) fn unit(&self, statistic: Statistic) -> Unit {
        match (self, statistic) {
            (_, Statistic::Count) => Unit::Number,
            (_, Statistic::Rate) | (Self::BacklogSlope, _) => Unit::PerSecond,
            (
                Self::Trend(names::STEP_RECEIVED_BYTES | names::STEP_SENT_BYTES, ..)
                | Self::Steps(names::STEP_RECEIVED_BYTES | names::STEP_SENT_BYTES),
                _,
            ) => Unit::Number,
            (
                Self::Journey(_)
                | Self::Hop(_)
                | Self::Trend(..)
                | Self::Steps(_)
                | Self::Lag
                | Self::Drain,
                _,
            ) => Unit::Time,
            (Self::Journeys(.., Some(_)) | Self::ErrorsRate(_) | Self::BranchRatio(_), _) => {
                Unit::Share
            }
            (Self::Poison(poison), _) => poison.unit(),
            _ => Unit::Number,
        }
    }
}

/// Single numbers that stand alone, for suggestions.
pub(super) fn single_words() -> impl Iterator<Item = &'static str> {
    let journeys = JOURNEY_COUNTS.iter().map(|&(word, ..)| word);
    let events = EVENT_COUNTS.iter().map(|&(word, _)| word);
    journeys.chain(events).chain(["drain"])
}

fn is_journey_count(word: &str) -> bool {
    JOURNEY_COUNTS.iter().any(|&(name, ..)| name == word)
}

fn journeys(count: &str, journey: Option<String>, share: bool) -> Option<Subject> {
    let &(_, metric, whole) = JOURNEY_COUNTS.iter().find(|&&(name, ..)| name == count)?;
    match (share, whole) {
        (true, None) => None,
        (true, whole) => Some(Subject::Journeys(metric, journey, whole)),
        (false, _) => Some(Subject::Journeys(metric, journey, None)),
    }
}

fn stage(name: String, figure: &str) -> Option<Subject> {
    match figure {
        "hop" => Some(Subject::Hop(name)),
        "since_start" => Some(Subject::Trend(names::STAGE_SINCE_START, names::STAGE, name)),
        "first_member" => Some(Subject::Trend(names::STAGE_FIRST_MEMBER, names::STAGE, name)),
        "deliveries" => Some(Subject::Deliveries(name)),
        "reached" => Some(Subject::Named(names::STAGE_REACHED, names::STAGE, name)),
        "duplicates" => Some(Subject::Named(names::STAGE_DUPLICATES, names::STAGE, name)),
        _ => None,
    }
}

fn lookup(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|&&(name, _)| name == word).map(|&(_, metric)| metric)
}
