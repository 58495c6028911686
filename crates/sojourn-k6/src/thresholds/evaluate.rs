//! The thresholds of a test and their state.

use super::error::ThresholdError;
use super::expression::Expression;
use super::values::Values;
use crate::metrics::{Contains, MetricId, MetricKind, Registry, Totals};

/// The submetric that every summary shows if it has samples.
const KEPT: &str = "http_req_duration{expected_response:true}";

/// A threshold as a script's options have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// `p(95)<500`.
    pub text: String,
    /// Whether the test ends as soon as it fails.
    pub abort_on_fail: bool,
    /// How long into the test it may fail without ending it.
    pub delay_abort_ns: u64,
}

/// All thresholds of a test.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    metrics: Vec<MetricThresholds>,
}

/// The thresholds of one metric or submetric.
#[derive(Debug, Clone)]
pub struct MetricThresholds {
    /// Whose.
    pub metric: MetricId,
    /// As the options name it.
    pub key: String,
    /// What the metric's values are.
    pub contains: Contains,
    /// In the order of the options.
    pub thresholds: Vec<Threshold>,
}

/// One threshold and whether it held when last looked at.
#[derive(Debug, Clone)]
pub struct Threshold {
    /// As it is written.
    pub text: String,
    /// As it is understood.
    pub expression: Expression,
    /// Whether the test ends as soon as it fails.
    pub abort_on_fail: bool,
    /// How long into the test it may fail without ending it.
    pub delay_abort_ns: u64,
    /// Whether it held when last looked at; true before.
    pub ok: bool,
    /// What was compared then; `None` before, and where there were no samples.
    pub measured: Option<f64>,
}

/// When thresholds are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// While the test runs: metrics without samples are passed over.
    Running,
    /// At the end: what has no samples counts as 0, and a rate without samples holds.
    End,
    /// At the end, where a threshold without samples fails (`--strict`).
    EndStrict,
}

/// What a look at all thresholds came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ended {
    /// The names of metrics with a threshold that fails, sorted.
    pub failed: Vec<String>,
    /// Whether one of those ends the test.
    pub is_abort: bool,
}

impl Ended {
    /// What k6 logs as an error when thresholds fail; none where all hold. After the text of an
    /// abort nothing more is said at the end.
    pub fn message(&self) -> Option<String> {
        if self.failed.is_empty() {
            return None;
        }
        let names = self.failed.join(", ");
        Some(if self.is_abort {
            format!(
                "thresholds on metrics '{names}' were crossed; at least one has abortOnFail \
                 enabled, stopping test prematurely"
            )
        } else {
            format!("thresholds on metrics '{names}' have been crossed")
        })
    }
}

impl Thresholds {
    /// Reads the thresholds of the options, with the metrics that the script has declared by now.
    /// Submetrics are made on the way, the one that k6 always keeps
    /// (`http_req_duration{expected_response:true}`) among them: so this is called, with nothing,
    /// for a test without thresholds as well.
    ///
    /// # Errors
    ///
    /// A key names no metric, a text is no threshold, or the metric's kind has no such thing.
    pub fn new(
        registry: &mut Registry,
        options: impl IntoIterator<Item = (String, Vec<Spec>)>,
    ) -> Result<Self, ThresholdError> {
        let mut metrics: Vec<MetricThresholds> = Vec::new();
        for (key, specs) in options {
            let metric = registry.resolve(&key)?;
            let mut thresholds = Vec::with_capacity(specs.len());
            for spec in specs {
                thresholds.push(Threshold::new(&key, metric.kind(), spec)?);
            }
            match metrics.iter_mut().find(|other| other.metric == metric) {
                Some(other) => other.thresholds.extend(thresholds),
                None => {
                    let contains = registry.get(metric).map_or(Contains::Default, |it| it.contains);
                    metrics.push(MetricThresholds { metric, key, contains, thresholds });
                }
            }
        }
        registry.resolve(KEPT)?;
        Ok(Self { metrics })
    }

    /// In the order of the options.
    pub fn iter(&self) -> impl Iterator<Item = &MetricThresholds> {
        self.metrics.iter()
    }

    /// Those of one metric.
    pub fn of(&self, metric: MetricId) -> &[Threshold] {
        let found = self.metrics.iter().find(|other| other.metric == metric);
        found.map_or(&[], |found| &found.thresholds)
    }

