//! A stretch without answers, until nothing of it can be missing any more.

use std::time::Duration;

use sojourn_broker::{Backoff, Gap, Recovery};
use sojourn_clock::{Anchor, MILLISECOND_NS, SECOND_NS, now_ns};

/// A stretch without answers that is not over.
///
/// What the service gave to a request whose answer never came is hidden until its visibility ends.
/// So the stretch is over only when an answer shows an empty queue to a request made later than
/// that after the first sign of life. That holds of the queue that there was; one made anew
/// meanwhile, under its name, knows nothing of what the old one held.
#[derive(Debug)]
pub(crate) struct Outage {
    from_ns: u64,
    /// The latest failure that counted.
    pub(crate) failed_ns: u64,
    /// When to ask again.
    pub(crate) retry_ns: u64,
    /// The first answer since, by both clocks.
    up: Option<(u64, u64)>,
    /// The queue is known to be the one that it was, since the latest failure.
    is_same: bool,
    give_up_after: Duration,
    backoff: Backoff,
    late: u64,
}

/// How long a request may still be at the service after its connection has ended.
const LINGER_NS: u64 = 2 * SECOND_NS;

impl Outage {
    pub(crate) fn new(from_ns: u64, now_ns: u64, give_up_after: Duration) -> Self {
        let backoff = Backoff::with_limit(now_ns, give_up_after);
        let (failed_ns, retry_ns) = (now_ns, now_ns);
        let (up, is_same, late) = (None, false, 0);
        Self { from_ns, failed_ns, retry_ns, up, is_same, give_up_after, backoff, late }
    }

    /// A request failed that was made since the last failure. `false`: it is time to give up.
    pub(crate) fn failed(&mut self, now_ns: u64) -> bool {
        if self.up.take().is_some() {
            // It was there in between.
            self.backoff = Backoff::with_limit(now_ns, self.give_up_after);
        }
        self.failed_ns = now_ns;
        self.is_same = false;
        match self.backoff.pause(now_ns) {
            Some(pause) => {
                self.retry_ns = now_ns + u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
                true
            }
            None => false,
        }
    }

    /// Whether there has been an answer since.
    pub(crate) fn is_up(&self) -> bool {
        self.up.is_some()
    }

    /// An answer to a request made since the failure.
    pub(crate) fn answered(&mut self, at_ns: u64) {
        if self.up.is_none() {
            self.up = Some((at_ns, unix_ms()));
        }
    }

    /// Whether it is still to be found out if the queue is the one that it was.
    pub(crate) fn is_unsure(&self) -> bool {
        self.is_up() && !self.is_same
    }

    /// The queue is the one that it was.
    pub(crate) fn same(&mut self) {
        self.is_same = true;
    }

    /// The gap of a queue that was made anew: what the old one held, nobody gives any more.
    pub(crate) fn missed(&self, now_ns: u64) -> Gap {
        Gap { from_ns: self.from_ns, to_ns: now_ns, recovery: Recovery::Missed }
    }

    /// A message is handed over that was sent at this instant of the service's clock, which is so
    /// far behind ours.
    pub(crate) fn took(&mut self, sent_unix_ms: Option<u64>, behind_ms: i64) {
        let sent = sent_unix_ms.and_then(|sent| sent.checked_add_signed(behind_ms));
        if let (Some((_, up_unix_ms)), Some(sent_unix_ms)) = (self.up, sent)
            && sent_unix_ms <= up_unix_ms
        {
            self.late += 1;
        }
    }

    /// The gap, if it is over by an answer that shows an empty queue to a request of this instant.
    pub(crate) fn over(&self, asked_ns: u64, now_ns: u64, hidden: Duration) -> Option<Gap> {
        let hidden_ns = u64::try_from(hidden.as_nanos()).unwrap_or(u64::MAX);
        let (up_ns, _) = self.up.filter(|_| self.is_same)?;
        if asked_ns < up_ns.saturating_add(hidden_ns).saturating_add(LINGER_NS) {
            return None;
        }
        let recovery = Recovery::Resumed { messages: self.late };
        Some(Gap { from_ns: self.from_ns, to_ns: now_ns, recovery })
    }
}

/// The wall clock, milliseconds since the Unix epoch: only to compare with the service's.
pub(crate) fn unix_ms() -> u64 {
    Anchor::now().unix_ns_at(now_ns()) / MILLISECOND_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: Duration = Duration::from_secs(10);

    #[test]
    fn it_is_over_when_nothing_can_be_hidden_any_more() {
        let mut outage = Outage::new(5, 10, Duration::from_secs(30));
        assert!(outage.failed(10) && outage.retry_ns > 10);
        assert_eq!(outage.over(100 * SECOND_NS, 100 * SECOND_NS, HIDDEN), None, "not up");
        outage.answered(SECOND_NS);
        outage.took(Some(0), 0);
        outage.took(Some(u64::MAX), 0);
        outage.took(None, 0);
        assert_eq!(outage.over(13 * SECOND_NS - 1, 13 * SECOND_NS, HIDDEN), None);
        let unsure = outage.over(13 * SECOND_NS, 14 * SECOND_NS, HIDDEN);
        assert!(outage.is_unsure() && unsure.is_none(), "another queue, for all that is known");
        outage.same();
        let gap = outage.over(13 * SECOND_NS, 14 * SECOND_NS, HIDDEN).unwrap();
        let recovery = Recovery::Resumed { messages: 1 };
        assert_eq!(gap, Gap { from_ns: 5, to_ns: 14 * SECOND_NS, recovery });
    }

    #[test]
    fn it_gives_up_in_time_and_begins_anew_after_a_sign_of_life() {
        let mut outage = Outage::new(0, 0, Duration::from_secs(1));
        assert!(outage.failed(SECOND_NS / 2));
        assert!(!outage.failed(SECOND_NS));
        outage.answered(SECOND_NS);
        outage.same();
        assert!(outage.failed(2 * SECOND_NS) && !outage.is_up());
        outage.answered(3 * SECOND_NS);
        assert!(outage.is_unsure(), "it may have been made anew since");
    }
}
