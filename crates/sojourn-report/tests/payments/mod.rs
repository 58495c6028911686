//! A payments run, simulated: 50 payments a second for a minute through a relay that polls every
//! five seconds, four of them lost and a few events seen twice. Every figure is computed from the
//! simulated journeys, so that the model is consistent with itself.

mod apart;
mod resources;
mod simulation;
mod traffic;

use sojourn_analysis::{
    backlog::{Backlog, Level, Load, judge},
    conclusion::{Facts, conclude},
    drain::Drain,
    share::{Hop, sentence, shares},
    timer::{self, HopSamples, KeptHop, Timer},
};
use sojourn_metrics::Histogram;
use sojourn_report::model::{
    BacklogRow, ByOutcome, Cause, Duplicates, ErrorRow, EventCounts, EventLine, Health,
    JourneyCounts, JourneyLine, JourneyReport, KeptCounts, KeptJourney, Ledger, Limit, Outcome,
    PhaseRow, Quantile, ReportModel, RunIdentity, SCHEMA, Span, SpanKind, StageRow, Statistic,
    StatusRow, StepRow, TapHealth, ThreadHealth, ThresholdRow, Timeline, VerdictReport,
};

use simulation::{
    Payment, RATE, SECOND, STAGES, STEADY_S, WARM_UP_S, WITHIN_NS, bins, distribution, duration,
    hop, simulate, timeline, uniform,
};

/// The run.
pub(crate) fn model() -> ReportModel {
    let payments = simulate();
    let steady: Vec<&Payment> =
        payments.iter().filter(|payment| payment.t0 >= WARM_UP_S * SECOND).collect();
    let journey = journey(&payments, &steady);
    let ledger = ledger(&payments, &steady);
    let facts = facts(&journey, &ledger);
    let p50_ns = journey.quantiles[0].ns;
    let bottleneck = sentence(&journey.shares, p50_ns).expect("four hops");
    ReportModel {
        schema: SCHEMA,
        identity: identity(),
        verdict: VerdictReport {
            outcome: Outcome::Fail,
            headline: format!(
                "1 of 4 thresholds failed: lost == 0 (measured 4); of 3,000 journeys 2,996 \
                 completed and 4 lost; p50 22.5 s, p99 25.0 s; {bottleneck}"
            ),
            causes: vec![Cause {
                name: "threshold".into(),
                detail: "lost == 0: measured 4".into(),
            }],
            interrupted: false,
            cut_off: None,
            warning: None,
        },
        thresholds: thresholds(),
        requirements: traffic::requirements(),
        health: health(&steady),
        conclusions: conclude(&[facts]),
        ledger,
        backlogs: backlogs(),
        resources: resources::reports(),
        limits: Vec::new(),
        checks: Vec::new(),
        traffic: Some(traffic::report()),
        clocks: Vec::new(),
        journeys: vec![journey],
        poison: Vec::new(),
        kept: KeptCounts::default(),
        fleet: None,
        notes: vec![
            "12 messages of an earlier run were still in payments.events before the first arrival"
                .into(),
            "a tap cannot see redeliveries to the system's own consumers".into(),
        ],
    }
}

/// What the broker said of the payments' own consumers.
fn backlogs() -> Vec<BacklogRow> {
    let row = |figure: &str, max, last| BacklogRow {
        channel: "events".into(),
        of: "settlement".into(),
        figure: figure.into(),
        max,
        last,
    };
    vec![row("oldest_age_ms", 5_250.0, 0.0), row("waiting", 1_234.0, 0.0)]
}

