//! Several runs together, on real sockets: capacity searches of queues whose capacity is known,
//! rehearsals and sweeps.

mod rehearsal;
mod search;
mod sweep;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::{Output, Running, sojourn};

/// A journey of one request, to a mock that listens here.
fn plan(address: &std::net::SocketAddr, arrivals: &str, more: &str) -> String {
    format!(
        "name: several\ntarget: http://{address}\njourneys:\n  get: {{ root: {{ http: GET /, expect: \
         {{ status: 200 }} }} }}\nload: {{ arrivals: {arrivals}, rate: \"${{RATE:-400/s}}\", steady: \
         2s, drain: 20s }}\nhealth: {{ lag_p99_max: 2s, silent_max: 5s }}\n{more}"
    )
}

/// Starts `sojourn` in this folder; it may take twenty minutes.
fn start(folder: &Path, arguments: &[&str]) -> Running {
    let program = sojourn(arguments).in_dir(folder).timeout(Duration::from_secs(1_200));
    program.start().unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    start(folder, arguments).wait().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Whether the slow tests run too.
pub(crate) fn is_full() -> bool {
    std::env::var_os("SOJOURN_TESTS").is_some_and(|which| which == "full")
}
