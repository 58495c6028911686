//! Phases of a task: a line when one begins, a line with its time when it ends.

use std::time::{Duration, Instant};

/// Runs one phase and says so on stderr; a failure names the phase.
pub(crate) fn phase<T>(name: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    eprintln!("xtask: {name} …");
    let begin = now();
    let outcome = work();
    let elapsed = pretty(begin.elapsed());
    match outcome {
        Ok(value) => {
            eprintln!("xtask: {name} done in {elapsed}");
            Ok(value)
        }
        Err(error) => Err(format!("phase `{name}` failed after {elapsed}: {error}")),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "xtask is built before the crates, and shows seconds"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

fn pretty(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        let whole = elapsed.as_secs();
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_phase() {
        let error = phase::<()>("format", || Err("two files differ".to_owned())).unwrap_err();
        assert!(error.starts_with("phase `format` failed"), "{error}");
        assert!(error.ends_with("two files differ"), "{error}");
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(pretty(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(pretty(Duration::from_secs(125)), "2 min 05 s");
    }
}
