//! The process's own figures, for `--profiling-enabled`: `/metrics` as Prometheus reads it.

use std::fmt::Write as _;
use std::fs;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

/// What there is instead of profiles of Go's.
const NO_PROFILES: &str = "there are no profiles of Go's kind: `perf record -g -p PID` makes them \
                           of this process, `heaptrack -p PID` of its memory\n";

/// The paths, beside those of the test.
pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let no_profiles = || async { (StatusCode::NOT_FOUND, NO_PROFILES) };
    Router::new()
        .route("/metrics", get(metrics))
        .route("/debug/pprof/", get(no_profiles))
        .route("/debug/pprof/{name}", get(no_profiles))
}

async fn metrics() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text())
}

/// What the system tells, by the names that Prometheus' own clients have for it.
fn text() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let kilobytes = |name: &str| number_after(&status, name).map(|number| number * 1024.0);
    let open = fs::read_dir("/proc/self/fd").map(|all| all.count() as f64).ok();
    let cpu_s = sojourn_clock::process_cpu_ns() as f64 / 1e9;
    let mut out = String::new();
    for (name, kind, value) in [
        ("process_cpu_seconds_total", "counter", Some(cpu_s)),
        ("process_resident_memory_bytes", "gauge", kilobytes("VmRSS:")),
        ("process_virtual_memory_bytes", "gauge", kilobytes("VmSize:")),
        ("process_open_fds", "gauge", open),
        ("process_max_fds", "gauge", number_after(&limits, "Max open files")),
        ("process_threads", "gauge", number_after(&status, "Threads:")),
    ] {
        if let Some(value) = value {
            // Writing to a string can't fail.
            writeln!(out, "# TYPE {name} {kind}\n{name} {value}").ok();
        }
    }
    out
}

/// The first number of the line that begins so.
fn number_after(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_the_names_of_their_lines() {
        let status = "Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t7\n";
        assert_eq!(number_after(status, "VmRSS:"), Some(2048.0));
        assert_eq!(number_after(status, "Threads:"), Some(7.0));
        assert_eq!(number_after("Max open files   unlimited  files\n", "Max open files"), None);
        assert_eq!(number_after(status, "VmSize:"), None);
    }
}
