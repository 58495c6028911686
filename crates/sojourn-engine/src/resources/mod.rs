//! What the system's own processes, control groups and Prometheus say of its resources, read once a
//! second beside the load.

mod cgroup;
pub(crate) mod parse;
mod process;
mod prometheus;
mod tree;

use std::sync::{Arc, atomic::AtomicBool};

use crossbeam_channel::{Receiver, Sender};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::TlsOptions;
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, names};
use sojourn_plan::{Plan, Resource, ResourceSource};

use crate::{RunError, every_second::every_second, observer::TapReport};
use cgroup::Cgroup;
use process::Process;
use prometheus::Server;

/// Longest wait for all the answers of one second.
const TIMEOUT_NS: u64 = 800 * MILLISECOND_NS;
/// Longest wait for the first answer, before the run.
const FIRST_TIMEOUT_NS: u64 = 5 * SECOND_NS;

/// A figure's name and its value.
type Figure = (&'static str, f64);

/// Why there are no figures.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// What was read is no more.
    Ended,
    /// It could not be read this time.
    Failed(String),
}

/// Everything that is read.
#[derive(Default)]
pub(crate) struct Resources {
    local: Vec<Local>,
    servers: Vec<Server>,
    machine_cores: Option<f64>,
    /// Each resource and what it is, in words without secrets.
    pub(crate) described: Vec<(String, String)>,
}

/// A resource of this machine.
struct Local {
    name: String,
    what: String,
    /// `None`: it has ended.
    source: Option<Source>,
    /// When it was last read, from the run's start.
    read_s: f64,
    /// What went wrong has been told.
    told: bool,
}

enum Source {
    Process(Process),
    Cgroup(Cgroup),
}

impl Source {
    fn read(&mut self, out: &mut Vec<Figure>) -> Result<(), Trouble> {
        match self {
            Self::Process(process) => process.read(out),
            Self::Cgroup(group) => group.read(out),
        }
    }
}

