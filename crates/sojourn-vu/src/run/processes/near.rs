//! The conductor's side of a process.

use std::io::{BufReader, ErrorKind};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::Sender;
use sojourn_engine::Processes;
use sojourn_engine::remote::{Launched, launch, read_message, write_message};
use sojourn_k6::metrics::{Registry, TagSets};

use super::{FromProcess, SILENT_NS_MAX, ToProcess, fingerprint};
use crate::settings::{Counted, Settings};
use crate::thread::{Member, Order, Report};

/// How long the end of a process is waited for that has said its last.
const END_WITHIN: Duration = Duration::from_secs(2);

/// A process that has been told what to do.
pub(in crate::run) struct Process {
    settings: Arc<Settings>,
    launched: Launched,
    hearing: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts all of them, or tells those that have come; they report under the numbers from
    /// `first` on. Fails when the system gives no process or thread.
    pub(in crate::run) fn start_all(
        asked: &Processes,
        settings: &Arc<Settings>,
        options: &str,
        first: Member,
        reports: &Sender<(Member, Report)>,
    ) -> Result<Vec<Self>, String> {
        let registry =
            settings.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let registry = Arc::new(registry);
        let fingerprint = fingerprint(settings, &registry);
        let all = launch(asked, settings.anchor).map_err(|error| error.to_string())?;
        let begun = (first..).zip(all).map(|(member, launched)| {
            let hearing = Hearing {
                member,
                settings: Arc::clone(settings),
                registry: Arc::clone(&registry),
                reports: reports.clone(),
                counted: Counted::default(),
                silent: silent(&launched),
            };
            let test = ToProcess::Test { options: options.to_owned(), fingerprint };
            Self::begin(launched, &test, hearing)
        });
        begun.collect()
    }

    fn begin(launched: Launched, test: &ToProcess, hearing: Hearing) -> Result<Self, String> {
        let number = launched.number();
        let settings = Arc::clone(&hearing.settings);
        let mut process = Self { settings, launched, hearing: None };
        let from = process.launched.socket.try_clone().map_err(|error| error.to_string())?;
        // One that reads nothing can't be told anything: it is lost, and keeps nobody waiting.
        let socket = &process.launched.socket;
        socket.set_write_timeout(Some(hearing.silent)).map_err(|error| error.to_string())?;
        process.say(test);
        let hearing = std::thread::Builder::new()
            .name(format!("process-{number}"))
            .spawn(move || hearing.hear(from))
            .map_err(|error| error.to_string())?;
        process.hearing = Some(hearing);
        Ok(process)
    }

    /// Tells it. One that is gone is found out by whoever hears it.
    pub(in crate::run) fn tell(&mut self, order: &Order) {
        match order {
            Order::Start { start_ns } => self.say(&ToProcess::Start { start_ns: *start_ns }),
            Order::Steer(steer) => self.say(&ToProcess::Steer(*steer)),
            Order::HandOver => self.say(&ToProcess::HandOver),
            Order::Stop => self.say(&ToProcess::Stop),
            Order::End => self.end(),
            // Functions that are called once are the conductor's own.
            Order::Call { .. } | Order::CutCall => {}
        }
    }

    /// Tells it what `setup` returned.
    pub(in crate::run) fn hand_setup_data(&mut self) {
        let data = self.settings.setup_data.get().cloned().flatten();
        self.say(&ToProcess::SetupData(data));
    }

    fn say(&mut self, message: &ToProcess) {
        if write_message(&mut self.launched.socket, message).is_err() {
            // It has heard half of something: nothing that it does from here on counts.
            self.launched.socket.shutdown(Shutdown::Both).ok();
        }
    }

    /// As people know it.
    pub(in crate::run) fn name(&self) -> String {
        self.launched.name()
    }

    /// Whether it is heard of: one whose connection is cut may come back.
    pub(in crate::run) fn is_heard_of(&self) -> bool {
        self.launched.is_heard_of()
    }

    /// It is told nothing more, which ends it.
    pub(in crate::run) fn end(&mut self) {
        self.launched.socket.shutdown(Shutdown::Write).ok();
    }