/// A run that is there, with nothing in it.
pub(crate) fn empty() -> ReportModel {
    ReportModel {
        schema: SCHEMA,
        identity: RunIdentity {
            name: "empty".into(),
            run_id: "01JD0000".into(),
            start: "2026-11-21 03:15:11 UTC".into(),
            host: "bench-1".into(),
            version: "0.1.0".into(),
            ..RunIdentity::default()
        },
        verdict: VerdictReport {
            outcome: Outcome::Unfinished,
            headline: "The run file ends before the run did; no journey started".into(),
            causes: Vec::new(),
            interrupted: false,
            cut_off: Some("the file has no summary".into()),
            warning: None,
        },
        thresholds: Vec::new(),
        requirements: Vec::new(),
        health: Health::default(),
        ledger: Ledger {
            journeys_total: JourneyLine { name: "total".into(), ..JourneyLine::default() },
            balanced: true,
            ..Ledger::default()
        },
        backlogs: Vec::new(),
        resources: Vec::new(),
        limits: Vec::new(),
        checks: Vec::new(),
        traffic: None,
        clocks: Vec::new(),
        conclusions: Vec::new(),
        journeys: vec![JourneyReport { name: "nothing".into(), ..JourneyReport::default() }],
        poison: Vec::new(),
        kept: KeptCounts::default(),
        fleet: None,
        notes: Vec::new(),
    }
}

fn journey(payments: &[Payment], steady: &[&Payment]) -> JourneyReport {
    let durations = distribution(steady.iter().filter_map(|payment| duration(payment)))
        .expect("thousands complete");
    let quantiles = [
        (0.5, durations.p50),
        (0.75, durations.p75),
        (0.9, durations.p90),
        (0.95, durations.p95),
        (0.99, durations.p99),
    ]
    .map(|(q, ns)| Quantile { q, ns: ns as u64, beyond: false })
    .into_iter()
    .chain([Quantile { q: 0.999, ns: WITHIN_NS, beyond: true }])
    .collect();
    let stages: Vec<StageRow> = (0..4).map(|stage| stage_row(payments, steady, stage)).collect();
    let hops: Vec<Hop> = stages
        .iter()
        .map(|stage| Hop {
            name: stage.name.clone(),
            p50_ns: stage.hop_ns.expect("reached").p50,
            p95_ns: stage.hop_ns.expect("reached").p95,
        })
        .collect();
    let timeline = timeline(payments);
    JourneyReport {
        name: "payment".into(),
        within_ns: WITHIN_NS,
        started: steady.len() as u64,
        duration_ns: Some(durations),
        quantiles,
        in_flight_max: Some(in_flight_max(&timeline, "journeys.in_flight", "")),
        stages,
        branches: Vec::new(),
        failures: Vec::new(),
        labels: Some(apart::labels(&durations)),
        batch: None,
        batches_again: Vec::new(),
        steps: vec![step(steady)],
        shares: shares(&hops, Some(durations.p50 as u64), Some(durations.p95 as u64)),
        backlog: Some(backlog(&timeline, durations.p99 as u64)),
        drain: Some(Drain {
            drain_ns: None,
            observed_ns: 30_000_000_000,
            completed: 1_162,
            completed_per_s: Some(38.7),
        }),
        timers: timers(steady),
        timeline,
        kept: kept(payments, durations.p50 as f64),
        ..JourneyReport::default()
    }
}

/// What the hops and the instants of every thirtieth payment show of the relay.
fn timers(steady: &[&Payment]) -> Vec<Timer> {
    let histograms = [0, 1, 2, 3].map(|stage| {
        let mut histogram = Histogram::new();
        let hops = steady.iter().filter_map(|payment| hop(payment, stage));
        hops.for_each(|hop_ns| histogram.record(hop_ns.max(0.0) as u64));
        histogram
    });
    let samples = |(stage, hops): (usize, _)| HopSamples {
        stage: STAGES[stage].into(),
        hops: Some(hops),
        kept: steady
            .iter()
            .step_by(30)
            .filter_map(|payment| {
                let seen = *payment.seen.get(stage)?;
                Some(KeptHop {
                    t0_ns: payment.t0 as u64,
                    from_ns: (seen - hop(payment, stage)?) as u64,
                    seen_ns: seen as u64,
                })
            })
            .collect(),
    };
    timer::timers(&histograms.iter().enumerate().map(samples).collect::<Vec<_>>())
}

