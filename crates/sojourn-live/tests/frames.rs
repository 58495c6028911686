//! Frames of hand-made seconds: every figure known beforehand.

use sojourn_live::frame::{
    Frame, FrameStretch, Frames, NewsKind, Second, Spread, StageFrame, ThresholdState,
};
use sojourn_metrics::{
    Kind, Recorder, SeriesKey, SeriesPhase, Snapshot, Store, Threshold, ThresholdContext, names,
};
use sojourn_plan::{Journey, Plan, Stage, StageKind, StageSource, Step};
use sojourn_record::{JourneyRecord, StageInstant};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const STEADY: SeriesPhase = SeriesPhase::Steady;

fn stage(name: &str, kind: StageKind, after: Option<usize>) -> Stage {
    let matches = Vec::new();
    let key = sojourn_plan::Selector::MessageKey;
    let key_format = "{}".to_owned();
    let source = StageSource::Event { channel: 0, matches, checks: Vec::new(), key, key_format };
    Stage { kind, after, ..Stage::new(name, source) }
}

fn plan() -> Plan {
    let journey = Journey {
        name: "pay".to_owned(),
        steps: vec![Step::named("submit".to_owned(), S)],
        stages: vec![
            stage("created", StageKind::Required, None),
            stage("settled", StageKind::Required, Some(0)),
            stage("dead", StageKind::Failure, None),
        ],
        within_ns: 5 * S,
        linger_ns: S,
        trace: false,
        label: None,
        poison: None,
    };
    let thresholds = ["journey.pay.p99 < 1s", "lost == 0", "drain < 30s"];
    Plan {
        name: "payments".to_owned(),
        journeys: vec![journey],
        thresholds: thresholds.map(|text| Threshold::parse(text).unwrap()).to_vec(),
        ..Plan::default()
    }
}

/// A source of figures that closes a second each time it is asked.
struct Source {
    recorder: Recorder,
    until_ns: u64,
}

impl Source {
    fn new(number: u32) -> Self {
        let mut recorder = Recorder::new(number);
        recorder.start_at(0);
        Self { recorder, until_ns: 0 }
    }

    fn add(&mut self, metric: &str, tags: &[(&str, &str)], count: u64) {
        let series = self.recorder.series(Kind::Counter, SeriesKey::new(metric, tags, STEADY));
        self.recorder.add(series, count);
    }

    fn record(&mut self, metric: &str, tags: &[(&str, &str)], samples_ns: &[u64]) {
        let series = self.recorder.series(Kind::Trend, SeriesKey::new(metric, tags, STEADY));
        samples_ns.iter().for_each(|&ns| self.recorder.record(series, ns));
    }

    fn set(&mut self, metric: &str, tags: &[(&str, &str)], level: f64) {
        let key = SeriesKey::new(metric, tags, SeriesPhase::Any);
        let series = self.recorder.series(Kind::Gauge, key);
        self.recorder.set(series, level);
    }

    fn second(&mut self) -> Snapshot {
        self.until_ns += S;
        self.recorder.take(self.until_ns, None)
    }
}

/// A run that frames are made of.
struct Run {
    frames: Frames,
    store: Store,
    elapsed_ns: u64,
}

impl Run {
    fn new(plan: &Plan) -> Self {
        Self { frames: Frames::new(plan), store: Store::new(), elapsed_ns: 0 }
    }

    fn second(
        &mut self,
        interval: &[Snapshot],
        journeys: &[JourneyRecord],
        defects: &[String],
    ) -> Frame {
        self.elapsed_ns += S;
        interval.iter().for_each(|snapshot| self.store.apply(snapshot).unwrap());
        // Sources of greater numbers are no generators.
        let generators = interval.iter().map(|it| it.source).filter(|it| *it < 8);
        let generators = generators.collect::<std::collections::BTreeSet<_>>().len() as u32;
        self.frames.second(&Second {
            stretch: FrameStretch::Steady,
            elapsed_ns: self.elapsed_ns,
            planned_ns: 60 * S,
            in_flight: 7,
            rate_factor: 1.0,
            store: &self.store,
            interval,
            generators,
            defects,
            context: ThresholdContext::default(),
            journeys,
        })
    }
}

