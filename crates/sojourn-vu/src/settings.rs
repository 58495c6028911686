//! What holds for a whole test, decided before it begins and shared by all threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use sojourn_clock::{Anchor, SECOND_NS};
use sojourn_http::{Proxies, TlsOptions};
use sojourn_k6::executors::{Scenario, Stripes};
use sojourn_k6::metrics::{Registry, SystemTags};
use sojourn_k6::options::Options;
use sojourn_script::{Bundle, Limits};

use crate::console::Console;
use crate::journeys::Shared;
use crate::modules::grpc::Protos;
use crate::open_files::OpenFiles;
use crate::secrets::Secrets;
use crate::shared_array::SharedArrays;
use crate::sockets::Sockets;

/// See the module's page.
pub(crate) struct Settings {
    pub(crate) bundle: Arc<Bundle>,
    /// Consolidated.
    pub(crate) options: Options,
    /// TLS of all connections.
    pub(crate) tls: TlsOptions,
    /// Proxies of HTTP and of WebSockets.
    pub(crate) proxies: Proxies,
    /// `exec.test.options`, JSON.
    pub(crate) options_json: String,
    pub(crate) scenarios: Vec<Scenario>,
    /// Which users of the whole test are this part's.
    pub(crate) users: Stripes,
    /// What this process does of the test.
    pub(crate) role: Role,
    /// How all processes of the test know the time of day.
    pub(crate) anchor: Anchor,
    /// All metrics that the first run of the script's top level declared.
    pub(crate) registry: Arc<Mutex<Registry>>,
    pub(crate) system_tags: SystemTags,
    /// `__ENV`.
    pub(crate) env: BTreeMap<String, String>,
    /// Where paths of `open` begin.
    pub(crate) folder: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) stack_bytes: usize,
    pub(crate) console: Arc<Console>,
    pub(crate) shared_arrays: SharedArrays,
    pub(crate) open_files: OpenFiles,
    pub(crate) secrets: Secrets,
    pub(crate) sockets: Sockets,
    pub(crate) journeys: Shared,
    #[cfg(feature = "kafka")]
    pub(crate) kafka: crate::modules::kafka::Kafka,
    /// Descriptors of gRPC services.
    pub(crate) protos: Protos,
    pub(crate) progress: Progress,
    /// `setup()`'s result, JSON; set before the first iteration.
    pub(crate) setup_data: OnceLock<Option<String>>,
    /// Names of the script's exported functions.
    pub(crate) functions: Vec<String>,
    /// One for each scenario.
    pub(crate) counters: Vec<Counters>,
}

/// What a process does of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// All of it.
    #[default]
    Whole,
    /// What is done once: `setup`, `teardown`, `handleSummary`, and everything that is made of
    /// figures. Other processes have the users.
    Conducts,
    /// It is one of so many processes that have the users.
    Shares {
        /// How many.
        of: u32,
    },
}

/// Iterations of a scenario, over all threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Begun so far.
    begun: AtomicU64,
    /// Taken from those that all users share.
    taken: AtomicU64,
}

impl Settings {
    /// Whether the script's top level has run before.
    pub(crate) fn bundle_is_frozen(&self) -> bool {
        self.bundle.is_frozen()
    }

    /// The number of the iteration of this scenario that begins now, in the whole test.
    pub(crate) fn next_iteration(&self, scenario: usize) -> u64 {
        self.counters.get(scenario).map_or(0, |own| own.begun.fetch_add(1, Ordering::Relaxed))
    }

    /// `__VU` of this process's user `id`, from 1; 0 is no user. Users of processes that share a
    /// test are numbered as those of one process are: each number once.
    pub(crate) fn user_number(&self, id: u64) -> u64 {
        match self.role {
            Role::Shares { .. } => self.id_in_test(id),
            Role::Whole | Role::Conducts => id,
        }
    }

    /// The number in the whole test of this process's user `id`, from 1; 0 is no user.
    pub(crate) fn id_in_test(&self, id: u64) -> u64 {
        let number = id.checked_sub(1).and_then(|at| self.users.number(at));
        number.map_or(id, |number| number + 1)
    }

