//! A run from its creation to its coordinator's end.

use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_clock::{SECOND_NS, now_ns};

use super::unbegun::{self, StuckSince, Unbegun};
use super::{Cluster, LogLines, PodState, Seen, Standing};
use crate::{ClusterError, RunName};

/// How long the cluster may not answer before nobody waits for it any more.
const SILENCE_MAX_NS: u64 = 180 * SECOND_NS;
/// How long a Job may have no pods before it is asked why.
const PODLESS_NS: u64 = 5 * SECOND_NS;

/// How names of the pod's files of results begin.
const IN_POD: &str = " /results/";

/// Hears what goes on: lines for people.
pub type Events = Arc<dyn Fn(&str) + Send + Sync>;

/// How a run ended, as the cluster knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its coordinator did.
    Coordinator {
        /// With this exit code.
        code: u8,
        /// The cluster's word on it.
        reason: String,
        /// Generators that had not begun by then.
        without: Vec<Unbegun>,
    },
    /// Its coordinator's pod is no longer there: deleted, or lost with its node.
    Gone,
    /// Its coordinator never began in time, or one of its pods never will.
    NeverBegan(Unbegun),
}

/// A run that is followed.
pub struct Follow<'a> {
    cluster: &'a Cluster,
    name: &'a RunName,
    generators: u32,
    /// How long the coordinator may take to begin.
    begin_ns: u64,
    say: Events,
    since_ns: u64,
    /// When the cluster last answered.
    heard_ns: u64,
    is_silent: bool,
    was_there: bool,
    stuck: StuckSince,
    /// Why there are not as many generators' pods as there should be.
    refused: Option<String>,
    told: BTreeMap<String, String>,
    log: Option<LogLines>,
    has_log: bool,
}

impl<'a> Follow<'a> {
    /// Follows a run of so many generators, whose coordinator begins within a time.
    pub fn new(
        cluster: &'a Cluster,
        name: &'a RunName,
        generators: u32,
        begin_ns: u64,
        say: Events,
    ) -> Self {
        let now = now_ns();
        Self {
            cluster,
            name,
            generators,
            begin_ns,
            say,
            since_ns: now,
            heard_ns: now,
            is_silent: false,
            was_there: false,
            stuck: StuckSince::default(),
            refused: None,
            told: BTreeMap::new(),
            log: None,
            has_log: false,
        }
    }

    /// Looks once; how the run ended, if it has. To be called every second or so.
    ///
    /// # Errors
    /// The cluster has not answered for minutes. The run does not mind.
    pub fn look(&mut self) -> Result<Option<Ended>, ClusterError> {
        match self.cluster.look(self.name) {
            Ok(seen) => {
                self.heard_ns = now_ns();
                if std::mem::take(&mut self.is_silent) {
                    (self.say)("the cluster answers again");
                }
                Ok(self.seen(&seen))
            }
            Err(error) if now_ns() - self.heard_ns > SILENCE_MAX_NS => Err(error),
            Err(error) => {
                if !std::mem::replace(&mut self.is_silent, true) {
                    (self.say)(&format!("the cluster does not answer, asked again: {error}"));
                }
                Ok(None)
            }
        }
    }

    fn seen(&mut self, seen: &Seen) -> Option<Ended> {
        for pod in &seen.generators {
            self.tell(&format!("generator {}", pod.number()), pod);
        }
        let is_late = now_ns() - self.since_ns > PODLESS_NS;
        if is_late && (seen.generators.len() as u64) < u64::from(self.generators) {
            let why = self.tell_refusal(&self.name.generators(), "generators");
            self.refused = why.or_else(|| self.refused.take());
        }
        let stuck = self.stuck.note(seen, now_ns());
        let Some(coordinator) = &seen.coordinator else {
            return match self.was_there {
                true => Some(Ended::Gone),
                false => self.never_began(is_late),
            };
        };
        self.was_there = true;
        self.tell("coordinator", coordinator);
        match &coordinator.standing {
            Standing::Pending(why) | Standing::Stuck(why) => {
                let is_too_late = now_ns() - self.since_ns > self.begin_ns;
                let late = is_too_late.then(|| the_coordinator(why.clone()));
                stuck.or(late).map(Ended::NeverBegan)
            }
            Standing::Running => {
                self.hear();
                stuck.map(Ended::NeverBegan)
            }
            Standing::Ended { code, reason } => {
                if !self.has_log {
                    self.hear();
                }
                self.await_log();
                let without = unbegun::generators(seen, self.generators, self.refused.as_deref());
                Some(Ended::Coordinator { code: *code, reason: reason.clone(), without })
            }
        }
    }

    fn never_began(&mut self, is_late: bool) -> Option<Ended> {
        let why = if is_late { self.tell_refusal(self.name.as_str(), "coordinator") } else { None };
        let is_too_late = now_ns() - self.since_ns > self.begin_ns;
        let why = why.unwrap_or_else(|| "the Job controller made no pod for it".to_owned());
        is_too_late.then(|| Ended::NeverBegan(the_coordinator(why)))
    }

    /// Tells how a pod stands, when that has changed.
    fn tell(&mut self, who: &str, pod: &PodState) {
        let node = pod.node.as_ref().map_or_else(String::new, |node| format!(" on {node}"));
        self.tell_words(who, format!("{}{node}", pod.standing));
    }

    fn tell_words(&mut self, who: &str, words: String) {
        if self.told.get(who) != Some(&words) {
            (self.say)(&format!("{who:<13} {words}"));
            self.told.insert(who.to_owned(), words);
        }
    }

    /// Tells why a Job has no pods, if the cluster says so.
    fn tell_refusal(&mut self, job: &str, who: &str) -> Option<String> {
        // It is asked again, as is everything.
        let why = self.cluster.refusal(job).ok().flatten()?;
        self.tell_words(who, format!("not made: {why}"));
        Some(why)
    }

    /// Hands on what the coordinator says; from the beginning, unless the log ended before it did.
    fn hear(&mut self) {
        if self.log.as_ref().is_some_and(|log| !log.is_over()) {
            return;
        }
        let since = if self.has_log { Some("2s") } else { None };
        let say = Arc::clone(&self.say);
        // Where its files are in the pod helps nobody here.
        let say = move |line: &str| {
            if !line.contains(IN_POD) {
                say(line);
            }
        };
        // Without the log there is still the result.
        self.log = self.cluster.follow_log(self.name, since, say).ok();
        self.has_log = self.log.is_some();
    }

    /// Waits until the log of a coordinator that has ended is through, seconds at most.
    fn await_log(&mut self) {
        let until_ns = now_ns() + 5 * SECOND_NS;
        while self.log.as_ref().is_some_and(|log| !log.is_over()) && now_ns() < until_ns {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        self.log = None;
    }
}

fn the_coordinator(why: String) -> Unbegun {
    Unbegun { who: "the coordinator".to_owned(), why }
}
