//! One output's queue and thread: what keeps a slow receiver away from the run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};

use crate::{
    account::{Account, Book, Counts},
    failure::{Failure, Took},
    frame::Frame,
};

/// Most frames that wait for one output.
pub const FRAMES_MAX: usize = 30;
/// How long one frame is tried for, nanoseconds.
pub const RETRY_NS: u64 = 10 * SECOND_NS;
/// How long outputs have at the end of a run, nanoseconds.
pub const FLUSH_NS: u64 = 5 * SECOND_NS;
/// How long one attempt may take.
const ATTEMPT_NS_MAX: u64 = 5 * SECOND_NS;
/// How much longer an output's end is waited for: what it gives up when its time is up takes no
/// time.
const GRACE_NS: u64 = 200 * MILLISECOND_NS;
/// The pause after the first failure; each further one is twice as long.
const PAUSE_NS: u64 = 100 * MILLISECOND_NS;
const PAUSE_NS_MAX: u64 = 2 * SECOND_NS;

/// What sends frames, on a thread of its own: it may block as long as it is told.
pub(crate) trait Output: Send {
    /// Whether kept journeys go there.
    fn carries_journeys(&self) -> bool {
        false
    }

    /// Sends a frame's points.
    fn send(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure>;

    /// Sends its journeys, at least one.
    fn send_journeys(&mut self, _: &Frame, _: Duration) -> Result<Took, Failure> {
        Ok(Took::All)
    }

    /// The run has ended: whatever is held goes out.
    fn finish(&mut self, _: Duration) -> Result<(), Failure> {
        Ok(())
    }

    /// How long it may stay after the run besides, nanoseconds.
    fn linger_ns(&self) -> u64 {
        0
    }
}

/// An output's end at the run.
#[derive(Debug)]
pub(crate) struct Outlet {
    what: String,
    carries_journeys: bool,
    linger_ns: u64,
    frames: Option<Sender<Arc<Frame>>>,
    /// Dropped when the run has ended: pauses end then.
    run: Option<Sender<()>>,
    /// Disconnected when the thread has ended.
    done: Receiver<()>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    book: Book,
    /// Until when anything may be sent; far away while the run goes on.
    until_ns: AtomicU64,
}

impl Outlet {
    pub(crate) fn start(what: String, output: Box<dyn Output>) -> std::io::Result<Self> {
        let (frames, queue) = bounded(FRAMES_MAX);
        let (run, over) = bounded(0);
        let (alive, done) = bounded(0);
        let shared = Arc::new(Shared { book: Book::default(), until_ns: AtomicU64::new(u64::MAX) });
        let outlet = Self {
            what,
            carries_journeys: output.carries_journeys(),
            linger_ns: output.linger_ns(),
            frames: Some(frames),
            run: Some(run),
            done,
            shared: Arc::clone(&shared),
        };
        let mut worker = Worker { output, over, shared, held: Counts::default() };
        thread::Builder::new().name("output".to_owned()).spawn(move || {
            // Dropped whatever happens: that is how its end is seen.
            let _alive = alive;
            for frame in queue {
                worker.deliver(&frame);
            }
            worker.finish();
            // Its files and listeners are closed before its end is seen.
            drop(worker);
        })?;
        Ok(outlet)
    }

    /// Puts a frame into the queue, or counts it as dropped.
    pub(crate) fn give(&self, frame: &Arc<Frame>) {
        self.shared.book.give(frame.counts(self.carries_journeys));
        let refused = self.frames.as_ref().and_then(|it| it.try_send(Arc::clone(frame)).err());
        match refused {
            Some(TrySendError::Full(_)) => {
                self.shared.book.fail(format!("{FRAMES_MAX} seconds waited: no room for more"));
            }
            Some(TrySendError::Disconnected(_)) => {
                self.shared.book.fail("its thread has ended".to_owned());
            }
            None => {}
        }
    }

    /// Counts journeys that never came here.
    pub(crate) fn give_beyond(&self, journeys: u64) {
        if self.carries_journeys && journeys > 0 {
            self.shared.book.give(Counts { journeys, ..Counts::default() });
            self.shared.book.fail(format!("{journeys} journeys of one second had no room"));
        }
    }

