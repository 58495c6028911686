//! Whoever looks at a run while it goes on: displays and outputs, told once a second.

use crossbeam_channel::{Receiver, bounded};
use sojourn_engine::{Progress, RunOptions};
use sojourn_record::JourneyRecord;

/// Most kept journeys that wait for the next second; those beyond are in the run file alone, and
/// counted. At the end of a run many come at once: the slowest, the sample, those in flight.
const JOURNEYS_MAX: usize = 10_000;

/// Looks at a run while it goes on. It is told on the coordinator's thread, which has a second's
/// other work to do: whatever takes longer than a millisecond belongs on a thread of its own,
/// behind a bounded queue.
pub(crate) trait Watcher {
    /// A second of the run, and the journeys kept since the last one.
    fn second(&mut self, progress: &Progress<'_>, journeys: &[JourneyRecord]);

    /// The run has ended, well or not: what is to be said of the watching itself, such as what an
    /// output dropped; a line each.
    fn end(&mut self) -> Vec<String>;
}

/// All watchers of a run.
#[derive(Default)]
pub(crate) struct Watchers {
    all: Vec<Box<dyn Watcher>>,
    kept: Option<Receiver<JourneyRecord>>,
}

impl Watchers {
    /// Adds one.
    pub(crate) fn add(&mut self, watcher: impl Watcher + 'static) {
        self.all.push(Box::new(watcher));
    }

    /// Has the run tell its kept journeys.
    pub(crate) fn listen(&mut self, options: &mut RunOptions) {
        let (sender, receiver) = bounded(JOURNEYS_MAX);
        options.kept = Some(sender);
        self.kept = Some(receiver);
    }

    /// Tells every one of them.
    pub(crate) fn second(&mut self, progress: &Progress<'_>) {
        let journeys: Vec<_> =
            self.kept.iter().flat_map(|kept| kept.try_iter().take(JOURNEYS_MAX)).collect();
        for watcher in &mut self.all {
            watcher.second(progress, &journeys);
        }
    }

    /// Ends every one of them; says what they have to say.
    pub(crate) fn end(mut self) {
        let said: Vec<_> = self.all.iter_mut().flat_map(|watcher| watcher.end()).collect();
        for line in said {
            eprintln!("{line}");
        }
    }
}
