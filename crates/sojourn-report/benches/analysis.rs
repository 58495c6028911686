//! An hour of a journey with 30 stages, 100 series and 100,000 kept journeys: what its report
//! costs, all findings included. One line per figure; fails above the limits that the project has
//! set itself. Seconds are the thread's own processor time.

#![expect(clippy::print_stdout, reason = "a benchmark's result")]

use std::error::Error;

use sojourn_clock::thread_cpu;
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{
    Identity, Interval, IntervalRow, JourneyRecord, JourneyShape, RunFile, StageInstant,
    StageShape, Summary, Verdict,
};
use sojourn_report::ReportModel;

const SECONDS: u64 = 3_600;
const STAGES: u64 = 30;
const KEPT: u64 = 100_000;
const SECOND_NS: u64 = 1_000_000_000;
/// What the analysis may take at most.
const LIMIT_S: f64 = 1.0;
const LIMIT_MB: f64 = 200.0;

fn main() -> Result<(), Box<dyn Error>> {
    let run = run()?;
    let series = run.store.series().count();
    println!("{series} series, {} intervals, {} journeys", run.intervals.len(), run.journeys.len());
    // Forgets the peak so far.
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before_kb = memory_kb("VmRSS")?;
    let mut fastest_ns = u64::MAX;
    for _ in 0..3 {
        let began_ns = thread_cpu().cpu_ns;
        let model = ReportModel::from_run(&run);
        fastest_ns = fastest_ns.min(thread_cpu().cpu_ns - began_ns);
        assert_eq!(model.journeys.len(), 1);
    }
    let seconds = fastest_ns as f64 / 1e9;
    let megabytes = memory_kb("VmHWM")?.saturating_sub(before_kb) as f64 / 1e3;
    println!("analysis_hour {seconds:.3} s");
    println!("analysis_hour_memory {megabytes:.1} MB");
    if seconds > LIMIT_S || megabytes > LIMIT_MB {
        return Err(format!("above the limit of {LIMIT_S} s and {LIMIT_MB} MB").into());
    }
    Ok(())
}

fn memory_kb(line: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|it| it.strip_prefix(line)?.strip_prefix(':'));
    let number = found.and_then(|it| it.split_whitespace().next()).ok_or("no such line")?;
    Ok(number.parse()?)
}

fn stage(number: u64) -> String {
    format!("stage-{number}")
}

fn run() -> Result<RunFile, Box<dyn Error>> {
    Ok(RunFile {
        identity: identity(),
        store: store()?,
        intervals: (0..SECONDS).map(interval).collect(),
        journeys: (0..KEPT).map(kept).collect(),
        summary: Some(Summary {
            verdict: Verdict::Pass,
            causes: Vec::new(),
            thresholds: Vec::new(),
            interrupted: false,
            arrivals_end_ns: SECONDS * SECOND_NS,
            load_end_ns: SECONDS * SECOND_NS,
            end_ns: SECONDS * SECOND_NS,
            drain_ns: Some(SECOND_NS),
            notes: Vec::new(),
            fleet: None,
        }),
        ..RunFile::default()
    })
}

fn identity() -> Identity {
    let stages = (0..STAGES).map(|number| StageShape {
        name: stage(number),
        on: "events (kafka)".into(),
        kind: "required".into(),
        after: if number == 0 { "create".into() } else { stage(number - 1) },
        poll_ns: None,
    });
    Identity {
        phases_ns: [0, SECONDS * SECOND_NS, 0],
        journeys: vec![JourneyShape {
            name: "payment".into(),
            steps: vec!["create".into()],
            root_steps: 1,
            stages: stages.collect(),
            within_ns: 60 * SECOND_NS,
            poison: None,
        }],
        ..Identity::default()
    }
}