    /// No frame follows, and what waits has until then.
    pub(crate) fn begin_end(&mut self, until_ns: u64) {
        self.shared.until_ns.store(until_ns.saturating_add(self.linger_ns), Ordering::Release);
        self.frames = None;
        self.run = None;
    }

    /// Waits until then at most. A thread that is not done is left: it ends with the process.
    pub(crate) fn end(self, until_ns: u64) -> Account {
        let until_ns = until_ns.saturating_add(self.linger_ns).saturating_add(GRACE_NS);
        let left_ns = until_ns.saturating_sub(now_ns());
        if let Err(RecvTimeoutError::Timeout) =
            self.done.recv_timeout(Duration::from_nanos(left_ns))
        {
            self.shared.book.fail("not done when its time was up".to_owned());
        }
        self.shared.book.account(&self.what)
    }
}

/// The thread of an output.
struct Worker {
    output: Box<dyn Output>,
    over: Receiver<()>,
    shared: Arc<Shared>,
    /// What the output holds and has not written.
    held: Counts,
}

impl Worker {
    fn deliver(&mut self, frame: &Frame) {
        let counts = frame.counts(self.output.carries_journeys());
        let of_points = Counts { journeys: 0, ..counts };
        match self.attempt(|output, timeout| output.send(frame, timeout)) {
            Some(Took::All) => self.settle(of_points),
            Some(Took::AllBut(refused)) => {
                let points = of_points.points.saturating_sub(refused);
                self.settle(Counts { points, ..of_points });
            }
            Some(Took::Held) => {
                self.held.frames += of_points.frames;
                self.held.points += of_points.points;
            }
            None => {}
        }
        if counts.journeys == 0 {
            return;
        }
        let refused = match self.attempt(|output, timeout| output.send_journeys(frame, timeout)) {
            Some(Took::AllBut(refused)) => refused,
            Some(Took::All | Took::Held) => 0,
            None => counts.journeys,
        };
        let journeys = counts.journeys.saturating_sub(refused);
        self.shared.book.send(Counts { journeys, ..Counts::default() });
    }

    fn settle(&mut self, counts: Counts) {
        self.shared.book.send(counts);
        self.shared.book.send(std::mem::take(&mut self.held));
    }

    /// Tries until it is taken, will never be, or the time is up.
    fn attempt(
        &mut self,
        mut send: impl FnMut(&mut dyn Output, Duration) -> Result<Took, Failure>,
    ) -> Option<Took> {
        let give_up_ns = now_ns() + RETRY_NS;
        let mut pause_ns = PAUSE_NS;
        loop {
            let until_ns = self.shared.until_ns.load(Ordering::Acquire).min(give_up_ns);
            let left_ns = until_ns.saturating_sub(now_ns()).min(ATTEMPT_NS_MAX);
            if left_ns < MILLISECOND_NS {
                return None;
            }
            match send(self.output.as_mut(), Duration::from_nanos(left_ns)) {
                Ok(took) => {
                    if let Took::AllBut(refused) = took {
                        self.shared.book.fail(format!("{refused} were refused by the receiver"));
                    }
                    return Some(took);
                }
                Err(Failure::Never(words)) => {
                    self.shared.book.fail(words);
                    return None;
                }
                Err(Failure::Again(words)) => self.shared.book.fail(words),
            }
            self.pause(pause_ns);
            pause_ns = (pause_ns * 2).min(PAUSE_NS_MAX);
        }
    }

    /// Ends early when the run does; then a short one remains, so that nothing spins.
    fn pause(&self, pause_ns: u64) {
        if let Err(RecvTimeoutError::Disconnected) =
            self.over.recv_timeout(Duration::from_nanos(pause_ns))
        {
            thread::sleep(Duration::from_nanos(PAUSE_NS));
        }
    }

    fn finish(&mut self) {
        let until_ns = self.shared.until_ns.load(Ordering::Acquire);
        let left_ns = until_ns.saturating_sub(now_ns());
        match self.output.finish(Duration::from_nanos(left_ns)) {
            Ok(()) => self.settle(Counts::default()),
            Err(failure) => self.shared.book.fail(failure.to_string()),
        }
    }
}