const JOURNEY: [(&str, &str); 1] = [("journey", "pay")];
const SETTLED: [(&str, &str); 2] = [("journey", "pay"), ("stage", "settled")];
const SUBMIT: [(&str, &str); 2] = [("journey", "pay"), ("step", "submit")];

fn settled(frame: &Frame) -> &StageFrame {
    frame.journeys[0].stages.iter().find(|stage| stage.name == "settled").unwrap()
}

#[test]
fn rates_are_of_the_interval_and_counts_of_the_run() {
    let (mut one, mut two) = (Source::new(0), Source::new(1));
    let mut run = Run::new(&plan());
    for (source, started) in [(&mut one, 60), (&mut two, 40)] {
        source.add(names::JOURNEYS_SCHEDULED, &JOURNEY, 60);
        source.add(names::JOURNEYS_STARTED, &JOURNEY, started);
    }
    let frame = run.second(&[one.second(), two.second()], &[], &[]);
    assert_eq!((frame.asked_per_s, frame.delivered_per_s), (120.0, 100.0));
    one.add(names::JOURNEYS_SCHEDULED, &JOURNEY, 30);
    one.add(names::JOURNEYS_STARTED, &JOURNEY, 30);
    one.add(names::JOURNEYS_COMPLETED, &JOURNEY, 25);
    let frame = run.second(&[one.second(), two.second()], &[], &[]);
    assert_eq!((frame.asked_per_s, frame.delivered_per_s), (30.0, 30.0));
    assert_eq!((frame.counts.scheduled, frame.counts.started), (150, 130));
    assert_eq!(frame.counts, frame.journeys[0].counts);
    assert_eq!(frame.journeys[0].completed_per_s, 25.0);
    assert_eq!(frame.journeys[0].in_flight, 105);
    assert_eq!((frame.number, frame.in_flight, frame.name.as_str()), (1, 7, "payments"));
}

#[test]
fn poisoned_journeys_are_load_and_no_failures() {
    let mut source = Source::new(0);
    source.add(names::JOURNEYS_STARTED, &JOURNEY, 9);
    let poisoned = names::poisoned("pay");
    source.add(names::JOURNEYS_STARTED, &[("journey", &poisoned)], 1);
    source.add(names::JOURNEYS_FAILED, &[("journey", &poisoned)], 1);
    let mut run = Run::new(&plan());
    let frame = run.second(&[source.second()], &[], &[]);
    assert_eq!(frame.delivered_per_s, 10.0);
    assert_eq!((frame.counts.started, frame.counts.failed), (9, 0));
    assert!(frame.news.is_empty(), "{:?}", frame.news);
}

#[test]
fn a_second_that_another_source_closes_late_changes_no_rate() {
    let (mut generator, mut backlog) = (Source::new(0), Source::new(9));
    let mut run = Run::new(&plan());
    generator.add(names::JOURNEYS_STARTED, &JOURNEY, 50);
    let first = run.second(&[generator.second()], &[], &[]);
    generator.add(names::JOURNEYS_STARTED, &JOURNEY, 50);
    let late = [backlog.second(), backlog.second(), generator.second()];
    let second = run.second(&late, &[], &[]);
    for frame in [first, second] {
        assert_eq!((frame.delivered_per_s, frame.journeys[0].started_per_s), (50.0, 50.0));
    }
}

