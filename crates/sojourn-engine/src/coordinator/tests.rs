//! Whole runs in which something goes wrong: what the summary must say.

mod broker;
mod poison;
mod system;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use sojourn_http::Response;
use sojourn_metrics::names;
use sojourn_plan::{AttackLoad, Pace, Target, TargetDefaults, TargetFormat, TargetReader};
use sojourn_record::{Interval, RunFile, Verdict};

use crate::{
    Attack, Framing, Look, ResultSink, RunOptions, Script, Scripted, ScriptedThread, Stop, Targets,
    Wants,
    testing::{PAYMENT, plan, run, taps, target},
};

#[test]
fn a_tap_that_panics_makes_the_run_void_and_is_named() {
    let target = target();
    let polls = Arc::new(AtomicU32::new(0));
    let registry = taps(move |_| {
        if polls.fetch_add(1, Ordering::SeqCst) == 200 {
            panic!("the wire is cut");
        }
    });
    let run = run(&plan(PAYMENT, &target.url("")), &registry, |_| {});
    assert_eq!(run.summary.verdict, Verdict::Void);
    let causes = run.causes();
    assert!(causes.contains("thread tap-0 panicked: the wire is cut"), "{causes}");
    let kept = run.file.summary.expect("the run file is closed");
    assert_eq!(kept.causes, run.summary.causes);
}

fn attack_target(url: &str) -> Target {
    let files = Box::new(|_: &str| Ok(Vec::new()));
    let text = format!("GET {url}");
    let defaults = TargetDefaults::default();
    let mut targets = TargetReader::new("t", text.as_bytes(), TargetFormat::Http, defaults, files);
    targets.next().unwrap().unwrap()
}

/// What an attack of a second leaves in its run file.
fn attack(target: &Target, targets: Targets, results: Option<ResultSink>) -> RunFile {
    attack_for(1_000_000_000, target, targets, results)
}

fn attack_for(
    duration_ns: u64,
    target: &Target,
    targets: Targets,
    results: Option<ResultSink>,
) -> RunFile {
    let load = AttackLoad {
        pace: Pace::rate("100").unwrap(),
        poisson: false,
        duration_ns: Some(duration_ns),
        workers_max: 10,
        timeout_ns: 1_000_000_000,
    };
    let hit = vec![target.clone()];
    let plan = sojourn_plan::attack_plan("", String::new(), &hit, &load, Vec::new()).unwrap();
    let attack = Attack {
        name: String::new(),
        targets,
        workers_max: 10,
        redirects_max: None,
        allowed_hosts: Vec::new(),
        body_max: None,
        chunked: false,
        results,
        patient: false,
    };
    let folder = sojourn_testkit::temp_dir().unwrap();
    let path = folder.path().join("run.sojourn");
    let options = RunOptions::new(path.clone(), "test".into());
    super::attack(&plan, &options, attack, &Stop::default(), &mut |_| {}).unwrap();
    RunFile::open(&path).unwrap()
}

fn causes(file: &RunFile) -> String {
    let summary = file.summary.as_ref().expect("the run file is closed");
    assert_eq!(summary.verdict, Verdict::Void);
    summary.causes.iter().map(|cause| format!("{}: {}\n", cause.name, cause.detail)).collect()
}

/// A script that looks at each answer's status: it panics, takes its time with it, or takes its
/// time to go.
struct Odd {
    panics: bool,
    takes: Duration,
}

impl Script for Odd {
    fn wants(&self) -> Wants {
        Wants { response: Some(Look::Status), ..Wants::default() }
    }
    fn request(&mut self, _message: &mut Vec<u8>) -> Result<Framing, String> {
        Err("not asked for".to_owned())
    }
    fn delay_ns(&mut self) -> Result<u64, String> {
        Ok(0)
    }
    fn response(&mut self, response: &Response) -> Result<(), String> {
        if self.panics {
            panic!("no script for status {}", response.status)
        }
        std::thread::sleep(self.takes);
        Ok(())
    }
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        if !self.panics {
            std::thread::sleep(Duration::from_millis(400));
        }
    }
}

fn scripted_attack(seconds: u64, script: Odd) -> RunFile {
    let server = target();
    let target = attack_target(&server.url("/"));
    let thread = ScriptedThread {
        address: None,
        message: b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        framing: Framing { requests: 1, head_only: false },
        script: Some(Box::new(script)),
    };
    let scripted = Scripted::new(target.clone(), vec![thread]);
    attack_for(seconds * 1_000_000_000, &target, Targets::Scripted(scripted), None)
}

/// The generator can't close its seconds in time: ten answers in a row hold it up for 400 ms.
#[test]
fn a_second_is_told_of_when_all_have_reported() {
    let takes = Duration::from_millis(40);
    let file = scripted_attack(4, Odd { panics: false, takes });
    let threads = |interval: &Interval| -> Vec<String> {
        let rows = interval.rows.iter().filter(|(key, _)| key.metric == names::HEALTH_CPU);
        rows.filter_map(|(key, _)| key.tag(names::THREAD).map(str::to_owned)).collect()
    };
    assert!(file.intervals.len() >= 4, "{}", file.intervals.len());
    // In the first second a thread has nothing to compare with.
    for interval in &file.intervals[1..4] {
        let length_s = (interval.end_ns - interval.start_ns) as f64 / 1e9;
        assert_eq!(threads(interval), ["generator 0", "observer"], "{length_s} s");
    }
}

#[test]
fn a_generator_that_panics_makes_the_run_void_and_is_named() {
    let causes = causes(&scripted_attack(1, Odd { panics: true, takes: Duration::ZERO }));
    assert!(causes.contains("thread generator-0 panicked: no script for status 200"), "{causes}");
}

/// As with thousands of connections to close: the book is closed long before.
#[test]
fn a_generator_that_takes_its_time_to_let_go_is_waited_for() {
    let file = scripted_attack(1, Odd { panics: false, takes: Duration::ZERO });
    let summary = file.summary.expect("the run file is closed");
    assert_eq!((summary.verdict, summary.causes), (Verdict::Pass, Vec::new()));
}

#[test]
fn results_that_cannot_be_written_are_told_with_the_reason() {
    struct Bomb(&'static str);
    impl std::io::Write for Bomb {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            match self.0 {
                "panic" => panic!("the pen broke"),
                _ => Err(std::io::Error::other(format!("no ink for {} bytes", bytes.len().min(1)))),
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for (how, why) in [("panic", "the pen broke"), ("error", "no ink for 1 bytes")] {
        let server = target();
        let target = attack_target(&server.url("/"));
        let (sink, writer) = ResultSink::new(Box::new(Bomb(how)), 1).unwrap();
        let targets = Targets::Listed(vec![target.clone()].into());
        let causes = causes(&attack(&target, targets, Some(sink)));
        assert!(
            causes.contains("results could not be written") && causes.contains(why),
            "{causes}"
        );
        let error = writer.finish().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