fn backlog(timeline: &Timeline, p99_ns: u64) -> Backlog {
    let series = timeline.find("journeys.in_flight", "", Statistic::Max).expect("measured");
    let levels: Vec<Level> = timeline
        .starts_ns
        .iter()
        .zip(&series.values)
        .filter_map(|(&at_ns, value)| Some(Level { at_ns, value: (*value)? }))
        .collect();
    let load = Load {
        start_ns: 0,
        steady_ns: (WARM_UP_S * SECOND) as u64,
        end_ns: ((WARM_UP_S + STEADY_S) * SECOND) as u64,
        arrivals_per_s: RATE,
        journey_p99_ns: Some(p99_ns),
    };
    judge(&levels, &load)
}

fn in_flight_max(timeline: &Timeline, metric: &str, of: &str) -> f64 {
    let series = timeline.find(metric, of, Statistic::Max).expect("measured");
    series.values.iter().flatten().copied().fold(0.0, f64::max)
}

fn stage_row(payments: &[Payment], steady: &[&Payment], stage: usize) -> StageRow {
    let hops = || steady.iter().filter_map(move |payment| hop(payment, stage));
    let since = steady.iter().filter_map(|payment| Some(payment.seen.get(stage)? - payment.t0));
    let (matched, again) = (hops().count() as u64, if stage == 1 { 4 } else { 0 });
    StageRow {
        name: STAGES[stage].into(),
        on: "events (kafka)".into(),
        kind: "required".into(),
        after: if stage == 0 { "create".into() } else { STAGES[stage - 1].into() },
        reached: matched,
        first_member_ns: None,
        trace: None,
        matched,
        deliveries_per_event: Some((matched + again) as f64 / matched as f64),
        hop_ns: distribution(hops()),
        since_start_ns: distribution(since),
        in_flight_max: Some(in_flight_max(&timeline(payments), "stage.in_flight", STAGES[stage])),
        order_violations: if stage == 2 { 1 } else { 0 },
        duplicates: Duplicates { redelivery: again, ..Duplicates::default() },
        hop_bins: bins(hops()),
        poll_ns: None,
        poll_requests: None,
        poll_waited_ns: None,
    }
}

fn step(steady: &[&Payment]) -> StepRow {
    let response = distribution(steady.iter().map(|payment| payment.t2 - payment.t0));
    let requests = steady.len() as u64;
    let parts = [("send", 0.01), ("wait", 0.9), ("receive", 0.03)];
    StepRow {
        name: "create".into(),
        requests,
        ok: requests,
        failed: 0,
        requests_per_s: Some(requests as f64 / STEADY_S),
        ok_per_s: Some(requests as f64 / STEADY_S),
        failed_per_s: Some(0.0),
        response_ns: ByOutcome { all: response, ok: response, failed: None },
        service_ns: distribution(steady.iter().map(|payment| payment.t2 - payment.t0 - 30_000.0)),
        blocked_ns: distribution(steady.iter().map(|_| 9_000.0)),
        phases: parts
            .into_iter()
            .filter_map(|(phase, part)| {
                Some(PhaseRow {
                    phase: phase.into(),
                    time_ns: distribution(
                        steady.iter().map(|payment| (payment.t2 - payment.t0) * part),
                    )?,
                })
            })
            .collect(),
        received_bytes: distribution(steady.iter().map(|_| 187.0)),
        sent_bytes: distribution(steady.iter().map(|_| 242.0)),
        statuses: vec![StatusRow { status: "200".into(), count: requests, fraction: 1.0 }],
        errors: Vec::<ErrorRow>::new(),
        ..StepRow::default()
    }
}

