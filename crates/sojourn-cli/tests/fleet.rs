//! Runs whose generators dial in: started in a folder of their own, where no file of the plan is.

mod attacks;
mod cuts;
mod descriptors;
mod files;
mod losses;
mod polled;
mod slow;
mod waiting;

use std::path::PathBuf;

use serde_json::Value;
use sojourn_testkit::{Output, Program, Running, Server, TempDir, free_port, sojourn, temp_dir};

use crate::common::{OF_A_BUSY_MACHINE, until};
use crate::generators::{Target, folder, plan, whole_run};

/// A coordinator that has been started, and the generators that have.
struct Fleet {
    folder: TempDir,
    elsewhere: TempDir,
    port: u16,
    coordinator: Running,
    generators: Vec<Running>,
}

/// How a run ended: the coordinator's output, its report, and the generators' outputs.
struct Ended {
    output: Output,
    report: Value,
    generators: Vec<Output>,
}

impl Fleet {
    /// Starts a coordinator of `file` in this folder, and waits for its key.
    fn start(folder: TempDir, file: &str, flags: &[&str]) -> Self {
        Self::start_with(folder, file, flags, |program| program)
    }

    fn start_with(
        folder: TempDir,
        file: &str,
        flags: &[&str],
        change: impl FnOnce(Program) -> Program,
    ) -> Self {
        let port = free_port().unwrap();
        let listen = format!("127.0.0.1:{port}");
        let words = ["coordinator", file, "--listen", &listen, "--key-file", "fleet.key"];
        let common = ["--quiet", "--format", "json", "--report", "r.json", "--output", "r.sojourn"];
        let words = words.iter().chain(&common).chain(flags);
        let coordinator = change(sojourn(words).in_dir(folder.path())).start().unwrap();
        let fleet = Self {
            folder,
            elsewhere: temp_dir().unwrap(),
            port,
            coordinator,
            generators: Vec::new(),
        };
        until("it listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        fleet
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("fleet.key")
    }

    /// A generator that dials this port.
    fn generator(&self, port: u16) -> Program {
        let (join, key) = (format!("127.0.0.1:{port}"), self.key());
        let words = ["generator", "--join", &join, "--key-file", key.to_str().unwrap()];
        sojourn(words).in_dir(self.elsewhere.path())
    }

    /// Starts so many generators.
    fn join(mut self, count: usize) -> Self {
        for _ in 0..count {
            self.generators.push(self.generator(self.port).start().unwrap());
        }
        self
    }

    /// Starts one that dials another port, as number 0 of those that have not come.
    fn join_at(mut self, port: u16) -> Self {
        self.generators.push(self.generator(port).start().unwrap());
        self
    }

    /// Waits for everybody.
    fn end(self) -> Ended {
        let output = self.coordinator.wait().unwrap();
        let generators = self.generators.into_iter().map(|it| it.wait().unwrap()).collect();
        let report = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
        Ended { output, report, generators }
    }
}

impl Ended {
    /// The names of what made the run void, but for what a busy machine may bring.
    fn causes(&self) -> Vec<String> {
        let causes = self.report["verdict"]["causes"].as_array().cloned().unwrap_or_default();
        let names = causes.iter().filter_map(|cause| cause["name"].as_str().map(str::to_owned));
        names.filter(|name| !OF_A_BUSY_MACHINE.contains(&&**name)).collect()
    }

    fn notes(&self) -> String {
        self.report["notes"].to_string()
    }
}

/// Generators whose clocks are hours wrong, in an empty folder, make the load that one machine
/// makes of the same words, and the merged counts are the same.
#[test]
fn they_send_what_one_machine_would() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let load = "arrivals: poisson, rate: 150/s, steady: 2s, drain: 5s";
    let plan = plan(&server.url(""), load).replace("GET /v/", "GET /${REGION}/");
    let alone = folder(&plan);
    let words = ["run", "plan.yaml", "--quiet", "--format", "json", "--report", "r.json"];
    let alone = sojourn(words.iter().chain(&["--threads", "6"])).in_dir(alone.path());
    let alone = alone.env("REGION", "north").run().unwrap();
    let by_one = target.sorted();
    assert!(by_one.iter().filter(|path| path.starts_with("/north/")).count() > 200, "{alone}");
    let flags = ["--generators", "3", "--threads", "2"];
    let mut fleet =
        Fleet::start_with(folder(&plan), "plan.yaml", &flags, |it| it.env("REGION", "north"));
    for wrong_ns in ["0", "3700000000", "-7200000000000"] {
        let generator = fleet.generator(fleet.port).env("SOJOURN_TEST_CLOCK_OFFSET_NS", wrong_ns);
        fleet.generators.push(generator.start().unwrap());
    }
    let ended = fleet.end();
    assert_eq!(target.sorted(), by_one, "{}", ended.output);
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    let alone: Value = serde_json::from_str(&alone.stdout).unwrap();
    for class in ["started", "completed", "missed", "in_flight_at_cutoff"] {
        assert_eq!(whole_run(&ended.report, class), whole_run(&alone, class), "{class}");
    }
    assert_eq!(ended.report["ledger"]["balanced"], true);
    let notes = ended.notes();
    assert!(notes.contains("3 processes of 2 threads"), "{notes}");
    assert!(notes.contains("generators began within "), "{notes}");
    let fleet = &ended.report["fleet"];
    assert!(fleet["start_late_ns_max"].as_u64().unwrap() < 2_000_000_000, "{fleet}");
    assert!(fleet["start_spread_ns"].as_u64().unwrap() < 2_000_000_000, "{fleet}");
    let members = fleet["members"].as_array().unwrap();
    assert_eq!(members.len(), 3);
    assert!(members.iter().all(|it| it["clock_uncertainty_ns"].as_u64().unwrap() > 0), "{fleet}");
    for generator in &ended.generators {
        assert_eq!(generator.code, Some(0), "{generator}");
        assert!(generator.stderr.contains("everything was delivered"), "{generator}");
    }
    let said = &ended.output.stderr;
    assert!(said.contains("3 of 3 generators joined"), "{said}");
    assert!(said.contains("sojourn generator --join 127.0.0.1:"), "{said}");
}

