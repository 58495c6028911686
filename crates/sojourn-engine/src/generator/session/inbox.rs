//! Events on their way from taps to the generators whose clients may wait for them. Those of
//! another process have an inbox together on this side of its link, and one each on the other.
//!
//! Beside the events goes how far each tap has seen: an instant is told after all events of before
//! it were passed on, so whoever has read it and then emptied the inbox has had them all.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use sojourn_broker::RawMessage;
use sojourn_http::Waker;
use sojourn_session::EventLoad;

use super::awaiting::bytes_of;
use crate::follow::{Fit, Listener};

/// Events that wait for a generator; a further one is refused, which makes the run void.
const EVENTS_MAX: usize = 262_144;
/// Bytes of them, likewise. A first one always has room.
const BYTES_MAX: usize = 64 << 20;

/// An event that fits a stage at least.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Arrived {
    /// When it was received, CLOCK_MONOTONIC nanoseconds.
    pub(crate) stamp_ns: u64,
    /// Stages that it fits.
    pub(crate) fits: SmallVec<[StageFit; 1]>,
    /// Empty where nothing is taken out of it.
    pub(crate) headers: Vec<(String, String)>,
    /// Likewise.
    pub(crate) body: Box<[u8]>,
}

/// A declared stage, the key that the event has for it, and what tells it from others of the key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StageFit {
    pub(crate) stage: u16,
    pub(crate) key: Arc<[u8]>,
    pub(crate) member: Option<u64>,
}

/// The taps' end, and that of a link from them: every event goes to every generator, since nobody
/// else knows whose it is.
pub(crate) struct Inboxes {
    load: EventLoad,
    ends: Vec<End>,
    seen: Seen,
}

/// Of each channel of the plan: the instant before which its tap has passed everything on.
type Seen = Arc<[AtomicU64]>;

struct End {
    sender: Sender<Arc<Arrived>>,
    waiting: Arc<Waiting>,
    waker: Arc<OnceLock<Waker>>,
}

/// What both ends of an inbox count.
#[derive(Debug, Default)]
struct Waiting {
    /// Of events in it.
    bytes: AtomicUsize,
    /// Events that found no room, since this was last taken.
    refused: AtomicU64,
}

/// A generator's end.
#[derive(Debug)]
pub(crate) struct Inbox {
    arrived: Receiver<Arc<Arrived>>,
    waiting: Arc<Waiting>,
    seen: Seen,
    /// Of each channel: up to when everything has been taken out.
    taken_ns: Vec<u64>,
    /// Likewise once so many further events have been taken.
    next_ns: Vec<u64>,
    until_next: usize,
}

impl Inbox {
    /// Events that found no room, since this was last asked.
    pub(crate) fn take_refused(&self) -> u64 {
        self.waiting.refused.swap(0, Ordering::Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Takes out at most so many events.
    pub(crate) fn take(&mut self, most: usize, mut each: impl FnMut(Arc<Arrived>)) {
        if self.until_next == 0 {
            // In this order: what was passed on before these instants were told is counted.
            self.next_ns.clear();
            self.next_ns.extend(self.seen.iter().map(|seen| seen.load(Ordering::Acquire)));
            self.until_next = self.arrived.len();
        }
        for _ in 0..self.until_next.min(most) {
            let Ok(arrived) = self.arrived.try_recv() else { break };
            self.until_next -= 1;
            self.waiting.bytes.fetch_sub(size_of(&arrived), Ordering::Relaxed);
            each(arrived);
        }
        if self.until_next == 0 {
            self.taken_ns.clone_from(&self.next_ns);
        }
    }

    /// Of each channel: all events of before this instant have been taken out.
    pub(crate) fn taken_ns(&self) -> &[u64] {
        &self.taken_ns
    }

    /// Waits for an event, for so long at most; false when there will be no further one.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let mut select = crossbeam_channel::Select::new();
        select.recv(&self.arrived);
        // Ready means an event or that nobody sends any more.
        select.ready_timeout(timeout).is_err() || !self.arrived.is_empty()
    }
}

impl Inboxes {
    pub(crate) fn new(load: EventLoad) -> Self {
        let channels = load.channels.iter().flatten().max().map_or(0, |&last| last + 1);
        let seen = (0..channels).map(|_| AtomicU64::default()).collect();
        Self { load, ends: Vec::new(), seen }
    }

    /// Another generator's inbox; its waker may come later.
    pub(crate) fn inbox(&mut self, waker: &Arc<OnceLock<Waker>>) -> Inbox {
        let (sender, arrived) = bounded(EVENTS_MAX);
        let waiting = Arc::<Waiting>::default();
        self.ends.push(End { sender, waiting: Arc::clone(&waiting), waker: Arc::clone(waker) });
        let (seen, taken_ns) = (Arc::clone(&self.seen), vec![0; self.seen.len()]);
        Inbox { arrived, waiting, seen, taken_ns, next_ns: Vec::new(), until_next: 0 }
    }

    /// The inbox of a process of generators, which its link empties.
    pub(crate) fn of_process(&mut self) -> Inbox {
        self.inbox(&Arc::default())
    }