fn kept(payments: &[Payment], p50: f64) -> Vec<KeptJourney> {
    let complete = || {
        let steady = |p: &Payment| p.t0 >= WARM_UP_S * SECOND;
        let kept = payments.iter().zip(0u64..);
        kept.filter(move |(p, _)| p.seen.len() == 4 && steady(p))
    };
    let length = |payment: &Payment| duration(payment).expect("complete");
    let median = complete()
        .min_by(|(a, _), (b, _)| (length(a) - p50).abs().total_cmp(&(length(b) - p50).abs()));
    let slowest = complete().max_by(|(a, _), (b, _)| length(a).total_cmp(&length(b)));
    let lost = payments.iter().zip(0u64..).filter(|(p, _)| p.seen.len() < 4);
    median
        .into_iter()
        .map(|(payment, id)| kept_one("median", payment, id))
        .chain(slowest.map(|(payment, id)| kept_one("slowest", payment, id)))
        .chain(lost.map(|(payment, id)| kept_one("lost", payment, id)))
        .collect()
}

fn kept_one(role: &str, payment: &Payment, id: u64) -> KeptJourney {
    let relative = |instant: f64| (instant - payment.t0) as i64;
    let mut spans = vec![Span {
        name: "create".into(),
        kind: SpanKind::Step,
        from_ns: Some(30_000),
        to_ns: Some(relative(payment.t2)),
        status: Some(200),
    }];
    spans.extend(STAGES.iter().enumerate().map(|(stage, name)| Span {
        name: (*name).into(),
        kind: SpanKind::Stage,
        from_ns: match stage {
            0 => Some(30_000),
            _ => payment.seen.get(stage - 1).map(|seen| relative(*seen)),
        },
        to_ns: payment.seen.get(stage).map(|seen| relative(*seen)),
        status: None,
    }));
    KeptJourney {
        role: role.into(),
        id,
        key: Some(format!(
            "pay:{:08x}-5a7c-4e21-9d3f-{:012x}",
            id * 2_654_435_761 % 0xffff_ffff,
            id * 7_919
        )),
        class: if role == "lost" { "lost".into() } else { "completed".into() },
        phase: "steady".into(),
        t0_ns: payment.t0 as u64,
        duration_ns: duration(payment).map_or(WITHIN_NS, |duration| duration as u64),
        spans,
        last_seen: payment.seen.len().checked_sub(1).map(|last| STAGES[last].into()),
        ..KeptJourney::default()
    }
}

fn ledger(payments: &[Payment], steady: &[&Payment]) -> Ledger {
    let counts = |started: usize, complete: usize| JourneyCounts {
        scheduled: started as u64,
        started: started as u64,
        completed: complete as u64,
        lost: (started - complete) as u64,
        ..JourneyCounts::default()
    };
    let line = JourneyLine {
        name: "payment".into(),
        steady: counts(steady.len(), steady.iter().filter(|p| p.seen.len() == 4).count()),
        whole_run: counts(payments.len(), payments.iter().filter(|p| p.seen.len() == 4).count()),
    };
    let matched: u64 = payments.iter().map(|payment| payment.seen.len() as u64).sum();
    let events = EventLine {
        channel: "events".into(),
        whole_run: EventCounts {
            seen: matched + 4 + 12,
            matched,
            redelivery: 4,
            foreign: 12,
            ..EventCounts::default()
        },
    };
    Ledger {
        journeys_total: JourneyLine { name: "total".into(), ..line.clone() },
        journeys: vec![line],
        poisoned: Vec::new(),
        events_total: EventLine { channel: "total".into(), ..events.clone() },
        events: vec![events],
        balanced: true,
    }
}

