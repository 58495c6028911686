//! What one step says about the system.

use super::{Growth, Judgement, Limit, Observation, growth::growth};
use crate::words;

/// More failed journeys than this share of the started ones are a failure, where no threshold of
/// the file says otherwise.
const FAILED_MAX: f64 = 0.01;
/// A step must be so many times as long as a journey, or a pipeline that fills up looks like a
/// queue that grows.
const FILLS: f64 = 4.0;
/// Least and most that an undecided step is lengthened at once.
const LONGER: (f64, f64) = (1.5, 4.0);

/// How a step is to be judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    /// Growth up to this share of the arrivals is none.
    pub(super) tolerance: f64,
    /// The shortest p99 of journeys that any step showed, nanoseconds.
    pub(super) base_ns: Option<u64>,
    /// It will not be made any longer: what is likelier counts.
    pub(super) is_last: bool,
}

/// The judgement, and the growth it rests on.
pub(super) fn judge(seen: &Observation, rule: &Rule) -> (Judgement, Option<Growth>) {
    let growth = growth(&seen.levels, seen.arrivals_per_s());
    if let Some(void) = &seen.void {
        let (by_generator, cause) = (void.by_generator, void.cause.clone());
        return (Judgement::Void { by_generator, cause }, growth);
    }
    let judgement = match broken(seen) {
        Some(limit) => Judgement::Failed { limit },
        None => backlog(seen, growth.as_ref(), rule),
    };
    (judgement, growth)
}

/// What failed for certain, whatever the backlog did.
fn broken(seen: &Observation) -> Option<Limit> {
    if seen.lost > 0 {
        return Some(Limit::Lost { lost: seen.lost, started: seen.started });
    }
    if let Some(first) = seen.broken.first() {
        let (text, measured) = (first.text.clone(), first.measured.clone());
        return Some(Limit::Threshold { text, measured });
    }
    let too_many = seen.failed as f64 > FAILED_MAX * seen.started as f64;
    (too_many && !seen.failures_have_thresholds)
        .then_some(Limit::Failed { failed: seen.failed, started: seen.started })
}