    /// Puts an event into every inbox.
    pub(crate) fn pass(&self, arrived: &Arc<Arrived>) {
        let size = size_of(arrived);
        for end in &self.ends {
            let bytes = end.waiting.bytes.fetch_add(size, Ordering::Relaxed);
            let has_room = bytes == 0 || bytes + size <= BYTES_MAX;
            if !has_room || end.sender.try_send(Arc::clone(arrived)).is_err() {
                end.waiting.bytes.fetch_sub(size, Ordering::Relaxed);
                end.waiting.refused.fetch_add(1, Ordering::Relaxed);
            }
            if let Some(waker) = end.waker.get() {
                waker.wake();
            }
        }
    }

    /// Says how far the channels' taps have seen: all events of before have been passed.
    pub(crate) fn seen(&self, seen_ns: &[u64]) {
        for (seen, &ns) in self.seen.iter().zip(seen_ns) {
            seen.store(ns, Ordering::Release);
        }
    }

    /// Counts events that found no room on the way here, with the first generator's.
    pub(crate) fn refused(&self, count: u64) {
        if let Some(end) = self.ends.first() {
            end.waiting.refused.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The declared stages that an event fits, each once: several journeys may have the same.
    fn fits(&self, fits: &[Fit<'_>]) -> SmallVec<[StageFit; 1]> {
        let mut found: SmallVec<[StageFit; 1]> = SmallVec::new();
        for fit in fits {
            let stages = self.load.stages.get(usize::from(fit.kind));
            let Some(&stage) = stages.and_then(|of| of.get(usize::from(fit.stage))) else {
                continue;
            };
            if !found.iter().any(|known| known.stage == stage && *known.key == *fit.key) {
                found.push(StageFit { stage, key: fit.key.into(), member: fit.member });
            }
        }
        found
    }
}

impl Listener for Inboxes {
    fn event(&self, stamp_ns: u64, fits: &[Fit<'_>], message: &RawMessage<'_>) {
        let fits = self.fits(fits);
        let is_kept = |fit: &StageFit| self.load.is_kept.get(usize::from(fit.stage)) == Some(&true);
        let is_kept = fits.iter().any(is_kept);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = message.headers.iter().filter(|_| is_kept);
        let headers = headers.map(|(name, value)| ((*name).to_owned(), text(value))).collect();
        let body: &[u8] = if is_kept { message.payload } else { &[] };
        self.pass(&Arc::new(Arrived { stamp_ns, fits, headers, body: body.into() }));
    }

    fn seen(&self, channel: usize, seen_ns: u64) {
        if let Some(seen) = self.seen.get(channel) {
            seen.store(seen_ns, Ordering::Release);
        }
    }
}

fn size_of(arrived: &Arrived) -> usize {
    let keys: usize = arrived.fits.iter().map(|fit| fit.key.len()).sum();
    bytes_of(arrived, &[]) + keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inboxes(channels: usize) -> Inboxes {
        Inboxes::new(EventLoad {
            published: Vec::new(),
            expected: Vec::new(),
            sessions: 0,
            stages: Vec::new(),
            is_kept: Vec::new(),
            channels: (0..channels).map(Some).collect(),
        })
    }

    fn event(stamp_ns: u64, bytes: usize) -> Arc<Arrived> {
        let body = vec![0; bytes].into();
        Arc::new(Arrived { stamp_ns, fits: SmallVec::new(), headers: Vec::new(), body })
    }

    #[test]
    fn an_instant_counts_once_all_events_of_before_it_are_out() {
        let mut inboxes = inboxes(2);
        let mut inbox = inboxes.inbox(&Arc::default());
        (0..5).for_each(|stamp_ns| inboxes.pass(&event(stamp_ns, 0)));
        Listener::seen(&inboxes, 1, 5);
        let mut came = Vec::new();
        inbox.take(3, |arrived| came.push(arrived.stamp_ns));
        assert_eq!((inbox.taken_ns(), &*came), (&[0, 0][..], &[0, 1, 2][..]));
        // One that comes meanwhile does not delay what was told before it.
        inboxes.pass(&event(7, 0));
        Listener::seen(&inboxes, 0, 9);
        inbox.take(3, |arrived| came.push(arrived.stamp_ns));
        assert_eq!((inbox.taken_ns(), came.len()), (&[0, 5][..], 5));
        inbox.take(3, |arrived| came.push(arrived.stamp_ns));
        assert_eq!((inbox.taken_ns(), came.last()), (&[9, 5][..], Some(&7)));
    }

    #[test]
    fn bytes_are_bounded_and_a_first_event_always_has_room() {
        let mut inboxes = inboxes(0);
        let mut inbox = inboxes.inbox(&Arc::default());
        inboxes.pass(&event(1, BYTES_MAX + 1));
        inboxes.pass(&event(2, 10));
        assert_eq!(inbox.take_refused(), 1);
        inbox.take(9, |_| {});
        (0..9).for_each(|number| inboxes.pass(&event(number, BYTES_MAX / 4)));
        let mut came = 0;
        inbox.take(9, |_| came += 1);
        assert_eq!((came, inbox.take_refused()), (3, 6));
        assert_eq!(inbox.waiting.bytes.load(Ordering::Relaxed), 0);
    }
}
