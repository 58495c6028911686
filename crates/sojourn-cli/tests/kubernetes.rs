//! Runs on a cluster, as the terminal sees them: a `kubectl` whose cluster is this machine. What
//! real clusters make of the objects is for `cargo xtask test fleet --cluster`.

mod attacks;
mod image;
mod manifests;
mod played;
#[cfg(feature = "script")]
mod scripts;
#[cfg(feature = "script")]
mod sessions;

use std::path::{Path, PathBuf};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_testkit::{
    MisbehavingServer, Misbehaviour, Output, Program, TempDir, sojourn, sojourn_path, temp_dir,
};

use crate::common::until;

/// A folder with a plan, a target, and a cluster.
struct Terminal {
    folder: TempDir,
    target: MisbehavingServer,
    /// What the coordinator's pod runs.
    coordinator: String,
}

impl Terminal {
    /// With a run of so many seconds.
    fn new(steady: &str) -> Self {
        let target = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
        let folder = temp_dir().unwrap();
        let plan = format!(
            "name: Pay\ntarget: {}\njourneys:\n  get:\n    root: {{ http: {{ url: / }}, expect: {{ \
             status: 200 }} }}\nload:\n  - {{ rate: 50/s, steady: {steady}, drain: 5s }}\n\
             thresholds: [\"journey.get.p99 < 10s\"]\nhealth: {{ lag_p99_max: 60s }}\n",
            target.url("")
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        std::fs::create_dir(folder.path().join("cluster")).unwrap();
        let plan = folder.path().join("plan.yaml");
        let coordinator =
            format!("run {} --live line --output results/run.sojourn", plan.display());
        Self { folder, target, coordinator }
    }

    fn sojourn(&self, line: &str) -> Program {
        let kubectl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes/kubectl.sh");
        let words = line.split(' ').map(str::to_owned);
        let words = words.chain([format!("--kubectl={}", kubectl.display())]);
        sojourn(words)
            .in_dir(self.folder.path())
            .env("CLUSTER", self.cluster())
            .env("SOJOURN", sojourn_path())
            .env("COORDINATOR", &self.coordinator)
    }

    fn run(&self, line: &str) -> Output {
        self.sojourn(line).run().unwrap()
    }

    fn cluster(&self) -> PathBuf {
        self.folder.path().join("cluster")
    }

    fn has(&self, file: &str) -> bool {
        self.cluster().join(file).exists()
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.cluster().join("calls")).unwrap_or_default()
    }

    fn count(&self, call: &str) -> usize {
        self.calls().lines().filter(|line| line.contains(call)).count()
    }
}

const ON: &str = "run plan.yaml --on kubernetes --generators 2 --run-name pay-1 --namespace load";

