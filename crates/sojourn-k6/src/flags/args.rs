//! The flags themselves.

use clap::Args;

/// Flags of `k6 run`. Values are texts, read by [`RunFlags::options`] and
/// [`crate::flags::Settings::new`], whose errors name flag and value; `None` where a flag is not
/// given.
// As with k6, the last of several wins.
#[derive(Args, Clone, Debug, Default)]
#[command(args_override_self = true)]
pub struct RunFlags {
    /// How many virtual users.
    #[arg(short = 'u', long, value_name = "N", allow_hyphen_values = true)]
    pub vus: Option<String>,
    /// For how long, such as 30s or 1h30m.
    #[arg(short = 'd', long, value_name = "DURATION", allow_hyphen_values = true)]
    pub duration: Option<String>,
    /// How many iterations in all.
    #[arg(short = 'i', long, value_name = "N", allow_hyphen_values = true)]
    pub iterations: Option<String>,
    /// A stage of a ramp, duration:target; may be given several times.
    #[arg(short = 's', long = "stage", value_name = "DURATION:TARGET")]
    pub stages: Vec<String>,
    /// A variable for `__ENV`, NAME=VALUE; may be given several times.
    #[arg(short = 'e', long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Where samples go: json=FILE, csv=FILE, influxdb=URL/DATABASE, experimental-prometheus-rw,
    /// opentelemetry, statsd; may be given several times.
    #[arg(short = 'o', long = "out", value_name = "OUTPUT")]
    pub out: Vec<String>,
    /// JSON file with options.
    #[arg(short = 'c', long, value_name = "FILE")]
    pub config: Option<String>,
    /// Failed requests throw.
    #[arg(short = 'w', long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub throw: Option<bool>,
    /// Wait for a resume before the run.
    #[arg(short = 'p', long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub paused: Option<bool>,
    /// Keep the process, and its REST interface, after the run.
    #[arg(short = 'l', long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub linger: Option<bool>,
    /// Do not show progress.
    #[arg(short = 'q', long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub quiet: Option<bool>,
    /// Say more.
    #[arg(short = 'v', long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub verbose: Option<bool>,
    /// A tag for every sample, NAME=VALUE; may be given several times.
    #[arg(long = "tag", value_name = "NAME=VALUE")]
    pub tags: Vec<String>,
    /// compact, full, legacy or disabled.
    #[arg(long, value_name = "MODE")]
    pub summary_mode: Option<String>,
    /// File for the summary as JSON.
    #[arg(long, value_name = "FILE")]
    pub summary_export: Option<String>,
    /// Write the summary in its new machine-readable form.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub new_machine_readable_summary: Option<bool>,
    /// No summary at all (k6 before 2.0; now --summary-mode=disabled).
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_summary: Option<bool>,
    /// Figures of trends in summaries, such as avg,p(95).
    #[arg(long, value_name = "LIST")]
    pub summary_trend_stats: Vec<String>,
    /// Unit of times in summaries: s, ms or us.
    #[arg(long, value_name = "UNIT")]
    pub summary_time_unit: Option<String>,
    /// Tags that are set without the script's doing.
    #[arg(long, value_name = "LIST")]
    pub system_tags: Vec<String>,
    /// Do not evaluate thresholds.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_thresholds: Option<bool>,
    /// Leave setup() out.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_setup: Option<bool>,
    /// Leave teardown() out.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_teardown: Option<bool>,
    /// Print requests and answers: headers, or full.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "headers",
          value_name = "WHAT")]
    pub http_debug: Option<String>,
    /// How many requests of one http.batch() at once.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub batch: Option<String>,
    /// Likewise for one host.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub batch_per_host: Option<String>,
    /// Most requests per second.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub rps: Option<String>,
    /// The header User-Agent.
    #[arg(long, value_name = "TEXT")]
    pub user_agent: Option<String>,
    /// How many redirects are followed.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_redirects: Option<String>,
    /// Throw bodies away.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub discard_response_bodies: Option<bool>,
    /// Any certificate of a server will do.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Addresses from which requests are sent.
    #[arg(long, value_name = "LIST")]
    pub local_ips: Option<String>,
    /// How names are resolved, such as ttl=5m,select=random,policy=any.
    #[arg(long, value_name = "SETTINGS")]
    pub dns: Option<String>,
    /// A network that may not be reached; may be given several times.
    #[arg(long, value_name = "NETWORK")]
    pub blacklist_ip: Vec<String>,
    /// A host name that may not be reached; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub block_hostnames: Vec<String>,
    /// Which part of the load this process makes, such as 0:1/4.
    #[arg(long, value_name = "FROM:TO")]
    pub execution_segment: Option<String>,
    /// All parts of the load, such as 0,1/4,1/2,1.
    #[arg(long, value_name = "LIST")]
    pub execution_segment_sequence: Option<String>,
    /// Shortest iteration.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub min_iteration_duration: Option<String>,
    /// Every request has a connection of its own.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_connection_reuse: Option<bool>,
    /// Connections are closed between iterations.
    #[arg(long = "no-vu-connection-reuse", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_vu_connection_reuse: Option<bool>,
    /// File for console.
    #[arg(long, value_name = "FILE")]
    pub console_output: Option<String>,
    /// Whether the environment is in __ENV.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub include_system_env_vars: Option<bool>,
    /// Accepted: nothing is reported to anybody.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_usage_report: Option<bool>,
    /// base or extended.
    #[arg(long, value_name = "MODE")]
    pub compatibility_mode: Option<String>,
    /// What the file is: js or archive.
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Where the log goes: stderr, stdout, none, file=PATH[,level=…] or loki=URL[,label.NAME=…].
    #[arg(long, value_name = "WHERE")]
    pub log_output: Option<String>,
    /// The log's form: raw, json or text.
    #[arg(long, alias = "logformat", value_name = "FORM")]
    pub log_format: Option<String>,
    /// No colours.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub no_color: Option<bool>,
    /// Where the REST interface listens.
    #[arg(short = 'a', long, value_name = "ADDRESS")]
    pub address: Option<String>,
    /// The process's own figures on the REST interface (/metrics); there are no profiles.
    #[arg(long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = boolean)]
    pub profiling_enabled: Option<bool>,
    /// Names of k6's features to switch on; those that change nothing here are warned of.
    #[arg(long, value_name = "LIST")]
    pub features: Vec<String>,
    /// Accepted, with a warning: no traces are made.
    #[arg(long, value_name = "WHERE")]
    pub traces_output: Option<String>,
    /// Where secrets come from; may be given several times.
    #[arg(long, value_name = "SOURCE")]
    pub secret_source: Vec<String>,
    /// Exceptions, late generators and void runs fail the run too: 107, 109.
    #[arg(long)]
    pub strict: bool,
    /// Percentiles of all samples instead of histograms, for small runs.
    #[arg(long)]
    pub exact_percentiles: bool,
    /// Run file for journeys (`tap`, `journey`); reports/NAME-RUNID.sojourn unless given.
    #[arg(long, value_name = "FILE")]
    pub run_file: Option<String>,
    /// Further reports of journeys, by ending: .html, .md, .txt, .json, .xml (JUnit), .csv, .hlog,
    /// .ndjson, or OUT=FILE.tmpl by a template; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub report: Vec<String>,
    /// How many threads run the script; as many as processors unless given.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

/// As Go's `strconv.ParseBool`.
fn boolean(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err("is not true or false".to_owned()),
    }
}