    /// How far requests are apart that are `rps` a second in the whole test, ns; `None` where they
    /// need not be.
    pub(crate) fn request_distance_ns(&self) -> Option<u64> {
        let per_s = self.options.rps.and_then(|rate| u64::try_from(rate).ok())?;
        let of = match self.role {
            Role::Shares { of } => u64::from(of),
            Role::Whole | Role::Conducts => 1,
        };
        SECOND_NS.saturating_mul(of).checked_div(per_s)
    }

    /// What has been counted so far, in all processes that are known of.
    pub(crate) fn counted(&self) -> Counted {
        let begun_here: u64 =
            self.counters.iter().map(|own| own.begun.load(Ordering::Relaxed)).sum();
        let counted = self.progress.counted();
        Counted { begun: counted.begun + begun_here, ..counted }
    }

    /// Tags of every sample of the run.
    pub(crate) fn run_tags(&self) -> Vec<(&str, &str)> {
        let tags = self.options.tags.iter().flat_map(|tags| tags.iter());
        tags.map(|(key, value)| (key.as_str(), value.as_str())).collect()
    }

    /// Nobody gets any more of a scenario's shared iterations; how many were asked for.
    pub(crate) fn take_all(&self, scenario: usize, shared: u64) -> u64 {
        let counters = self.counters.get(scenario);
        counters.map_or(shared, |own| own.taken.fetch_max(shared, Ordering::Relaxed))
    }

    /// How many of a scenario's shared iterations were asked for.
    pub(crate) fn taken(&self, scenario: usize) -> u64 {
        self.counters.get(scenario).map_or(0, |own| own.taken.fetch_add(1, Ordering::Relaxed))
    }
}

/// Figures of the test under way, which threads count and scripts may ask for.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Iterations that other processes have begun; one's own are the scenarios' counters.
    begun: AtomicU64,
    pub(crate) completed: AtomicU64,
    pub(crate) interrupted: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) active: AtomicU64,
    pub(crate) initialised: AtomicU64,
    /// When the scenarios began, ns; 0 before.
    pub(crate) start_ns: AtomicU64,
    /// The script asked for the end, with a reason.
    pub(crate) aborted: OnceLock<String>,
    /// The script marked the test as failed, with a reason.
    pub(crate) failed: OnceLock<String>,
    /// Exceptions that iterations threw.
    pub(crate) exceptions: AtomicU64,
    /// When the next request may be sent, ns; only with `rps`.
    next_request_ns: AtomicU64,
}

/// What threads have counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) begun: u64,
    pub(crate) completed: u64,
    pub(crate) interrupted: u64,
    pub(crate) dropped: u64,
    pub(crate) active: u64,
    pub(crate) initialised: u64,
    pub(crate) exceptions: u64,
}

impl Progress {
    fn counted(&self) -> Counted {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            begun: load(&self.begun),
            completed: load(&self.completed),
            interrupted: load(&self.interrupted),
            dropped: load(&self.dropped),
            active: load(&self.active),
            initialised: load(&self.initialised),
            exceptions: load(&self.exceptions),
        }
    }

    /// Another process has counted so much, and had so much `before`.
    pub(crate) fn count_in(&self, before: Counted, now: Counted) {
        let add = |counter: &AtomicU64, before: u64, now: u64| {
            // Users become fewer, too: the sum wraps back to what it should be.
            counter.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
        };
        add(&self.begun, before.begun, now.begun);
        add(&self.completed, before.completed, now.completed);
        add(&self.interrupted, before.interrupted, now.interrupted);
        add(&self.dropped, before.dropped, now.dropped);
        add(&self.active, before.active, now.active);
        add(&self.initialised, before.initialised, now.initialised);
        add(&self.exceptions, before.exceptions, now.exceptions);
    }

    /// When a request may be sent that is asked for now, the next one `distance_ns` later.
    pub(crate) fn request_turn(&self, now_ns: u64, distance_ns: u64) -> u64 {
        let later = |next_ns: u64| Some(next_ns.max(now_ns) + distance_ns);
        let relaxed = Ordering::Relaxed;
        let before = self.next_request_ns.fetch_update(relaxed, relaxed, later);
        before.unwrap_or(now_ns).max(now_ns)
    }
}
