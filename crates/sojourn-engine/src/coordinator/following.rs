//! The life of a run whose journeys others begin: beside the script that does.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, bounded};
use sojourn_broker::Registry;
use sojourn_plan::Plan;

use super::{
    Coordinator, Ended, Measured, begin,
    launch::{FollowedLaunch, Launched, launch_following},
};
use crate::{
    Progress, RunError, RunOptions, Stop,
    follow::{EndedJourney, FollowSource, Kinds, Listener},
    run_file::check_writable,
};

/// Ends of journeys that wait to be taken.
const ENDS_MAX: usize = 262_144;

/// Is told of each second of a run, on the coordinator's thread.
pub type Onlooker = Box<dyn FnMut(&Plan, &Progress<'_>) + Send>;

/// A run whose journeys others begin. Dropped before its end it is ended at once.
pub struct Following {
    plan: Arc<Plan>,
    options: RunOptions,
    kinds: Arc<Kinds>,
    ends: Receiver<EndedJourney>,
    is_over: Arc<AtomicBool>,
    stop: Stop,
    onlooker: Option<Onlooker>,
    life: Life,
}

enum Life {
    /// Everything stands and waits.
    Launched(Box<Launched>),
    /// The coordinator has a thread of its own.
    Going(JoinHandle<Result<Ended, RunError>>),
    Gone,
}

/// Prepares a run whose journeys are begun by `sources` threads, each with its source. Of `pattern`
/// there count the channels, the limits of health, and the stages of its first journey: kinds of
/// journeys choose theirs from those when they come into being. Channels on which no stage is seen
/// are not listened to. Errs when a tap can't be opened or the run file can't be written.
pub fn follow(
    pattern: &Plan,
    options: &RunOptions,
    registry: &Registry,
    sources: u32,
    listener: Option<Arc<dyn Listener>>,
) -> Result<(Following, Vec<FollowSource>), RunError> {
    check_writable(options.run_file.as_deref())?;
    let plan = Arc::new(Plan { journeys: Vec::new(), load: Vec::new(), ..pattern.clone() });
    let stages = pattern.journeys.first().map_or_else(Vec::new, |journey| journey.stages.clone());
    let kinds = Arc::new(Kinds::new(stages));
    let is_over = Arc::new(AtomicBool::new(false));
    let (ends_sender, ends) = bounded(ENDS_MAX);
    let what = FollowedLaunch {
        pattern,
        plan: &plan,
        options,
        sources,
        kinds: &kinds,
        ends: ends_sender,
        listener,
        is_over: &is_over,
    };
    let (launched, made) = launch_following(what, registry)?;
    let following = Following {
        plan,
        options: options.clone(),
        kinds,
        ends,
        is_over,
        stop: Stop::default(),
        onlooker: None,
        life: Life::Launched(Box::new(launched)),
    };
    Ok((following, made))
}

impl Following {
    /// The kinds of journeys so far.
    pub fn kinds(&self) -> &Arc<Kinds> {
        &self.kinds
    }

    /// Journeys that have ended since this was last asked. Whoever does not ask often enough has
    /// the run void: their number is bounded.
    pub fn ended(&self) -> impl Iterator<Item = EndedJourney> + '_ {
        self.ends.try_iter()
    }

    /// Has somebody look on, from the beginning.
    pub fn looked_on_by(&mut self, onlooker: Onlooker) {
        self.onlooker = Some(onlooker);
    }

    /// Starts the run and returns when it has: from now on events are seen, and journeys may begin.
    pub fn begin(&mut self) -> Result<(), RunError> {
        let Life::Launched(launched) = std::mem::replace(&mut self.life, Life::Gone) else {
            return Ok(());
        };
        let mut launched = *launched;
        let book = begin(&self.plan, &self.options, &mut launched)?;
        let start_ns = launched.start_ns;
        let (plan, stop) = (Arc::clone(&self.plan), self.stop.clone());
        let kinds = Arc::clone(&self.kinds);
        let mut onlooker = self.onlooker.take();
        let body = move || {
            let mut tell = |progress: &Progress<'_>| {
                if let Some(onlooker) = &mut onlooker {
                    onlooker(&plan, progress);
                }
            };
            let coordinator = Coordinator {
                plan: &plan,
                keeps_the_book: false,
                kinds: Some(kinds),
                launched,
                book,
                stop: &stop,
                stop_told: false,
            };
            let Measured { summary, book, launched } = coordinator.conduct(&mut tell)?;
            let figures = book.finish(&summary)?;
            launched.join();
            Ok(Ended { summary, figures })
        };
        let thread = std::thread::Builder::new().name("journeys".to_owned()).spawn(body);
        let thread = thread.map_err(|error| {
            RunError::new(format!("cannot make thread journeys: {error}"), "check ulimit -u")
        })?;
        self.life = Life::Going(thread);
        sojourn_clock::sleep_until(start_ns);
        Ok(())
    }

    /// No further journey begins.
    pub fn over(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Gives up what is in flight.
    pub fn give_up(&self) {
        self.stop.request();
        self.stop.request();
    }

    /// Whether the run has ended: after [`Self::over`], when nothing is in flight any more.
    pub fn has_ended(&self) -> bool {
        !matches!(&self.life, Life::Going(thread) if !thread.is_finished())
    }

    /// Waits for the run's end; what it came to. Errs when its file could not be written.
    pub fn finish(mut self) -> Result<Ended, RunError> {
        self.over();
        match std::mem::replace(&mut self.life, Life::Gone) {
            Life::Going(thread) => thread.join().unwrap_or_else(|payload| {
                let message = super::panic::message(payload.as_ref());
                Err(RunError::new(format!("thread journeys panicked: {message}"), "report this"))
            }),
            Life::Launched(_) | Life::Gone => {
                Err(RunError::new("the run of journeys never began", "report this"))
            }
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.over();
        self.give_up();
        if let Life::Going(thread) = std::mem::replace(&mut self.life, Life::Gone) {
            // Whoever drops it unfinished has something worse to tell.
            let _ignored = thread.join();
        }
    }
}

impl std::fmt::Debug for Following {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Following").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
