//! What a validation has counted, as requirements ask for it. It has measured nothing: times are
//! not available.

use sojourn_engine::Ended;
use sojourn_metrics::{Figure, SeriesKey, names};
use sojourn_record::Verdict;
use sojourn_session::nfr::{Figures, Filter, Statistic};

/// The figures of a validation.
pub(super) struct Counted<'a>(pub(super) &'a Ended);

impl Counted<'_> {
    /// The counters of a metric that are not 0.
    pub(super) fn counters(&self, metric: &str) -> impl Iterator<Item = (&SeriesKey, u64)> {
        self.0.figures.figures().filter(move |(key, _)| key.metric == metric).filter_map(
            |(key, figure)| match figure {
                Figure::Counter(count) if *count > 0 => Some((key, *count)),
                _ => None,
            },
        )
    }
}

impl Figures for Counted<'_> {
    fn completed(&self) -> Option<bool> {
        let summary = &self.0.summary;
        Some(!summary.interrupted && summary.verdict != Verdict::Void)
    }

    fn duration_s(&self) -> Option<f64> {
        None
    }

    fn cpu_percent(&self, _statistic: Statistic) -> Option<f64> {
        None
    }

    fn checks(&self, filter: &Filter) -> Option<(u64, u64)> {
        let (mut held, mut not) = (0, 0);
        for (key, count) in self.counters(names::CHECKS) {
            if !key.tag(names::CHECK).is_some_and(|name| filter.accepts_check(name)) {
                continue;
            }
            match key.tag(names::RESULT) {
                Some(names::CHECK_OK) => held += count,
                _ => not += count,
            }
        }
        Some((held, not))
    }

    fn responses(&self, filter: &Filter) -> Option<u64> {
        let of_answers = self.counters(names::STEP_REQUESTS).filter(|(key, _)| {
            let status = key.tag(names::STATUS).and_then(|status| status.parse().ok());
            status.is_some_and(|status| filter.accepts(status, key.tag(names::STEP)))
        });
        Some(of_answers.map(|(_, count)| count).sum())
    }

    fn latency_ms(&self, _statistic: Statistic, _filter: &Filter) -> Option<f64> {
        None
    }

    fn apdex(&self, _satisfied_ms: f64, _filter: &Filter) -> Option<f64> {
        None
    }
}
