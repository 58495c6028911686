//! What made the demo itself doubtful: told on `/health`, in the log and at the end.

use crate::truth::TruthSink;
use crate::truth_record::Record;
use sojourn_clock::now_ns;
use std::sync::{Mutex, PoisonError};

/// More kinds of trouble than this are not told apart.
const PROBLEMS_MAX: usize = 50;

/// A bounded list without repetitions.
pub(crate) struct Problems {
    texts: Mutex<Vec<String>>,
    truth: TruthSink,
}

impl Problems {
    pub(crate) fn new(truth: TruthSink) -> Self {
        Self { texts: Mutex::default(), truth }
    }

    /// Adds a problem, once.
    pub(crate) fn report(&self, text: impl Into<String>) {
        let text = text.into();
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.len() < PROBLEMS_MAX && !texts.contains(&text) {
            texts.push(text.clone());
            drop(texts);
            self.truth.note(|| Record::Problem { at_ns: now_ns(), text });
        }
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
