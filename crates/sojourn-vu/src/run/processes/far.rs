//! A process's own side: its share of the users, and what it tells of them.

use std::collections::VecDeque;
use std::io::{self, BufReader, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, select};
use serde_json::Value;
use sojourn_clock::{Anchor, MILLISECOND_NS, now_ns};
use sojourn_engine::remote::{OwnLink, read_message, write_message};
use sojourn_engine::{Joined, Stop};
use sojourn_k6::metrics::{CarriedSamples, Sample, ShardOptions, SystemTags};
use sojourn_k6::options::Consolidated;

use super::{COUNTED_EVERY_NS, FromProcess, SAID_EVERY_NS, ToProcess, fingerprint};
use crate::console::LogSink;
use crate::run::collect::Collected;
use crate::run::settle::settle;
use crate::run::threads::{Equipment, GONE, REPORTS_MAX, Threads};
use crate::run::{SAMPLES_MAX, client};
use crate::settings::{Counted, Role, Settings};
use crate::thread::{Account, Member, Order, Report, Steer};

/// Orders that may wait: those that are obeyed at once, and seldom given.
const ORDERS_MAX: usize = 64;

/// What is said where scenarios never began.
const UNBEGUN: &str = "the test ended before it began: the coordinator says why";

/// What is said of a process that was told to end by somebody else than the conductor.
const LEAVES: &str = "was asked to end (SIGTERM or Ctrl-C)";

/// How often a process looks what its threads have counted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a process does of a test, everything decided.
pub struct Share {
    /// What the script's top level made here.
    pub collected: Collected,
    /// Options and scenarios of its segment.
    pub consolidated: Consolidated,
    /// Which tags are set.
    pub system_tags: SystemTags,
    /// Thresholds are left out.
    pub no_thresholds: bool,
    /// Percentiles of all samples, whatever the memory.
    pub exact: bool,
    /// Scenarios and groups have accounts of their own.
    pub is_full: bool,
    /// How many threads.
    pub threads: usize,
    /// Whether samples are wanted, by outputs of the conductor's.
    pub has_outputs: bool,
}

/// The link of a process that takes part in another one's test.
pub struct ShareLink {
    number: u32,
    of: u32,
    options: Value,
    fingerprint: u64,
    anchor: Anchor,
    /// Where this process is asked to end, if anybody may.
    stop: Option<Stop>,
    to: Arc<Writer>,
    from: BufReader<UnixStream>,
}

/// What may be written to by every thread.
struct Writer {
    socket: Mutex<UnixStream>,
    /// Whether lines of the log are told: the conductor has told those of the beginning itself.
    is_told: AtomicBool,
}

impl Writer {
    fn say(&self, message: &FromProcess) -> io::Result<()> {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        write_message(&mut *socket, message)
    }
}

impl ShareLink {
    /// Hears what the test is. The error says why there is none.
    pub fn begin(joined: Joined) -> Result<Self, String> {
        let OwnLink { number, of, anchor, stop, to, mut from } = joined.into_link();
        match read_message(&mut from).map_err(|error| error.to_string())? {
            Some(ToProcess::Test { options, fingerprint }) => {
                let options = serde_json::from_str(&options).map_err(|error| error.to_string())?;
                let writer = Writer { socket: Mutex::new(to), is_told: AtomicBool::new(false) };
                let to = Arc::new(writer);
                Ok(Self { number, of, options, fingerprint, anchor, stop, to, from })
            }
            _ => Err(UNBEGUN.to_owned()),
        }
    }

    /// The process's number, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many there are.
    pub fn of(&self) -> u32 {
        self.of
    }

    /// The script's exported options, as the conductor found them.
    pub fn options(&self) -> &Value {
        &self.options
    }

    /// Where lines go: of the log, or of what the script prints where that goes elsewhere.
    pub fn lines(&self, is_script: bool) -> LogSink {
        Box::new(Lines { to: Arc::clone(&self.to), is_script })
    }

    /// Says why this process can't take part.
    pub fn refuse(&self, why: &str) {
        // A conductor that is gone needs no words.
        self.to.say(&FromProcess::Leaves(format!("can't take part: {why}"))).ok();
    }
}

