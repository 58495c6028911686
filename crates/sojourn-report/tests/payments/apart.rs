//! What of the example stands apart from payments: the generator's limits, and figures by label.

use sojourn_analysis::{
    fairness::{self, Label},
    generator::{self, GeneratorVerdict, Level, Thread, ThreadSecond},
};
use sojourn_report::model::{Distribution, LabelReport, LabelRow};

/// One thread, an eighth busy.
pub(crate) fn verdict() -> Option<GeneratorVerdict> {
    let second = ThreadSecond { cpu: 0.12, run_queue: Some(0.01) };
    generator::verdict(&generator::Facts {
        threads: vec![Thread {
            name: "generator 0".into(),
            makes_load: true,
            seconds: vec![second; 60],
            turn_ns_max: Some(0.4e6),
        }],
        busy_max: 0.95,
        busy_for_s: 10,
        lag_p99_ns: Some(Level { subject: String::new(), used: 0.12e6, limit: 10e6 }),
        ..generator::Facts::default()
    })
}

/// Three tenants, of whom one waits twice as long.
pub(crate) fn labels(durations: &Distribution) -> LabelReport {
    let row = |label: &str, journeys: u64, times: i64| LabelRow {
        label: label.into(),
        started: journeys,
        completed: journeys,
        duration_ns: Some(Distribution {
            count: journeys,
            mean: durations.mean * times as f64,
            p50: durations.p50 * times,
            p95: durations.p95 * times,
            p99: durations.p99 * times,
            ..*durations
        }),
        ..LabelRow::default()
    };
    let rows = vec![row("globex <b>", 300, 2), row("acme", 800, 1), row("initech", 800, 1)];
    let compared = |row: &LabelRow| Label {
        name: row.label.clone(),
        ended: row.started,
        completed: row.completed,
        mean_ns: row.duration_ns.map(|times| times.mean),
        stddev_ns: durations.stddev,
    };
    let labels: Vec<Label> = rows.iter().map(compared).collect();
    LabelReport { fairness: fairness::fairness(&labels), rows }
}
