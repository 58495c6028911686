//! Processes: what they use, and that they end.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sojourn_clock::now_ns;
use sojourn_metrics::names;
use sojourn_plan::Resource;
use sojourn_testkit::{Program, Running, sojourn, temp_dir};

use super::{Ran, run, text};
use crate::{common::alone, mock::Mocked};

/// Clock ticks are hundredths of a second wherever Linux runs that this test does.
const TICK_S: f64 = 0.01;

/// Reads a process's processor time again and again: (instant, seconds).
struct Watch {
    seen: Arc<Mutex<Vec<(u64, f64)>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn start(pid: u32) -> Self {
        let (seen, stop) = (Arc::<Mutex<Vec<_>>>::default(), Arc::new(AtomicBool::new(false)));
        let (into, until) = (Arc::clone(&seen), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                into.lock().unwrap().push((now_ns(), used_s(pid)));
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self { seen, stop, thread: Some(thread) }
    }

    /// What had been used at an instant.
    fn at(&self, instant_ns: u64) -> f64 {
        let seen = self.seen.lock().unwrap();
        let after = seen.partition_point(|(at_ns, _)| *at_ns < instant_ns);
        let [(from_ns, from), (to_ns, to)] = [seen[after - 1], seen[after]];
        from + (to - from) * (instant_ns - from_ns) as f64 / (to_ns - from_ns).max(1) as f64
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// Fields 14 and 15 of its stat; none of the names here has a parenthesis.
fn used_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.split_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().unwrap()).sum();
    ticks as f64 * TICK_S
}

/// The seconds of processor time that the run saw, and those that the watch did, over the same
/// span.
fn both(ran: &Ran, name: &str, watch: &Watch) -> (f64, f64) {
    let seconds = ran.figures(name, names::CORES);
    assert!(seconds.len() >= 4, "{seconds:?}");
    let start_ns = ran.file.identity.start_monotonic_ns;
    let seen = seconds.iter().map(|(from, to, cores)| cores * (to - from) as f64 / 1e9).sum();
    let (first, last) = (seconds[0].0, seconds[seconds.len() - 1].1);
    (seen, watch.at(start_ns + last) - watch.at(start_ns + first))
}

fn is_near(seen: f64, expected: f64, what: &str) {
    let off = (seen - expected).abs();
    let told = format!("{what}: {seen:.3} s seen, {expected:.3} s used");
    assert!(off <= (0.1 * expected).max(2.0 * TICK_S), "{told}");
}

fn shell(script: &str) -> Running {
    Program::new("/bin/sh").args(["-c", script]).timeout(Duration::from_secs(300)).start().unwrap()
}

#[test]
fn processor_time_is_what_the_process_used() {
    let _turn = alone();
    let mock = Mocked::start(&[], &[]);
    let watch = Watch::start(mock.pid());
    let resource = Resource::process(&format!("mock={}", mock.pid())).unwrap();
    let ran = run(&text(&mock.address, "2000/s", 6), vec![resource], &mut |_| {});
    let (seen, expected) = both(&ran, "mock", &watch);
    assert!(expected > 0.02, "two thousand requests a second cost something: {expected}");
    is_near(seen, expected, "mock");
    let report = ran.resource("mock");
    let processor = report.processor.as_ref().unwrap();
    let completed = 2_000.0 * processor.seconds as f64;
    let each_ns = processor.cpu_ns_per_journey.unwrap();
    let whole_s = processor.cores_mean * processor.seconds as f64;
    assert!((each_ns / (whole_s / completed * 1e9) - 1.0).abs() < 0.1, "{processor:?}");
    assert!(report.what == format!("process {}", mock.pid()), "{report:?}");
    assert!(report.memory.as_ref().unwrap().mean_bytes > 1e5, "{report:?}");
    assert!(report.descriptors_max.unwrap() > 3.0 && report.threads_max.unwrap() >= 1.0);
    assert_eq!(report.saturated, None, "{report:?}");
}

#[test]
fn children_are_their_parents() {
    let _turn = alone();
    let mock = Mocked::start(&[], &[]);
    // Short-lived children that are waited for, beside one that goes on.
    let tree = shell(
        "(while :; do :; done) & while :; do /bin/sh -c 'i=0; while [ $i -lt 20000 ]; \
                      do i=$((i+1)); done'; done",
    );
    let resource = Resource::process(&format!("tree={}", tree.pid())).unwrap();
    let ran = run(&text(&mock.address, "20/s", 6), vec![resource], &mut |_| {});
    let seconds = ran.figures("tree", names::CORES);
    assert!(seconds.len() >= 4, "{seconds:?}");
    // The parent itself only waits: all of it is its children's. Two that never rest have at least
    // half of what this machine has left, and never more than two cores.
    for (_, _, cores) in &seconds {
        assert!((0.2..2.2).contains(cores), "{seconds:?}");
    }
    assert!(ran.resource("tree").threads_max.unwrap() >= 2.0);
}

#[test]
fn one_that_dies_is_a_remark_and_never_a_zero() {
    let _turn = alone();
    let mock = Mocked::start(&[], &[]);
    let mut dying = Some(shell("while :; do :; done"));
    let pid = dying.as_ref().unwrap().pid();
    let resource = Resource::process(&format!("worker={pid}")).unwrap();
    let mut died_ns = 0;
    let ran = run(&text(&mock.address, "20/s", 7), vec![resource], &mut |progress| {
        if progress.elapsed_ns > 3_000_000_000 && dying.take().is_some() {
            died_ns = progress.elapsed_ns;
        }
    });
    let note = ran.summary.notes.iter().find(|note| note.starts_with("worker (process"));
    let note = note.unwrap_or_else(|| panic!("{:?}", ran.summary.notes));
    let ended = note.split("ended between ").nth(1).unwrap();
    let (from, rest) = ended.split_once(" s and ").unwrap();
    let (from, to): (f64, f64) =
        (from.parse().unwrap(), rest.split(' ').next().unwrap().parse().unwrap());
    let died_s = died_ns as f64 / 1e9;
    assert!(from <= died_s + 0.3 && died_s <= to + 0.3 && to - from < 3.0, "{note}: {died_s}");
    let seconds = ran.figures("worker", names::CORES);
    assert!((2..=4).contains(&seconds.len()), "{seconds:?}");
    assert!(seconds.iter().all(|(_, _, cores)| *cores > 0.1), "{seconds:?}");
    let memory = ran.figures("worker", names::MEMORY_BYTES);
    assert!(memory.iter().all(|(_, _, bytes)| *bytes > 0.0), "{memory:?}");
}

#[test]
fn a_process_that_is_not_there_ends_the_command_before_any_load() {
    let mock = Mocked::start(&[], &[]);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text(&mock.address, "20/s", 2)).unwrap();
    let own = std::process::id().to_string();
    for (arguments, said) in [
        (vec!["--target-pid", "api=4194303"], "there is no process 4194303"),
        (vec!["--target-pid", "api"], "write NAME=PID or PID"),
        (vec!["--target-cgroup", "no/such/group"], "there is no folder no/such/group"),
        (vec!["--target-cgroup", "/tmp"], "is no control group with processor time"),
        (vec!["--observe", "queue=up"], "a query without --prometheus"),
        (vec!["--prometheus", "http://127.0.0.1:9"], "--prometheus without a query"),
        (vec!["--target-pid", &own, "--target-pid", &own], "two resources are called"),
    ] {
        let all = ["run", "plan.yaml", "--quiet"].iter().chain(&arguments);
        let output = sojourn(all).in_dir(folder.path()).run().unwrap();
        assert_eq!(output.code, Some(2), "{arguments:?}: {output}");
        assert!(output.stderr.contains(said), "{arguments:?}: {output}");
    }
}

#[test]
fn steps_of_a_search_have_their_resources() {
    let _turn = alone();
    let mock = Mocked::start(&[], &[]);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text(&mock.address, "60/s", 2)).unwrap();
    let pid = format!("mock={}", mock.pid());
    let arguments = [
        "search",
        "plan.yaml",
        "--from",
        "60/s",
        "--to",
        "60/s",
        "--step",
        "5s",
        "--target-pid",
        &pid,
        "--report",
        "found.json",
        "--report",
        "found.html",
    ];
    let program = sojourn(arguments).in_dir(folder.path()).timeout(Duration::from_secs(300));
    let output = program.run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    for words in ["  cores", "RESOURCES", "CPU/journey"] {
        assert!(output.stdout.contains(words), "{words}: {output}");
    }
    let report = std::fs::read_to_string(folder.path().join("found.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["limiting_resource"], serde_json::Value::Null);
    for step in report["steps"].as_array().unwrap() {
        let resource = &step["run"]["resources"][0];
        assert_eq!(resource["name"], "mock", "{step}");
        assert!(resource["processor"]["cores_mean"].as_f64().unwrap() < 1.0, "{step}");
    }
}