fn facts(journey: &JourneyReport, ledger: &Ledger) -> Facts {
    let counts = &ledger.journeys[0].steady;
    Facts {
        journey: journey.name.clone(),
        within_ns: WITHIN_NS,
        started: counts.started,
        completed: counts.completed,
        lost: counts.lost,
        p50_ns: Some(journey.quantiles[0].ns),
        arrivals_per_s: Some(RATE),
        shares: journey.shares.clone(),
        backlog: journey.backlog.clone(),
        drain: journey.drain,
        timers: journey.timers.clone(),
        lost_last_seen: vec![(Some("settled".into()), 3), (Some("created".into()), 1)],
        order_violations: vec![("settled".into(), 1, counts.started)],
        duplicates: vec![("redelivery".into(), 4)],
        ..Facts::default()
    }
}

fn identity() -> RunIdentity {
    RunIdentity {
        name: "payments".into(),
        suite: Some("nightly".into()),
        run_id: "01JD6Y3ZK8".into(),
        labels: vec![("git".into(), "4b1f0c2".into()), ("env".into(), "bench".into())],
        start_unix_ns: 1_795_230_911_000_000_000,
        start: "2026-11-21 03:15:11 UTC".into(),
        host: "bench-1".into(),
        version: "0.1.0".into(),
        io: String::new(),
        load: vec!["payment: poisson arrivals, 50/s; warm-up 5 s, steady 60 s, drain 30 s".into()],
        amendments: Vec::new(),
        warm_up_ns: (WARM_UP_S * SECOND) as u64,
        steady_ns: (STEADY_S * SECOND) as u64,
        arrivals_end_ns: Some(((WARM_UP_S + STEADY_S) * SECOND) as u64),
        end_ns: 95_000_000_000,
        channels: vec![("events".into(), "kafka 127.0.0.1:9092, payments.events".into())],
        plan: "name: payments\ntarget: http://127.0.0.1:8080\njourneys:\n  payment:\n    \
               within: 30s\n"
            .into(),
    }
}

fn thresholds() -> Vec<ThresholdRow> {
    [
        ("journey.payment.p99 < 29s", Some(25.0e9), "25.0 s", true),
        ("stage.settled.hop.p95 < 6s", Some(5.04e9), "5.04 s", true),
        ("lost == 0", Some(4.0), "4", false),
        ("lag.p99 < 5ms", Some(131_000.0), "131 µs", true),
    ]
    .into_iter()
    .map(|(text, measured, words, held)| ThresholdRow {
        text: text.into(),
        measured,
        measured_text: words.into(),
        held,
        abort: false,
    })
    .collect()
}

fn health(steady: &[&Payment]) -> Health {
    Health {
        scheduled: steady.len() as u64,
        started: steady.len() as u64,
        verdict: apart::verdict(),
        missed: 0,
        delivered: Some(1.0),
        lag_budget_ns: Some(0.0),
        lag_ns: distribution((0..steady.len() as u64).map(|k| 22e3 + 110e3 * uniform(k).powi(12))),
        threads: [("generator-0", 0.12), ("observer", 0.04)]
            .into_iter()
            .map(|(thread, mean)| ThreadHealth {
                thread: thread.into(),
                cpu_mean: Some(mean),
                cpu_max: Some(mean * 1.6),
                run_queue_max: Some(0.011),
                stall_ms_max: Some(0.4),
                busy_s_max: Some(0.0),
            })
            .collect(),
        taps: vec![TapHealth {
            channel: "events".into(),
            behind_ms_last: 0.0,
            behind_ms_max: 12.0,
        }],
        refused: Vec::new(),
        connections_max: Some(4.0),
        descriptors_left_min: Some(19_900.0),
        ports_left_min: Some(28_100.0),
        processes: Vec::new(),
        memory_bytes_max: Some(41.2e6),
        limits: [
            ("missed arrivals", "at most 0.1 % of arrivals"),
            ("delivered", "at least 99.5 % of scheduled"),
            ("lag p99", "at most 10 ms"),
            ("tap delay", "at most 1 s"),
        ]
        .into_iter()
        .map(|(name, limit)| Limit { name: name.into(), limit: limit.into() })
        .collect(),
    }
}
