//! What went over the wire, and requirements that the run was held against.

use sojourn_metrics::names;
use sojourn_report::model::{
    Bin, Distribution, RequirementOutcome, RequirementRow, Statistic, StatusRow, TagRow,
    TimeSeries, Timeline, TrafficReport,
};

/// Clients of two tags, one of them slow.
pub(crate) fn report() -> TrafficReport {
    let times = |count: u64, p50: i64| Distribution {
        count,
        p50,
        p95: p50 * 2,
        p99: p50 * 3,
        max: p50 * 4,
        ..Distribution::default()
    };
    let tag = |tag: &str, requests: u64, apdex: f64, p50: i64| TagRow {
        tag: tag.into(),
        requests,
        requests_per_s: Some(requests as f64 / 60.0),
        failed: 7,
        apdex: Some(apdex),
        response_ns: Some(times(requests, p50)),
    };
    let status = |status: &str, count: u64| StatusRow {
        status: status.into(),
        count,
        fraction: count as f64 / 3_600.0,
    };
    let bin = |low_ms: f64, high_ms: f64, count| Bin {
        low_ns: low_ms * 1e6,
        high_ns: high_ms * 1e6,
        count,
    };
    TrafficReport {
        clients_max: Some(41.0),
        connections_max: Some(43.0),
        connections_opened: Some(3_007),
        connections_opened_per_s_max: Some(61.0),
        requests: 3_600,
        requests_per_s: Some(60.0),
        failed: 14,
        apdex: Some(0.934),
        apdex_satisfied_ns: 500_000_000,
        statuses: vec![status("202", 3_586), status("503", 13), status("timeout", 1)],
        response_ns: Some(times(3_600, 12_000_000)),
        response_bins: vec![bin(11.9, 12.6, 3_000), bin(475.0, 503.0, 600)],
        response_steps: vec![
            bin(10.0, 20.0, 2_999),
            bin(20.0, 50.0, 0),
            bin(50.0, 100.0, 1),
            bin(100.0, 200.0, 600),
        ],
        tags: vec![
            tag("submit <b>", 3_000, 0.999, 12_000_000),
            tag("GET /", 600, 0.5, 490_000_000),
        ],
        timeline: timeline(),
    }
}

fn timeline() -> Timeline {
    let series = |metric: &str, of: &str, statistic, factor: f64| TimeSeries {
        metric: metric.into(),
        of: of.into(),
        statistic,
        values: (0..60).map(|second| Some(factor * f64::from(second % 7))).collect(),
    };
    Timeline {
        starts_ns: (0..60).map(|second| second * 1_000_000_000).collect(),
        end_ns: 60_000_000_000,
        seconds_per_point: 1,
        series: vec![
            series(names::CLIENTS, "", Statistic::Max, 6.0),
            series(names::HEALTH_CONNECTIONS, "", Statistic::Max, 6.5),
            series(names::HEALTH_CONNECTIONS_OPENED, "", Statistic::PerSecond, 8.0),
            series("step.requests.by_status", "202", Statistic::PerSecond, 10.0),
            series("step.requests.by_tag", "submit <b>", Statistic::PerSecond, 9.0),
        ],
    }
}

/// One of every outcome.
pub(crate) fn requirements() -> Vec<RequirementRow> {
    let row = |kind: &str, measured, outcome, failed, text: &str| RequirementRow {
        kind: kind.into(),
        measured,
        wanted: text.rsplit("wanted ").next().unwrap_or_default().into(),
        outcome,
        failed,
        text: text.into(),
        ..RequirementRow::default()
    };
    vec![
        row(
            "test.completed",
            Some(1.0),
            RequirementOutcome::Met,
            false,
            "test.completed: true, wanted = true",
        ),
        RequirementRow {
            metric: "percentile 99".into(),
            filter: "status < 400, tag submit or query".into(),
            unit: "ms".into(),
            ..row(
                "http.latency",
                Some(812.25),
                RequirementOutcome::Missed,
                true,
                "http.latency percentile 99 (status < 400, tag submit or query): 812.25 ms, \
                 wanted < 800",
            )
        },
        RequirementRow {
            is_optional: true,
            ..row(
                "http.apdex",
                None,
                RequirementOutcome::Unavailable,
                false,
                "http.apdex of 500 ms: not available, wanted > 0.7 (optional)",
            )
        },
        row("checks", None, RequirementOutcome::Disabled, false, "checks success_rate, wanted = 1"),
    ]
}
