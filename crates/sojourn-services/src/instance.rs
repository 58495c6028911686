//! One process of a server: started, waited for, stopped, killed, started again.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use sojourn_clock::{SECOND_NS, now_ns};
use tempfile::TempDir;

use crate::guardian::Guardian;
use crate::process::{Process, descendants};

/// How long a server may take until it answers, on a machine with much else to do.
const START_NS_MAX: u64 = 120 * SECOND_NS;
/// How long an orderly end may take.
const STOP_NS_MAX: u64 = 30 * SECOND_NS;
const PAUSE: Duration = Duration::from_millis(10);
/// How much of a log an error shows, in bytes.
const LOG_SHOWN_MAX: u64 = 3000;

type Ready = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

/// How a process is started, again and again.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    user: Option<u32>,
    stop: Signal,
    orderly: bool,
}

impl Launch {
    pub(crate) fn new(program: PathBuf) -> Self {
        let (arguments, environment) = (Vec::new(), Vec::new());
        Self { program, arguments, environment, user: None, stop: Signal::TERM, orderly: false }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// As this user, if any is given.
    pub(crate) fn user(mut self, user: Option<u32>) -> Self {
        self.user = user;
        self
    }

    /// Ended orderly by this signal instead of SIGTERM.
    pub(crate) fn stop_by(mut self, signal: Signal) -> Self {
        self.stop = signal;
        self
    }

    /// Stopped, not killed, when dropped: killed, it would leave something behind on the machine.
    pub(crate) fn orderly(mut self) -> Self {
        self.orderly = true;
        self
    }

    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }
}

/// One process with its folder and its log. Dropped, it is ended and the folder removed.
pub struct Instance {
    name: &'static str,
    launch: Launch,
    ready: Ready,
    running: Option<Running>,
    log: PathBuf,
    // Dropped last: nothing may write into it any more.
    folder: TempDir,
}

struct Running {
    child: Child,
    process: Process,
    guardian: Guardian,
}

impl Instance {
    /// Starts it and waits until `ready` finds that it answers.
    pub(crate) fn start(
        name: &'static str,
        folder: TempDir,
        launch: Launch,
        ready: impl Fn() -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let log = folder.path().join(format!("{name}.log"));
        let ready = Box::new(ready);
        let mut instance = Self { name, launch, ready, running: None, log, folder };
        instance.restart()?;
        Ok(instance)
    }

    /// Where its files lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What it says, over all its starts.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The process at work, if any.
    pub fn process(&self) -> Option<Process> {
        self.running.as_ref().map(|running| running.process)
    }

    /// Starts it where it was, with the same files and ports, and waits until it answers; one that
    /// runs is stopped before.
    ///
    /// # Errors
    /// It ends, or does not answer in two minutes; the text shows the end of its log.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        let log = OpenOptions::new().create(true).append(true).open(&self.log)?;
        let mut command = self.launch.command(self.folder.path());
        command.stdout(log.try_clone()?).stderr(log).process_group(0);
        let child = command.spawn().map_err(|error| {
            io::Error::other(format!("cannot start {}: {error}", self.launch.program.display()))
        })?;
        self.running = Some(self.guard(child)?);
        let deadline_ns = now_ns() + START_NS_MAX;
        loop {
            let failure = match (self.ready)() {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            if let Some(status) = self.ended()? {
                self.running = None;
                return Err(self.failure(&format!("ended with {status} instead of starting")));
            }
            if now_ns() > deadline_ns {
                self.kill();
                return Err(self.failure(&format!("does not answer in two minutes ({failure})")));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn guard(&self, mut child: Child) -> io::Result<Running> {
        // One that has ended already keeps its entry until it is waited for, so it is not lost.
        let process =
            Process::of(child.id()).unwrap_or_else(|| Process { pid: child.id(), start_ticks: 0 });
        let signal = match self.launch.stop {
            Signal::INT => "INT",
            Signal::QUIT => "QUIT",
            _ => "TERM",
        };
        match Guardian::watch(process, self.folder.path(), signal) {
            Ok(guardian) => Ok(Running { child, process, guardian }),
            Err(error) => {
                process.kill();
                child.wait()?;
                Err(error)
            }
        }
    }

    fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.running.as_mut().map_or(Ok(None), |running| running.child.try_wait())
    }

    fn failure(&self, what: &str) -> io::Error {
        let tail = self.log_tail().unwrap_or_else(|error| error.to_string());
        let log = self.log.display();
        io::Error::other(format!("{} {what}; the end of its log {log}:\n{tail}", self.name))
    }

    fn log_tail(&self) -> io::Result<String> {
        let mut file = File::open(&self.log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_SHOWN_MAX)))?;
        let mut bytes = Vec::new();
        file.take(LOG_SHOWN_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Asks it to end and waits for it; kills it after half a minute. One that has ended stays so.
    pub fn stop(&mut self) {
        let Some(running) = &mut self.running else { return };
        running.process.signal(self.launch.stop);
        let deadline_ns = now_ns() + STOP_NS_MAX;
        while matches!(running.child.try_wait(), Ok(None)) && now_ns() < deadline_ns {
            std::thread::sleep(PAUSE);
        }
        self.kill();
    }

    /// Ends it at once with all that it started, as a power cut would, and waits until it is gone.
    pub fn kill(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let family = descendants(running.process);
        for process in &family {
            process.kill();
        }
        drop(running.child.wait());
        let deadline_ns = now_ns() + STOP_NS_MAX;
        while family.iter().any(|process| process.is_alive()) && now_ns() < deadline_ns {
            std::thread::sleep(PAUSE);
        }
        drop(running.guardian);
    }

    /// Halts it as it is (SIGSTOP): connections stay, nothing is answered.
    pub fn pause(&self) {
        self.signal_family(Signal::STOP);
    }

    /// Lets it go on after [`Instance::pause`].
    pub fn resume(&self) {
        self.signal_family(Signal::CONT);
    }

    fn signal_family(&self, signal: Signal) {
        for process in self.process().map(descendants).into_iter().flatten() {
            process.signal(signal);
        }
    }

    /// Leaves it running after our own end; the folder stays.
    pub(crate) fn detach(mut self) -> Option<(Process, PathBuf)> {
        let running = self.running.take()?;
        self.folder.disable_cleanup(true);
        Some((running.process, self.folder.path().to_owned()))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.launch.orderly {
            self.stop();
        }
        self.kill();
    }
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Instance");
        shown.field("name", &self.name).field("process", &self.process());
        shown.field("folder", &self.folder.path()).finish_non_exhaustive()
    }
}