#[test]
fn a_run_comes_back_as_if_it_had_been_here() {
    let terminal = Terminal::new("1s");
    let output = terminal.run(&format!("{ON} --output here.sojourn --report page.html"));
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("✓ PASS") && output.stdout.contains("get"), "{output}");
    for said in [
        "cluster   Kubernetes 1.34.3, namespace load",
        "warning: would violate PodSecurity",
        "coordinator   running on here",
        "generator 1   running on here",
        "page.html",
    ] {
        assert!(output.stderr.contains(said), "{said}: {output}");
    }
    // Whole, though the first connection was cut.
    let there = std::fs::read(terminal.cluster().join("results/run.sojourn")).unwrap();
    assert!(there.len() > 1_000);
    assert!(std::fs::read(terminal.folder.path().join("here.sojourn")).unwrap() == there);
    assert!(terminal.folder.path().join("page.html").exists());
    assert_eq!(terminal.count("fleet hand /results/run.sojourn --from 1000"), 1);
    assert!(terminal.has("deleted"), "{}", terminal.calls());
    // Everything was tried before anything was created, and what was created has its owner.
    let calls = terminal.calls();
    let at = |call: &str| calls.lines().position(|line| line.starts_with(call)).unwrap();
    let created = calls.lines().position(|line| line.starts_with("create -f - -o name")).unwrap();
    assert!(at("create --dry-run=server") < created);
    let owned = std::fs::read_to_string(terminal.cluster().join("owned.json")).unwrap();
    assert_eq!(owned.matches(r#""uid":"1-2-3""#).count(), 5, "{owned}");
}

#[test]
fn nothing_is_created_where_something_may_not_be_done() {
    let terminal = Terminal::new("1s");
    let output = terminal.sojourn(ON).env("DENIED", r#""subresource":"exec""#).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("create pods/exec (no rule)"), "{output}");
    assert!(output.stderr.contains("sojourn fleet role --namespace load"), "{output}");
    assert!(!terminal.has("job.json") && !terminal.has("tried.json"));
}

#[test]
fn what_was_created_is_deleted_when_the_rest_is_refused() {
    let terminal = Terminal::new("1s");
    let output = terminal.sojourn(ON).env("REFUSED", "exceeded quota: secrets").run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("exceeded quota: secrets"), "{output}");
    assert!(terminal.has("deleted"));
}

/// The Job may be there all the same, and then goes again; one that was there before stays.
#[test]
fn what_may_have_been_created_is_deleted_unless_it_is_somebody_elses() {
    for (theirs, is_deleted) in [("", true), (r#""sojourn/run-id":"0ddba11""#, false)] {
        let terminal = Terminal::new("1s");
        let running = terminal.sojourn(ON).env("UNHEARD", "net/http: request canceled");
        let output = running.env("THEIRS", theirs).run().unwrap();
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("request canceled"), "{output}");
        assert_eq!(terminal.has("deleted"), is_deleted, "{}", terminal.calls());
    }
}

#[test]
fn a_run_goes_on_without_its_terminal_and_another_one_reports() {
    let terminal = Terminal::new("2s");
    let output = terminal.run(&format!("{ON} --detach"));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "pay-1\n"), "{output}");
    let early = terminal.run("fleet report pay-1");
    assert_eq!(early.code, Some(2), "{early}");
    assert!(early.stderr.contains("is running"), "{early}");
    let status = terminal.run("fleet status pay-1");
    assert!(status.stdout.contains("coordinator") && status.stdout.contains("running"), "{status}");
    assert!(status.stdout.contains("generator 0"), "{status}");
    let all = terminal.run("fleet status");
    assert!(all.stdout.contains("pay-1") && all.stdout.contains("goes on"), "{all}");
    let attached = terminal.run("fleet attach pay-1");
    assert_eq!(attached.code, Some(0), "{attached}");
    assert!(attached.stdout.contains("✓ PASS"), "{attached}");
    assert!(terminal.folder.path().join("reports/pay-1.sojourn").exists());
    let gone = terminal.run("fleet attach pay-1");
    assert_eq!(gone.code, Some(2), "{gone}");
    assert!(gone.stderr.contains("there is no run pay-1"), "{gone}");
}

#[test]
fn the_first_interrupt_ends_a_run_gracefully() {
    let terminal = Terminal::new("60s");
    let running = terminal.sojourn(ON).start().unwrap();
    until("the coordinator lives", || terminal.has("results/lock"));
    until("it has been seen", || terminal.count("logs") > 0);
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(output.stdout.contains("interrupted"), "{output}");
    assert_eq!(terminal.count("fleet interrupt"), 1);
    assert!(terminal.has("deleted"));
}

/// A cluster that does not answer at that moment is no reason to lose a run.
#[test]
fn an_interrupt_that_does_not_arrive_is_passed_on_again() {
    let terminal = Terminal::new("60s");
    let running = terminal.sojourn(ON).env("HICCUP", "Internal error occurred").start().unwrap();
    until("the coordinator lives", || terminal.has("results/lock"));
    until("it has been seen", || terminal.count("logs") > 0);
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(output.stderr.contains("tried again: kubectl"), "{output}");
    assert!(output.stderr.contains("Internal error occurred"), "{output}");
    assert!(output.stdout.contains("interrupted"), "{output}");
    assert!(terminal.folder.path().join("reports/pay-1.sojourn").exists());
    assert_eq!(terminal.count("fleet interrupt"), 2);
}

/// Nothing has been measured yet.
#[test]
fn the_first_interrupt_deletes_a_run_whose_coordinator_never_began() {
    let mut terminal = Terminal::new("60s");
    terminal.coordinator = String::new();
    let running = terminal.sojourn(ON).start().unwrap();
    until("it has been seen", || terminal.count("get jobs,pods") > 0);
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(terminal.has("deleted"), "{output}");
}

