//! The sinks of all metrics, and the checks, of a test or a part of it.

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::metric::MetricId;
use super::registry::Registry;
use super::sink::Sink;

/// What samples add up to, by metric.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Filled", try_from = "Filled")]
pub struct Account {
    /// By [`MetricId::index`]; none where there was no sample.
    sinks: Vec<Option<(MetricId, Sink)>>,
    checks: Checks,
}

/// So many metrics may be told of at most by another process.
const METRICS_MAX: usize = 1 << 20;

/// What an account holds: the metrics that have samples.
#[derive(Serialize, Deserialize)]
struct Filled {
    sinks: Vec<(MetricId, Sink)>,
    checks: Checks,
}

impl From<Account> for Filled {
    fn from(account: Account) -> Self {
        Self { sinks: account.sinks.into_iter().flatten().collect(), checks: account.checks }
    }
}

impl TryFrom<Filled> for Account {
    type Error = String;

    fn try_from(filled: Filled) -> Result<Self, String> {
        let mut account = Self { sinks: Vec::new(), checks: filled.checks };
        for (metric, sink) in filled.sinks {
            let at = metric.index();
            if at >= METRICS_MAX || sink.kind() != metric.kind() {
                return Err(format!("there is no such metric: {metric:?}"));
            }
            if at >= account.sinks.len() {
                account.sinks.resize_with(at + 1, || None);
            }
            account.sinks[at] = Some((metric, sink));
        }
        Ok(account)
    }
}

impl Account {
    /// Whether all its metrics are those of a registry.
    pub(super) fn is_of(&self, registry: &Registry) -> bool {
        let is_known = |(metric, _): &(MetricId, Sink)| {
            registry.get(*metric).is_some_and(|known| known.id == *metric)
        };
        self.sinks.iter().flatten().all(is_known)
    }

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
