//! The system's own resources: from a run's series to every format, and over the steps of a search.

use sojourn_analysis::{
    capacity::{Observation, Search, Settings},
    resources::SaturatedBy,
};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{
    Identity, Interval, IntervalRow, JourneyShape, RunFile, StageShape, Summary, Verdict,
};
use sojourn_report::{
    ReportModel, RunLine, capacity::CapacityReport, model::Outcome, render, sweep::SweepReport,
    sweep::SweepRow,
};

const SECOND: u64 = 1_000_000_000;
const EVIL: &str = "</style><script>alert(1)</script>\u{1b}[31m";
const OF: (&str, &str) = (names::JOURNEY, "order");

/// A figure of a resource in each second.
type Figures<'a> = Vec<(&'a str, &'a str, Box<dyn Fn(u64) -> Option<f64>>)>;

/// Mixed bits of a number, 0 to 1.
fn chance(k: u64) -> f64 {
    let mixed = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn interval(second: u64, figures: &Figures<'_>) -> Interval {
    let hop_ns = (1e6 * (1.0 + chance(second))) as u64;
    let hop = [OF, (names::STAGE, "packed")];
    let trend = IntervalRow::Trend {
        count: 150,
        min: hop_ns,
        p50: hop_ns,
        p95: hop_ns,
        p99: hop_ns,
        max: hop_ns,
        sum: u128::from(hop_ns) * 150,
    };
    let completed = SeriesKey::new(names::JOURNEYS_COMPLETED, &[OF], SeriesPhase::Steady);
    let mut rows = vec![
        (completed, IntervalRow::Counter(150)),
        (SeriesKey::new(names::STAGE_HOP, &hop, SeriesPhase::Steady), trend),
    ];
    rows.extend(figures.iter().filter_map(|(name, figure, value)| {
        let tags = [(names::RESOURCE_NAME, *name), (names::FIGURE, *figure)];
        let key = SeriesKey::new(names::RESOURCE, &tags, SeriesPhase::Any);
        Some((key, IntervalRow::Gauge([value(second)?; 3])))
    }));
    Interval { start_ns: second * SECOND, end_ns: (second + 1) * SECOND, rows }
}

/// Sixty seconds, the first ten of them a warm-up, with 150 orders completed in each, whose hop
/// takes as long as the resource `api` is busy.
fn run(declared: &[(&str, &str)], figures: &Figures<'_>) -> RunFile {
    let intervals: Vec<Interval> = (0..60).map(|second| interval(second, figures)).collect();
    let mut recorder = Recorder::new(0);
    for (key, row) in intervals.iter().flat_map(|interval| &interval.rows) {
        if let IntervalRow::Gauge([last, _, _]) = row {
            let series = recorder.series(Kind::Gauge, key.clone());
            recorder.set(series, *last);
        }
    }
    let mut store = Store::new();
    store.apply(&recorder.take(SECOND, None)).expect("the first snapshot");
    let owned = |(name, what): &(&str, &str)| ((*name).to_owned(), (*what).to_owned());
    RunFile {
        identity: Identity {
            name: "orders".into(),
            phases_ns: [10 * SECOND, 50 * SECOND, 0],
            resources: declared.iter().map(owned).collect(),
            journeys: vec![JourneyShape {
                name: "order".into(),
                steps: vec!["place".into()],
                root_steps: 1,
                stages: vec![StageShape {
                    name: "packed".into(),
                    on: "events (kafka)".into(),
                    kind: "required".into(),
                    after: "place".into(),
                    poll_ns: None,
                }],
                within_ns: 60 * SECOND,
                poison: None,
            }],
            ..Identity::default()
        },
        store,
        intervals,
        summary: Some(Summary {
            verdict: Verdict::Pass,
            causes: Vec::new(),
            thresholds: Vec::new(),
            interrupted: false,
            arrivals_end_ns: 60 * SECOND,
            load_end_ns: 60 * SECOND,
            end_ns: 60 * SECOND,
            drain_ns: Some(0),
            notes: Vec::new(),
            fleet: None,
        }),
        ..RunFile::default()
    }
}

fn constant(value: f64) -> Box<dyn Fn(u64) -> Option<f64>> {
    Box::new(move |_| Some(value))
}

fn busy() -> Figures<'static> {
    vec![
        // All it has in the steady phase, but for what is beyond two thirds of it.
        ("api", names::CORES, Box::new(|at| Some(if at < 44 { 1.98 } else { 1.0 }))),
        ("api", names::LIMIT_CORES, constant(2.0)),
        ("api", names::MACHINE_CORES, constant(8.0)),
        ("api", names::MEMORY_BYTES, Box::new(|at| Some(1e8 + 1e6 * at as f64))),
        ("api", names::DESCRIPTORS, constant(40.0)),
        ("api", names::THREADS, constant(12.0)),
        // It moves with the hop, and has no value in the first seconds.
        ("pods{pod=a}", names::VALUE, Box::new(|at| (at > 2).then(|| chance(at)))),
        ("pods{pod=b}", names::VALUE, constant(7.0)),
    ]
}

