//! What came of the plan's limits, as figures.

use sojourn_ledger::{Ledger, LimitFigures, LimitSpec};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::{LimitKind, Plan};

/// Series of a plan's limits.
pub(super) struct LimitSeries {
    limits: Vec<Limit>,
}

struct Limit {
    counted: SeriesId,
    violations: SeriesId,
    unfinished: SeriesId,
    most: SeriesId,
    first_s: SeriesId,
    early_ms: SeriesId,
    is_rate: bool,
    /// As last written: counters are given what is new.
    written: LimitFigures,
}

impl LimitSeries {
    pub(super) fn new(plan: &Plan, recorder: &mut Recorder) -> Self {
        let limit = |limit: &sojourn_plan::Limit| {
            let tags = [(names::LIMIT, &*limit.name), (names::WHAT, &*limit.declared)];
            let mut series = |kind: Kind, metric: &str| {
                recorder.series(kind, SeriesKey::new(metric, &tags, SeriesPhase::Any))
            };
            Limit {
                counted: series(Kind::Counter, names::LIMIT_COUNTED),
                violations: series(Kind::Counter, names::LIMIT_VIOLATIONS),
                unfinished: series(Kind::Counter, names::LIMIT_UNFINISHED),
                most: series(Kind::Gauge, names::LIMIT_MOST),
                first_s: series(Kind::Gauge, names::LIMIT_FIRST_S),
                early_ms: series(Kind::Gauge, names::LIMIT_EARLY_MS),
                is_rate: matches!(limit.kind, LimitKind::Rate { .. }),
                written: LimitFigures::default(),
            }
        };
        Self { limits: plan.limits.iter().map(limit).collect() }
    }

    /// Writes what is new.
    pub(super) fn write(&mut self, ledger: &Ledger, start_ns: u64, recorder: &mut Recorder) {
        for (limit, figures) in self.limits.iter_mut().zip(ledger.limits()) {
            let written = std::mem::replace(&mut limit.written, figures);
            recorder.add(limit.counted, figures.counted - written.counted);
            recorder.add(limit.violations, figures.violations - written.violations);
            recorder.add(limit.unfinished, figures.unfinished - written.unfinished);
            recorder.set(limit.most, figures.most as f64);
            if limit.is_rate {
                recorder.set(limit.early_ms, figures.early_ns_max as f64 / 1e6);
            }
            if let (Some(first_ns), None) = (figures.first_ns, written.first_ns) {
                recorder.set(limit.first_s, first_ns.saturating_sub(start_ns) as f64 / 1e9);
            }
        }
    }
}

/// A plan's limits as the ledger sees them. Indices of a plan fit: it has fewer than 65,536
/// journeys, of at most 32 stages each.
pub(super) fn limit_specs(plan: &Plan) -> Vec<LimitSpec> {
    let spec = |limit: &sojourn_plan::Limit| match &limit.kind {
        LimitKind::AtOnce { between, most, tolerance_ns } => LimitSpec::AtOnce {
            between: between
                .iter()
                .map(|&((journey, from), to)| (journey as u16, from as u8, to as u8))
                .collect(),
            most: *most,
            tolerance_ns: *tolerance_ns,
        },
        LimitKind::Rate { at, most, per_ns, burst, tolerance_ns } => LimitSpec::Rate {
            at: at.iter().map(|&(journey, stage)| (journey as u16, stage as u8)).collect(),
            most: *most,
            per_ns: *per_ns,
            burst: *burst,
            tolerance_ns: *tolerance_ns,
        },
    };
    plan.limits.iter().map(spec).collect()
}
