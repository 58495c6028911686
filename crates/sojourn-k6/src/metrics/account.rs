//! The sinks of all metrics, and the checks, of a test or a part of it.

use super::checks::Checks;
use super::metric::MetricId;
use super::sink::Sink;

/// What samples add up to, by metric.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// By [`MetricId::index`]; none where there was no sample.
    sinks: Vec<Option<(MetricId, Sink)>>,
    checks: Checks,
}

impl Account {
    /// With room for as many metrics as another has.
    pub(super) fn like(other: &Self) -> Self {
        Self { sinks: Vec::with_capacity(other.sinks.len()), checks: Checks::default() }
    }

    pub(super) fn add(&mut self, metric: MetricId, at_ns: u64, value: f64, is_exact: bool) {
        let at = metric.index();
        if at >= self.sinks.len() {
            self.sinks.resize_with(at + 1, || None);
        }
        let (_, sink) =
            self.sinks[at].get_or_insert_with(|| (metric, Sink::new(metric.kind(), is_exact)));
        sink.add(at_ns, value);
    }

    pub(super) fn merge(&mut self, other: Self) {
        if other.sinks.len() > self.sinks.len() {
            self.sinks.resize_with(other.sinks.len(), || None);
        }
        for (own, more) in self.sinks.iter_mut().zip(other.sinks) {
            match (own.as_mut(), more) {
                (_, None) => {}
                (None, more) => *own = more,
                (Some((_, own)), Some((_, more))) => own.merge(more),
            }
        }
        self.checks.merge(other.checks);
    }

    /// The account of a metric or submetric; none before its first sample.
    pub fn sink(&self, metric: MetricId) -> Option<&Sink> {
        self.sinks.get(metric.index())?.as_ref().map(|(_, sink)| sink)
    }

    /// Groups and checks by name.
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    pub(super) fn checks_mut(&mut self) -> &mut Checks {
        &mut self.checks
    }
}
