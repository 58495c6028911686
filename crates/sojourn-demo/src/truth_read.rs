//! Reads a ground-truth log and says what a tool that watched the demo should have counted.

use crate::stage::Stage;
use crate::truth_record::{Outcome, Publication, Record};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A ground-truth log on disk.
pub struct TruthLog;

/// Everything that a log tells, by payment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// By key, `pay:<uuid>`.
    pub journeys: BTreeMap<String, JourneyTruth>,
    /// Payments that the API refused, by status code.
    pub rejected: BTreeMap<u16, u64>,
    /// What made the demo's own behaviour doubtful.
    pub problems: Vec<String>,
    /// CLOCK_MONOTONIC and Unix time of one instant, nanoseconds.
    pub anchor: Option<(u64, u64)>,
    /// Whether the log has its closing line: the demo was stopped and nothing is missing.
    pub complete: bool,
}

/// What happened to one payment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JourneyTruth {
    /// When the API was about to answer; none when it never did.
    pub accepted_ns: Option<u64>,
    /// What happened to each stage's events.
    pub stages: [StageTruth; 4],
    /// Its events on the dead-letter topic.
    pub dead_letters: Vec<DeadLetter>,
}

/// An event that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The stage that the event had reached.
    pub stage: Stage,
    /// When it was handed to the broker's client, for the dead-letter topic.
    pub publish_ns: u64,
    /// When the broker's acknowledgement was received.
    pub delivered_ns: u64,
}

/// What happened to a payment's events of one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageTruth {
    /// When its events were committed to the store; more than one is a defect of naive consumers.
    pub appended_ns: Vec<u64>,
    /// Messages on the events topic, in the order of the topic.
    pub publications: Vec<Publication>,
    /// Events dropped on purpose.
    pub dropped: u32,
    /// Messages left lying by a stopped stage.
    pub unconsumed: u32,
    /// What came of consuming its messages.
    pub outcomes: Vec<Outcome>,
}

/// How a journey ended, as someone sees it who watches the topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JourneyEnd {
    /// All four events were published.
    Completed,
    /// An event went to the dead-letter topic.
    DeadLettered,
    /// An event was dropped on purpose, so not all four were published.
    Dropped,
    /// A stopped stage left an event lying.
    Stopped,
    /// Still on its way when the demo was stopped.
    Unfinished,
}

/// Sums over a whole log. Journeys: accepted = completed + dead-lettered + dropped + stopped +
/// unfinished. Messages: published = stages reached + duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Payments that the API answered with 200.
    pub accepted: u64,
    /// Journeys by their end.
    pub completed: u64,
    /// See [`JourneyEnd::DeadLettered`].
    pub dead_lettered: u64,
    /// See [`JourneyEnd::Dropped`]: what a tool counts as lost once the deadline has passed.
    pub dropped: u64,
    /// See [`JourneyEnd::Stopped`]: lost too.
    pub stopped: u64,
    /// See [`JourneyEnd::Unfinished`].
    pub unfinished: u64,
    /// Messages on the events topic.
    pub published: u64,
    /// Stages reached: first messages of a (journey, stage).
    pub stages_reached: u64,
    /// Further messages of a (journey, stage) with a message id already seen for it.
    pub redeliveries: u64,
    /// Further messages of a (journey, stage) with a new message id.
    pub republications: u64,
    /// Stages whose first message came on the topic before their predecessor's.
    pub out_of_order: u64,
    /// Messages on the dead-letter topic.
    pub dead_letters: u64,
}

/// Why a log can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TruthError {
    /// The file.
    #[error("ground-truth log {path}: {source}")]
    File {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A line of it.
    #[error("ground-truth log {path}, line {line}: {source}")]
    Line {
        /// Its path.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl TruthLog {
    /// Reads a log. A last line without its end, of a demo that was killed, is left out.
    pub fn read(path: impl AsRef<Path>) -> Result<Truth, TruthError> {
        let path = path.as_ref();
        let in_file = |source| TruthError::File { path: path.to_owned(), source };
        let mut lines = BufReader::new(File::open(path).map_err(in_file)?);
        let mut truth = Truth::default();
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let read = lines.read_until(b'\n', &mut text).map_err(in_file)?;
            if read == 0 || text.last() != Some(&b'\n') {
                break;
            }
            let record = serde_json::from_slice(&text).map_err(|source| TruthError::Line {
                path: path.to_owned(),
                line,
                source,
            })?;
            truth.apply(record);
        }
        truth.sort();
        Ok(truth)
    }
}