/// A log that another process writes.
struct Lines {
    to: Arc<Writer>,
    is_script: bool,
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.to.is_told.load(Ordering::Relaxed) {
            self.to.say(&FromProcess::Line { is_script: self.is_script, line: line.to_vec() })?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs its share of the users until the conductor ends it. The error says why there were none; the
/// conductor has been told.
pub fn take_part(share: Share, link: ShareLink) -> Result<(), String> {
    let ShareLink { number, of, fingerprint: expected, anchor, stop, to, from, .. } = link;
    let refuse = |why: String| {
        to.say(&FromProcess::Leaves(format!("can't take part: {why}"))).ok();
        why
    };
    let role = Role::Shares { of };
    let Share { mut collected, consolidated, system_tags, no_thresholds, .. } = share;
    collected.settings.anchor = anchor;
    let settled = settle(collected, &consolidated, system_tags, no_thresholds, role);
    let (settings, _) = settled.map_err(|error| refuse(error.message))?;
    let registry = settings.registry.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if fingerprint(&settings, &registry) != expected {
        return Err(refuse(
            "the script's top level has declared other metrics, or exported other functions, than \
             in the process that conducts the test: it must do the same whenever it is run"
                .to_owned(),
        ));
    }
    let samples_max = if share.has_outputs { SAMPLES_MAX } else { 0 };
    let shard = ShardOptions { is_exact: share.exact, is_full: share.is_full, samples_max };
    let equipment = Equipment {
        settings: Arc::clone(&settings),
        client: client::config(&settings.options, &settings.tls, &settings.proxies),
        matcher: registry.matcher(),
        shard,
    };
    to.is_told.store(true, Ordering::Relaxed);
    let threads = share.threads.max(1);
    let threads = Threads::start(threads, &equipment, Vec::new(), bounded(REPORTS_MAX));
    let threads = threads.map_err(refuse)?;
    let process = Process { number, stop, ..Process::new(Arc::clone(&settings), threads, to) };
    let ended = process.run(from);
    settings.journeys.members.leave();
    #[cfg(feature = "kafka")]
    settings.kafka.leave_groups();
    let has_begun = settings.progress.start_ns.load(Ordering::Relaxed) > 0;
    match ended {
        // Whether it is the test's end or the conductor's is known to who carries the link.
        Err(error) if is_closed(&error) && has_begun => Ok(()),
        Err(error) if is_closed(&error) => Err(UNBEGUN.to_owned()),
        ended => ended.map_err(|error| error.to_string()),
    }
}

/// Whether the conductor hears nothing more, or says nothing more.
fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

/// Why threads hand their accounts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// The conductor has asked.
    Asked,
    /// All of them have finished.
    Last,
}

/// Between the conductor and the threads.
struct Process {
    /// From 0.
    number: u32,
    /// Where this process is asked to end, if anybody may: then it is on another machine.
    stop: Option<Stop>,
    settings: Arc<Settings>,
    threads: Threads,
    to: Arc<Writer>,
    /// How many threads have said so.
    ready: usize,
    finished: usize,
    /// Of all threads, since the last answer.
    gathered: Account,
    /// Rounds of accounts under way.
    rounds: VecDeque<Round>,
    /// How many accounts each thread has handed over, of those rounds that are under way.
    handed_over: Vec<usize>,
    counted: Counted,
    /// When something was last said of that, ns.
    said_ns: u64,
    is_abort_told: bool,
    is_mark_told: bool,
    /// It has been asked to end, and does.
    is_leaving: bool,
}

impl Process {
    fn new(settings: Arc<Settings>, threads: Threads, to: Arc<Writer>) -> Self {
        let handed_over = vec![0; threads.count()];
        Self {
            number: 0,
            stop: None,
            settings,
            threads,
            to,
            ready: 0,
            finished: 0,
            gathered: Account::default(),
            rounds: VecDeque::new(),
            handed_over,
            counted: Counted::default(),
            said_ns: 0,
            is_abort_told: false,
            is_mark_told: false,
            is_leaving: false,
        }
    }

