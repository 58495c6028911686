//! Changes of the rate while a run goes on: every generator follows, and no arrival moves that had
//! been reached.

use sojourn_engine::{Progress, RateControl, RunOptions, Stop};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_pace::{Amendment, Arrivals, Profile, Schedule, Segment};
use sojourn_record::{RunFile, Summary, Verdict};
use sojourn_report::{ReportModel, render};

use super::{
    common::{plan, registry},
    follow_up::{System, ok},
};

/// A run that asks for other rates by what it is told each second.
fn run(load: &str, mut ask: impl FnMut(&Progress<'_>, &RateControl)) -> (RunFile, Summary) {
    let system = System::start(|_, _| ok("{}"));
    let text = format!(
        "target: http://{}\njourneys: {{ work: {{ root: {{ http: GET /work }} }} }}\n\
         load: {load}\nhealth: {{ lag_p99_max: 5s, silent_max: 5s }}\n",
        system.address
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    let mut options = RunOptions::new(path.clone(), "test-run".into());
    options.threads = 2;
    options.keep_all = true;
    let rate = options.rate.clone();
    let mut told = |progress: &Progress<'_>| ask(progress, &rate);
    let plan = plan(&text, &[]);
    let summary =
        sojourn_engine::run(&plan, &options, &registry(), &Stop::default(), &mut told).unwrap();
    let file = RunFile::open(&path).unwrap();
    let started = file.store.sum(names::JOURNEYS_STARTED, &[], SeriesPhase::Steady);
    assert_eq!(system.count("GET /work"), started);
    (file, summary)
}

/// Instants of every journey's scheduled start.
fn t0s_ns(file: &RunFile) -> Vec<u64> {
    let mut t0s_ns: Vec<u64> = file.journeys.iter().map(|journey| journey.t0_ns).collect();
    t0s_ns.sort_unstable();
    t0s_ns
}

#[test]
fn arrivals_are_those_of_the_amended_schedule_to_the_nanosecond() {
    let mut asked = 0;
    let (file, summary) = run("{ rate: 100/s, steady: 5s, drain: 5s }", |progress, rate| {
        let second = progress.elapsed_ns / 1_000_000_000;
        if second == 1 && asked == 0 {
            assert!(rate.ask(0.0, "keys"));
            asked = 1;
        } else if second == 2 && asked == 1 {
            assert_eq!(rate.factor(), 0.0);
            assert!(rate.ask(2.5, "search"));
            asked = 2;
        }
    });
    assert_eq!(summary.verdict, Verdict::Pass, "{summary:?}");
    let [paused, faster] = file.amendments.as_slice() else {
        panic!("{:?}", file.amendments);
    };
    assert_eq!((paused.rate_factor, paused.by.as_str()), (0.0, "keys"));
    assert_eq!((faster.rate_factor, faster.by.as_str()), (2.5, "search"));
    let segment =
        Segment::Linear { from_per_s: 100.0, to_per_s: 100.0, duration_ns: 5_000_000_000 };
    let mut schedule =
        Schedule::new(Profile { segments: vec![segment] }, Arrivals::Constant, 0, None);
    for amendment in &file.amendments {
        let (from_ns, rate_factor) = (amendment.from_ns, amendment.rate_factor);
        assert!(schedule.amend(Amendment { from_ns, rate_factor }));
    }
    let expected: Vec<u64> = (0..).map_while(|k| schedule.at(k)).collect();
    assert_eq!(t0s_ns(&file), expected);
    let report = ReportModel::from_run(&file);
    assert_eq!(report.identity.amendments.len(), 2);
    let text = render::text(&report, false);
    assert!(text.contains("2.50 × the declared rate from "), "{text}");
    assert!(text.contains("the rate was changed while the run went on (2 ×)"), "{text}");
}

#[test]
fn what_can_not_be_amended_is_said() {
    let (file, summary) = run("{ users: 2, think: 50ms, steady: 2s, drain: 5s }", |_, rate| {
        rate.ask(3.0, "keys");
    });
    assert!(file.amendments.is_empty());
    let said = "keys asked for 3 × the plan's rate: users keep their own pace";
    assert!(summary.notes.iter().any(|note| note == said), "{:?}", summary.notes);
    let (file, summary) = run("{ rate: 20/s, steady: 1400ms, drain: 5s }", |_, rate| {
        rate.ask(3.0, "keys");
    });
    assert!(file.amendments.is_empty());
    let notes = format!("{:?}", summary.notes);
    assert!(notes.contains("keys asked for 3 × the plan's rate: the load "), "{notes}");
    assert_eq!(t0s_ns(&file).len(), 28);
}