const DECLARED: [(&str, &str); 3] =
    [("api", "process 4711"), ("pods", "query sum by (pod) (x)"), ("gone", "query nothing")];

/// A run whose every second is known.
pub(crate) fn known() -> RunFile {
    run(&DECLARED, &busy())
}

#[test]
fn a_resource_that_is_used_up_is_told_in_every_format() {
    let model = ReportModel::from_run(&run(&DECLARED, &busy()));
    let names: Vec<&str> = model.resources.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["api", "pods{pod=a}", "pods{pod=b}", "gone"]);
    let api = &model.resources[0];
    let saturated = api.saturated.as_ref().expect("34 of 50 s at the limit");
    assert_eq!(
        (saturated.by, saturated.seconds, saturated.of_seconds),
        (SaturatedBy::Limit, 34, 50)
    );
    let processor = api.processor.as_ref().unwrap();
    let cores = (34.0 * 1.98 + 16.0) / 50.0;
    assert!((processor.cores_mean - cores).abs() < 1e-9, "{processor:?}");
    assert!((processor.cpu_ns_per_journey.unwrap() - cores / 150.0 * 1e9).abs() < 1.0);
    let growth = api.memory.as_ref().unwrap().growth.expect("a megabyte a second");
    assert!((growth.bytes_per_min - 60e6).abs() < 1.0);
    assert_eq!((api.descriptors_max, api.threads_max), (Some(40.0), Some(12.0)));
    let pods = model.resources[2].value.unwrap();
    assert_eq!((pods.seconds, pods.mean, pods.last), (50, 7.0, 7.0));
    assert_eq!(model.resources[3].value, None);

    let said: Vec<&str> = model.conclusions.iter().map(|it| it.text.as_str()).collect();
    let sentence = "api used 1.98 of its 2 cores for 34 of 50 s: processor time is what limits it";
    assert!(said.contains(&sentence), "{said:?}");
    let moves = "the hop to packed moves with pods{pod=a}: value, in the same second";
    assert!(said.contains(&moves), "{said:?}");

    let text = render::text(&model, false);
    for words in
        ["\nRESOURCES\n", "  ~ api used 1.98 of its 2 cores", "+60.0 MB/min", "query nothing"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let html = render::html(&model).unwrap();
    for words in [sentence, "Cores in use", "Memory of resources", "pods{pod=b}", "api, limit"] {
        assert!(html.contains(words), "{words}");
    }
    let json: serde_json::Value = serde_json::from_str(&render::json(&model).unwrap()).unwrap();
    assert_eq!(json["resources"][0]["what"], "process 4711");
    assert_eq!(json["resources"][0]["saturated"]["by"], "limit");
    assert_eq!(json["resources"][1]["value"]["seconds"], 50);
}

#[test]
fn with_room_and_without_resources_nothing_is_said() {
    let mut figures = busy();
    figures[0].2 = constant(1.8);
    figures.truncate(6);
    let model = ReportModel::from_run(&run(&DECLARED[..1], &figures));
    assert_eq!(model.resources[0].saturated, None);
    let said = |model: &ReportModel| {
        let definitions = model.conclusions.iter().map(|it| it.definition);
        definitions.filter(|it| ["saturated-resource", "correlation"].contains(it)).count()
    };
    assert_eq!(said(&model), 0, "{:?}", model.conclusions);
    let model = ReportModel::from_run(&run(&[], &Vec::new()));
    assert_eq!((model.resources.len(), said(&model)), (0, 0));
    assert!(!render::text(&model, false).contains("RESOURCES"));
    assert!(!render::html(&model).unwrap().contains("id=\"resources\""));
}

