//! Figures of requirements from a run's series, against samples counted one by one.

use proptest::prelude::*;
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{Identity, Interval, IntervalRow, JourneyShape, RunFile, Summary, Verdict};
use sojourn_session::nfr::{Figures, Filter, Measured, Requirements, Statistic};

const TAGS: [&str; 3] = ["list", "show", "order"];

/// A request: its tag, its status (none: it was not answered), its response time, nanoseconds.
type Request = (usize, Option<u16>, u64);

/// A run of two sessions that both ask under all tags.
fn run(requests: &[Request]) -> RunFile {
    let mut recorder = Recorder::new(0);
    for (number, (tag, status, ns)) in requests.iter().enumerate() {
        let journey = (names::JOURNEY, ["a", "b"][number % 2]);
        let step = (names::STEP, TAGS[*tag]);
        let text = status.map_or_else(|| "timeout".to_owned(), |status| status.to_string());
        let by_status = [journey, step, (names::STATUS, &*text)];
        let steady = SeriesPhase::Steady;
        let mut trend = |metric: &str, tags: &[(&str, &str)]| {
            let id = recorder.series(Kind::Trend, SeriesKey::new(metric, tags, steady));
            recorder.record(id, *ns);
        };
        trend(names::STEP_RESPONSE, &[journey, step]);
        let is_good = status.is_some_and(|status| status < 400);
        let metric = if is_good { names::STEP_RESPONSE_OK } else { names::STEP_RESPONSE_FAILED };
        trend(metric, &[journey, step]);
        if status.is_some() {
            trend(names::STEP_RESPONSE_BY_STATUS, &by_status);
        }
        let key = SeriesKey::new(names::STEP_REQUESTS, &by_status, steady);
        let id = recorder.series(Kind::Counter, key);
        recorder.add(id, 1);
    }
    let mut store = Store::new();
    store.apply(&recorder.take(1, None)).expect("the store takes it");
    let shape = |name: &str| JourneyShape {
        name: name.to_owned(),
        steps: TAGS.map(str::to_owned).to_vec(),
        ..JourneyShape::default()
    };
    let identity = Identity { journeys: vec![shape("a"), shape("b")], ..Identity::default() };
    RunFile { store, identity, ..RunFile::default() }
}

/// A filter as files write it.
fn filter(text: &str) -> Filter {
    let text =
        format!("requirements:\n- http.latency: {{ select: average, where: {text}, test: 1 }}");
    let mut list = Requirements::read("nfr.yaml", &text).expect("a filter").list;
    list.remove(0).filter
}

/// What a filter accepts of the requests, by looking at each.
fn accepted(requests: &[Request], filter: &Filter) -> Vec<Request> {
    let accepts = |(tag, status, _): &&Request| match status {
        Some(status) => filter.accepts(*status, Some(TAGS[*tag])),
        None => filter.status.is_empty() && filter.accepts(200, Some(TAGS[*tag])),
    };
    requests.iter().filter(accepts).copied().collect()
}

/// Whether a figure is that of the samples, within the histogram's thousandth.
fn near(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= expected / 1_000.0 + 1e-6,
        (found, expected) => found.is_none() && expected.is_none(),
    }
}

proptest! {
    #[test]
    fn latencies_counts_and_apdex_are_those_of_the_samples(
        requests in prop::collection::vec(
            (
                0usize..3,
                prop::option::weighted(0.9, prop::sample::select(vec![200u16, 201, 302, 404, 503])),
                1_000u64..3_000_000_000,
            ),
            0..120,
        ),
        percent in 0.0..=100.0f64,
    ) {
        let run = run(&requests);
        let measured = Measured::new(&run);
        for text in [
            "{}",
            "{ status: ['<', 400] }",
            "{ status: 302, tag: list }",
            "{ tag: [show, order] }",
            "{ status: [['>=', 300], ['!=', 503]], tag: [list, nobody] }",
        ] {
            let filter = filter(text);
            let chosen = accepted(&requests, &filter);
            let mut ms: Vec<f64> = chosen.iter().map(|(.., ns)| *ns as f64 / 1e6).collect();
            ms.sort_by(f64::total_cmp);
            let rank = (percent / 100.0 * ms.len() as f64).ceil().max(1.0) as usize;
            let mean = ms.iter().sum::<f64>() / ms.len() as f64;
            for (statistic, expected) in [
                (Statistic::Percentile(percent), ms.get(rank - 1).copied()),
                (Statistic::Average, (!ms.is_empty()).then_some(mean)),
                (Statistic::Minimum, ms.first().copied()),
                (Statistic::Maximum, ms.last().copied()),
            ] {
                let found = measured.latency_ms(statistic, &filter);
                prop_assert!(near(found, expected), "{text} {statistic:?} {found:?} {expected:?}");
            }
            let answered = chosen.iter().filter(|(_, status, _)| status.is_some()).count() as u64;
            prop_assert_eq!(measured.responses(&filter), Some(answered));
            let unanswered = chosen.len() as u64 - answered;
            prop_assert_eq!(measured.unanswered(&filter), Some(unanswered));
            let score = |ns: &u64, is_good: bool| match (ns, is_good) {
                (ns, true) if *ns <= 500_000_000 => 1.0,
                (ns, true) if *ns <= 2_000_000_000 => 0.5,
                _ => 0.0,
            };
            let good = |status: &Option<u16>| status.is_some_and(|status| status < 400);
            let sum: f64 = chosen.iter().map(|(_, status, ns)| score(ns, good(status))).sum();
            let expected = (!chosen.is_empty()).then(|| sum / chosen.len() as f64);
            // Samples a thousandth above the limit count as within it.
            let doubtful = chosen.iter().filter(|(.., ns)| {
                (500_000_000..=500_500_000).contains(ns)
                    || (2_000_000_000..=2_002_000_000).contains(ns)
            });
            if doubtful.count() == 0 {
                prop_assert_eq!(measured.apdex(500.0, &filter), expected, "{}", text);
            }
        }
    }
}