#[test]
fn an_interrupt_of_the_coordinator_ends_all_and_their_figures_are_whole() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let plan = plan(&server.url(""), "rate: 50/s, steady: 60s, drain: 5s");
    let fleet = Fleet::start(folder(&plan), "plan.yaml", &["--generators", "2"]).join(2);
    until("the load has begun", || target.0.lock().unwrap().len() > 30);
    fleet.coordinator.interrupt().unwrap();
    let ended = fleet.end();
    assert!(matches!(ended.output.code, Some(3 | 105)), "{}", ended.output);
    // All but the one of the setup.
    let asked = target.sorted().len() - 1;
    assert_eq!(whole_run(&ended.report, "started"), asked);
    assert_eq!(whole_run(&ended.report, "completed"), asked);
    for generator in &ended.generators {
        assert_eq!(generator.code, Some(0), "{generator}");
    }
}

#[test]
fn those_who_do_not_come_in_time_are_counted_and_nobody_waits_for_ever() {
    let folder = folder(&plan("http://127.0.0.1:9", "rate: 5/s, steady: 1s"));
    let flags = ["--generators", "2", "--ready-timeout", "3s"];
    let mut fleet = Fleet::start(folder, "plan.yaml", &flags).join(1);
    let other = temp_dir().unwrap();
    let key = other.path().join("other.key");
    std::fs::write(&key, "0123456789abcdef0123456789abcdef").unwrap();
    let join = format!("127.0.0.1:{}", fleet.port);
    let words = ["generator", "--join", &join, "--key-file", key.to_str().unwrap()];
    let stranger = sojourn(words).run().unwrap();
    assert_eq!(stranger.code, Some(2), "{stranger}");
    assert!(stranger.stderr.contains("is not the coordinator of this key"), "{stranger}");
    let good = fleet.generators.remove(0);
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(2), "{}", ended.output);
    let said = &ended.output.stderr;
    assert!(said.contains("1 of 2 generators came within 3 s: 0: "), "{said}");
    assert!(said.contains("--ready-timeout"), "{said}");
    let good = good.wait().unwrap();
    assert_ne!(good.code, Some(0), "{good}");
    assert!(good.stderr.contains("before the run began"), "{good}");
}

#[test]
fn a_run_that_cannot_begin_lets_its_generators_go() {
    let folder = folder(&plan("http://127.0.0.1:9", "rate: 5/s, steady: 1s"));
    let ended = Fleet::start(folder, "plan.yaml", &["--generators", "2"]).join(2).end();
    assert_eq!(ended.output.code, Some(2), "{}", ended.output);
    assert!(ended.output.stderr.contains("127.0.0.1:9"), "{}", ended.output);
    for generator in &ended.generators {
        assert_eq!(generator.code, Some(2), "{generator}");
        assert!(generator.stderr.contains("before the run began"), "{generator}");
    }
}

#[test]
fn an_interrupt_ends_the_wait_for_generators() {
    let folder = folder(&plan("http://127.0.0.1:9", "rate: 5/s, steady: 1s"));
    let fleet = Fleet::start(folder, "plan.yaml", &["--generators", "2"]);
    fleet.coordinator.interrupt().unwrap();
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(105), "{}", ended.output);
    assert!(ended.output.stderr.contains("while 0 of 2"), "{}", ended.output);
}

/// With no time at all nobody could ever join.
#[test]
fn a_cut_must_be_given_time() {
    let line = "coordinator x.yaml --listen 127.0.0.1:0 --key-file k --generators 1 \
                --reconnect-within 0s";
    let output = sojourn(line.split_whitespace()).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("1s at least"), "{output}");
}

#[test]
fn a_generator_without_its_key_or_coordinator_says_what_is_missing() {
    let generator = sojourn(["generator", "--join", "127.0.0.1:9"]).run().unwrap();
    assert_eq!(generator.code, Some(2), "{generator}");
    assert!(generator.stderr.contains("SOJOURN_FLEET_KEY"), "{generator}");
    let words = ["generator", "--join", "127.0.0.1:9", "--join-within", "500ms"];
    let generator = sojourn(words).env("SOJOURN_FLEET_KEY", "k".repeat(40)).run().unwrap();
    assert_eq!(generator.code, Some(2), "{generator}");
    assert!(generator.stderr.contains("no coordinator at 127.0.0.1:9"), "{generator}");
}