#[test]
fn a_resource_that_ended_has_no_zeros_and_foreign_names_are_text() {
    let figures: Figures<'_> = vec![(EVIL, names::CORES, Box::new(|at| (at < 35).then_some(0.5)))];
    let model = ReportModel::from_run(&run(&[(EVIL, EVIL)], &figures));
    let processor = model.resources[0].processor.as_ref().unwrap();
    assert_eq!((processor.seconds, processor.cores_mean), (25, 0.5));
    let series = &model.journeys[0].timeline.series;
    let cores = series.iter().find(|it| it.of.ends_with(": cores")).expect("drawn");
    assert_eq!((cores.values[34], cores.values[35]), (Some(0.5), None));
    assert!(!render::text(&model, false).contains('\u{1b}'));
    let html = render::html(&model).unwrap();
    assert_eq!(html.matches("</style>").count(), 1);
    assert_eq!(html.matches("<script>").count(), 1);
}

/// Steps at a system of 200/s whose processor has two cores.
fn search(cores_at: impl Fn(f64) -> f64) -> CapacityReport {
    let settings = Settings::new(40.0);
    let mut search = Search::new(settings.clone());
    let mut lines = Vec::new();
    while let Some(step) = search.step().copied() {
        let seconds = step.steady_ns / SECOND;
        let rise = (step.rate_per_s - 200.0).max(0.0);
        search.observe(&Observation {
            steady_ns: step.steady_ns,
            started: (step.rate_per_s * seconds as f64) as u64,
            levels: (0..=seconds).map(|second| 4.0 + rise * second as f64).collect(),
            ..Observation::default()
        });
        let cores = cores_at(step.rate_per_s);
        let mut figures = busy();
        figures[0].2 = constant(cores);
        let model = ReportModel::from_run(&run(&DECLARED[..1], &figures));
        let resources = vec![model.resources[0].clone()];
        lines.push(RunLine { resources, ..RunLine::unmade(Outcome::Pass, String::new()) });
    }
    CapacityReport::new(("orders", &settings), &search, lines, &[], Vec::new())
}

#[test]
fn a_search_names_the_resource_that_is_used_up_where_it_ends() {
    let report = search(|rate| (rate / 100.0).min(2.0));
    let found = report.limiting_resource.as_ref().expect("two cores are 200/s");
    assert_eq!(found.name, "api");
    assert!((200.0..215.0).contains(&found.failed_per_s), "{found:?}");
    assert_eq!(found.held_per_s, 160.0);
    assert!((found.held_cores - 1.6).abs() < 1e-9, "{found:?}");
    let text = render::capacity_text(&report, false);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for words in ["\nRESOURCES\n", "  cores  ", "used up", "api used 2 of its 2 cores for"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let html = render::capacity_html(&report).unwrap();
    assert!(html.contains("api used 2 of its 2 cores") && html.contains("CPU per journey"));
    let json: serde_json::Value =
        serde_json::from_str(&render::capacity_json(&report).unwrap()).unwrap();
    assert_eq!(json["limiting_resource"]["name"], "api");
    assert_eq!(json["steps"][0]["run"]["resources"][0]["name"], "api");
}

#[test]
fn a_search_of_a_system_that_is_idle_or_always_busy_names_none() {
    for cores_at in [|rate: f64| rate / 1_000.0, |_: f64| 2.0] {
        let report = search(cores_at);
        assert_eq!(report.limiting_resource, None);
        assert!(render::capacity_text(&report, false).contains("cores"));
    }
}

#[test]
fn a_sweep_has_a_table_of_its_runs_resources() {
    let model = ReportModel::from_run(&run(&DECLARED, &busy()));
    let mut sweep = SweepReport::new("orders", vec!["REPLICAS".to_owned()], 1);
    let resources = model.resources;
    let run = RunLine { resources, ..RunLine::unmade(Outcome::Pass, String::new()) };
    sweep.rows.push(SweepRow { values: vec!["1".to_owned()], run });
    let text = render::sweep_text(&sweep, false);
    assert!(text.contains("RESOURCES") && text.contains("used up"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(render::sweep_html(&sweep).unwrap().contains("pods{pod=b}"));
}
