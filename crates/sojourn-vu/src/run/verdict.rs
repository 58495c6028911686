//! What a test comes to: its exit code, and what `handleSummary` made.

use base64::Engine as _;
use sojourn_k6::exit_code::ExitCode;

use super::test::RunError;

/// Why the scenarios ended before their time.
pub(super) enum Cause {
    Signal,
    /// Somebody asked for it through the REST interface.
    Asked,
    Aborted(String),
    /// Of these metrics.
    Thresholds(Vec<String>),
    /// A process is gone: what is said of that.
    Lost(String),
    /// The same, and the test went on without it.
    Lacks(String),
}

/// What is said of an end that was asked for through the REST interface.
pub(super) const STOPPED_BY_REST: &str = "test run was stopped through the REST interface";

/// What the process ends with, and why: the first of what went wrong. `failed` are the metrics
/// whose thresholds failed; `is_marked` says that the script called `exec.test.fail()`.
pub(super) fn verdict(
    cause: Option<Cause>,
    failure: Option<RunError>,
    failed: &[String],
    is_marked: bool,
) -> (ExitCode, Option<String>) {
    let (exit, reason) = match (cause, failure) {
        (Some(Cause::Signal), _) => (
            ExitCode::ExternalAbort,
            "test run was aborted because it received a signal".to_owned(),
        ),
        (Some(Cause::Asked), _) => (ExitCode::StoppedByRest, STOPPED_BY_REST.to_owned()),
        (Some(Cause::Aborted(reason)), _) => (ExitCode::ScriptAborted, reason),
        (Some(Cause::Thresholds(names)), _) => {
            let told = format!(
                "thresholds on metrics '{}' were crossed; at least one has abortOnFail enabled, \
                 stopping test prematurely",
                names.join(", ")
            );
            (ExitCode::ThresholdsFailed, told)
        }
        (Some(Cause::Lost(loss)), _) => (
            ExitCode::Panic,
            format!("{loss}: the test has ended early, and the figures lack what was lost with it"),
        ),
        (Some(Cause::Lacks(loss)), _) => {
            (ExitCode::Panic, format!("{loss}: the figures lack what was lost with it"))
        }
        (None, Some(failure)) => (failure.exit, failure.message),
        (None, None) if !failed.is_empty() => {
            let told = format!("thresholds on metrics '{}' have been crossed", failed.join(", "));
            (ExitCode::ThresholdsFailed, told)
        }
        (None, None) if is_marked => {
            (ExitCode::MarkedAsFailed, "test run was marked as failed".to_owned())
        }
        (None, None) => return (ExitCode::Success, None),
    };
    (exit, Some(reason))
}

/// What `handleSummary` returned, from what the user's thread made of it.
pub(super) fn files(json: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let parsed: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).ok()?;
    let content = |value: &serde_json::Value| {
        let text = value.as_str().unwrap_or_default();
        match text.split_once(':') {
            Some(("base64", coded)) => {
                base64::engine::general_purpose::STANDARD.decode(coded).unwrap_or_default()
            }
            Some((_, text)) => text.as_bytes().to_vec(),
            None => Vec::new(),
        }
    };
    Some(parsed.iter().map(|(name, value)| (name.clone(), content(value))).collect())
}
