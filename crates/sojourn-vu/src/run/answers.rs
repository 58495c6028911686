//! How a test answers what is asked of it from outside, and waits to be resumed.

use crossbeam_channel::Receiver;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_k6::executors::Executor;
use sojourn_k6::exit_code::ExitCode;

use super::ask::{Answer, Ask, Change, Figures, Stage, Status, Wish};
use super::conduct::Conductor;
use super::test::RunError;
use super::verdict::STOPPED_BY_REST;
use crate::thread::{Order, Steer};

/// How often is looked for what is asked while nothing else goes on, ns.
pub(super) const LOOK_NS: u64 = 20 * MILLISECOND_NS;

/// What is known of the outside.
pub(super) struct Outside {
    /// Where it asks; nobody does without.
    pub(super) asks: Option<Receiver<Ask>>,
    pub(super) stage: Stage,
    /// The test waits to be resumed before it begins.
    is_paused: bool,
    /// A function of the script's is being called: no other is called beside it.
    pub(super) is_calling: bool,
    /// Its end was asked for.
    pub(super) is_stopped: bool,
    /// What the externally controlled scenario has been told, if there is one.
    steer: Option<Steer>,
    /// What is to be taken for `setup`'s result.
    pub(super) setup_data: Option<Option<String>>,
    /// From the scenarios' start to the end, ns, once all has ended.
    pub(super) elapsed_ns: Option<u64>,
}

impl Outside {
    /// Before a test's beginning.
    pub(super) fn new(
        asks: Option<Receiver<Ask>>,
        is_paused: bool,
        scenarios: &[sojourn_k6::executors::Scenario],
    ) -> Self {
        let steer = scenarios.iter().find_map(|scenario| match scenario.executor {
            Executor::ExternallyControlled { vus, max_vus, .. } => {
                Some(Steer { vus, vus_max: max_vus, is_paused: false })
            }
            _ => None,
        });
        let stage = Stage::Initialising;
        let (is_calling, is_stopped, setup_data, elapsed_ns) = (false, false, None, None);
        Self { asks, stage, is_paused, is_calling, is_stopped, steer, setup_data, elapsed_ns }
    }
}