/// What the thread is made with.
pub(crate) struct ResourcesSpec {
    pub(crate) resources: Resources,
    /// Its recorder's own.
    pub(crate) number: u32,
    pub(crate) reports: Sender<TapReport>,
    pub(crate) notes: Sender<String>,
    pub(crate) start: Receiver<u64>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Resources {
    /// All that the plan names. Each is looked at once, so that a process that is not there and a
    /// query that is not understood are said before anything is sent.
    pub(crate) fn open(plan: &Plan, tls: &TlsOptions) -> Result<Self, RunError> {
        let mut resources = Self { machine_cores: machine_cores(), ..Self::default() };
        for resource in &plan.resources {
            resources.add(resource, tls)?;
        }
        for server in &mut resources.servers {
            server.check(FIRST_TIMEOUT_NS).map_err(|why| {
                RunError::new(why, "try the query in Prometheus' own page, at the same URL")
            })?;
        }
        Ok(resources)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.described.is_empty()
    }

    fn add(&mut self, resource: &Resource, tls: &TlsOptions) -> Result<(), RunError> {
        let what = resource.in_words();
        let machine_cores = self.machine_cores.unwrap_or(f64::INFINITY);
        let (source, own_name) = match &resource.source {
            ResourceSource::Process { pid } => {
                let (process, name) = Process::open(*pid, machine_cores)
                    .map_err(|why| RunError::new(why, "name a process that runs: see `pgrep`"))?;
                (Source::Process(process), name)
            }
            ResourceSource::Cgroup { path } => {
                let (group, name) = Cgroup::open(path, machine_cores).map_err(|why| {
                    RunError::new(why, "name a folder below /sys/fs/cgroup: see `systemd-cgls`")
                })?;
                (Source::Cgroup(group), name)
            }
            ResourceSource::Query { prometheus, query } => {
                let name = resource.name.as_deref().unwrap_or_default();
                let prometheus = prometheus.as_ref().ok_or_else(|| {
                    RunError::new(
                        format!("query {name}: nothing says where Prometheus is"),
                        "give --prometheus http://HOST:9090, or `prometheus:` beside `observe:`",
                    )
                })?;
                self.query(name, prometheus, query, tls)
                    .map_err(|why| RunError::new(why, "check the URL, its headers and `tls`"))?;
                return self.describe(name, what);
            }
        };
        let name = resource.name.clone().unwrap_or(own_name);
        self.describe(&name, what.clone())?;
        self.local.push(Local { name, what, source: Some(source), read_s: 0.0, told: false });
        Ok(())
    }

    fn describe(&mut self, name: &str, what: String) -> Result<(), RunError> {
        if let Some((_, other)) = self.described.iter().find(|(known, _)| known == name) {
            return Err(RunError::new(
                format!("two resources are called {name}: {other} and {what}"),
                "give each a name of its own: NAME=PID, NAME=PATH, NAME=PROMQL",
            ));
        }
        self.described.push((name.to_owned(), what));
        Ok(())
    }

    fn query(
        &mut self,
        name: &str,
        prometheus: &Arc<sojourn_plan::Prometheus>,
        query: &str,
        tls: &TlsOptions,
    ) -> Result<(), String> {
        let known = self.servers.iter().position(|server| server.prometheus == *prometheus);
        let place = match known {
            Some(place) => place,
            None => {
                self.servers.push(Server::new(prometheus, tls)?);
                self.servers.len() - 1
            }
        };
        self.servers[place].add(name, query)
    }

    /// Reads what is of this machine.
    fn read_local(&mut self, at_s: f64, recorder: &mut Recorder, notes: &Sender<String>) {
        let machine = self.machine_cores;
        for local in &mut self.local {
            let Some(source) = &mut local.source else { continue };
            let mut figures = Vec::new();
            match source.read(&mut figures) {
                Ok(()) => {
                    local.read_s = at_s;
                    figures.extend(machine.map(|cores| (names::MACHINE_CORES, cores)));
                }
                Err(Trouble::Ended) => {
                    local.source = None;
                    // A full queue of remarks has enough of them.
                    let _ignored = notes.try_send(local.ended(at_s));
                }
                Err(Trouble::Failed(why)) if !local.told => {
                    let Local { name, what, .. } = &*local;
                    let note = format!("{name} ({what}): not read every second: {why}");
                    local.told = notes.try_send(note).is_ok();
                }
                Err(Trouble::Failed(_)) => {}
            }
            for (figure, value) in figures {
                set(recorder, &local.name, figure, value);
            }
        }
    }

    /// Asks the servers.
    fn ask(&mut self, recorder: &mut Recorder, notes: &Sender<String>) {
        let servers = self.servers.len().max(1) as u64;
        for server in &mut self.servers {
            let mut remark = |words| {
                let _ignored = notes.try_send(words);
            };
            for (name, value) in server.read(TIMEOUT_NS / servers, &mut remark) {
                set(recorder, &name, names::VALUE, value);
            }
        }
    }
}

impl Local {
    /// That it is no more, in words.
    fn ended(&self, at_s: f64) -> String {
        let Self { name, what, read_s, .. } = self;
        format!(
            "{name} ({what}) ended between {read_s:.1} s and {at_s:.1} s into the run: it has no \
             figures from there on"
        )
    }
}

/// The thread's body: from the run's start until `stop`.
pub(crate) fn run(spec: ResourcesSpec) {
    let ResourcesSpec { mut resources, number, reports, notes, start, stop } = spec;
    let Ok(start_ns) = start.recv() else {
        // Never started: there is nothing to read.
        return;
    };
    let mut recorder = Recorder::new(number);
    let mut has_begun = false;
    every_second(start_ns, &stop, |now| {
        let at_s = (now - start_ns) as f64 / 1e9;
        if !has_begun {
            // What rates count from; levels at this instant are of no second.
            has_begun = true;
            resources.read_local(at_s, &mut Recorder::new(number), &notes);
            recorder.start_at(start_ns);
            return;
        }
        resources.read_local(at_s, &mut recorder, &notes);
        hand_over(&mut recorder, &reports);
        if !resources.servers.is_empty() {
            resources.ask(&mut recorder, &notes);
            hand_over(&mut recorder, &reports);
        }
    });
}

fn hand_over(recorder: &mut Recorder, reports: &Sender<TapReport>) {
    let snapshot = Box::new(recorder.take(now_ns(), None));
    // A lost snapshot shows as a gap in their numbers.
    let _ignored = reports.try_send(TapReport::Snapshot(snapshot));
}

fn set(recorder: &mut Recorder, resource: &str, figure: &str, value: f64) {
    let tags = [(names::RESOURCE_NAME, resource), (names::FIGURE, figure)];
    let series =
        recorder.series(Kind::Gauge, SeriesKey::new(names::RESOURCE, &tags, SeriesPhase::Any));
    recorder.set(series, value);
}

/// Processors of this machine that are switched on.
fn machine_cores() -> Option<f64> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    parse::processors(&text).map(f64::from)
}

#[cfg(test)]
mod tests;
