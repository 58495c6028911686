//! The flags of `attack`: Vegeta's, under their names and with their defaults, and ours.

use std::path::PathBuf;

use super::connections::Connections;
use crate::{
    display::ShownFlags,
    fleet_flags::ListenFlags,
    go_flags::boolean,
    go_words::{body_limit, duration},
    kubernetes_flags::OnFlags,
    out_flags::OutFlags,
    process_flags::ProcessFlags,
};

/// Hit targets at a rate
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn attack http://127.0.0.1:8080/ -rate 100 -duration 10s
  echo 'GET http://127.0.0.1:8080/' | sojourn attack -rate 50/1s -duration 5s | sojourn report
  sojourn attack -targets targets.txt -pace 30s@50,30s@50..200 -output run.sojourn
  sojourn attack http://127.0.0.1:8080/ -rate 0 -max-workers 64 -duration 10s
  sojourn attack http://127.0.0.1:8080/ -fail-if 'p99 > 50ms' -fail-if 'success < 99.9%'
  sojourn attack -targets targets.txt -rate 40000 -generators 4 -output run.sojourn
  sojourn attack -targets targets.txt -rate 40000 -generators 4 -listen 0.0.0.0:7000 \\
    -key-file fleet.key
  sojourn attack -targets targets.txt -rate 40000 -duration 60s -on kubernetes -generators 8

On a terminal, without -output, a report is printed and a run file and a page are written; into a
pipe or a file go result records, for `report`, `plot` and `encode`. A flag may be written with one
dash or two. Results never change the exit code unless -fail-if or -strict is given; then it is 99
where a condition came true and 3 where the figures may not be believed. A process of -generators
that is lost makes it 3 in any case.")]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct Attack {
    /// One target, instead of -targets; with -method, else GET
    #[arg(value_name = "URL")]
    pub(super) url: Option<String>,
    /// Method of the URL's requests
    #[arg(long, default_value = "GET")]
    pub(super) method: String,
    /// Targets file
    #[arg(long, default_value = "stdin", value_name = "FILE")]
    pub(super) targets: String,
    /// Target format: http or json
    #[arg(long, default_value = "http")]
    pub(super) format: String,
    /// Read targets one at a time, once, instead of all and over and over
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    pub(super) lazy: bool,
    /// Body of targets that have none of their own
    #[arg(long, value_name = "FILE")]
    pub(super) body: Option<PathBuf>,
    /// Header of every request, repeatable
    #[arg(long, value_name = "K: V")]
    pub(super) header: Vec<String>,
    /// Requests per time; 0: as fast as -max-workers allow
    #[arg(long, default_value = "50/1s", value_name = "N/D", conflicts_with = "pace")]
    pub(super) rate: String,
    /// Rate over time: 30s@50,1m@200 | 10..100 | sine:mean=100,amplitude=50,period=1m
    #[arg(long, value_name = "PACE")]
    pub(super) pace: Option<String>,
    /// Place requests at random (a Poisson process) instead of evenly
    #[arg(long)]
    pub(super) poisson: bool,
    /// How long; 0: until stopped
    #[arg(long, default_value = "0", value_parser = duration, value_name = "D")]
    pub(super) duration: u64,
    /// Name, stored in every result
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) name: String,
    /// Results: a file, stdout, or a run file when the name ends in .sojourn
    #[arg(long, default_value = "stdout", value_name = "FILE")]
    pub(super) output: String,
    /// Whole request, body included; 0: none
    #[arg(long, default_value = "30s", value_parser = duration, value_name = "D")]
    pub(super) timeout: u64,
    /// Accepted for Vegeta's sake: workers cost nothing here
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(super) workers: u64,
    /// Most requests in flight at once
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true, value_name = "N")]
    pub(super) max_workers: u64,
    /// Body bytes kept of each response; -1: all
    #[arg(long, default_value = "-1", value_parser = body_limit, value_name = "SIZE",
          allow_hyphen_values = true)]
    pub(super) max_body: BodyLimit,
    /// Most redirects followed; -1: none, and a redirect is a success
    #[arg(long, default_value_t = 10, value_name = "N", allow_hyphen_values = true)]
    pub(super) redirects: i64,
    /// Host that a redirect may lead to besides the targets' own, repeatable
    #[arg(long, value_name = "HOST")]
    pub(super) allow_host: Vec<String>,
    /// Send bodies in chunks
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    pub(super) chunked: bool,
    /// Serve figures in OpenMetrics text here while the attack lasts
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOST:PORT")]
    pub(super) prometheus_addr: String,
    #[command(flatten)]
    pub(super) out: OutFlags,
    /// Fail (exit code 99) if this comes true, repeatable: 'p99 > 50ms', 'success < 99%'
    #[arg(long, value_name = "CONDITION")]
    pub(super) fail_if: Vec<String>,
    /// Exit with 3 when the figures may not be believed
    #[arg(long)]
    pub(super) strict: bool,
    /// Generator threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64),
          value_name = "N")]
    pub(super) threads: u32,
    #[command(flatten)]
    pub(super) spread: ProcessFlags,
    #[command(flatten)]
    pub(super) listen: ListenFlags,
    #[command(flatten)]
    pub(super) on: OnFlags,
    /// A run file besides, in a pod: its report goes to standard output, and records only where
    /// -output names a file
    #[arg(long, hide = true, value_name = "FILE")]
    pub(super) run_file: Option<PathBuf>,
    /// Label of the run, repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::plan_flags::pair)]
    pub(super) label: Vec<(String, String)>,
    /// How late requests may begin so that several begin at one wake-up, as 1ms: saves processor
    /// time at high rates, and shows as lag; 0s: not at all [default: 100us where they come at
    /// 5,000/s or more on a thread, else 0s]. Without a rate, on epoll: how late answers may be
    /// looked at so that one look finds several, which shows in what they take [default: 500us]
    #[arg(long, value_parser = duration, value_name = "D")]
    pub(super) lag_budget: Option<u64>,
    /// Never sleep while requests are on their way: look for answers and due requests again and
    /// again. No wake-up is late then, and each thread takes a whole core; for accuracy tests
    #[arg(long)]
    pub(super) spin: bool,
    #[command(flatten)]
    pub(super) connections: Connections,
    #[command(flatten)]
    pub(super) shown: ShownFlags,
    /// No screen while the attack goes on: one plain line of progress; --live off leaves that out
    /// too
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// Say which program this is, in Vegeta's four lines, and nothing else
    #[arg(long)]
    pub(super) version: bool,
}

/// How much of a body is kept; `None`: all.
pub(super) type BodyLimit = crate::go_words::BodyLimit;