    /// What k6 warns of: keys with tags that samples have as metadata only.
    pub fn warnings(&self, registry: &Registry) -> Vec<String> {
        let mut warnings = Vec::new();
        for own in &self.metrics {
            let submetric = registry.get(own.metric).and_then(|m| m.submetric.as_ref());
            for (tag, _) in submetric.iter().flat_map(|submetric| &submetric.tags) {
                if matches!(&**tag, "vu" | "iter") {
                    warnings.push(format!(
                        "The high-cardinality '{tag}' metric tag was made non-indexable in k6 \
                         v0.41.0, so thresholds like '{}' that are based on it won't work \
                         correctly.",
                        own.key
                    ));
                }
            }
        }
        warnings
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    /// Looks at all of them, `elapsed_ns` into the test.
    pub fn evaluate(&mut self, totals: &Totals, elapsed_ns: u64, moment: Moment) -> Ended {
        let mut ended = Ended::default();
        for metric in &mut self.metrics {
            let sink = totals.sink(metric.metric).filter(|sink| !sink.is_empty());
            if sink.is_none() && moment == Moment::Running {
                continue;
            }
            let values = Values::new(sink, elapsed_ns);
            for threshold in &mut metric.thresholds {
                let value = values.of(threshold.expression.aggregation);
                threshold.measured = sink.map(|_| value);
                threshold.ok = match sink {
                    None if moment == Moment::EndStrict => false,
                    None if metric.metric.kind() == MetricKind::Rate => true,
                    _ => threshold.expression.holds(value),
                };
                let is_due = moment == Moment::Running && elapsed_ns >= threshold.delay_abort_ns;
                ended.is_abort |= !threshold.ok && threshold.abort_on_fail && is_due;
            }
            if metric.thresholds.iter().any(|threshold| !threshold.ok) {
                ended.failed.push(metric.key.clone());
            }
        }
        ended.failed.sort();
        ended
    }
}

impl Threshold {
    fn new(key: &str, kind: MetricKind, spec: Spec) -> Result<Self, ThresholdError> {
        let expression = Expression::parse(&spec.text)
            .map_err(|source| ThresholdError::Expression { key: key.to_owned(), source })?;
        if !expression.aggregation.suits(kind) {
            let what = expression.aggregation;
            return Err(ThresholdError::unsuitable(key, &spec.text, kind, what));
        }
        Ok(Self {
            text: spec.text,
            expression,
            abort_on_fail: spec.abort_on_fail,
            delay_abort_ns: spec.delay_abort_ns,
            ok: true,
            measured: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Shard, ShardOptions, TagSets, builtin};

    fn spec(text: &str) -> Spec {
        Spec { text: text.to_owned(), abort_on_fail: false, delay_abort_ns: 0 }
    }

    fn thresholds(registry: &mut Registry, all: &[(&str, Spec)]) -> Thresholds {
        let options = all.iter().map(|(key, spec)| ((*key).to_owned(), vec![spec.clone()]));
        Thresholds::new(registry, options).unwrap()
    }

    #[test]
    fn an_abort_waits_for_its_delay_and_for_samples() {
        let mut registry = Registry::new();
        let abort = Spec { abort_on_fail: true, delay_abort_ns: 50, ..spec("count<1") };
        let mut thresholds = thresholds(&mut registry, &[("http_reqs", abort)]);
        let sets = TagSets::new(registry.matcher());
        let mut shard = Shard::new(ShardOptions::default());
        let mut totals = Totals::default();
        assert_eq!(thresholds.evaluate(&totals, 60, Moment::Running), Ended::default());
        assert_eq!(thresholds.of(builtin::HTTP_REQS)[0].measured, None);
        shard.add(builtin::HTTP_REQS, sets.empty(), 1, 1.0);
        totals.merge(shard.take());
        let early = thresholds.evaluate(&totals, 49, Moment::Running);
        assert_eq!((early.failed.len(), early.is_abort), (1, false));
        assert_eq!(thresholds.of(builtin::HTTP_REQS)[0].measured, Some(1.0));
        let late = thresholds.evaluate(&totals, 50, Moment::Running);
        let text = "thresholds on metrics 'http_reqs' were crossed; at least one has abortOnFail \
                    enabled, stopping test prematurely";
        assert_eq!(late.message().as_deref(), Some(text));
        let end = thresholds.evaluate(&totals, 60, Moment::End).message();
        assert_eq!(end.as_deref(), Some("thresholds on metrics 'http_reqs' have been crossed"));
    }

    #[test]
    fn what_has_no_samples_fails_only_if_strict() {
        let mut registry = Registry::new();
        registry.declare("own", MetricKind::Trend, Contains::Time).unwrap();
        let all = [("own", spec("avg<1")), ("checks", spec("rate>0.5"))];
        let mut thresholds = thresholds(&mut registry, &all);
        let totals = Totals::default();
        assert_eq!(thresholds.evaluate(&totals, 1, Moment::End).message(), None);
        let strict = thresholds.evaluate(&totals, 1, Moment::EndStrict);
        assert_eq!(strict.failed, ["checks", "own"]);
    }

    #[test]
    fn mistakes_are_told() {
        for (key, text, expected) in [
            ("nope", "count>1", "invalid threshold defined on nope; reason: no metric name"),
            (
                "http_reqs",
                "avg>1",
                "supported aggregation methods for this metric are: count, rate",
            ),
            ("http_reqs", "count", "threshold on 'http_reqs': failed parsing"),
        ] {
            let options = [(key.to_owned(), vec![spec(text)])];
            let error = Thresholds::new(&mut Registry::new(), options).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let mut registry = Registry::new();
        let odd = thresholds(&mut registry, &[("http_reqs{vu:1}", spec("count>1"))]);
        assert_eq!(odd.warnings(&registry).len(), 1);
    }
}
