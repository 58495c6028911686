//! What a plan that could be read says of itself.

use sojourn_analysis::{check::Check, words};
use sojourn_plan::Plan;

/// The plan, what is odd about it, and its data.
pub(super) fn checks(plan: &Plan) -> Vec<Check> {
    let kinds = plan.journeys.iter().filter(|journey| journey.poison.is_none());
    let stages: usize = kinds.clone().map(|journey| journey.stages.len()).sum();
    let loads: Vec<&str> = plan.load.iter().map(|load| load.declared.as_str()).collect();
    let found = format!(
        "{}, {}, {}; {}",
        words::plural(kinds.count() as u64, "journey", "journeys"),
        words::plural(stages as u64, "stage", "stages"),
        words::plural(plan.channels.len() as u64, "channel", "channels"),
        loads.join("; "),
    );
    let mut checks = vec![Check::passed("plan", &plan.name, found)];
    checks.extend(plan.warnings.iter().map(|warning| Check::warned("plan", "", warning)));
    checks.extend(plan.data.iter().map(|source| {
        let rows = words::plural(source.rows.len() as u64, "row", "rows");
        Check::passed("data", &source.name, format!("{rows} of {}", source.columns.join(", ")))
    }));
    checks
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;

    use super::*;
    use crate::testing::{PAYMENT, plan};

    #[test]
    fn a_plan_is_summed_up_and_its_warnings_are_passed_on() {
        let text = PAYMENT.replace("drain: 1s", "drain: 5s");
        let mut plan = plan(&text, "http://127.0.0.1:1");
        let passed = checks(&plan);
        assert_eq!(passed.len(), 1, "{passed:?}");
        assert!(passed[0].found.starts_with("1 journey, 1 stage, 1 channel; "), "{passed:?}");
        assert!(passed[0].found.contains("20/s"), "{passed:?}");
        plan.warnings.push("no stage is seen on channel `x`".to_owned());
        let warned = checks(&plan);
        assert_eq!(warned[1].outcome, Finding::Warned);
        assert_eq!(warned[1].found, "no stage is seen on channel `x`");
    }
}