fn backlog(seen: &Observation, growth: Option<&Growth>, rule: &Rule) -> Judgement {
    let Some(growth) = growth else {
        let reason = "too few seconds to see whether the backlog grows".to_owned();
        return match rule.is_last {
            true => Judgement::Held { likely: true },
            false => Judgement::Undecided { reason, longer: LONGER.1 },
        };
    };
    let grows = || {
        let stage = seen.growing_stage().map(|(name, _)| name.to_owned());
        let per_s = growth.share * seen.arrivals_per_s();
        Judgement::Failed { limit: Limit::Growth { per_s, share: growth.share, stage } }
    };
    let steady_ns = seen.steady_ns as f64;
    let fills_ns = rule.base_ns.map_or(0.0, |ns| FILLS * ns as f64);
    if fills_ns > steady_ns && growth.most() > rule.tolerance && !rule.is_last {
        let reason = format!(
            "journeys take {} at p99: too short to tell a pipeline that fills up from a queue \
             that grows",
            words::duration(fills_ns / FILLS),
        );
        let longer = (1.25 * fills_ns / steady_ns).clamp(LONGER.0, LONGER.1);
        return Judgement::Undecided { reason, longer };
    }
    // Halfway between no growth and one that matters.
    let is_material = growth.share > rule.tolerance / 2.0;
    if is_material && (growth.least() > 0.0 || rule.is_last) {
        return grows();
    }
    if growth.most() <= rule.tolerance {
        return Judgement::Held { likely: false };
    }
    if rule.is_last {
        return Judgement::Held { likely: true };
    }
    let reason = format!(
        "the backlog changed by {} ± {} of the arrivals",
        words::percent(growth.share),
        words::percent(growth.half_width)
    );
    let longer = (growth.half_width / rule.tolerance).powi(2).clamp(LONGER.0, LONGER.1);
    Judgement::Undecided { reason, longer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{Broken, StageLevels, Void};

    fn seen(rise: f64) -> Observation {
        let levels: Vec<f64> = (0..=10).map(|second| 5.0 + rise * f64::from(second)).collect();
        Observation {
            steady_ns: 10_000_000_000,
            started: 1_000,
            stages: vec![StageLevels { name: "settled".into(), levels: levels.clone() }],
            levels,
            ..Observation::default()
        }
    }

    const RULE: Rule = Rule { tolerance: 0.025, base_ns: None, is_last: false };

    fn said(seen: &Observation, rule: &Rule) -> Judgement {
        judge(seen, rule).0
    }

    #[test]
    fn a_level_backlog_holds_and_a_growing_one_fails_at_its_stage() {
        assert_eq!(said(&seen(0.0), &RULE), Judgement::Held { likely: false });
        let Judgement::Failed { limit: Limit::Growth { per_s, stage, .. } } =
            said(&seen(20.0), &RULE)
        else {
            panic!("does not grow");
        };
        assert!((per_s - 20.0).abs() < 1e-9);
        assert_eq!(stage.as_deref(), Some("settled"));
    }

    #[test]
    fn void_comes_first_then_loss_then_thresholds_then_failures() {
        let mut step = seen(20.0);
        step.failed = 11;
        assert!(matches!(
            said(&step, &RULE),
            Judgement::Failed { limit: Limit::Failed { failed: 11, started: 1_000 } }
        ));
        step.broken = vec![Broken { text: "lag".into(), measured: "1".into() }];
        assert!(matches!(said(&step, &RULE), Judgement::Failed { limit: Limit::Threshold { .. } }));
        step.lost = 1;
        assert!(matches!(said(&step, &RULE), Judgement::Failed { limit: Limit::Lost { .. } }));
        step.void = Some(Void { by_generator: true, cause: "lag".into() });
        assert!(matches!(said(&step, &RULE), Judgement::Void { by_generator: true, .. }));
    }

    #[test]
    fn failures_are_left_to_a_threshold_that_speaks_of_them() {
        let mut step = seen(0.0);
        step.failed = 500;
        step.failures_have_thresholds = true;
        assert_eq!(said(&step, &RULE), Judgement::Held { likely: false });
    }

    #[test]
    fn a_pipeline_that_fills_up_is_undecided_until_the_step_is_long_enough() {
        let rule = Rule { base_ns: Some(8_000_000_000), ..RULE };
        let Judgement::Undecided { longer, .. } = said(&seen(20.0), &rule) else {
            panic!("decided");
        };
        assert_eq!(longer, 4.0);
        let last = Rule { is_last: true, ..rule };
        assert!(matches!(said(&seen(20.0), &last), Judgement::Failed { .. }));
        // No growth at all needs no patience.
        assert_eq!(said(&seen(0.0), &rule), Judgement::Held { likely: false });
    }

    #[test]
    fn what_wavers_is_undecided_and_at_last_what_is_likelier() {
        let mut step = seen(1.0);
        for (level, off) in step.levels.iter_mut().zip([9.0, -9.0].into_iter().cycle()) {
            *level += off;
        }
        let Judgement::Undecided { reason, longer } = said(&step, &RULE) else {
            panic!("decided");
        };
        assert!(reason.contains('±') && longer > 1.5, "{reason}, {longer}");
        let last = Rule { is_last: true, ..RULE };
        assert_eq!(said(&step, &last), Judgement::Held { likely: true });
        let narrow = Rule { tolerance: 0.01, ..last };
        assert!(matches!(said(&step, &narrow), Judgement::Failed { .. }));
    }

    #[test]
    fn a_step_without_seconds_decides_nothing_unless_it_is_the_last() {
        let short = Observation { steady_ns: 1, ..Observation::default() };
        assert!(matches!(said(&short, &RULE), Judgement::Undecided { .. }));
        let last = Rule { is_last: true, ..RULE };
        assert_eq!(said(&short, &last), Judgement::Held { likely: true });
    }
}
