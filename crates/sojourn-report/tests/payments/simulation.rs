//! The simulated payments, and figures computed from them.

use sojourn_report::model::{Bin, Distribution, Statistic, TimeSeries, Timeline};

pub(super) const SECOND: f64 = 1e9;
pub(super) const STAGES: [&str; 4] = ["initiated", "created", "settled", "completed"];
pub(super) const WITHIN_NS: u64 = 30_000_000_000;
pub(super) const WARM_UP_S: f64 = 5.0;
pub(super) const STEADY_S: f64 = 60.0;
pub(super) const RATE: f64 = 50.0;

/// One simulated payment; instants in nanoseconds since the run's start.
pub(super) struct Payment {
    pub(super) t0: f64,
    pub(super) t2: f64,
    /// First observation of each stage; absent from the stage that was lost on.
    pub(super) seen: Vec<f64>,
}

impl Payment {
    /// When it passed a point: 0 is the start, from 1 on the stages.
    fn passed(&self, point: usize) -> Option<f64> {
        match point {
            0 => Some(self.t0),
            _ => self.seen.get(point - 1).copied(),
        }
    }
}

/// Uniform in 0..1 from a counter: the same run every time.
pub(super) fn uniform(k: u64) -> f64 {
    let mut z = k.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as f64 / u64::MAX as f64
}

/// The next poll of the relay after an instant, and the way through the broker.
pub(super) fn relayed(instant: f64, k: u64) -> f64 {
    let poll = 5.0 * SECOND;
    (instant / poll).ceil() * poll + (4.0 + 60.0 * uniform(k).powi(3)) * 1e6
}

pub(super) fn simulate() -> Vec<Payment> {
    let count = ((WARM_UP_S + STEADY_S) * RATE) as u64;
    (0..count)
        .map(|k| {
            let t0 = (k as f64 + uniform(k) - 0.5).max(0.0) / RATE * SECOND;
            let slow = if uniform(k ^ 0xabc) > 0.98 { 60.0 } else { 0.0 };
            let t2 = t0 + (2.0 + 3.0 * uniform(k ^ 0x77).powi(4) + slow * uniform(k ^ 0x99)) * 1e6;
            let mut at = t2 - 1e6;
            let mut seen = Vec::new();
            let works = [0.0, 0.3, 0.3, 5.0 + 4.0 * uniform(k ^ 0x5151)];
            let lost_at = match k {
                811 | 2_207 => 3,
                1_504 => 2,
                2_900 => 3,
                _ => STAGES.len(),
            };
            for (stage, work) in works.into_iter().enumerate().take(lost_at) {
                at = relayed(at + work * SECOND, k * 4 + stage as u64);
                seen.push(at);
            }
            Payment { t0, t2, seen }
        })
        .collect()
}

pub(super) fn hop(payment: &Payment, stage: usize) -> Option<f64> {
    let before = match stage {
        0 => payment.t0 + 30_000.0,
        _ => *payment.seen.get(stage - 1)?,
    };
    Some(payment.seen.get(stage)? - before)
}

pub(super) fn duration(payment: &Payment) -> Option<f64> {
    Some(payment.seen.get(3)? - payment.t0)
}

pub(super) fn distribution(samples: impl IntoIterator<Item = f64>) -> Option<Distribution> {
    let mut sorted: Vec<f64> = samples.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let rank = |q: f64| sorted[((q * n - 1e-9).ceil() as usize).max(1) - 1] as i64;
    let sum: f64 = sorted.iter().sum();
    let mean = sum / n;
    let variance = sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (!sorted.is_empty()).then(|| Distribution {
        count: sorted.len() as u64,
        sum,
        min: sorted[0] as i64,
        mean,
        max: sorted[sorted.len() - 1] as i64,
        stddev: variance.sqrt(),
        p50: rank(0.5),
        p75: rank(0.75),
        p90: rank(0.9),
        p95: rank(0.95),
        p99: rank(0.99),
        p999: rank(0.999),
    })
}

