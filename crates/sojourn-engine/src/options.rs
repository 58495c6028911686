//! What the caller decides about a run besides its plan.

use std::path::PathBuf;

use crossbeam_channel::Sender;

/// Options of one run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Where the run file goes.
    pub run_file: PathBuf,
    /// Run id: unique, used as run marker.
    pub run_id: String,
    /// Generator threads.
    pub threads: u32,
    /// Most connections per origin and generator.
    pub connections_max: usize,
    /// PEM file of certificates trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// Do not verify servers' certificates; said in the report.
    pub insecure: bool,
    /// One journey only, at once, whatever the plan's load says.
    pub once: bool,
    /// Where to tell every request, event and decision, in words; bounded, what does not fit is
    /// dropped (narration never slows a run).
    pub narrator: Option<Sender<String>>,
    /// Keep every journey's timeline in the run file, not only the lost, the failed, the slowest
    /// and a sample: an audit, at some 500 bytes a journey.
    pub keep_all: bool,
    /// How long taps stay open after nothing is in flight, nanoseconds, so that duplicates are
    /// seen.
    pub linger_ns: u64,
}

impl RunOptions {
    /// The usual options.
    pub fn new(run_file: PathBuf, run_id: String) -> Self {
        Self {
            run_file,
            run_id,
            threads: 1,
            connections_max: 10_000,
            ca_file: None,
            insecure: false,
            once: false,
            narrator: None,
            keep_all: false,
            linger_ns: sojourn_clock::SECOND_NS,
        }
    }

    pub(crate) fn client_config(&self) -> sojourn_http::ClientConfig {
        sojourn_http::ClientConfig {
            connections_max: self.connections_max,
            ca_file: self.ca_file.clone(),
            insecure: self.insecure,
            ..sojourn_http::ClientConfig::default()
        }
    }
}

/// Tells the narrator, if there is one; `words` is only run then.
pub(crate) fn narrate(narrator: Option<&Sender<String>>, words: impl FnOnce() -> String) {
    if let Some(narrator) = narrator {
        // A full narrator drops lines rather than slow the run.
        let _ignored = narrator.try_send(words());
    }
}
