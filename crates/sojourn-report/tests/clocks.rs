//! Foreign clocks in a report: what all readings leave of an offset, alone and merged, and what is
//! said of readings that contradict each other. Poisoned batches beside.

use std::path::Path;

use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{
    Identity, JourneyShape, PoisonShape, RunFile, RunWriter, StageShape, Summary, Verdict,
};
use sojourn_report::{
    ReportModel,
    model::{Between, ClockReport, Contradiction},
    render,
};

const SECOND: u64 = 1_000_000_000;
const MS: i64 = 1_000_000;
const CLOCK: (&str, &str) = (names::CLOCK, "queue");

fn shape(name: &str, poison: Option<PoisonShape>) -> JourneyShape {
    let stage = StageShape {
        name: "started".into(),
        on: "app (webhook)".into(),
        kind: "required".into(),
        after: "send".into(),
        poll_ns: None,
    };
    let steps = vec!["send".into(), "again".into()];
    let (name, within_ns) = (name.into(), 2 * SECOND);
    JourneyShape { name, steps, root_steps: 2, stages: vec![stage], within_ns, poison }
}

/// What a run has measured.
struct Figures<'a> {
    recorder: &'a mut Recorder,
}

impl Figures<'_> {
    fn trend(&mut self, metric: &str, tags: &[(&str, &str)], phase: SeriesPhase, samples: &[i64]) {
        let series = self.recorder.series(Kind::Trend, SeriesKey::new(metric, tags, phase));
        samples.iter().for_each(|sample| self.recorder.record(series, sample.unsigned_abs()));
    }

    fn count(&mut self, metric: &str, tags: &[(&str, &str)], phase: SeriesPhase, n: u64) {
        let series = self.recorder.series(Kind::Counter, SeriesKey::new(metric, tags, phase));
        self.recorder.add(series, n);
    }

    /// Bounds of an offset: negative and positive ones stand apart.
    fn bounds(&mut self, [positive, negative]: [&str; 2], bounds: &[i64]) {
        let (below, above): (Vec<_>, Vec<_>) = bounds.iter().partition(|&&bound| bound < 0);
        self.trend(positive, &[CLOCK], SeriesPhase::Any, &above);
        self.trend(negative, &[CLOCK], SeriesPhase::Any, &below);
    }

    fn offset(&mut self, least: &[i64], most: &[i64]) {
        self.bounds([names::CLOCK_OFFSET_LEAST, names::CLOCK_OFFSET_LEAST_NEGATIVE], least);
        self.bounds([names::CLOCK_OFFSET_MOST, names::CLOCK_OFFSET_MOST_NEGATIVE], most);
    }
}

