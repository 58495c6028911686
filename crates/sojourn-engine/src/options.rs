//! What the caller decides about a run besides its plan.

use std::path::PathBuf;

use crossbeam_channel::Sender;
use sojourn_http::{ClientConfig, Http2};
use sojourn_record::JourneyRecord;

use crate::{Processes, RateControl};

/// Options of one run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Where the run file goes; `None`: nothing is kept but the summary.
    pub run_file: Option<PathBuf>,
    /// Run id: unique, used as run marker.
    pub run_id: String,
    /// Generator threads.
    pub threads: u32,
    /// Generators in processes of their own, each with so many threads; `None`: in this one.
    pub processes: Option<Processes>,
    /// How each generator's HTTP client connects. An unverified certificate is said in the report.
    pub client: ClientConfig,
    /// How late arrivals may begin so that several begin at one wake-up, nanoseconds: saves
    /// processor time at high rates, and shows as lag. `None`: open arrivals 100 µs where they come
    /// at 5,000/s or more on a generator thread, else not at all.
    pub lag_budget_ns: Option<u64>,
    /// One journey only, at once, whatever the plan's load says.
    pub once: bool,
    /// Where to tell every request, event and decision, in words; bounded, what does not fit is
    /// dropped (narration never slows a run).
    pub narrator: Option<Sender<String>>,
    /// Keep every journey's timeline in the run file, at some 500 bytes a journey, not only those
    /// that `keep` chooses.
    pub keep_all: bool,
    /// Where kept journeys go besides the run file; bounded, what does not fit is dropped.
    pub kept: Option<Sender<JourneyRecord>>,
    /// Which journeys are kept otherwise, and what of their messages.
    pub keep: KeepBounds,
    /// How long taps stay open after nothing is in flight, nanoseconds, so that duplicates are
    /// seen.
    pub linger_ns: u64,
    /// Where another rate is asked for while the run goes on.
    pub rate: RateControl,
}

impl RunOptions {
    /// The usual options.
    pub fn new(run_file: impl Into<Option<PathBuf>>, run_id: String) -> Self {
        Self {
            run_file: run_file.into(),
            run_id,
            threads: 1,
            processes: None,
            client: ClientConfig::default(),
            lag_budget_ns: None,
            once: false,
            narrator: None,
            keep_all: false,
            kept: None,
            keep: KeepBounds::default(),
            linger_ns: sojourn_clock::SECOND_NS,
            rate: RateControl::default(),
        }
    }
}

impl RunOptions {
    /// The same for sessions' clients, wherever they are: whoever offers HTTP/2 over TLS gets it,
    /// as from browsers.
    pub(crate) fn of_sessions(&self) -> Self {
        let mut options = self.clone();
        options.client.http2 = Http2::Alpn;
        options
    }
}

/// How much of a run's journeys its file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepBounds {
    /// Slowest journeys of each kind.
    pub slowest: usize,
    /// Most journeys of each class that is kept whole (lost, failed, late, duplicated and so on);
    /// of poisoned ones as many again. Those beyond it are counted.
    pub each_max: u64,
    /// Bytes of the latest messages that all taps together hold, from which those of kept journeys
    /// are taken; 0: none is held.
    pub messages_bytes: usize,
}

impl Default for KeepBounds {
    fn default() -> Self {
        Self { slowest: 20, each_max: 10_000, messages_bytes: 0 }
    }
}

/// Tells the narrator, if there is one; `words` is only run then.
pub(crate) fn narrate(narrator: Option<&Sender<String>>, words: impl FnOnce() -> String) {
    if let Some(narrator) = narrator {
        // A full narrator drops lines rather than slow the run.
        let _ignored = narrator.try_send(words());
    }
}
