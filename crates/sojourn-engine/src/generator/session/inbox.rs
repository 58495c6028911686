//! Events on their way from taps to the generators whose clients may wait for them. Those of
//! another process have an inbox together on this side of its link, and one each on the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use sojourn_broker::RawMessage;
use sojourn_http::Waker;
use sojourn_session::EventLoad;

use crate::follow::{Fit, Listener};

/// Events that wait for a generator; a further one is refused, which makes the run void.
const EVENTS_MAX: usize = 262_144;

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
}

struct End {
    sender: Sender<Arc<Arrived>>,
    refused: Arc<AtomicU64>,
    waker: Arc<OnceLock<Waker>>,
}

/// A generator's end.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) arrived: Receiver<Arc<Arrived>>,
    /// Events that found no room, since this was last taken.
    pub(crate) refused: Arc<AtomicU64>,
}

impl Inbox {
    /// Events that found no room, since this was last asked.
    pub(crate) fn take_refused(&self) -> u64 {
        self.refused.swap(0, Ordering::Relaxed)
    }
}

impl Inboxes {
    pub(crate) fn new(load: EventLoad) -> Self {
        Self { load, ends: Vec::new() }
    }

    /// Another generator's inbox; its waker may come later.
    pub(crate) fn inbox(&mut self, waker: &Arc<OnceLock<Waker>>) -> Inbox {
        let (sender, arrived) = bounded(EVENTS_MAX);
        let refused = Arc::<AtomicU64>::default();
        let end = End { sender, refused: Arc::clone(&refused), waker: Arc::clone(waker) };
        self.ends.push(end);
        Inbox { arrived, refused }
    }

    /// The inbox of a process of generators, which its link empties.
    pub(crate) fn of_process(&mut self) -> Inbox {
        self.inbox(&Arc::default())
    }

    /// Puts an event into every inbox.
    pub(crate) fn pass(&self, arrived: &Arc<Arrived>) {
        for end in &self.ends {
            if end.sender.try_send(Arc::clone(arrived)).is_err() {
                end.refused.fetch_add(1, Ordering::Relaxed);
            }
            if let Some(waker) = end.waker.get() {
                waker.wake();
            }
        }
    }

    /// Counts events that found no room on the way here, with the first generator's.
    pub(crate) fn refused(&self, count: u64) {
        if let Some(end) = self.ends.first() {
            end.refused.fetch_add(count, Ordering::Relaxed);
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
}
