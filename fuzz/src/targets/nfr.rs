//! Files of requirements: errors name a place in them, and what is read can be looked at and shown.

use sojourn_session::nfr::{Figures, Filter, Requirements, Statistic, Verdict, summary};

use crate::Input;
use crate::targets::journey_file::check_errors;

/// Option 0: nothing is known.
pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    let requirements = match Requirements::read("file.yaml", text) {
        Ok(requirements) => requirements,
        Err(errors) => return check_errors(&errors, text),
    };
    let outcomes = requirements.evaluate(&Known { is_known: !input.has(0) });
    assert_eq!(outcomes.len(), requirements.list.len());
    for outcome in &outcomes {
        let line = outcome.to_string();
        assert!(line.contains(outcome.kind) && line.contains("wanted "), "{line}");
        if input.has(0) {
            assert!(!matches!(outcome.verdict, Verdict::Met | Verdict::Missed), "{line}");
        }
    }
    assert!(summary(&outcomes).ends_with("requirements met"));
}

/// The same figures whatever is asked.
struct Known {
    is_known: bool,
}

impl Figures for Known {
    fn completed(&self) -> Option<bool> {
        self.is_known.then_some(true)
    }

    fn duration_s(&self) -> Option<f64> {
        self.is_known.then_some(60.0)
    }

    fn cpu_percent(&self, _: Statistic) -> Option<f64> {
        self.is_known.then_some(50.0)
    }

    fn checks(&self, filter: &Filter) -> Option<(u64, u64)> {
        self.is_known.then(|| (u64::from(filter.accepts_check("a")), 0))
    }

    fn responses(&self, filter: &Filter) -> Option<u64> {
        self.is_known.then(|| u64::from(filter.accepts(200, Some("a"))))
    }

    fn latency_ms(&self, _: Statistic, _: &Filter) -> Option<f64> {
        self.is_known.then_some(1.5)
    }

    fn apdex(&self, _: f64, _: &Filter) -> Option<f64> {
        self.is_known.then_some(0.5)
    }
}
