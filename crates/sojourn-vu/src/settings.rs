//! What holds for a whole test, decided before it begins and shared by all threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sojourn_http::TlsOptions;
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
    /// `exec.test.options`, JSON.
    pub(crate) options_json: String,
    pub(crate) scenarios: Vec<Scenario>,
    /// Which users of the whole test are this part's.
    pub(crate) users: Stripes,
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

    /// How many iterations of all scenarios have begun.
    pub(crate) fn begun(&self) -> u64 {
        self.counters.iter().map(|own| own.begun.load(Ordering::Relaxed)).sum()
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

impl Progress {
    /// When a request may be sent that is asked for now, the next one `distance_ns` later.
    pub(crate) fn request_turn(&self, now_ns: u64, distance_ns: u64) -> u64 {
        let later = |next_ns: u64| Some(next_ns.max(now_ns) + distance_ns);
        let relaxed = Ordering::Relaxed;
        let before = self.next_request_ns.fetch_update(relaxed, relaxed, later);
        before.unwrap_or(now_ns).max(now_ns)
    }
}
