//! Merged percentiles against the raw records of all generators.

use sojourn_metrics::{SeriesKey, SeriesPhase, nearest_rank};
use sojourn_record::RunFile;

use super::*;

/// A bucket is at most this much wider than its least value.
const ERROR: f64 = 1.0 / 1024.0;

/// Every journey is kept with its instants, so that percentiles of the union of all generators'
/// records are known exactly. Those that were merged of histograms lie within their stated error,
/// and the exact figures are the same.
#[test]
fn merged_percentiles_are_those_of_all_records_together() {
    let namespace = Namespace::new("percentiles", &plan(300, "10s"));
    namespace.start_slow_target("lognormal(p50=20ms, p99=200ms)");
    let output = namespace.sojourn(&format!("{RUN} --keep all --format json")).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let file = RunFile::open(&namespace.path("reports/shop.sojourn")).unwrap();
    let (mut union, mut of_each) = (Vec::new(), vec![0; GENERATORS as usize]);
    for journey in &file.journeys {
        union.push(journey.t2_ns.unwrap() - journey.t0_ns);
        // A journey's number begins with its generator's.
        of_each[(journey.id >> 48) as usize] += 1;
    }
    assert_eq!(of_each, [750; GENERATORS as usize], "{output}");
    union.sort_unstable();
    let tags = [("journey", "get"), ("step", "root")];
    let key = SeriesKey::new("step.response", &tags, SeriesPhase::Steady);
    let merged = file.store.trend(&key).unwrap();
    let totals = merged.totals();
    assert_eq!(totals.count, union.len() as u64);
    assert_eq!((totals.min, totals.max), (union[0], union[union.len() - 1]));
    assert_eq!(totals.sum, union.iter().map(|it| u128::from(*it)).sum::<u128>());
    for q in [0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
        let exact = union[nearest_rank(q, union.len() as u64) as usize - 1];
        let found = merged.quantile(q).unwrap();
        let most = exact as f64 * (1.0 + ERROR);
        assert!(found >= exact && found as f64 <= most, "p{}: {found} of {exact}", q * 100.0);
    }
    // And that is what the report says.
    let report = report(&output);
    let shown = report["journeys"][0]["steps"][0]["response_ns"]["all"]["p99"].as_u64();
    assert_eq!(shown, merged.quantile(0.99), "{output}");
}
