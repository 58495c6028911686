//! Coordinators with few descriptors.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use sojourn_clock::SECOND_NS;
use sojourn_fleet::{FleetError, JoinAt, JoinKey, Joining};

use super::*;

/// A coordinator of so many generators with so many descriptors, and where and how they join it.
fn coordinator(limit: &str, generators: u32) -> (Running, JoinAt, TempDir) {
    let folder = folder(&plan("http://127.0.0.1:9", "rate: 5/s, steady: 1s"));
    let port = free_port().unwrap();
    let script = format!(
        "ulimit {limit} && exec {} coordinator plan.yaml --listen 127.0.0.1:{port} --key-file \
         fleet.key --generators {generators} --quiet",
        env!("CARGO_BIN_EXE_sojourn")
    );
    let running = Program::new("sh").args(["-c", &script]).in_dir(folder.path()).start().unwrap();
    until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let at = JoinAt {
        address: format!("127.0.0.1:{port}"),
        key: JoinKey::read(&folder.path().join("fleet.key")).unwrap(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        number: None,
        within_ns: 2 * SECOND_NS,
    };
    (running, at, folder)
}

/// Joins until that fails, at most so often.
fn join(at: &JoinAt, most: u32) -> (Vec<(Joining, UnixStream)>, Option<FleetError>) {
    let mut joined = Vec::new();
    while joined.len() < most as usize {
        match Joining::join(at, false) {
            Ok(one) => joined.push(one),
            Err(error) => return (joined, Some(error)),
        }
    }
    (joined, None)
}

/// The soft limit is for programs that use `select`.
#[test]
fn generators_join_beyond_the_soft_limit_of_descriptors() {
    let (running, at, _folder) = coordinator("-Sn 40", 12);
    let (joined, error) = join(&at, 12);
    assert!(error.is_none(), "{error:?} after {}", joined.len());
    let output = running.wait().unwrap();
    assert!(output.stderr.contains("12 of 12 generators joined"), "{output}");
}

/// With some limits the last one gets a connection and no room: it must not wait for ever, and the
/// coordinator says why it does.
#[test]
fn who_finds_no_room_is_told_why() {
    let mut refused = 0;
    for limit in 40..44 {
        let (running, at, _folder) = coordinator(&format!("-n {limit}"), 12);
        let (joined, error) = join(&at, 12);
        let error = error.expect("twelve need more than forty descriptors");
        running.interrupt().unwrap();
        let output = running.wait().unwrap();
        assert!(!joined.is_empty(), "{error}: {output}");
        if matches!(error, FleetError::Refused(_)) {
            let why = "the coordinator has no room: Too many open files";
            assert!(error.to_string().contains(why), "{error}");
            assert!(output.stderr.contains(why), "{output}");
            refused += 1;
        }
    }
    assert!(refused >= 2, "{refused}");
}

/// Callers that can't be let in are there all the time; whoever waits for them must not spin.
#[test]
fn without_descriptors_a_coordinator_waits_and_does_not_spin() {
    let (running, at, _folder) = coordinator("-n 40", 2);
    let silent: Vec<_> = (0..60).map(|_| TcpStream::connect(&at.address).unwrap()).collect();
    let before = processor_ticks(running.pid());
    std::thread::sleep(Duration::from_secs(3));
    let ticks = processor_ticks(running.pid()) - before;
    assert!(ticks < 100, "{ticks} hundredths of a second in three seconds");
    drop(silent);
    running.interrupt().unwrap();
    running.wait().unwrap();
}

/// Processor time of a process, hundredths of a second.
fn processor_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}