impl Truth {
    /// Sums.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for journey in self.journeys.values() {
            journey.add_to(&mut totals);
        }
        totals
    }

    /// Nanoseconds from the first delivery of a stage's predecessor to the stage's own; negative
    /// when the order was reversed. Journeys that lack one of both give no sample.
    pub fn hop_samples_ns(&self, stage: Stage) -> Vec<i64> {
        let Some(previous) = stage.previous() else {
            return Vec::new();
        };
        self.journeys
            .values()
            .filter_map(|journey| {
                let from = journey.first(previous)?.delivered_ns;
                let to = journey.first(stage)?.delivered_ns;
                Some(to as i64 - from as i64)
            })
            .collect()
    }

    /// All messages on the events topic, by payment.
    pub fn publications(&self) -> impl Iterator<Item = &Publication> {
        self.journeys
            .values()
            .flat_map(|journey| &journey.stages)
            .flat_map(|stage| &stage.publications)
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Opened { at_ns, unix_ns, .. } => self.anchor = Some((at_ns, unix_ns)),
            Record::Accepted { at_ns, key } => self.journey(key).accepted_ns = Some(at_ns),
            Record::Rejected { status, .. } => *self.rejected.entry(status).or_default() += 1,
            Record::Appended { at_ns, key, stage, .. } => {
                self.stage(key, stage).appended_ns.push(at_ns)
            }
            Record::Published(publication) => self
                .stage(publication.key.clone(), publication.stage)
                .publications
                .push(publication),
            Record::Dropped { key, stage, .. } => self.stage(key, stage).dropped += 1,
            Record::Consumed { key, stage, outcome, .. } => {
                self.stage(key, stage).outcomes.push(outcome)
            }
            Record::Unconsumed { key, stage, .. } => self.stage(key, stage).unconsumed += 1,
            Record::DeadLettered { key, stage, publish_ns, delivered_ns, .. } => {
                let letter = DeadLetter { stage, publish_ns, delivered_ns };
                self.journey(key).dead_letters.push(letter);
            }
            Record::Problem { text, .. } => self.problems.push(text),
            Record::Closed { .. } => self.complete = true,
        }
    }

    /// Messages of a key share a partition, so their offsets are the order of the topic.
    fn sort(&mut self) {
        for stage in self.journeys.values_mut().flat_map(|it| &mut it.stages) {
            stage
                .publications
                .sort_by_key(|publication| (publication.partition, publication.offset));
        }
    }

    fn journey(&mut self, key: String) -> &mut JourneyTruth {
        self.journeys.entry(key).or_default()
    }

    fn stage(&mut self, key: String, stage: Stage) -> &mut StageTruth {
        &mut self.journey(key).stages[stage.index()]
    }
}

impl Totals {
    /// Journeys that a tool with a deadline counts as lost.
    pub fn lost(&self) -> u64 {
        self.dropped + self.stopped
    }

    /// Messages that a tool counts as duplicates.
    pub fn duplicates(&self) -> u64 {
        self.redeliveries + self.republications
    }
}

impl JourneyTruth {
    /// A stage's first message on the topic.
    pub fn first(&self, stage: Stage) -> Option<&Publication> {
        self.stages[stage.index()].publications.first()
    }

    /// How the journey ended.
    pub fn end(&self) -> JourneyEnd {
        let any = |is: fn(&StageTruth) -> bool| self.stages.iter().any(is);
        if !self.dead_letters.is_empty() {
            JourneyEnd::DeadLettered
        } else if Stage::ALL.iter().all(|&stage| self.first(stage).is_some()) {
            JourneyEnd::Completed
        } else if any(|stage| stage.dropped > 0) {
            JourneyEnd::Dropped
        } else if any(|stage| stage.unconsumed > 0) {
            JourneyEnd::Stopped
        } else {
            JourneyEnd::Unfinished
        }
    }

    fn add_to(&self, totals: &mut Totals) {
        if self.accepted_ns.is_some() {
            totals.accepted += 1;
            let end = match self.end() {
                JourneyEnd::Completed => &mut totals.completed,
                JourneyEnd::DeadLettered => &mut totals.dead_lettered,
                JourneyEnd::Dropped => &mut totals.dropped,
                JourneyEnd::Stopped => &mut totals.stopped,
                JourneyEnd::Unfinished => &mut totals.unfinished,
            };
            *end += 1;
        }
        totals.dead_letters += self.dead_letters.len() as u64;
        for stage in Stage::ALL {
            let publications = &self.stages[stage.index()].publications;
            totals.published += publications.len() as u64;
            totals.stages_reached += u64::from(!publications.is_empty());
            let mut ids = HashSet::new();
            for (index, publication) in publications.iter().enumerate() {
                let new_id = ids.insert(publication.message_id.as_str());
                totals.redeliveries += u64::from(!new_id);
                totals.republications += u64::from(new_id && index > 0);
            }
            let predecessor = stage.previous().and_then(|previous| self.first(previous));
            if let (Some(first), Some(predecessor)) = (publications.first(), predecessor) {
                totals.out_of_order += u64::from(first.offset < predecessor.offset);
            }
        }
    }
}
