//! What all parts of a demo write to and look at.

use crate::counters::Counters;
use crate::problems::Problems;
use crate::retention::Retention;
use crate::stop::StopSignal;
use crate::truth::TruthSink;
use std::sync::Arc;

/// Clones share everything.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) truth: TruthSink,
    pub(crate) problems: Arc<Problems>,
    pub(crate) counters: Arc<Counters>,
    /// Of the embedded broker's events topic.
    pub(crate) retention: Option<Arc<Retention>>,
    /// Ends relay, consumer and workers; the API ends before, the broker after them.
    pub(crate) stop: Arc<StopSignal>,
}

impl Common {
    pub(crate) fn new(truth: TruthSink, retention: Option<Retention>) -> Self {
        Self {
            problems: Arc::new(Problems::new(truth.clone())),
            truth,
            counters: Arc::default(),
            retention: retention.map(Arc::new),
            stop: Arc::new(StopSignal::new()),
        }
    }
}
