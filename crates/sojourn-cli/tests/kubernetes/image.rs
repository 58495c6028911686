//! `sojourn image save`: the program that is built here, in an image, run from it; and what it
//! does in the coordinator's pod.

use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;
use sojourn_testkit::{Output, Program, sojourn, temp_dir};

use crate::common::until;

/// The files of a tar, unpacked by Debian's own program.
fn unpack(tar: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let status = Command::new("tar").arg("-xf").arg(tar).arg("-C").arg(to).status().unwrap();
    assert!(status.success());
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn it_holds_a_program_that_runs_with_nothing_else() {
    let folder = temp_dir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let saved = sojourn(["image", "save", "-o", "image.tar"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(saved.code, Some(0), "{saved}");
    assert!(saved.stderr.contains("sha256:"), "{saved}");
    unpack(&path("image.tar"), &path("image"));
    let docker = json(&path("image/manifest.json"));
    let layer = path("image").join(docker[0]["Layers"][0].as_str().unwrap());
    let mut tar = Vec::new();
    GzDecoder::new(std::fs::File::open(layer).unwrap()).read_to_end(&mut tar).unwrap();
    std::fs::write(path("layer.tar"), tar).unwrap();
    unpack(&path("layer.tar"), &path("root"));
    let config = json(&path("image").join(docker[0]["Config"].as_str().unwrap()));
    let libraries = config["config"]["Env"].as_array().unwrap().iter();
    let libraries = libraries.filter_map(|it| it.as_str()?.strip_prefix("LD_LIBRARY_PATH="));
    let root = path("root");
    let libraries: Vec<String> = libraries
        .flat_map(|it| it.split(':'))
        .map(|it| format!("{}{it}", root.display()))
        .collect();
    let loader = Command::new("find").arg(&root).args(["-name", "ld-*"]).output().unwrap();
    let loader = String::from_utf8(loader.stdout).unwrap();
    let program = root.join("usr/local/bin/sojourn").display().to_string();
    let with = ["--inhibit-cache", "--library-path", &libraries.join(":")];
    let said =
        Program::new(loader.trim()).args(with).args([program.as_str(), "--version"]).run().unwrap();
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.stdout.starts_with("sojourn "), "{said}");
}

fn in_pod(folder: &Path, line: &str) -> Output {
    sojourn(line.split(' ')).in_dir(folder).run().unwrap()
}

#[test]
fn results_are_kept_until_they_are_fetched() {
    let folder = temp_dir().unwrap();
    let keep = "fleet keep . --linger 1h --at-most 2h".split(' ');
    let keeper = sojourn(keep).in_dir(folder.path()).start().unwrap();
    let locked = in_pod(folder.path(), "fleet locked . schema journey");
    assert_eq!((locked.code, locked.stdout.as_str()), (Some(0), ""), "{locked}");
    let report = std::fs::read_to_string(folder.path().join("report.txt")).unwrap();
    assert!(report.contains("$schema"), "{report}");
    let sum = in_pod(folder.path(), "fleet hand report.txt --sum");
    let sum: Value = serde_json::from_str(&sum.stdout).unwrap();
    assert_eq!(sum["bytes"], report.len());
    let rest = in_pod(folder.path(), "fleet hand report.txt --from 100");
    assert_eq!(rest.stdout, report[100..]);
    // The keeper has seen the end by now or will; it goes once it is released.
    assert_eq!(in_pod(folder.path(), "fleet release .").code, Some(0));
    let kept = keeper.wait().unwrap();
    assert_eq!((kept.code, kept.stdout), (Some(0), report));
}

#[test]
fn a_keeper_goes_with_its_pod() {
    let folder = temp_dir().unwrap();
    let keep = "fleet keep . --linger 1h --at-most 2h".split(' ');
    let keeper = sojourn(keep).in_dir(folder.path()).start().unwrap();
    let status = format!("/proc/{}/status", keeper.pid());
    // SigCgt has SIGTERM's bit once it listens.
    until("the keeper listens", || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or(0);
        caught & 1 << 14 != 0
    });
    keeper.terminate().unwrap();
    assert_eq!(keeper.wait().unwrap().code, Some(0));
}

#[test]
fn only_a_containers_first_process_is_ever_interrupted() {
    let output = sojourn(["fleet", "interrupt"]).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("no container of a run"), "{output}");
}