/// Mixed bits of a number, 0 to 1.
fn chance(of: u64, k: u64) -> f64 {
    let mixed = (of << 40 ^ k).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Exponential around 20 ms.
fn hop_ns(of: u64, k: u64) -> u64 {
    (-2e7 * (1.0 - chance(of, k)).ln()) as u64
}

/// The series of the hops, and counters and gauges beside them.
fn store() -> Result<Store, String> {
    let mut recorder = Recorder::new(0);
    for row in interval(0).rows {
        let (key, kind) = match row {
            (key, IntervalRow::Counter(_)) => (key, Kind::Counter),
            (key, IntervalRow::Gauge(_)) => (key, Kind::Gauge),
            (key, _) => (key, Kind::Trend),
        };
        let number = key.tag(names::STAGE).map_or(0, |stage| stage.len() as u64);
        let series = recorder.series(kind, key);
        match kind {
            Kind::Trend => (0..200_000).for_each(|k| recorder.record(series, hop_ns(number, k))),
            Kind::Gauge => recorder.set(series, 5.0),
            _ => recorder.add(series, SECONDS * 50),
        }
    }
    let mut store = Store::new();
    store.apply(&recorder.take(SECOND_NS, None))?;
    Ok(store)
}

fn interval(second: u64) -> Interval {
    let of = (names::JOURNEY, "payment");
    let mut rows = Vec::new();
    for number in 0..STAGES {
        let name = stage(number);
        let tags = [of, (names::STAGE, name.as_str())];
        let p50 = 14_000_000 + hop_ns(number + 100, second) / 10;
        let trend = IntervalRow::Trend {
            count: 50,
            min: p50 / 40,
            p50,
            p95: p50 * 4,
            p99: p50 * 6,
            max: p50 * 8,
            sum: u128::from(p50) * 60,
        };
        let reached = 45 + (chance(number + 200, second) * 10.0) as u64;
        let level = (chance(number + 300, second) * 6.0).floor();
        rows.push((SeriesKey::new(names::STAGE_HOP, &tags, SeriesPhase::Steady), trend));
        rows.push((
            SeriesKey::new(names::STAGE_REACHED, &tags, SeriesPhase::Steady),
            IntervalRow::Counter(reached),
        ));
        rows.push((
            SeriesKey::new(names::STAGE_IN_FLIGHT, &tags, SeriesPhase::Any),
            IntervalRow::Gauge([level, 0.0, level + 2.0]),
        ));
    }
    for metric in [names::JOURNEYS_STARTED, names::JOURNEYS_COMPLETED] {
        let key = SeriesKey::new(metric, &[of], SeriesPhase::Steady);
        rows.push((key, IntervalRow::Counter(50)));
    }
    for metric in [names::JOURNEYS_IN_FLIGHT, names::JOURNEYS_OLDEST_AGE_MS] {
        let level = 60.0 + (chance(400, second) * 9.0).floor();
        let key = SeriesKey::new(metric, &[of], SeriesPhase::Any);
        rows.push((key, IntervalRow::Gauge([level; 3])));
    }
    for number in 0..6 {
        let group = format!("group-{number}");
        let tags =
            [(names::CHANNEL, "events"), (names::OF, group.as_str()), (names::FIGURE, "waiting")];
        let level = (chance(500 + number, second) * 90.0).floor();
        let key = SeriesKey::new(names::BACKLOG, &tags, SeriesPhase::Any);
        rows.push((key, IntervalRow::Gauge([level; 3])));
    }
    Interval { start_ns: second * SECOND_NS, end_ns: (second + 1) * SECOND_NS, rows }
}

fn kept(id: u64) -> JourneyRecord {
    let t0_ns = (id as f64 / KEPT as f64 * SECONDS as f64 * 1e9) as u64;
    let mut at_ns = t0_ns;
    let mut stages = Vec::new();
    for number in 0..STAGES {
        at_ns += hop_ns(number, id);
        stages.push(StageInstant { name: stage(number), seen_ns: Some(at_ns) });
    }
    JourneyRecord {
        journey: "payment".into(),
        id,
        class: "completed".into(),
        phase: "steady".into(),
        kept_as: "all".into(),
        t0_ns,
        t1_ns: t0_ns,
        t2_ns: Some(t0_ns + 1_000_000),
        end_ns: at_ns,
        stages,
        ..JourneyRecord::default()
    }
}
