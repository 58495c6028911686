//! The list of all options that a script can export.

use serde_json::{Map, Value};

use crate::{
    duration::Nanos,
    options::{
        error::{OptionsError, Tier},
        local_ips::LocalIps,
        network::{Dns, HostPatterns, Hosts, Networks},
        scenario::Scenarios,
        segment::{Segment, SegmentSequence},
        stages::Stage,
        system_tags::SystemTags,
        table::{Kind, Table, table},
        thresholds::Thresholds,
        tls::{CipherSuites, TlsAuth, TlsVersions},
        values::Tags,
    },
};

table! {
    /// One tier's options, or all of them consolidated; `None` where nothing was given.
    pub struct Options {
        /// Whether to wait for a resume before the run.
        paused: bool = "paused";
        /// How many virtual users, for the shortcuts.
        vus: i64 = "vus";
        /// For how long (`constant-vus`), or at most (`shared-iterations`).
        duration: Nanos = "duration";
        /// How many iterations in all (`shared-iterations`).
        iterations: i64 = "iterations";
        /// A ramp of virtual users (`ramping-vus`).
        stages: Vec<Stage> = "stages";
        /// Scenarios by name.
        scenarios: Scenarios = "scenarios";
        /// Which part of the load this process makes.
        execution_segment: Segment = "executionSegment";
        /// All parts of the load.
        execution_segment_sequence: SegmentSequence = "executionSegmentSequence";
        /// Leaves `setup()` out.
        no_setup: bool = "noSetup";
        /// How long `setup()` may take; 60 s.
        setup_timeout: Nanos = "setupTimeout";
        /// Leaves `teardown()` out.
        no_teardown: bool = "noTeardown";
        /// How long `teardown()` may take; 60 s.
        teardown_timeout: Nanos = "teardownTimeout";
        /// How long `handleSummary()` may take; 120 s.
        handle_summary_timeout: Nanos = "handleSummaryTimeout";
        /// Most requests per second, of all users together; zero: no bound.
        rps: i64 = "rps";
        /// How names are resolved.
        dns: Dns = "dns";
        /// How many redirects are followed; 10.
        max_redirects: i64 = "maxRedirects";
        /// The header `User-Agent`.
        user_agent: String = "userAgent";
        /// How many requests of one `http.batch()` at once; 20.
        batch: i64 = "batch";
        /// Likewise for one host; 6.
        batch_per_host: i64 = "batchPerHost";
        /// Whether requests are printed: `headers` or `full`.
        http_debug: String = "httpDebug";
        /// Whether any certificate of a server will do.
        insecure_skip_tls_verify: bool = "insecureSkipTLSVerify";
        /// Cipher suites by their IANA names.
        tls_cipher_suites: CipherSuites = "tlsCipherSuites";
        /// Versions of TLS.
        tls_version: TlsVersions = "tlsVersion";
        /// Client certificates.
        tls_auth: Vec<TlsAuth> = "tlsAuth";
        /// Whether failed requests throw.
        throw: bool = "throw";
        /// Conditions by metric.
        thresholds: Thresholds = "thresholds";
        /// Networks that may not be reached.
        blacklist_ips: Networks = "blacklistIPs";
        /// Host names that may not be reached.
        block_hostnames: HostPatterns = "blockHostnames";
        /// Addresses by host name.
        hosts: Hosts = "hosts";
        /// Whether every request has a connection of its own.
        no_connection_reuse: bool = "noConnectionReuse";
        /// Whether connections are closed between iterations.
        no_vu_connection_reuse: bool = "noVUConnectionReuse";
        /// Shortest iteration; shorter ones wait.
        min_iteration_duration: Nanos = "minIterationDuration";
        /// What Grafana's cloud may read.
        cloud: Value = "cloud";
        /// What other programs may read.
        ext: Map<String, Value> = "ext";
        /// Figures of trends in summaries.
        summary_trend_stats: Vec<String> = "summaryTrendStats";
        /// Unit of times in summaries: `s`, `ms` or `us`.
        summary_time_unit: String = "summaryTimeUnit";
        /// Tags that k6 sets by itself.
        system_tags: SystemTags = "systemTags";
        /// Tags of every sample.
        tags: Tags = "tags";
        /// Accepted and not needed.
        metric_samples_buffer_size: i64 = "metricSamplesBufferSize";
        /// Whether cookies stay from one iteration to the next.
        no_cookies_reset: bool = "noCookiesReset";
        /// Whether bodies are thrown away unless a request asks for its own.
        discard_response_bodies: bool = "discardResponseBodies";
        /// Features that are switched on.
        features: Vec<String> = "features";
        /// File for `console`.
        console_output: String = "consoleOutput";
        /// Addresses from which requests are sent.
        local_ips: LocalIps = "localIPs";
    }
}

