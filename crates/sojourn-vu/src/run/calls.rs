//! Calling what a script exports for once: `setup`, `teardown`, `handleSummary`.

use sojourn_clock::now_ns;
use sojourn_k6::exit_code::ExitCode;

use super::answers::LOOK_NS;
use super::ask::Stage;
use super::conduct::Conductor;
use super::test::RunError;
use super::verdict::files;
use crate::thread::{Order, Report};
use crate::user::{JobEnd, UNFIT_SUMMARY};

impl Conductor<'_> {
    /// Calls `setup`, if it is to be called; what it returned, or what somebody gave in its place.
    pub(super) fn set_up(&mut self) -> Result<Option<String>, RunError> {
        self.outside.stage = Stage::Setup;
        if let Some(given) = self.outside.setup_data.clone() {
            return Ok(given);
        }
        if self.settings.options.no_setup.unwrap_or(false) {
            return Ok(None);
        }
        self.set_up_now()
    }

    /// Calls `setup`, if there is one.
    pub(super) fn set_up_now(&mut self) -> Result<Option<String>, RunError> {
        if !self.exports("setup") {
            return Ok(None);
        }
        let limit_ns = self.settings.options.setup_timeout_or_default().ns();
        Ok(self.call("setup", None, limit_ns, ExitCode::SetupTimeout)?.value)
    }

    /// Calls `teardown`, if there is one.
    pub(super) fn tear_down_now(&mut self, setup_data: Option<String>) -> Result<(), RunError> {
        if !self.exports("teardown") {
            return Ok(());
        }
        let limit_ns = self.settings.options.teardown_timeout_or_default().ns();
        self.call("teardown", setup_data, limit_ns, ExitCode::TeardownTimeout).map(|_| ())
    }

    /// Whether the script exports this function.
    pub(super) fn exports(&self, function: &str) -> bool {
        self.settings.functions.iter().any(|known| known == function)
    }

    /// Calls `handleSummary`; what it returned.
    pub(super) fn summarise(&mut self, data: String) -> Option<Vec<(String, Vec<u8>)>> {
        let limit_ns = self.settings.options.handle_summary_timeout_or_default().ns();
        let called = self.call("handleSummary", Some(data), limit_ns, ExitCode::GenericTimeout);
        match called {
            Ok(ended) => files(&ended.value?),
            // Nothing of it is written, and the usual summary is not told either.
            Err(error) if error.message.starts_with(UNFIT_SUMMARY) => {
                let told = "failed to handle the end-of-test summary";
                self.settings.console.failure(told, &[("error", &error.message)]);
                Some(Vec::new())
            }
            Err(error) => {
                self.settings.console.failure(&error.message, &error.fields);
                None
            }
        }
    }

    /// Calls an exported function on the first thread. Whoever asks meanwhile is answered; `setup`
    /// is cut when somebody ends the test, the others only when it is to end at once.
    fn call(
        &mut self,
        function: &'static str,
        argument: Option<String>,
        limit_ns: u64,
        timeout: ExitCode,
    ) -> Result<JobEnd, RunError> {
        self.crew.tell_caller(Order::Call { function, argument });
        self.outside.is_calling = true;
        let deadline_ns = now_ns().saturating_add(limit_ns);
        let mut cut = None;
        let ended = loop {
            if let Some((_, Report::Called(ended))) = self.next(LOOK_NS)? {
                break ended;
            }
            self.answer()?;
            if cut.is_some() {
                continue;
            }
            cut = match self.stopped_early() {
                Some(stopped) if function == "setup" || (self.stop)() > 1 => Some(stopped),
                _ if now_ns() >= deadline_ns => {
                    Some(RunError::timeout(timeout, function, limit_ns))
                }
                _ => None,
            };
            if cut.is_some() {
                self.crew.tell_caller(Order::CutCall);
            }
        };
        self.outside.is_calling = false;
        let aborted = self.settings.progress.aborted.get();
        match (&ended.error, cut) {
            _ if aborted.is_some() => {
                Err(RunError::new(ExitCode::ScriptAborted, aborted.cloned().unwrap_or_default()))
            }
            (Some(_), Some(cut)) => Err(cut),
            (Some(error), None) => Err(RunError::exception(error)),
            (None, _) => Ok(ended),
        }
    }
}
