//! What the processes of a run took, in its report.

use serde_json::Value;
use sojourn_testkit::{Program, Server, sojourn};

use super::{Target, folder, plan, run};

fn processes(report: &Value) -> &[Value] {
    report["health"]["processes"].as_array().map_or(&[], Vec::as_slice)
}

fn figure(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name} of {of}"))
}

#[test]
fn every_process_says_what_it_took() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = folder(&plan(&server.url(""), "rate: 100/s, steady: 3s, drain: 5s"));
    let (output, report) = run(folder.path(), &["--generators", "2", "--output", "r.sojourn"]);
    let processes = processes(&report);
    let names: Vec<_> = processes.iter().map(|it| it["process"].as_str().unwrap()).collect();
    assert_eq!(names, ["coordinator", "process 0", "process 1"], "{output}");
    let health = &report["health"];
    let mut sum = 0.0;
    for process in processes {
        let of = |name: &str| figure(process, name);
        sum += of("memory_bytes_max");
        assert!(of("memory_bytes_max") > 1e6, "{process}");
        // Each has at least its standard ones, and an event loop or a socket.
        assert!((4.0..1_000.0).contains(&of("descriptors_max")), "{process}");
        assert!(of("descriptors_limit") >= of("descriptors_max"), "{process}");
        assert!(of("cpu_max") >= of("cpu_mean") && of("cpu_mean") > 0.0, "{process}");
        let left = of("descriptors_limit") - of("descriptors_max");
        assert!(figure(health, "descriptors_left_min") <= left, "{process}");
    }
    assert_eq!(figure(health, "memory_bytes_max"), sum);
    // Theirs are held against their limits, too.
    let margins = health["verdict"]["margins"].to_string();
    for name in names {
        assert!(margins.contains(&format!("descriptors of {name} ")), "{name} in {margins}");
    }
    let text = sojourn(["report", "r.sojourn"]).in_dir(folder.path()).run().unwrap();
    assert!(text.stdout.contains("  process   process 1: memory "), "{text}");
}

#[test]
fn one_process_alone_has_no_table() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = folder(&plan(&server.url(""), "rate: 50/s, steady: 2s, drain: 5s"));
    let (output, report) = run(folder.path(), &[]);
    assert!(processes(&report).is_empty(), "{output}");
    assert!(figure(&report["health"], "memory_bytes_max") > 1e6);
    assert!(!report["health"]["verdict"].to_string().contains("coordinator"));
}

/// A process of generators may open so few descriptors that its requests fail: the run says whose
/// fault it was.
#[test]
fn descriptors_that_run_out_in_one_of_them_make_the_run_void() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let load = "users: 150, steady: 2s, drain: 5s";
    let folder = folder(&plan(&server.url(""), load));
    let command = format!(
        "ulimit -n 60 && exec {} run plan.yaml --quiet --format json --report r.json --generators 2",
        env!("CARGO_BIN_EXE_sojourn")
    );
    let output = Program::new("sh").args(["-c", &command]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let most = processes(&report).iter().skip(1).map(|it| {
        let share = figure(it, "descriptors_max") / figure(it, "descriptors_limit");
        assert_eq!(figure(it, "descriptors_limit"), 60.0);
        share
    });
    assert!(most.fold(0.0, f64::max) > 0.7, "{report}");
    assert!(report["verdict"].to_string().contains("ulimit -n"), "{}", report["verdict"]);
}