impl Conductor<'_> {
    /// Waits until somebody resumes a test that begins paused.
    pub(super) fn wait_for_resumption(&mut self) -> Result<(), RunError> {
        if !self.outside.is_paused {
            return Ok(());
        }
        self.outside.stage = Stage::PausedBeforeRun;
        let told = "the test is paused: it begins when somebody resumes it (sojourn k6 resume)";
        self.settings.console.info(told);
        while self.outside.is_paused {
            if let Some(stopped) = self.stopped_early() {
                return Err(stopped);
            }
            if let Some(lost) = self.crew.lost() {
                return Err(RunError::new(ExitCode::Panic, lost));
            }
            self.answer()?;
            self.idle()?;
        }
        Ok(())
    }

    /// The error that a test ends with whose end is asked for before its scenarios.
    pub(super) fn stopped_early(&self) -> Option<RunError> {
        if (self.stop)() > 0 {
            return Some(RunError::new(ExitCode::ExternalAbort, "stopped by a signal"));
        }
        let asked = || RunError::new(ExitCode::StoppedByRest, STOPPED_BY_REST);
        self.outside.is_stopped.then(asked)
    }

    /// Stays after the end until it is told to go.
    pub(super) fn linger(&mut self) -> Result<(), RunError> {
        let asked_before = (self.stop)();
        if asked_before > 0 || self.outside.is_stopped {
            return Ok(());
        }
        self.settings.console.info("the test is done and lingers: Ctrl-C ends it");
        while (self.stop)() == asked_before && !self.outside.is_stopped {
            self.answer()?;
            self.idle()?;
        }
        Ok(())
    }

    /// Threads go on meanwhile, and may have something to say.
    fn idle(&mut self) -> Result<(), RunError> {
        self.next(LOOK_NS).map(|_| ())
    }

    /// Answers all that has been asked.
    pub(super) fn answer(&mut self) -> Result<(), RunError> {
        while let Some(Ok(ask)) = self.outside.asks.as_ref().map(Receiver::try_recv) {
            let answer = self.answer_to(ask.what)?;
            // Whoever asked may have gone.
            ask.answer.try_send(answer).ok();
        }
        Ok(())
    }

    fn answer_to(&mut self, wish: Wish) -> Result<Answer, RunError> {
        Ok(match wish {
            Wish::Status => Answer::Status(self.status()),
            Wish::Change(change) => match self.change(change) {
                Ok(()) => Answer::Status(self.status()),
                Err(why) => Answer::Refused(why),
            },
            Wish::Figures => {
                self.collect_accounts()?;
                let so_far_ns = self.begun_ns().map(|ns| now_ns().saturating_sub(ns));
                Answer::Figures(Box::new(Figures {
                    registry: self.registry.clone(),
                    totals: self.totals.clone(),
                    thresholds: self.thresholds.clone(),
                    elapsed_ns: self.outside.elapsed_ns.or(so_far_ns).unwrap_or(0),
                }))
            }
            Wish::SetupData => {
                let known = self.settings.setup_data.get().cloned();
                Answer::SetupData(known.or_else(|| self.outside.setup_data.clone()).flatten())
            }
            Wish::SetSetupData(_) | Wish::CallSetup | Wish::CallTeardown
                if self.outside.is_calling =>
            {
                let told = "a function of the script is being called: ask again when it has ended";
                Answer::Refused(told.to_owned())
            }
            Wish::SetSetupData(data) if self.begun_ns().is_none() => {
                self.outside.setup_data = Some(data.clone());
                Answer::SetupData(data)
            }
            Wish::SetSetupData(_) => Answer::Refused("the scenarios have begun".to_owned()),
            Wish::CallSetup => match self.outside.stage {
                Stage::PausedBeforeRun => self.called(Self::call_setup)?,
                _ => Answer::Refused("setup() is called only before the test begins".to_owned()),
            },
            Wish::CallTeardown => match self.outside.stage {
                Stage::PausedBeforeRun | Stage::Ended => self.called(Self::call_teardown)?,
                _ => Answer::Refused("the test runs and calls teardown() itself".to_owned()),
            },
        })
    }

    /// A function of the script has been called: an exception is an answer, not the test's end.
    fn called(
        &mut self,
        call: fn(&mut Self) -> Result<Answer, RunError>,
    ) -> Result<Answer, RunError> {
        Ok(call(self).unwrap_or_else(|error| Answer::Refused(error.message)))
    }

    fn call_setup(&mut self) -> Result<Answer, RunError> {
        let data = self.set_up_now()?;
        self.outside.setup_data = Some(data.clone());
        Ok(Answer::SetupData(data))
    }

    fn call_teardown(&mut self) -> Result<Answer, RunError> {
        let known = self.settings.setup_data.get().cloned();
        let data = known.or_else(|| self.outside.setup_data.clone()).flatten();
        self.tear_down_now(data)?;
        Ok(Answer::Done)
    }

    fn status(&self) -> Status {
        let outside = &self.outside;
        let figures = self.figures(0);
        let steered = outside.steer.map(|steer| (steer.is_paused, steer.vus_max));
        Status {
            stage: outside.stage,
            is_paused: outside.is_paused || steered.is_some_and(|(is_paused, _)| is_paused),
            vus: figures.vus,
            vus_max: steered.map_or(figures.vus_max, |(_, most)| most.max(figures.vus_max)),
            is_stopped: outside.is_stopped,
            is_tainted: self.thresholds.iter().any(|own| own.thresholds.iter().any(|one| !one.ok)),
        }
    }

    fn change(&mut self, change: Change) -> Result<(), String> {
        if change.stopped == Some(true) {
            self.outside.is_stopped = true;
            return Ok(());
        }
        let steers = change.vus.is_some() || change.vus_max.is_some();
        let has_begun = self.begun_ns().is_some();
        let is_so = change.paused.is_none_or(|is_paused| is_paused == self.status().is_paused);
        if !steers && is_so {
            return Ok(());
        }
        if !steers && !has_begun && self.outside.stage != Stage::Setup {
            self.outside.is_paused = change.paused.unwrap_or(self.outside.is_paused);
            return Ok(());
        }
        let Some(before) = self.outside.steer else {
            return Err(if steers {
                "users are changed from outside only in a scenario of the executor \
                 externally-controlled, and this test has none"
            } else {
                "a test that has begun is paused only where it has a scenario of the executor \
                 externally-controlled"
            }
            .to_owned());
        };
        let mut after = before;
        after.vus_max = change.vus_max.unwrap_or(before.vus_max);
        after.vus = change.vus.unwrap_or_else(|| before.vus.min(after.vus_max));
        if after.vus > after.vus_max {
            return Err(format!("{} users are more than vus-max, {}", after.vus, after.vus_max));
        }
        match change.paused {
            Some(is_paused) if has_begun => after.is_paused = is_paused,
            Some(_) if self.outside.stage == Stage::Setup => {
                return Err("setup() is being called: pause when it has ended".to_owned());
            }
            Some(is_paused) => self.outside.is_paused = is_paused,
            None => {}
        }
        self.outside.steer = Some(after);
        self.crew.tell_all(|| Order::Steer(after));
        Ok(())
    }
}
