//! What became of callbacks, counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most different reasons that are told apart; failures for further ones are counted under `other`.
const REASONS_MAX: usize = 32;
/// Most of a reason that is kept, bytes.
const REASON_BYTES_MAX: usize = 120;

/// What became of callbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallbackFigures {
    /// Taken in.
    pub accepted: u64,
    /// Answered 2xx, or acknowledged by the broker.
    pub done: u64,
    /// Not.
    pub failed: u64,
    /// Not taken in: too many waited, or a template made something that cannot be sent.
    pub refused: u64,
}

impl CallbackFigures {
    /// Taken in, and neither done nor failed yet.
    pub fn waiting(&self) -> u64 {
        self.accepted.saturating_sub(self.done + self.failed)
    }
}

/// Counts, from any thread.
#[derive(Debug, Default)]
pub(super) struct Counts {
    accepted: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    held_bytes: AtomicU64,
    /// Why callbacks failed or were refused. Nobody asks for it but for metrics and at the end.
    reasons: Mutex<BTreeMap<String, u64>>,
}

impl Counts {
    pub(super) fn accept(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes that wait with one more job; what they are now.
    pub(super) fn hold(&self, bytes: u64) -> u64 {
        self.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    pub(super) fn release(&self, bytes: u64) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, why: &str) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.note(why);
    }

    pub(super) fn refused(&self, why: &str) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.note(why);
    }

    fn note(&self, why: &str) {
        let reason = reason(why);
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !reasons.contains_key(&reason);
        let name = if is_new && reasons.len() >= REASONS_MAX { "other".to_owned() } else { reason };
        *reasons.entry(name).or_default() += 1;
    }

    pub(super) fn figures(&self) -> CallbackFigures {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        // What has ended is read first: it is never more than what was taken in.
        let (done, failed, refused) = (of(&self.done), of(&self.failed), of(&self.refused));
        CallbackFigures { accepted: of(&self.accepted), done, failed, refused }
    }

    pub(super) fn reasons(&self) -> Vec<(String, u64)> {
        let reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        reasons.iter().map(|(reason, count)| (reason.clone(), *count)).collect()
    }
}

/// A reason to count by: one line, and without numbers, since "9999 messages wait" is not another
/// reason than "9998 messages wait". A status is no such number.
fn reason(why: &str) -> String {
    if why.starts_with("status ") {
        return why.to_owned();
    }
    let mut text = String::new();
    for character in why.chars() {
        let shown = match character {
            '0'..='9' if text.ends_with('#') => continue,
            '0'..='9' => '#',
            control if control.is_control() => ' ',
            other => other,
        };
        if text.len() + shown.len_utf8() > REASON_BYTES_MAX {
            break;
        }
        text.push(shown);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_few_whatever_is_said() {
        let counts = Counts::default();
        for number in 0..1000 {
            counts.failed(&format!("{number} messages wait for the broker"));
            counts.failed(&format!("unheard of: {}\n", "x".repeat(number)));
        }
        counts.refused("status 503");
        let reasons = counts.reasons();
        assert_eq!(reasons.len(), REASONS_MAX + 1, "{reasons:?}");
        assert!(reasons.contains(&("# messages wait for the broker".to_owned(), 1000)));
        assert!(reasons.iter().all(|(reason, _)| reason.len() <= REASON_BYTES_MAX));
        assert_eq!(reasons.iter().map(|(_, count)| count).sum::<u64>(), 2001);
        let figures = counts.figures();
        assert_eq!((figures.failed, figures.refused), (2000, 1));
    }
}