#[test]
fn the_second_interrupt_deletes_it() {
    let mut terminal = Terminal::new("60s");
    // One that takes no hint.
    terminal.coordinator = "mock --listen 127.0.0.1:0".to_owned();
    let running = terminal.sojourn(ON).start().unwrap();
    until("the coordinator lives", || terminal.count("logs") > 0);
    running.interrupt().unwrap();
    until("it has been told", || terminal.count("fleet interrupt") == 1 || terminal.has("code"));
    let was_told = !terminal.has("code");
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert!(was_told, "{output}");
    assert!(terminal.has("deleted") || terminal.has("code"), "{output}");
}

#[test]
fn a_coordinator_that_refuses_its_words_is_wrong_usage() {
    let mut terminal = Terminal::new("1s");
    terminal.coordinator = "run no-such-plan.yaml".to_owned();
    let output = terminal.run(ON);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("cannot read no-such-plan.yaml"), "{output}");
    assert!(output.stderr.contains("kubectl --namespace load get pods"), "{output}");
    assert!(terminal.has("released"));
}

/// It left no run file: the run is void, and this is no mistake of who made it.
#[test]
fn a_coordinator_that_was_killed_makes_the_run_void() {
    let terminal = Terminal::new("1s");
    let output = terminal.sojourn(ON).env("KILLED", "137").run().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    for said in [
        "void: the coordinator ended with 137",
        "the run file could not be fetched",
        "kubectl --namespace load get pods",
    ] {
        assert!(output.stderr.contains(said), "{said}: {output}");
    }
    assert!(!terminal.has("deleted") && !terminal.has("released"), "{output}");
}

/// Whether its end or its absence is seen first is chance: the cause is the same.
#[test]
fn a_coordinator_that_ends_since_its_pod_is_deleted_is_gone() {
    let terminal = Terminal::new("1s");
    let leaving = terminal.sojourn(ON).env("KILLED", "105").env("LEAVING", "2026-11-24T10:00:00Z");
    let output = leaving.run().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("void: the coordinator's pod is gone"), "{output}");
    assert!(!output.stderr.contains("could not be fetched"), "{output}");
    assert!(!terminal.has("deleted") && !terminal.has("released"), "{output}");
}

#[test]
fn what_pods_can_not_have_is_refused_before_anything_is_asked() {
    let terminal = Terminal::new("1s");
    for (flags, said) in [
        ("--target-pid 1", "can't be read from pods"),
        ("--out ndjson=x.ndjson", "which goes with it"),
        ("--pod-file /etc/hostname", "is not below"),
        ("--reconnect-within 0s", "1s at least"),
    ] {
        let output = terminal.run(&format!("{ON} {flags}"));
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said), "{output}");
    }
    let output = terminal.run("run plan.yaml --run-name pay-1");
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("is for runs in a cluster"), "{output}");
    assert_eq!(terminal.calls(), "");
}

/// As long as it may take and no longer, where it might still come…
#[test]
fn a_coordinator_that_does_not_begin_is_waited_for_as_long_as_was_said() {
    let terminal = Terminal::new("1s");
    let began_ns = now_ns();
    let waiting = r#"{"waiting":{"reason":"ContainerCreating"}}"#;
    let line = format!("{ON} --ready-timeout 3s");
    let program = terminal.sojourn(&line).env("COORDINATOR", "").env("WAITING", waiting);
    let output = program.run().unwrap();
    let took_ns = now_ns() - began_ns;
    assert_eq!(output.code, Some(2), "{output}");
    assert!((3 * SECOND_NS..15 * SECOND_NS).contains(&took_ns), "{took_ns}: {output}");
    let said = "the coordinator of pay-1 never began: ContainerCreating";
    assert!(output.stderr.contains(said), "{output}");
    assert!(terminal.has("deleted"));
}

/// …and not that long where it will not come as things are.
#[test]
fn a_pod_that_is_stuck_is_not_waited_for() {
    let terminal = Terminal::new("1s");
    let line = format!("{ON} --ready-timeout 10m");
    let output = terminal.sojourn(&line).env("COORDINATOR", "").run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    let said = "the coordinator of pay-1 never began: ImagePullBackOff: no such image";
    assert!(output.stderr.contains(said), "{output}");
    assert!(terminal.has("deleted"));
}