    /// Until the conductor says no more, or can't be told: a broken pipe. Or until this process is
    /// asked to end.
    fn run(mut self, from: BufReader<UnixStream>) -> io::Result<()> {
        let orders = orders(from);
        let reports = self.threads.reports.clone();
        loop {
            self.leave_if_asked()?;
            self.tell_state(false)?;
            select! {
                recv(orders) -> order => match order {
                    Ok(order) => self.obey(order),
                    Err(_) => return Err(ErrorKind::BrokenPipe.into()),
                },
                recv(reports) -> report => {
                    if let Ok((thread, report)) = report {
                        self.pass_on(thread, report)?;
                    }
                }
                default(LOOK_EVERY) => {
                    if self.threads.gone() {
                        self.to.say(&FromProcess::Leaves(format!("ends: {GONE}")))?;
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Ends its scenarios when somebody else than the conductor asks for that, and leaves once all
    /// that they account for has been told.
    fn leave_if_asked(&mut self) -> io::Result<()> {
        if self.is_leaving || !self.stop.as_ref().is_some_and(Stop::graceful) {
            return Ok(());
        }
        self.is_leaving = true;
        let has_begun = self.settings.progress.start_ns.load(Ordering::Relaxed) > 0;
        if !has_begun || self.finished == self.threads.count() {
            return self.leave();
        }
        self.threads.tell_all(|| Order::Stop);
        Ok(())
    }

    fn leave(&self) -> io::Result<()> {
        self.to.say(&FromProcess::Leaves(LEAVES.to_owned()))?;
        Err(io::Error::other("interrupted: the test goes on without it, or ends"))
    }

    fn obey(&mut self, order: ToProcess) {
        match order {
            ToProcess::SetupData(data) => {
                // Nobody else sets it.
                self.settings.setup_data.set(data).ok();
            }
            ToProcess::Start { start_ns } => {
                self.settings.progress.start_ns.store(start_ns, Ordering::Relaxed);
                self.tell_delay(start_ns);
                self.threads.tell_all(|| Order::Start { start_ns });
            }
            ToProcess::Steer(Steer { vus, vus_max, is_paused }) => {
                let users = &self.settings.users;
                let (vus, vus_max) = (users.scale(vus), users.scale(vus_max));
                self.threads.tell_all(|| Order::Steer(Steer { vus, vus_max, is_paused }));
            }
            ToProcess::HandOver => self.hand_over(Round::Asked),
            ToProcess::Stop => self.threads.tell_all(|| Order::Stop),
            // It has been heard.
            ToProcess::Test { .. } => {}
        }
    }

    /// Says so where the start was heard of after it: its users begin late then.
    fn tell_delay(&self, start_ns: u64) {
        let late_ns = now_ns().saturating_sub(start_ns);
        if self.stop.is_some() && late_ns > 0 {
            let (number, late_ms) = (self.number, late_ns as f64 / MILLISECOND_NS as f64);
            let told =
                format!("generator process {number} heard of the start {late_ms:.1} ms late");
            self.settings.console.warn(&told);
        }
    }

    fn hand_over(&mut self, round: Round) {
        self.rounds.push_back(round);
        self.threads.tell_all(|| Order::HandOver);
    }

    /// Passes on what a thread reports.
    fn pass_on(&mut self, thread: Member, report: Report) -> io::Result<()> {
        match report {
            Report::Ready => {
                self.ready += 1;
                if self.ready == self.threads.count() {
                    self.tell_state(true)?;
                    self.to.say(&FromProcess::Ready)?;
                }
            }
            Report::Account { account, samples, is_asked } => {
                self.tell_samples(&samples)?;
                if let Some(account) = account {
                    self.gathered.merge(*account);
                }
                if is_asked {
                    self.handed_over[thread] += 1;
                    self.end_round()?;
                }
            }
            Report::Finished => {
                self.finished += 1;
                if self.finished == self.threads.count() {
                    self.hand_over(Round::Last);
                }
            }
            Report::Failed(why) => self.to.say(&FromProcess::Failed(why))?,
            // Nobody calls functions here, and no process is a process's own.
            Report::Called(_) | Report::Lost(_) => {}
        }
        Ok(())
    }

    fn tell_samples(&self, samples: &[Sample]) -> io::Result<()> {
        if samples.is_empty() {
            return Ok(());
        }
        let samples = CarriedSamples::new(samples);
        self.to.say(&FromProcess::Account { account: None, samples, is_asked: false })
    }

    /// Tells the account of a round that every thread has had its part in.
    fn end_round(&mut self) -> io::Result<()> {
        if self.handed_over.contains(&0) {
            return Ok(());
        }
        self.handed_over.iter_mut().for_each(|count| *count -= 1);
        let round = self.rounds.pop_front();
        self.tell_state(true)?;
        let account = Some(Box::new(std::mem::take(&mut self.gathered)));
        let is_asked = round == Some(Round::Asked);
        let samples = CarriedSamples::default();
        self.to.say(&FromProcess::Account { account, samples, is_asked })?;
        match round {
            Some(Round::Last) if self.is_leaving => self.leave(),
            Some(Round::Last) => self.to.say(&FromProcess::Finished),
            _ => Ok(()),
        }
    }

    /// Tells what has been counted and asked for since; at once, or now and then.
    fn tell_state(&mut self, at_once: bool) -> io::Result<()> {
        let progress = &self.settings.progress;
        if !self.is_abort_told
            && let Some(reason) = progress.aborted.get()
        {
            self.is_abort_told = true;
            self.to.say(&FromProcess::Aborted(reason.clone()))?;
        }
        if !self.is_mark_told
            && let Some(reason) = progress.failed.get()
        {
            self.is_mark_told = true;
            self.to.say(&FromProcess::Marked(reason.clone()))?;
        }
        let since_ns = now_ns().saturating_sub(self.said_ns);
        if !at_once && since_ns < COUNTED_EVERY_NS {
            return Ok(());
        }
        let counted = self.settings.counted();
        if at_once || counted != self.counted || since_ns >= SAID_EVERY_NS {
            self.said_ns = now_ns();
            self.counted = counted;
            self.to.say(&FromProcess::Counted(counted))?;
        }
        Ok(())
    }
}

/// What the conductor says, from a thread of its own, until it says no more.
fn orders(mut from: BufReader<UnixStream>) -> Receiver<ToProcess> {
    let (to, orders) = bounded(ORDERS_MAX);
    std::thread::spawn(move || {
        while let Ok(Some(order)) = read_message(&mut from) {
            if to.send(order).is_err() {
                return;
            }
        }
        // Whoever writes hears that nobody reads.
        from.get_ref().shutdown(Shutdown::Both).ok();
    });
    orders
}