    /// Whether it has ended, and all that it said has been heard.
    pub(in crate::run) fn has_ended(&mut self) -> bool {
        let is_heard = self.hearing.as_ref().is_none_or(JoinHandle::is_finished);
        is_heard && self.launched.has_ended()
    }

    /// Ends it at once.
    pub(in crate::run) fn kill(&mut self) {
        self.launched.kill();
        self.launched.socket.shutdown(Shutdown::Both).ok();
    }

    /// What is said of its loss: `why`, or how it ended.
    pub(in crate::run) fn loss(&mut self, why: Option<String>) -> String {
        let name = self.name();
        match why {
            Some(why) => format!("{name} {why}"),
            None => format!("{name} ended early ({})", self.launched.how_it_ended(END_WITHIN)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if let Some(hearing) = self.hearing.take() {
            hearing.join().ok();
        }
    }
}

/// Who has said nothing for so long is lost.
fn silent(launched: &Launched) -> Duration {
    let here = Duration::from_nanos(SILENT_NS_MAX);
    launched.patience().map_or(here, |patience| patience.max(here))
}

/// The thread that hears a process.
struct Hearing {
    member: Member,
    settings: Arc<Settings>,
    registry: Arc<Registry>,
    reports: Sender<(Member, Report)>,
    /// What it has told of.
    counted: Counted,
    /// How long it may say nothing.
    silent: Duration,
}

impl Hearing {
    /// Until it says nothing more.
    fn hear(mut self, socket: UnixStream) {
        let mut sets = TagSets::new(self.registry.matcher());
        let mut from = BufReader::new(socket);
        let mut is_first = true;
        let why = loop {
            match read_message(&mut from) {
                Ok(Some(message)) => match self.report(message, &mut sets) {
                    Ok(Some(report)) => self.pass_on(report),
                    Ok(None) => {}
                    Err(why) => break Some(why),
                },
                Ok(None) => break None,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    break Some(format!("has said nothing for {} s", self.silent.as_secs()));
                }
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break None,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break None,
                Err(error) => break Some(format!("can't be understood: {error}")),
            }
            if std::mem::take(&mut is_first) {
                // The script's top level may have taken long before it; from here on it says
                // something now and then.
                from.get_ref().set_read_timeout(Some(self.silent)).ok();
            }
        };
        // Its users are gone.
        let left = Counted { active: 0, initialised: 0, ..self.counted };
        self.settings.progress.count_in(self.counted, left);
        self.pass_on(Report::Lost(why));
    }

    fn pass_on(&self, report: Report) {
        // A conductor that is gone needs none.
        self.reports.send((self.member, report)).ok();
    }

    /// What is to be reported of a message; why it is none.
    fn report(
        &mut self,
        message: FromProcess,
        sets: &mut TagSets,
    ) -> Result<Option<Report>, String> {
        let progress = &self.settings.progress;
        Ok(match message {
            FromProcess::Leaves(why) => return Err(why),
            FromProcess::Ready => Some(Report::Ready),
            FromProcess::Counted(counted) => {
                progress.count_in(self.counted, counted);
                self.counted = counted;
                None
            }
            FromProcess::Aborted(reason) => {
                // The first one counts.
                progress.aborted.set(reason).ok();
                None
            }
            FromProcess::Marked(reason) => {
                progress.failed.set(reason).ok();
                None
            }
            FromProcess::Line { is_script, line } => {
                self.settings.console.pass_on(is_script, &line);
                None
            }
            FromProcess::Account { account, samples, is_asked } => {
                if account.as_ref().is_some_and(|account| !account.delta.is_of(&self.registry)) {
                    return Err("tells of metrics that there are not".to_owned());
                }
                let samples = samples.into_samples(sets, &self.registry);
                let samples = samples.map_err(|error| format!("tells of {error}"))?;
                Some(Report::Account { account, samples, is_asked })
            }
            FromProcess::Finished => Some(Report::Finished),
            FromProcess::Failed(why) => Some(Report::Failed(why)),
        })
    }
}
