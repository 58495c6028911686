//! Hops and journeys as distributions: exactly those of the journeys kept, and those of the log
//! within a tolerance.
//!
//! The log knows when the broker had acknowledged an event, the tap when it was handed one: two
//! instants that no two observers share. A hop's difference is that of two deliveries. So p50 and p99
//! may differ by 1 %, or by twice the broker's own delivery at p99, from handing a message to its
//! client to its acknowledgement, in the same run. The tap's delay is not taken for it: a slow tap
//! would allow itself what it gets wrong. Small runs are compared at the highest quantile that has
//! ten samples beyond it.

use sojourn_metrics::{Histogram, SeriesPhase, names};
use sojourn_record::RunFile;

use super::counts::key;
use super::journeys::{DEAD_LETTER, Examination, Examined, STAGES};
use super::log::{Log, quantile};

/// A duration as measured, and as the log has it, nanoseconds.
pub(crate) type Sample = (i64, i64);

/// Quantiles that are compared with the log's, as far as there are samples enough.
const QUANTILES: [f64; 2] = [0.5, 0.99];
/// Samples beyond a quantile without which it is what befell one or two events: a tap that the
/// machine woke late, not what the ledger makes of its instants.
const BEYOND_MIN: usize = 10;

/// Compares every stage's hop and the whole journey, poisoned ones apart; the figures in words.
pub(crate) fn compare(run: &RunFile, examination: &Examination, log: &Log) -> String {
    let mut told = compare_of("payment", run, examination, log);
    let poisoned = names::poisoned("payment");
    if examination.journeys.iter().any(|it| it.name == poisoned) {
        told += &compare_of(&poisoned, run, examination, log);
    }
    let seen =
        || examination.journeys.iter().flat_map(|it| it.stages[..DEAD_LETTER].iter().flatten());
    let delays: Vec<i64> = seen().map(|it| it.at_ns as i64 - it.publish_ns as i64).collect();
    let ms = |q| quantile(delays.clone(), q).unwrap_or(0) as f64 / 1e6;
    let (p50, p99) = (ms(0.5), ms(0.99));
    told + &format!("  tap − publish: p50 {p50:.2} ms, p99 {p99:.2} ms")
}

fn compare_of(name: &str, run: &RunFile, examination: &Examination, log: &Log) -> String {
    let mut told = String::new();
    for phase in [SeriesPhase::WarmUp, SeriesPhase::Steady] {
        let journeys =
            || examination.journeys.iter().filter(|it| it.phase == phase && it.name == name);
        for (index, stage) in STAGES.into_iter().enumerate() {
            let hops: Vec<Sample> = journeys().filter_map(|it| hop(it, index)).collect();
            let tags = [("journey", name), ("stage", stage)];
            let trend = |metric: &str| run.store.trend(&key(metric, &tags, phase));
            let measured = |keep: fn(&i64) -> bool| hops.iter().map(|it| it.0).filter(keep);
            same(stage, trend("stage.hop"), measured(|hop| *hop >= 0));
            same(stage, trend("stage.hop_negative"), measured(|hop| *hop < 0));
            let since_start = journeys().filter_map(|it| {
                let seen = it.stages[index]?;
                Some((seen.at_ns - it.t0_ns) as i64)
            });
            same(stage, trend("stage.since_start"), since_start);
            if phase == SeriesPhase::Steady {
                let ledger = run.store.hops(Some(name), stage, phase);
                let ledger = |q| ledger.quantile(q);
                told += &close(stage, &QUANTILES, ledger, &hops, log);
            }
        }
        let tags = [("journey", name)];
        let durations: Vec<Sample> = journeys().filter_map(duration).collect();
        let measured = durations.iter().map(|it| it.0);
        let trend = run.store.trend(&key("journey.duration", &tags, phase));
        same("journey", trend, measured);
        if phase == SeriesPhase::Steady {
            // Lost ones rank above these: see the report's comparison.
            let ledger = |q| trend.and_then(|trend| Some(trend.quantile(q)? as f64));
            told += &close("journey", &QUANTILES, ledger, &durations, log);
        }
        let contained = journeys()
            .filter(|it| names::poison_of(name).is_some() && it.stages[DEAD_LETTER].is_some());
        let contained = contained.map(|it| (it.end_ns - it.t0_ns) as i64);
        same(
            "containment",
            run.store.trend(&key(names::POISON_CONTAINMENT, &tags, phase)),
            contained,
        );
        let tags = [("journey", name), ("step", "root")];
        let step = |metric: &str| run.store.trend(&key(metric, &tags, phase));
        let response = journeys().map(|it| (it.t2_ns - it.t0_ns) as i64);
        same("response", step("step.response"), response);
        let service = journeys().map(|it| (it.t2_ns - it.t1_ns) as i64);
        same("service", step("step.service"), service);
    }
    told
}

/// From the first observation of the predecessor; from t1 for those that follow the root.
fn hop(journey: &Examined, index: usize) -> Option<Sample> {
    let own = journey.stages[index]?;
    let (from_ns, from_log_ns) = match index {
        0 | DEAD_LETTER => (journey.t1_ns, journey.t1_ns),
        _ => {
            let before = journey.stages[index - 1]?;
            (before.at_ns, before.delivered_ns)
        }
    };
    Some((own.at_ns as i64 - from_ns as i64, own.delivered_ns as i64 - from_log_ns as i64))
}

/// The whole journey, of one that was completed.
pub(crate) fn duration(journey: &Examined) -> Option<Sample> {
    if !["completed", "late"].contains(&journey.class.as_str()) {
        return None;
    }
    let delivered_ns = journey.stages.iter().flatten().map(|it| it.delivered_ns);
    let end_ns = delivered_ns.max()?.max(journey.t2_ns);
    Some(((journey.end_ns - journey.t0_ns) as i64, (end_ns - journey.t0_ns) as i64))
}

/// What a histogram keeps exactly is that of the journeys.
fn same(name: &str, trend: Option<&Histogram>, samples: impl Iterator<Item = i64>) {
    let mut exact = Histogram::new();
    samples.for_each(|sample| exact.record(sample.unsigned_abs()));
    match trend {
        Some(trend) => assert_eq!(trend.totals(), exact.totals(), "{name}"),
        None => assert_eq!(exact.count(), 0, "{name}"),
    }
}

/// Quantiles of the ledger lie as close to the log's as two observers can be; the figures in words.
pub(crate) fn close(
    name: &str,
    quantiles: &[f64],
    ledger: impl Fn(f64) -> Option<f64>,
    samples: &[Sample],
    log: &Log,
) -> String {
    let mut told = String::new();
    if samples.len() < 2 * BEYOND_MIN {
        return told;
    }
    let highest = 1.0 - BEYOND_MIN as f64 / samples.len() as f64;
    for q in quantiles.iter().map(|q| q.min(highest)) {
        let truth = quantile(samples.iter().map(|it| it.1).collect(), q);
        let (Some(measured), Some(truth)) = (ledger(q), truth) else {
            panic!("{name}: no quantile of {} samples", samples.len());
        };
        let (measured, truth) = (measured / 1e6, truth as f64 / 1e6);
        let tolerance = (truth.abs() / 100.0).max(2.0 * log.delivery_p99_ns as f64 / 1e6);
        let difference = measured - truth;
        let line = format!(
            "  {name:<11} p{:<3.0} measured {measured:>9.3} ms, log {truth:>9.3} ms, difference \
             {difference:>6.3} of {tolerance:.3} ms\n",
            q * 100.0
        );
        assert!(difference.abs() <= tolerance, "{line}");
        told += &line;
    }
    told
}
