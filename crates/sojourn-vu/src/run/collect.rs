//! The first run of a script's top level: what it imports, declares and exports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use sojourn_clock::Anchor;
use sojourn_http::{Client, ClientConfig, Proxies, TlsOptions};
use sojourn_k6::executors::Stripes;
use sojourn_k6::metrics::{Registry, Shard, ShardOptions, SystemTags, TagSets};
use sojourn_k6::options::Options;
use sojourn_script::{Bundle, Limits, ScriptError, Sources, Stacks};

use crate::console::Console;
use crate::host::Host;
use crate::journeys::Shared;
use crate::modules::grpc::Protos;
use crate::open_files::OpenFiles;
use crate::secrets::Secrets;
use crate::settings::{Progress, Role, Settings};
use crate::shared_array::SharedArrays;
use crate::sockets::Sockets;
use crate::user::{self, Outcome, Phase};

/// What a script is run with, whatever its options.
pub struct Collecting {
    /// The script's file; with [`Sources::entry_text`] its name only.
    pub script: PathBuf,
    /// Where modules come from.
    pub sources: Sources,
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// What `k6/secrets` gives.
    pub secrets: Secrets,
    /// What one user may use.
    pub limits: Limits,
    /// Brokers for taps, publishers and consumers.
    pub connectors: Arc<sojourn_broker::Registry>,
    /// Where lines go.
    pub console: Arc<Console>,
}

/// What the first run found.
pub struct Collected {
    /// The exported `options`; null without.
    pub options: Value,
    /// What among the options is no JSON, and why.
    pub unfit_option: Option<String>,
    /// Names of exported functions.
    pub functions: Vec<String>,
    pub(crate) settings: Settings,
}

impl Collected {
    /// Whether the script declares taps: then its journeys are followed.
    pub fn declares_taps(&self) -> bool {
        !self.settings.journeys.declared().is_empty()
    }

    /// HTTP and WebSockets go by these; until this is called by none.
    pub fn go_by(&mut self, proxies: Proxies) {
        self.settings.proxies = proxies;
    }

    /// The script's address.
    pub fn entry(&self) -> String {
        self.settings.bundle.entry().to_string()
    }

    /// Everything that was imported and opened, by address. The error says what an archive can't
    /// carry, or what can't be read any more.
    pub fn contents(&self) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let mut all = self.settings.bundle.contents()?;
        for path in self.settings.open_files.paths() {
            let wrong = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
            let address = url::Url::from_file_path(&path).map_err(|()| wrong(&"it is no path"))?;
            let content = std::fs::read(&path).map_err(|error| wrong(&error))?;
            all.insert(address.into(), content);
        }
        Ok(all)
    }
}

/// How long the script's top level may compute, ns.
const INIT_NS_MAX: u64 = 10 * sojourn_clock::SECOND_NS;

/// Longest wait in one go, so that a lost wake-up delays nothing for long.
const WAIT_NS_MAX: u64 = 100 * sojourn_clock::MILLISECOND_NS;

/// Stack of a fiber beyond what scripts may use: calls of ours, and the report of an overflow.
const STACK_BYTES_OWN: usize = 96 * 1024;

/// Runs the script's top level. Fails when it throws, or exports no function.
pub fn collect(what: Collecting) -> Result<Collected, ScriptError> {
    let bundle = Bundle::new(&what.script, what.sources)?;
    let folder = folder(&bundle, &what.script);
    let settings = Arc::new(Settings {
        bundle: Arc::clone(&bundle),
        options: Options::default(),
        tls: TlsOptions::default(),
        proxies: Proxies::default(),
        options_json: "{}".to_owned(),
        scenarios: Vec::new(),
        users: Stripes::default(),
        role: Role::default(),
        anchor: Anchor::now(),
        registry: Arc::new(Mutex::new(Registry::new())),
        system_tags: SystemTags::default(),
        env: what.env,
        folder,
        limits: what.limits,
        stack_bytes: what.limits.stack_bytes + STACK_BYTES_OWN,
        console: what.console,
        shared_arrays: SharedArrays::default(),
        open_files: OpenFiles::default(),
        secrets: what.secrets,
        sockets: Sockets::default(),
        journeys: Shared::new(what.connectors),
        #[cfg(feature = "kafka")]
        kafka: crate::modules::kafka::Kafka::default(),
        protos: Protos::default(),
        progress: Progress::default(),
        setup_data: OnceLock::new(),
        functions: Vec::new(),
        counters: Vec::new(),
    });
    let exports = run_top_level(&settings)?;
    bundle.freeze();
    let Exports { options, unfit_option, functions } = exports;
    let options = serde_json::from_str(&options).unwrap_or(Value::Null);
    // All users are gone: nobody else holds the settings.
    let settings = Arc::into_inner(settings)
        .ok_or_else(|| ScriptError::other("the script's first run has not ended"))?;
    Ok(Collected { options, unfit_option, functions, settings })
}

fn folder(bundle: &Bundle, script: &Path) -> PathBuf {
    let path = bundle.entry().to_file_path().unwrap_or_else(|()| script.to_owned());
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// What a script exports.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    /// JSON; `null` without.
    pub(crate) options: String,
    /// What among the options is no JSON, and why.
    pub(crate) unfit_option: Option<String>,
    pub(crate) functions: Vec<String>,
}

fn run_top_level(settings: &Arc<Settings>) -> Result<Exports, ScriptError> {
    let fail = |error: std::io::Error| ScriptError::other(&error.to_string());
    let client = Client::new(ClientConfig::default()).map_err(fail)?;
    let sets = TagSets::new(Registry::new().matcher());
    let shard = Shard::new(ShardOptions::default());
    let host = Rc::new(Host::new(Arc::clone(settings), client, shard, sets));
    let stacks = Stacks::new(settings.stack_bytes);
    let (user, mut fiber) = user::spawn(&host, 0, 0, &stacks).map_err(fail)?;
    let mut computed_ns = 0;
    let mut is_cut = false;
    loop {
        host.turn_ns.set(sojourn_clock::now_ns());
        fiber.resume();
        computed_ns += sojourn_clock::now_ns() - host.turn_ns.get();
        if computed_ns > INIT_NS_MAX {
            is_cut = true;
            user.cancelled.set(true);
        }
        if user.phase.get() != Phase::Init {
            break;
        }
        // Only timers, and what other threads do, can be waited for until the top level has ended.
        let until_ns = match host.take_ready() {
            Some(_) => 0,
            None => host.next_timer_ns().unwrap_or(u64::MAX),
        };
        let until_ns = until_ns.min(sojourn_clock::now_ns() + WAIT_NS_MAX);
        host.client.borrow_mut().wait_until(until_ns, &mut Vec::new()).map_err(fail)?;
        while let Some((_, operation)) = host.take_timer(sojourn_clock::now_ns()) {
            user.complete(operation, Outcome::Timer);
        }
        while let Some((_, operation, arrival)) = host.inbox.take() {
            user.complete(operation, Outcome::Socket(Box::new(arrival)));
        }
    }
    let failed = user.ended.borrow_mut().take().and_then(|ended| ended.error);
    let exports = user.exports.borrow_mut().take();
    if !fiber.is_done() {
        *user.job.borrow_mut() = Some(user::Job::End);
        fiber.resume();
    }
    match failed {
        Some(_) if is_cut => {
            let told =
                "the init stage (the script's top level) has computed for 10 s without an end";
            Err(ScriptError::other(told))
        }
        Some(error) => Err(error),
        None => Ok(exports.unwrap_or_default()),
    }
}
