//! Which thresholds of a file say something about one step of a search.

use sojourn_metrics::{Statistic, Threshold};

/// What a threshold is good for in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerStep {
    /// It decides.
    Decides,
    /// It is about the generator: a step that breaks it is void, not failed.
    Generator,
    /// It makes no sense for a step; the reason, as a fragment.
    Senseless(&'static str),
}

/// Counts that grow with the rate and the length of a step.
const AMOUNTS: [&str; 5] = ["scheduled", "started", "completed", "reached", "sent"];
/// Events that an earlier step may have left behind.
const STRAYS: [&str; 2] = ["foreign", "unattributed"];

/// What becomes of a threshold.
pub fn per_step(threshold: &Threshold) -> PerStep {
    let subject: Vec<&str> = threshold.subject.iter().map(String::as_str).collect();
    let is_count = threshold.statistic == Statistic::Value;
    match subject.as_slice() {
        ["lag"] | ["missed", ..] => PerStep::Generator,
        ["backlog", "slope"] => PerStep::Senseless("the search looks at the backlog itself"),
        ["errors", "rate"] | ["step", .., "errors", "rate"] => PerStep::Decides,
        _ if matches!(threshold.statistic, Statistic::Count | Statistic::Rate) => {
            PerStep::Senseless("it depends on the rate that is searched for")
        }
        [.., last] if is_count && AMOUNTS.contains(last) => {
            PerStep::Senseless("it depends on the rate that is searched for")
        }
        [word] if STRAYS.contains(word) => {
            PerStep::Senseless("what an overloaded step left behind may come in the next one")
        }
        _ => PerStep::Decides,
    }
}

/// Whether a threshold speaks of journeys or requests that failed.
pub(super) fn is_of_failures(threshold: &Threshold) -> bool {
    threshold
        .subject
        .iter()
        .any(|part| matches!(part.as_str(), "failed" | "root_failed" | "errors"))
}

/// Journeys of a step that these thresholds need: ten beyond the highest quantile that one of them
/// asks for, 20,000 at most. Whether one of them speaks of failures.
pub fn samples_needed<'a>(thresholds: impl Iterator<Item = &'a Threshold>) -> (u64, bool) {
    thresholds.filter(|threshold| per_step(threshold) == PerStep::Decides).fold(
        (0, false),
        |(samples, of_failures), threshold| {
            let needed = match threshold.statistic {
                Statistic::Quantile(q) if q < 1.0 => (10.0 / (1.0 - q)).round() as u64,
                _ => 0,
            };
            (samples.max(needed.min(20_000)), of_failures || is_of_failures(threshold))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> PerStep {
        per_step(&Threshold::parse(text).unwrap())
    }

    #[test]
    fn latencies_losses_and_shares_decide() {
        for text in [
            "journey.payment.p99 < 25s",
            "stage.settled.hop.p95 < 6s",
            "step.root.response.max < 1s",
            "lost == 0",
            "duplicates == 0",
            "completed > 99%",
            "errors.rate < 1%",
            "step.root.errors.rate < 1%",
            "drain < 30s",
        ] {
            assert_eq!(of(text), PerStep::Decides, "{text}");
        }
    }

    #[test]
    fn amounts_strays_and_the_slope_do_not() {
        for text in [
            "completed > 1000",
            "journey.payment.started > 10",
            "journey.payment.count > 10",
            "journey.payment.rate > 10",
            "stage.settled.reached > 5",
            "foreign == 0",
            "backlog.slope <= 0",
        ] {
            assert!(matches!(of(text), PerStep::Senseless(_)), "{text}");
        }
    }

    #[test]
    fn lag_is_the_generators() {
        assert_eq!(of("lag.p99 < 5ms"), PerStep::Generator);
        assert_eq!(of("missed == 0"), PerStep::Generator);
    }

    #[test]
    fn samples_follow_the_highest_quantile_that_decides() {
        let parse = |text: &&str| Threshold::parse(text).unwrap();
        let of = |texts: &[&str]| {
            let thresholds: Vec<Threshold> = texts.iter().map(parse).collect();
            samples_needed(thresholds.iter())
        };
        assert_eq!(of(&["lost == 0"]), (0, false));
        assert_eq!(of(&["journey.j.p99 < 1s", "journey.j.p50 < 1s"]), (1_000, false));
        assert_eq!(of(&["lag.p99.99 < 1s", "errors.rate < 1%"]), (0, true));
        assert_eq!(of(&["journey.j.p99.99 < 1s", "failed < 1%"]), (20_000, true));
    }
}
