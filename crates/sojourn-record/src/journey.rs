//! One journey's timeline, kept as an example or for what befell it; what is learnt of it later.

use serde::{Deserialize, Serialize};

use crate::{JourneyShape, KeptAs, MessageSample};

/// Most duplicates of one journey that a reader takes: far above what is written.
const DUPLICATES_MAX: usize = 10_000;

/// A journey that was kept. Instants are nanoseconds relative to the run's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JourneyRecord {
    /// Journey's name.
    pub journey: String,
    /// Its number.
    pub id: u64,
    /// Its key, where known.
    pub key: Option<String>,
    /// `completed`, `late`, `lost`, `failed`, `root_failed`, `in_flight_at_cutoff`.
    pub class: String,
    /// `warm_up` or `steady`.
    pub phase: String,
    /// Why it was kept, first of all: a name of [`KeptAs`].
    pub kept_as: String,
    /// Scheduled instant.
    pub t0_ns: u64,
    /// Action begun.
    pub t1_ns: u64,
    /// Root completed.
    pub t2_ns: Option<u64>,
    /// When it ended.
    pub end_ns: u64,
    /// HTTP steps in the order they began, where known.
    pub steps: Vec<StepInstant>,
    /// Stages in declared order, reached or not.
    pub stages: Vec<StageInstant>,
    /// The failure in words, where there was one.
    pub reason: Option<String>,
    /// Its trace id in hexadecimal, where it has one. Absent in files of before there was any.
    #[serde(default)]
    pub trace_id: Option<String>,
    /// Whose it is, where the plan says. Absent as above; unknown of one that is kept only for a
    /// duplicate after its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Why it was kept besides. Absent in files of before there was any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_kept_as: Vec<String>,
    /// Stages reached before the point that they follow. Absent as above, as all further fields.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub negative_hops: u32,
    /// Duplicates of its events, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<DuplicateInstant>,
    /// Duplicates that are counted and not listed.
    #[serde(default, skip_serializing_if = "is_zero_64")]
    pub duplicates_beyond: u64,
    /// What was kept of its messages, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageSample>,
}

impl JourneyRecord {
    /// Whether it was kept for this, among others.
    pub fn is_kept_as(&self, what: &str) -> bool {
        self.kept_as == what || self.also_kept_as.iter().any(|also| also == what)
    }

    /// The instant that a stage's hop counts from: a stage's first observation, or the beginning of
    /// the latest step that had begun when the stage was seen. `None` where that stage was never
    /// seen, or the shape has no such stage.
    pub fn predecessor_ns(&self, shape: &JourneyShape, stage: &StageInstant) -> Option<u64> {
        let declared = shape.stages.iter().find(|declared| declared.name == stage.name)?;
        if let Some(before) = self.stages.iter().find(|seen| seen.name == declared.after) {
            return before.seen_ns;
        }
        let begun = self.steps.iter().map(|step| step.began_ns);
        let had_begun = |&began_ns: &u64| stage.seen_ns.is_none_or(|seen_ns| began_ns <= seen_ns);
        Some(begun.filter(had_begun).max().unwrap_or(self.t1_ns))
    }

    /// Takes in another record of the same journey: what it was kept for, and what had come since.
    pub(crate) fn merge(&mut self, other: Self) {
        for role in std::iter::once(other.kept_as).chain(other.also_kept_as) {
            if !self.is_kept_as(&role) {
                self.also_kept_as.push(role);
            }
        }
        for duplicate in other.duplicates {
            self.list(duplicate);
        }
        self.duplicates_beyond = self.duplicates_beyond.max(other.duplicates_beyond);
        for message in other.messages {
            self.add_message(message);
        }
    }

    /// Takes in a duplicate that came after this was written.
    pub(crate) fn add_duplicate(&mut self, duplicate: DuplicateInstant) {
        self.list(duplicate);
        if !self.is_kept_as(KeptAs::Duplicated.name()) {
            self.also_kept_as.push(KeptAs::Duplicated.name().to_owned());
        }
    }

    fn list(&mut self, duplicate: DuplicateInstant) {
        if self.duplicates.len() >= DUPLICATES_MAX {
            self.duplicates_beyond += 1;
        } else if !self.duplicates.contains(&duplicate) {
            self.duplicates.push(duplicate);
        }
    }

    pub(crate) fn add_message(&mut self, message: MessageSample) {
        let is_same = |known: &MessageSample| {
            (known.seen_ns, &known.stage) == (message.seen_ns, &message.stage)
        };
        match self.messages.iter_mut().find(|known| is_same(known)) {
            Some(known) if known.head.is_none() => *known = message,
            Some(_) => {}
            None => self.messages.push(message),
        }
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn is_zero_64(n: &u64) -> bool {
    *n == 0
}

/// An event that had come before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateInstant {
    /// The stage that it was matched to before.
    pub stage: String,
    /// `redelivery`, `republication` or `unknown`.
    pub kind: String,
    /// When it came again.
    pub seen_ns: u64,
}

/// A duplicate that came for a journey whose record had been written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateRecord {
    /// The journey's number.
    pub id: u64,
    /// The duplicate.
    pub duplicate: DuplicateInstant,
    /// What was kept of its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageSample>,
}

/// One step of a kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepInstant {
    /// Step's name.
    pub name: String,
    /// Begun.
    pub began_ns: u64,
    /// Ended; `None` when the journey ended before it.
    pub ended_ns: Option<u64>,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
}

/// One stage of a kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageInstant {
    /// Stage's name.
    pub name: String,
    /// First observation; `None` when not reached.
    pub seen_ns: Option<u64>,
}
