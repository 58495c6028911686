//! What tools say of themselves: how many requests, and whether that may be believed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::shell::capture;

/// What a tool says of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) requests: f64,
    /// Of how late requests began, where the tool tells: the 99th percentile, µs.
    pub(super) lag_us_p99: Option<f64>,
}

impl Reading {
    fn of(requests: f64) -> Self {
        Self { requests, lag_us_p99: None }
    }
}

/// `requests=123 failures=0 …`
pub(super) fn ours(output: &str) -> Result<Reading, String> {
    let field = |name: &str| {
        let value = output.split_whitespace().find_map(|word| word.strip_prefix(name));
        value.and_then(|value| value.parse::<f64>().ok())
    };
    match (field("requests="), field("failures=")) {
        (Some(requests), Some(0.0)) if requests > 0.0 => Ok(Reading::of(requests)),
        (Some(_), Some(failures)) => Err(format!("{failures} requests failed, or none were made")),
        _ => Err("its output names no requests".to_owned()),
    }
}

/// A report in JSON, of a run that may be believed and had no failures.
pub(super) fn whole_runs(output: &str) -> Result<Reading, String> {
    let report: Value = serde_json::from_str(output).map_err(|error| error.to_string())?;
    let outcome = report["verdict"]["outcome"].as_str();
    if outcome != Some("pass") {
        return Err(format!("its verdict is not pass: {}", report["verdict"]));
    }
    let completed = &report["ledger"]["journeys_total"]["whole_run"]["completed"];
    completed
        .as_f64()
        .filter(|count| *count > 0.0)
        .map(Reading::of)
        .ok_or_else(|| "it completed nothing".to_owned())
}

/// `report -type=json` on what an attack has written, ours or Vegeta's.
pub(super) fn attacks(program: &Path, file: &Path) -> Result<Reading, String> {
    let report = capture(Command::new(program).args(["report", "-type=json"]).arg(file))?;
    let report: Value = serde_json::from_str(&report).map_err(|error| error.to_string())?;
    if report["success"].as_f64() != Some(1.0) {
        return Err(format!("it met errors: {report}"));
    }
    let requests = report["requests"].as_f64().filter(|count| *count > 0.0);
    Ok(Reading {
        requests: requests.ok_or("it made no requests")?,
        lag_us_p99: report["lag"]["99th"].as_f64().map(|ns| ns / 1e3),
    })
}

/// `  123 requests in 5.00s, 4.5MB read`
pub(in crate::bench) fn wrks(output: &str) -> Result<f64, String> {
    if output.contains("Socket errors") || output.contains("Non-2xx") {
        return Err(format!("it met errors: {output}"));
    }
    output
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .and_then(|(count, _)| count.parse().ok())
        .filter(|count| *count > 0.0)
        .ok_or_else(|| "its output names no requests".to_owned())
}

/// The same as a reading.
pub(super) fn read_wrks(output: &str) -> Result<Reading, String> {
    wrks(output).map(Reading::of)
}

/// oha's report in JSON. Requests that it breaks off at the end are no errors of the server's.
pub(super) fn ohas(output: &str) -> Result<Reading, String> {
    let report: Value = serde_json::from_str(output).map_err(|error| error.to_string())?;
    let counts = |name: &str| {
        let counts = report[name].as_object().into_iter().flatten();
        counts.filter_map(|(name, count)| Some((name.clone(), count.as_f64()?))).collect::<Vec<_>>()
    };
    let errors = counts("errorDistribution");
    if let Some((error, _)) = errors.iter().find(|(error, _)| !error.contains("deadline")) {
        return Err(format!("it met errors: {error}"));
    }
    match counts("statusCodeDistribution").as_slice() {
        [(status, count)] if status == "200" => Ok(Reading::of(*count)),
        others => Err(format!("not only 200: {others:?}")),
    }
}

/// `requests: 123 total, … 123 done, 123 succeeded, 0 failed, 0 errored, 0 timeout`
pub(super) fn h2loads(output: &str) -> Result<Reading, String> {
    let line = output.lines().find_map(|line| line.strip_prefix("requests: "));
    let counted = |name: &str| {
        let counts = line?.split(", ");
        counts.filter_map(|count| count.strip_suffix(name)).find_map(|count| count.parse().ok())
    };
    match (counted(" succeeded"), counted(" done")) {
        (Some(succeeded), Some(done)) if succeeded == done && done > 0.0 => Ok(Reading::of(done)),
        _ => Err(format!("it met errors: {}", line.unwrap_or(output))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_and_errors_not_overlooked() {
        let wrk = "Running 5s test\n  Latency 1ms\n  123456 requests in 5.00s, 17MB read\n";
        assert_eq!(wrks(wrk), Ok(123_456.0));
        assert!(wrks(&format!("{wrk}  Socket errors: connect 0, read 3\n")).is_err());
        assert!(wrks("unable to connect").is_err());
        assert_eq!(ours("requests=500 failures=0 per_second=100"), Ok(Reading::of(500.0)));
        assert!(ours("requests=500 failures=1").is_err());
        assert!(ours("requests=0 failures=0").is_err());
        assert!(ours("").is_err());
        let h2load = "finished in 2.00s\nrequests: 70 total, 80 started, 70 done, 70 succeeded, \
                      0 failed, 0 errored, 0 timeout\n";
        assert_eq!(h2loads(h2load), Ok(Reading::of(70.0)));
        assert!(h2loads(&h2load.replace("70 succeeded, 0", "69 succeeded, 1")).is_err());
        assert!(h2loads("nothing").is_err());
        let oha = r#"{
            "statusCodeDistribution": {"200": 99},
            "errorDistribution": {"aborted due to deadline": 1}
        }"#;
        assert_eq!(ohas(oha), Ok(Reading::of(99.0)));
        assert!(ohas(&oha.replace("aborted due to deadline", "connection refused")).is_err());
        assert!(ohas(&oha.replace("200", "503")).is_err());
    }
}