impl Options {
    /// Reads what a script exports as `options`, or the options of a configuration file. `null`
    /// stands for none.
    ///
    /// Returns the options and the keys that are not known, which k6 warns of.
    ///
    /// # Errors
    /// A value of the wrong type or form, or no object.
    pub fn from_json(tier: Tier, value: &Value) -> Result<(Self, Vec<String>), OptionsError> {
        let mut options = Self::default();
        let mut unknown = Vec::new();
        let none = Map::new();
        let entries = match value {
            Value::Null => &none,
            Value::Object(entries) => entries,
            other => {
                let wrong = crate::options::error::Wrong::type_of(other, "an object");
                return Err(wrong.at(tier, "options"));
            }
        };
        for (key, value) in entries {
            // These are for flags and variables.
            let is_elsewhere = ELSEWHERE.iter().any(|name| name.eq_ignore_ascii_case(key));
            let known = !is_elsewhere
                && options.read_entry(key, value).map_err(|mut wrong| {
                    let path = std::mem::take(&mut wrong.path);
                    wrong.at(tier, path.trim_start_matches('.'))
                })?;
            if !known {
                unknown.push(key.clone());
            }
        }
        unknown.sort_unstable();
        Ok((options, unknown))
    }

    /// As `exec.test.options` has them: every key in k6's order, null where nothing was given,
    /// scenarios in place of shortcuts.
    pub fn to_json(&self) -> Value {
        let keys = Self::KEYS
            .iter()
            .filter(|key| !SHORTCUTS.contains(key) && (**key != "cloud" || self.cloud.is_some()));
        keys.map(|key| ((*key).to_owned(), self.shown(key))).collect()
    }

    /// As `k6 inspect` shows them: with the shortcuts, without what only flags give.
    pub fn inspected(&self) -> Map<String, Value> {
        let keys = Self::KEYS.iter().filter(|key| {
            !NOT_INSPECTED.contains(key) && (**key != "cloud" || self.cloud.is_some())
        });
        keys.map(|key| ((*key).to_owned(), self.shown(key))).collect()
    }

    /// One value, with the defaults that k6 shows.
    fn shown(&self, key: &str) -> Value {
        match key {
            "dns" if self.dns.is_none() => Dns::default().to_json(),
            "systemTags" if self.system_tags.is_none() => SystemTags::default().to_json(),
            "summaryTrendStats" if self.summary_trend_stats.is_none() => {
                TREND_STATS.to_vec().into()
            }
            key => self.entry(key),
        }
    }
}

/// What scenarios stand for.
const SHORTCUTS: &[&str] = &["vus", "duration", "iterations", "stages"];
/// What only flags and variables give.
const ELSEWHERE: &[&str] = &["consoleOutput", "localIPs", "features"];
/// What `inspect` leaves out.
const NOT_INSPECTED: &[&str] = &["consoleOutput", "localIPs"];
/// Figures of trends unless others are asked for.
pub(crate) const TREND_STATS: &[&str] = &["avg", "min", "med", "max", "p(90)", "p(95)"];