pub(super) fn bins(samples: impl IntoIterator<Item = f64>) -> Vec<Bin> {
    let mut counts = std::collections::BTreeMap::new();
    for sample in samples {
        *counts.entry((sample.max(1.0).log10() * 40.0).floor() as i32).or_insert(0) += 1;
    }
    let edge = |index: i32| 10f64.powf(f64::from(index) / 40.0);
    counts
        .into_iter()
        .map(|(index, count)| Bin { low_ns: edge(index), high_ns: edge(index + 1), count })
        .collect()
}

/// Seconds of the run.
const SECONDS: usize = (WARM_UP_S + STEADY_S) as usize + 30;

pub(super) fn timeline(payments: &[Payment]) -> Timeline {
    let mut series = Vec::new();
    for (stage, name) in STAGES.into_iter().enumerate() {
        series.extend(hops(payments, stage));
        let waiting = between(payments, stage, stage + 1);
        series.push(named("stage.in_flight", name, Statistic::Max, waiting));
    }
    let in_flight = between(payments, 0, STAGES.len());
    series.push(named("journeys.in_flight", "", Statistic::Max, in_flight));
    for (metric, point) in [("journeys.started", 0), ("journeys.completed", 4)] {
        let counts = (0..SECONDS).map(|second| {
            let within = |instant: f64| (instant / SECOND) as usize == second;
            let passed = payments.iter().filter(|p| p.passed(point).is_some_and(within));
            Some(passed.count() as f64)
        });
        series.push(named(metric, "", Statistic::PerSecond, counts.collect()));
    }
    for (of, scale) in [("settlement: waiting", 1.0), ("settlement: oldest_age_ms", 1_000.0)] {
        let level = (0..SECONDS).map(|second| Some((second % 60) as f64 * scale));
        series.push(named("backlog", of, Statistic::Max, level.collect()));
    }
    Timeline {
        starts_ns: (0..SECONDS as u64).map(|second| second * 1_000_000_000).collect(),
        end_ns: SECONDS as u64 * 1_000_000_000,
        seconds_per_point: 1,
        series,
    }
}

/// A stage's hop percentiles, second by second.
fn hops(payments: &[Payment], stage: usize) -> [TimeSeries; 3] {
    let per_second: Vec<Option<Distribution>> = (0..SECONDS)
        .map(|second| {
            distribution(payments.iter().filter_map(|payment| {
                let seen = payment.seen.get(stage)?;
                ((seen / SECOND) as usize == second).then(|| hop(payment, stage))?
            }))
        })
        .collect();
    [Statistic::P50, Statistic::P95, Statistic::P99].map(|statistic| {
        let pick = |figures: &Distribution| match statistic {
            Statistic::P50 => figures.p50 as f64,
            Statistic::P95 => figures.p95 as f64,
            _ => figures.p99 as f64,
        };
        let values = per_second.iter().map(|figures| figures.as_ref().map(pick));
        named("stage.hop", STAGES[stage], statistic, values.collect())
    })
}

/// How many have passed one point and not the other, late in each second.
fn between(payments: &[Payment], from: usize, to: usize) -> Vec<Option<f64>> {
    let late_in = |second: usize| (second as f64 + 0.9) * SECOND;
    (0..SECONDS)
        .map(|second| {
            let now = late_in(second);
            let is_between = |payment: &&Payment| {
                payment.passed(from).is_some_and(|instant| instant <= now)
                    && payment.passed(to).is_none_or(|instant| instant > now)
            };
            Some(payments.iter().filter(is_between).count() as f64)
        })
        .collect()
}

pub(super) fn named(
    metric: &str,
    of: &str,
    statistic: Statistic,
    values: Vec<Option<f64>>,
) -> TimeSeries {
    TimeSeries { metric: metric.into(), of: of.into(), statistic, values }
}
