//! A thread that begins journeys, as a source of facts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_ledger::{Batch, Fact, Followed, JourneyId, Key, Phase, SourceId};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};

use super::{Expected, Kinds};
use crate::generator::{Outbox, Rhythm};
use crate::health::ThreadHealth;
use crate::last_word::hand_over;
use crate::link::{FromGenerator, ToGenerator};

/// Facts that wait for a place in the ledger's channel.
const FACTS_MAX: usize = 1_000_000;

/// How often facts are sent: nobody waits for what the ledger decides.
const RHYTHM: Rhythm = Rhythm::RELAXED;

/// A journey that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// Whose it is, where that is said.
    pub label: Option<&'a [u8]>,
    /// When it was due, CLOCK_MONOTONIC nanoseconds.
    pub t0_ns: u64,
    /// When it began.
    pub t1_ns: u64,
}

/// See the module's page. Belongs to one thread, which gives it a [`Self::turn`] every few
/// milliseconds: without them the ledger's time stands still.
pub struct FollowSource {
    index: u32,
    ends: SourceEnds,
    outbox: Outbox,
    recorder: Recorder,
    /// Made on the thread that it is about.
    health: Option<ThreadHealth>,
    busy_max: f64,
    lag: SeriesId,
    /// By kind; those that this source has begun.
    counters: Vec<Option<[SeriesId; 2]>>,
    /// Kinds that this source has asked for.
    known: Vec<(Expected, u16)>,
    begun: u64,
    last_t0_ns: u64,
    snapshot_ns: u64,
    state: State,
}

/// What a source is connected with.
pub(crate) struct SourceEnds {
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) reports: Sender<(u32, FromGenerator)>,
    pub(crate) control: Receiver<ToGenerator>,
    /// No further journey begins.
    pub(crate) is_over: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Going,
    /// It has said that no further journey begins.
    Over,
    Ended,
}

impl FollowSource {
    pub(crate) fn new(
        index: u32,
        source: SourceId,
        facts: Sender<Batch>,
        ends: SourceEnds,
        busy_max: f64,
    ) -> Self {
        let mut recorder = Recorder::new(u32::from(source.0));
        let lag = SeriesKey::new(names::LAG, &[], SeriesPhase::Steady);
        let lag = recorder.series(Kind::Trend, lag);
        Self {
            index,
            ends,
            outbox: Outbox::new(source, facts, FACTS_MAX),
            recorder,
            health: None,
            busy_max,
            lag,
            counters: Vec::new(),
            known: Vec::new(),
            begun: 0,
            last_t0_ns: 0,
            snapshot_ns: u64::MAX,
            state: State::Waiting,
        }
    }

    /// The number of a kind; see [`Kinds::declare`].
    pub fn kind(&mut self, expected: &Expected) -> Result<u16, String> {
        if let Some((_, number)) = self.known.iter().find(|(known, _)| known == expected) {
            return Ok(*number);
        }
        let number = self.ends.kinds.declare(expected)?;
        self.known.push((expected.clone(), number));
        Ok(number)
    }

    /// Has a journey followed from now on, with what has come of it already. Errs when its key is
    /// empty, or when nothing is followed any more.
    pub fn follow(&mut self, kind: u16, begun: &Begun<'_>) -> Result<(), String> {
        if self.state == State::Waiting {
            // The run has begun; its word of that is under way.
            self.start(Duration::from_secs(5));
        }
        if self.state != State::Going {
            return Err("journeys are not followed any more".to_owned());
        }
        let key = Key::new(begun.key).ok_or("a journey's key is not empty")?;
        let journey = JourneyId(u64::from(self.index) << 48 | self.begun);
        self.begun += 1;
        self.last_t0_ns = self.last_t0_ns.max(begun.t0_ns);
        let [scheduled, started] = self.counters(kind);
        self.recorder.add(scheduled, 1);
        self.recorder.add(started, 1);
        self.recorder.record(self.lag, begun.t1_ns.saturating_sub(begun.t0_ns));
        let followed = Followed {
            journey,
            kind,
            phase: Phase::Steady,
            t0_ns: begun.t0_ns,
            t1_ns: begun.t1_ns,
            deadline_from_ns: begun.t0_ns,
            key,
            label: begun.label.and_then(Key::new),
        };
        self.outbox.push(now_ns(), Fact::Followed(Box::new(followed)));
        Ok(())
    }