#[test]
fn requests_that_were_not_answered_are_errors_and_those_not_sent_are_nothing() {
    let mut list: Vec<Request> = vec![(0, Some(200), 1_000_000); 6];
    list.extend([(1, Some(503), 1), (1, None, 1), (1, None, 1)]);
    let mut run = run(&list);
    let lines = |run: &RunFile, list: &str| -> Vec<String> {
        let requirements = Requirements::read("nfr.yaml", list).unwrap();
        let outcomes = requirements.evaluate(&Measured::new(run));
        outcomes.iter().map(ToString::to_string).collect()
    };
    let text = "requirements:
- http.error_ratio: ['<', 0.5]
- http.error_ratio: { where: { tag: show }, test: 1 }
- http.error_ratio: { where: { status: ['<=', 999] }, test: 0 }
- http.error_ratio: { where: { tag: shwo }, test: 0 }
- http.status_code: { select: count, where: { tag: shwo }, test: 0 }
- http.status_code: { where: { status: 200 }, test: ['>', 0.8] }
- checks: { select: failure_count, test: 0 }
- test.completed: true
";
    let expected = [
        "✓ http.error_ratio: 0.333, wanted < 0.5",
        "✓ http.error_ratio (tag show): 1, wanted = 1",
        "✗ http.error_ratio (status <= 999): 0.143, wanted = 0",
        "? http.error_ratio (tag shwo): not available, wanted = 0",
        "? http.status_code count (tag shwo): not available, wanted = 0",
        "✓ http.status_code share (status = 200): 0.857, wanted > 0.8",
        "? checks failure_count: not available, wanted = 0",
        "✗ test.completed: false, wanted = true",
    ];
    assert_eq!(lines(&run, text), expected);
    let mut recorder = Recorder::new(1);
    let tags = [(names::STEP, "show"), (names::STATUS, names::NOT_SENT)];
    let key = SeriesKey::new(names::STEP_REQUESTS, &tags, SeriesPhase::Steady);
    let id = recorder.series(Kind::Counter, key);
    recorder.add(id, 1_000);
    run.store.apply(&recorder.take(2, None)).unwrap();
    assert_eq!(lines(&run, text), expected);
}

#[test]
fn tags_that_may_be_hidden_among_others_are_not_available() {
    let mut run = run(&[(0, Some(200), 1)]);
    let filter = filter("{ tag: list }");
    assert_eq!(Measured::new(&run).responses(&filter), Some(1));
    run.identity.journeys[1].steps.push("other requests".to_owned());
    assert_eq!(Measured::new(&run).responses(&filter), None);
    assert_eq!(Measured::new(&run).responses(&Filter::default()), Some(1));
}

#[test]
fn time_and_processors() {
    let interval = |number: u64, shares: [f64; 2]| {
        let row = |(thread, share): (&str, f64)| {
            let tags = [(names::THREAD, thread)];
            let key = SeriesKey::new(names::HEALTH_CPU, &tags, SeriesPhase::Any);
            (key, IntervalRow::Gauge([share; 3]))
        };
        let threads = ["generator 0", "generator 1", "observer"];
        let rows = threads.into_iter().zip([shares[0], shares[1], 1.0]).map(row).collect();
        Interval { start_ns: number * 1_000_000_000, end_ns: (number + 1) * 1_000_000_000, rows }
    };
    let summary = Summary {
        verdict: Verdict::Pass,
        causes: Vec::new(),
        thresholds: Vec::new(),
        interrupted: false,
        arrivals_end_ns: 0,
        load_end_ns: 0,
        end_ns: 3_250_000_000,
        drain_ns: None,
        notes: Vec::new(),
        fleet: None,
    };
    let intervals = vec![interval(0, [0.2, 0.4]), interval(1, [0.9, 0.9]), interval(2, [0.0, 0.2])];
    let mut run = RunFile { intervals, summary: Some(summary), ..RunFile::default() };
    let of = |run: &RunFile| {
        let measured = Measured::new(run);
        let cpu = |statistic| measured.cpu_percent(statistic).unwrap().round();
        let statistics = [
            Statistic::Average,
            Statistic::Minimum,
            Statistic::Maximum,
            Statistic::Percentile(50.0),
        ];
        (measured.completed(), measured.duration_s(), statistics.map(cpu))
    };
    let cpu = [43.0, 10.0, 90.0, 30.0];
    assert_eq!(of(&run), (Some(true), Some(3.25), cpu));
    run.summary.as_mut().unwrap().interrupted = true;
    assert_eq!(of(&run), (Some(false), Some(3.25), cpu));
    run.summary = None;
    assert_eq!(of(&run), (Some(false), Some(3.0), cpu));
    assert_eq!(Measured::new(&RunFile::default()).cpu_percent(Statistic::Average), None);
}