#[test]
fn quantiles_of_the_interval_are_of_the_merged_samples() {
    let (mut one, mut two) = (Source::new(0), Source::new(1));
    let mut run = Run::new(&plan());
    // 99 short hops on one source, 1 long one on the other: the common p99 is short, where the
    // mean of both sources' would be seconds.
    one.record(names::STAGE_HOP, &SETTLED, &[10 * MS; 99]);
    two.record(names::STAGE_HOP, &SETTLED, &[8 * S]);
    let frame = run.second(&[one.second(), two.second()], &[], &[]);
    let near = |figure: Option<f64>, ns: u64| {
        assert!((figure.unwrap() / ns as f64 - 1.0).abs() < 0.002, "{figure:?} for {ns}");
    };
    let hop = settled(&frame).hop;
    assert_eq!(hop.count, 100);
    near(hop.p50_ns, 10 * MS);
    near(hop.p99_ns, 10 * MS);
    one.record(names::STAGE_HOP, &SETTLED, &[3 * S; 10]);
    two.record(names::STAGE_HOP_NEGATIVE, &SETTLED, &[2 * MS]);
    let frame = run.second(&[one.second(), two.second()], &[], &[]);
    let (hop, so_far) = (settled(&frame).hop, settled(&frame).hop_so_far);
    assert_eq!((hop.count, so_far.count), (11, 111));
    near(hop.p50_ns, 3 * S);
    near(so_far.p50_ns, 10 * MS);
    let frame = run.second(&[one.second(), two.second()], &[], &[]);
    assert_eq!(settled(&frame).hop, Spread::default());
}

#[test]
fn a_quantile_among_the_lost_is_marked_and_no_number() {
    let mut source = Source::new(0);
    source.record(names::JOURNEY_DURATION, &JOURNEY, &[20 * MS; 90]);
    source.add(names::JOURNEYS_LOST, &JOURNEY, 10);
    let frame = Run::new(&plan()).second(&[source.second()], &[], &[]);
    let duration = frame.journeys[0].duration_so_far;
    assert_eq!((duration.count, duration.p99_ns, duration.p99_is_lost), (100, None, true));
    assert!(duration.p50_ns.is_some() && !duration.p50_is_lost);
    let states: Vec<_> = frame.thresholds.iter().map(|it| it.state).collect();
    use ThresholdState::{Fails, NoneYet};
    assert_eq!(states, [Fails, Fails, NoneYet]);
    assert_eq!(frame.thresholds[0].measured_text, "> 5.00 s (lost)");
    assert_eq!((frame.thresholds[0].measured, frame.thresholds[1].measured), (None, Some(10.0)));
    let text = serde_json::to_string(&frame).unwrap();
    assert_eq!(serde_json::from_str::<Frame>(&text).unwrap(), frame);
}

#[test]
fn levels_and_requests_are_told_by_stage_status_and_reason() {
    let mut source = Source::new(0);
    source.set(names::STAGE_IN_FLIGHT, &SETTLED, 42.0);
    source.set(names::JOURNEYS_IN_FLIGHT, &JOURNEY, 50.0);
    source.add(names::STAGE_REACHED, &SETTLED, 5);
    let [journey, step] = SUBMIT;
    source.add(names::STEP_REQUESTS, &[journey, step, ("status", "202")], 90);
    source.add(names::STEP_REQUESTS, &[journey, step, ("status", "503")], 10);
    source.add(names::STEP_FAILED, &[journey, step, ("reason", "status 503")], 10);
    source.record(names::STEP_RESPONSE, &SUBMIT, &[MS; 100]);
    let frame = Run::new(&plan()).second(&[source.second()], &[], &[]);
    let pay = &frame.journeys[0];
    assert_eq!((pay.in_flight, settled(&frame).waiting, settled(&frame).reached), (50, 42, 5));
    assert_eq!(settled(&frame).after.as_deref(), Some("created"));
    let submit = &pay.steps[0];
    assert_eq!((submit.requests, submit.failed, submit.response.count), (100, 10, 100));
    let statuses: Vec<_> = submit.statuses.iter().map(|it| (&*it.name, it.count)).collect();
    assert_eq!(statuses, [("202", 90), ("503", 10)]);
    assert_eq!((submit.errors[0].name.as_str(), submit.errors[0].count), ("status 503", 10));
    let news: Vec<_> = frame.news.iter().map(|it| (it.kind, &*it.text, it.count)).collect();
    assert_eq!(news, [(NewsKind::Error, "submit: status 503", 10)]);
}