fn write(path: &Path, run_id: &str, measured: impl FnOnce(&mut Figures<'_>)) {
    let poison = PoisonShape { of: "order".into(), share: 0.25 };
    let identity = Identity {
        name: "queue".into(),
        run_id: run_id.into(),
        start_unix_ns: 1_795_230_911 * SECOND,
        phases_ns: [0, 10 * SECOND, SECOND],
        journeys: vec![shape("order", None), shape(&names::poisoned("order"), Some(poison))],
        ..Identity::default()
    };
    let mut run = RunWriter::create(path, &identity).expect("the file can be created");
    let mut recorder = Recorder::new(0);
    measured(&mut Figures { recorder: &mut recorder });
    let mut store = Store::new();
    let snapshot = recorder.take(SECOND, None);
    store.apply(&snapshot).expect("in sequence");
    run.interval(std::slice::from_ref(&snapshot)).expect("written");
    let summary = Summary {
        verdict: Verdict::Pass,
        causes: Vec::new(),
        thresholds: Vec::new(),
        interrupted: false,
        arrivals_end_ns: 10 * SECOND,
        load_end_ns: 10 * SECOND,
        end_ns: 12 * SECOND,
        drain_ns: None,
        notes: Vec::new(),
        fleet: None,
    };
    run.finish(&store, &summary).expect("written");
}

/// The report of these runs together.
fn report(runs: &[&dyn Fn(&mut Figures<'_>)]) -> ReportModel {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = runs.iter().enumerate().map(|(at, measured)| {
        let path = folder.path().join(at.to_string());
        write(&path, &format!("r{at}"), measured);
        RunFile::open(&path).expect("the file is readable")
    });
    let mut files: Vec<_> = files.collect();
    let file = match files.len() {
        1 => files.remove(0),
        _ => RunFile::merge(files).expect("they overlap"),
    };
    ReportModel::from_run(&file)
}

fn clock(model: &ReportModel) -> &ClockReport {
    let [clock] = model.clocks.as_slice() else { panic!("{:?}", model.clocks) };
    clock
}

fn words(model: &ReportModel) -> String {
    let text = render::text(model, false);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_offset_lies_in_every_interval_whatever_its_sign() {
    for (least, most, expected) in [
        (&[3 * MS, 5 * MS, 4 * MS][..], &[9 * MS, 8 * MS][..], (5 * MS, 8 * MS)),
        (&[-9 * MS, -5 * MS], &[-3 * MS, -4 * MS], (-5 * MS, -4 * MS)),
        (&[-2 * MS, -MS], &[2 * MS, MS], (-MS, MS)),
        (&[-2 * MS, 0], &[2 * MS, MS], (0, MS)),
    ] {
        let model = report(&[&|figures| figures.offset(least, most)]);
        let clock = clock(&model);
        let offset_ns = Between { least_ns: expected.0, most_ns: expected.1 };
        assert_eq!((clock.offset_ns, clock.contradiction), (Some(offset_ns), None));
        assert_eq!(clock.answers, most.len() as u64);
        assert_eq!(clock.events, (least.len() - most.len()) as u64);
    }
}

#[test]
fn merged_runs_leave_what_all_of_them_do() {
    let one = |figures: &mut Figures<'_>| figures.offset(&[MS, 2 * MS], &[7 * MS, 9 * MS]);
    let other = |figures: &mut Figures<'_>| figures.offset(&[-MS, 4 * MS], &[8 * MS, 5 * MS]);
    let merged = report(&[&one, &other]);
    let expected = Between { least_ns: 4 * MS, most_ns: 5 * MS };
    assert_eq!((clock(&merged).offset_ns, clock(&merged).answers), (Some(expected), 4));
    let far = |figures: &mut Figures<'_>| {
        figures.offset(&[10 * MS], &[12 * MS]);
        figures.trend(names::CLOCK_CONTRADICTED, &[CLOCK], SeriesPhase::Any, &[1_500 * MS]);
        let tags = [CLOCK, (names::JOURNEY, "order"), (names::STEP, "send")];
        figures.trend(names::CLOCK_ACCEPT_LEAST, &tags, SeriesPhase::Steady, &[MS]);
        figures.trend(names::CLOCK_ACCEPT_MOST, &tags, SeriesPhase::Steady, &[3 * MS]);
    };
    assert_eq!(clock(&report(&[&far])).durations.len(), 1);
    let apart = report(&[&one, &far]);
    let contradiction = Contradiction { by_ns: 3 * MS, first_ns: Some(1_500_000_000) };
    let clock = clock(&apart);
    assert_eq!((clock.offset_ns, clock.contradiction), (None, Some(contradiction)));
    assert!(clock.durations.is_empty());
    let said = "queue: its readings contradict each other by 3.00 ms, first at 1.50 s: it was set \
                or drifts, or there are several clocks; no figures (3 answers, 0 events)";
    assert!(words(&apart).contains(said), "{}", words(&apart));
    let html = render::html(&apart).expect("the template renders");
    assert!(html.contains("#def-contradicting-clock"));
}

#[test]
fn durations_are_shown_between_their_bounds_and_only_there() {
    let model = report(&[&|figures: &mut Figures<'_>| {
        figures.offset(&[3_699 * MS; 2], &[3_701 * MS]);
        let reason = [CLOCK, (names::REASON, "not a ULID")];
        figures.count(names::CLOCK_UNREAD, &reason, SeriesPhase::Any, 7);
        let (journey, steady) = ((names::JOURNEY, "order"), SeriesPhase::Steady);
        let again = [CLOCK, journey, (names::STEP, "again")];
        figures.trend(names::CLOCK_ACCEPT_LEAST, &again, steady, &[MS, 2 * MS, 3 * MS]);
        figures.trend(names::CLOCK_ACCEPT_MOST, &again, steady, &[2 * MS, 3 * MS, 10 * MS]);
        let started = [CLOCK, journey, (names::STAGE, "started")];
        figures.trend(names::CLOCK_BETWEEN, &started, steady, &[20 * MS, 5 * MS]);
        figures.trend(names::CLOCK_BETWEEN_NEGATIVE, &started, steady, &[4 * MS]);
    }]);
    let [accept, between] = clock(&model).durations.as_slice() else { panic!("{model:?}") };
    assert_eq!((&*accept.from, &*accept.to, accept.count), ("again due", "again accepted", 3));
    let is = |figure: Between, least_ms: f64, most_ms: f64| {
        for (ns, ms) in [(figure.least_ns, least_ms), (figure.most_ns, most_ms)] {
            assert!((ns as f64 - ms * MS as f64).abs() <= ms.abs() * 1e3, "{figure:?}");
        }
    };
    is(accept.p50, 2.0, 3.0);
    is(accept.max, 3.0, 10.0);
    is(accept.mean, 2.0, 5.0);
    // A millisecond either way, below zero too.
    assert_eq!((&*between.from, &*between.to), ("send accepted", "started created"));
    is(between.p50, 4.0, 6.0);
    is(between.max, 19.0, 21.0);
    is(between.mean, 6.0, 8.0);
    for said in [
        "queue: +3,699.000 ms to +3,701.000 ms from this machine's, by 1 answer and 1 event",
        "7 × not read: not a ULID",
        "order: again due → again accepted, 3 ×: mean 2.00 ms … 5.00 ms · p50 2.00 ms … 3.00 ms",
        "max 19.0 ms … 21.0 ms",
    ] {
        assert!(words(&model).contains(said), "{said}\n{}", words(&model));
    }
    assert_eq!(model.journeys[0].quantiles, []);
    let html = render::html(&model).expect("the template renders");
    for part in ["+3,699.000 ms to +3,701.000 ms", "2.00 ms … 3.00 ms", "#def-offset-interval"] {
        assert!(html.contains(part), "{part}");
    }
    for link in html.split("href=\"#").skip(1) {
        let anchor = link.split('"').next().unwrap_or_default();
        assert!(html.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&render::json(&model).expect("it can be written")).unwrap();
    assert_eq!(json["clocks"][0]["offset_ns"]["least_ns"], 3_699_000_000_i64);
}

#[test]
fn poisoned_batches_have_figures_of_their_own() {
    let model = report(&[&|figures: &mut Figures<'_>| {
        let steady = SeriesPhase::Steady;
        let poisoned = names::poisoned("order");
        for (name, whole, part, accepted) in [("order", 3, 0, 30), (&poisoned, 1, 1, 14)] {
            let of = (names::JOURNEY, name);
            figures.count(names::JOURNEYS_STARTED, &[of], steady, (whole + part) * 10);
            let tags = [of, (names::STEP, "send")];
            figures.count(names::BATCHES_WHOLE, &tags, steady, whole);
            figures.count(names::BATCHES_PART, &tags, steady, part);
            figures.count(names::BATCH_EVENTS_ACCEPTED, &tags, steady, accepted);
        }
        let reason =
            [(names::JOURNEY, &*poisoned), (names::STEP, "send"), (names::REASON, "status 400")];
        figures.count(names::BATCH_EVENTS_REFUSED, &reason, steady, 6);
    }]);
    let own = model.journeys[0].batch.as_ref().expect("its batches");
    assert_eq!((own.batches, own.events_accepted), (3, 30));
    let batch = model.poison[0].batch.as_ref().expect("its batches");
    assert_eq!((batch.batches, batch.part, batch.events, batch.events_refused), (2, 1, 20, 6));
    let (_, poison) = words(&model)
        .split_once("POISON order")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    for said in [
        "sent 20, 40 % of the journeys started (declared 25 % of the requests)",
        "batches 2 requests: 1 accepted whole, 1 in part, 0 not at all",
        "events 20 events: 14 accepted, 6 not",
        "6 not accepted: status 400",
    ] {
        assert!(poison.contains(said), "{said}\n{poison}");
    }
    let html = render::html(&model).expect("the template renders");
    let (_, poison) = html.split_once("id=\"poison-0\"").expect("a section");
    assert!(poison.contains("(declared 25 % of the requests)"));
    assert!(poison.contains("6 events not accepted: status 400"));
}