    /// Does what is due; when something is next.
    pub fn turn(&mut self, now_ns: u64) -> u64 {
        match self.state {
            State::Ended => return u64::MAX,
            State::Waiting => self.start(Duration::ZERO),
            State::Going | State::Over => {}
        }
        while let Ok(message) = self.ends.control.try_recv() {
            if message == ToGenerator::Abort {
                self.end();
                return u64::MAX;
            }
        }
        if self.state == State::Waiting {
            return now_ns + 10 * MILLISECOND_NS;
        }
        let next_ns = self.outbox.flush_in(RHYTHM, now_ns, now_ns);
        if self.state == State::Going && self.ends.is_over.load(Ordering::SeqCst) {
            self.state = State::Over;
            let last_t0_ns = self.last_t0_ns;
            let done =
                FromGenerator::ArrivalsDone { last_t0_ns, load_end_ns: now_ns, at_ns: now_ns };
            self.tell(done);
        }
        if now_ns >= self.snapshot_ns {
            self.snapshot_ns += SECOND_NS * (1 + (now_ns - self.snapshot_ns) / SECOND_NS);
            let snapshot = self.snapshot(now_ns);
            // A lost snapshot shows as a gap in their numbers, which makes the run void.
            let _ignored = self.ends.reports.try_send((self.index, snapshot));
        }
        next_ns.min(self.snapshot_ns)
    }

    fn start(&mut self, wait: Duration) {
        let Ok(message) = self.ends.control.recv_timeout(wait) else { return };
        let ToGenerator::Start { at_ns } = message else {
            return self.end();
        };
        self.recorder.start_at(at_ns);
        self.snapshot_ns = at_ns + SECOND_NS;
        self.last_t0_ns = at_ns;
        let health = ThreadHealth::new(&format!("users {}", self.index), &mut self.recorder);
        self.health = Some(health.watch(self.busy_max, &mut self.recorder));
        self.state = State::Going;
    }

    /// Hands everything over and ends.
    fn end(&mut self) {
        self.state = State::Ended;
        let now_ns = now_ns();
        self.outbox.finish(now_ns);
        let snapshot = self.snapshot(now_ns);
        let handed = hand_over(&self.ends.reports, (self.index, snapshot));
        self.tell(FromGenerator::Ended(handed));
    }

    fn tell(&self, report: FromGenerator) {
        // Waits for a place; refused only when the coordinator has gone.
        let _ignored = hand_over(&self.ends.reports, (self.index, report));
    }

    fn snapshot(&mut self, now_ns: u64) -> FromGenerator {
        let refused = self.outbox.take_refused();
        if let Some(health) = &mut self.health {
            health.measure(now_ns, &mut self.recorder);
            health.refused("facts to the ledger", refused, &mut self.recorder);
        }
        FromGenerator::Snapshot(Box::new(self.recorder.take(now_ns, None)))
    }

    /// Journeys scheduled and started, of a kind.
    fn counters(&mut self, kind: u16) -> [SeriesId; 2] {
        let at = usize::from(kind);
        if self.counters.len() <= at {
            self.counters.resize(at + 1, None);
        }
        let (kinds, recorder) = (&self.ends.kinds, &mut self.recorder);
        *self.counters[at].get_or_insert_with(|| {
            let name = kinds.name(kind).unwrap_or_default();
            [names::JOURNEYS_SCHEDULED, names::JOURNEYS_STARTED].map(|metric| {
                let tags = [(names::JOURNEY, name.as_str())];
                let key = SeriesKey::new(metric, &tags, SeriesPhase::Steady);
                recorder.series(Kind::Counter, key)
            })
        })
    }
}

impl std::fmt::Debug for FollowSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FollowSource")
            .field("index", &self.index)
            .field("begun", &self.begun)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