#[test]
fn an_attack_without_stages_has_its_targets_as_steps() {
    let plan = Plan { name: "attack".to_owned(), ..Plan::default() };
    let mut source = Source::new(0);
    source.add(names::JOURNEYS_STARTED, &[("journey", "attack")], 3);
    let tags = [("journey", "attack"), ("step", "GET http://h/"), ("status", "200")];
    source.add(names::STEP_REQUESTS, &tags, 3);
    let frame = Run::new(&plan).second(&[source.second()], &[], &[]);
    assert_eq!(frame.journeys.len(), 1);
    let attack = &frame.journeys[0];
    assert_eq!((attack.name.as_str(), attack.stages.len()), ("attack", 0));
    assert_eq!((attack.steps[0].name.as_str(), attack.steps[0].requests), ("GET http://h/", 3));
}

fn lost(id: u64, seen: &[&str]) -> JourneyRecord {
    let stage = |name: &str| StageInstant {
        name: name.to_owned(),
        seen_ns: seen.contains(&name).then_some(S),
    };
    JourneyRecord {
        journey: "pay".to_owned(),
        id,
        class: "lost".to_owned(),
        end_ns: 3 * S + id,
        stages: ["dead", "created", "settled"].map(stage).to_vec(),
        ..JourneyRecord::default()
    }
}

#[test]
fn lost_journeys_say_what_was_not_seen_and_none_is_told_twice() {
    let mut source = Source::new(0);
    let mut run = Run::new(&plan());
    // Told before the counter of them comes.
    let records = [lost(1, &["created"]), lost(2, &["created"]), lost(3, &[])];
    let frame = run.second(&[source.second()], &records, &[]);
    let news: Vec<_> = frame.news.iter().map(|it| (&*it.text, it.count, it.at_ns)).collect();
    let expected = [
        ("created was not seen", 1, 3 * S + 3),
        ("settled was not seen after created", 2, 3 * S + 2),
    ];
    assert_eq!(news, expected);
    source.add(names::JOURNEYS_LOST, &JOURNEY, 3);
    assert_eq!(run.second(&[source.second()], &[], &[]).news.len(), 2);
    source.add(names::JOURNEYS_LOST, &JOURNEY, 4);
    let frame = run.second(&[source.second()], &[], &[]);
    let last = frame.news.last().unwrap();
    assert_eq!(
        (last.text.as_str(), last.count, last.kind),
        ("not kept with its timeline", 4, NewsKind::Lost)
    );
}

#[test]
fn news_is_a_ring_that_counts_what_it_let_go() {
    let mut run = Run::new(&plan());
    let mut source = Source::new(0);
    let mut defects = Vec::new();
    let mut frame = Frame::default();
    for number in 0..130 {
        defects.push(format!("defect {number}"));
        frame = run.second(&[source.second()], &[], &defects);
    }
    assert_eq!((frame.news.len(), frame.news_beyond), (Frame::NEWS_MAX, 30));
    assert_eq!((frame.news[0].number, frame.news[99].text.as_str()), (30, "defect 129"));
    assert_eq!(frame.health.defects.len(), 130);
}

#[test]
fn health_names_the_limit_that_is_nearest() {
    let mut run = Run::new(&plan());
    let mut source = Source::new(0);
    source.record(names::LAG, &[], &[2 * MS; 100]);
    source.set(names::HEALTH_CPU, &[("thread", "generator 0")], 0.1);
    let frame = run.second(&[source.second()], &[], &[]);
    let nearest = frame.health.nearest.as_ref().unwrap();
    assert!(nearest.text.starts_with("lag p99 2.00 ms of 10.0 ms"), "{}", nearest.text);
    assert!((nearest.share - 0.2).abs() < 0.001);
    assert_eq!(frame.health.threads[0].cpu, 0.1);
    assert_eq!(frame.health.lag_max_ns, 10 * MS);
    source.set(names::HEALTH_CPU, &[("thread", "generator 0")], 0.9);
    let frame = run.second(&[source.second()], &[], &[]);
    assert_eq!((frame.health.lag_p99_ns, frame.health.threads[0].cpu), (None, 0.9));
    assert!(frame.health.lag_p99_so_far_ns.is_some());
    let nearest = frame.health.nearest.as_ref().unwrap();
    assert!(nearest.text.starts_with("generator 0 "), "{}", nearest.text);
}
