//! Generators and coordinators that wait for each other, and are told to end.

use std::io::Read;

use sojourn_clock::SECOND_NS;
use sojourn_fleet::{JoinAt, JoinKey, Joining, Listen, Listening, Standing};

use super::*;

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// One that dials this port and waits there.
fn generator(port: u16) -> Running {
    let join = format!("127.0.0.1:{port}");
    sojourn(["generator", "--join", &join]).env("SOJOURN_FLEET_KEY", KEY).start().unwrap()
}

/// Whether the process has a handler of SIGTERM: without one it may not yet have begun.
fn minds_signals(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
    caught.is_some_and(|mask| u64::from_str_radix(mask, 16).unwrap() & (1 << 14) != 0)
}

#[test]
fn one_that_waits_for_its_coordinator_can_be_ended() {
    let generator = generator(free_port().unwrap());
    until("it minds signals", || minds_signals(generator.pid()));
    generator.terminate().unwrap();
    let output = generator.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(output.stderr.contains("interrupted before the coordinator"), "{output}");
}

/// Its place is free for another one then.
#[test]
fn one_that_waits_for_the_run_can_be_ended() {
    let coordinator = Listening::start(Listen {
        address: "127.0.0.1:0".parse().unwrap(),
        generators: 1,
        key: JoinKey::parse(KEY).unwrap(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        reconnect_within_ns: 30 * SECOND_NS,
    })
    .unwrap();
    let first = generator(coordinator.address().port());
    until("it is ready", || coordinator.is_ready());
    first.terminate().unwrap();
    let output = first.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(output.stderr.contains("interrupted while it waited for the run"), "{output}");
    let is_cut = || matches!(coordinator.members()[0].standing, Standing::Cut(_));
    until("it is known to have gone", is_cut);
    let second = generator(coordinator.address().port());
    until("another one has its place", || coordinator.is_ready());
    second.terminate().unwrap();
    assert_eq!(second.wait().unwrap().code, Some(105));
}

/// Two generators have come and hear what to do, and never say that they are ready.
#[test]
fn an_interrupt_ends_the_wait_for_plans() {
    let server = Server::start(Target::default()).unwrap();
    let folder = folder(&plan(&server.url(""), "rate: 5/s, steady: 1s"));
    let flags = ["--generators", "2", "--ready-timeout", "10m"];
    let fleet = Fleet::start(folder, "plan.yaml", &flags);
    let at = JoinAt {
        address: format!("127.0.0.1:{}", fleet.port),
        key: JoinKey::read(&fleet.key()).unwrap(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        number: None,
        within_ns: 10 * SECOND_NS,
    };
    let mut joined = [(); 2].map(|()| Joining::join(&at, false).unwrap());
    for (_, socket) in &mut joined {
        socket.read_exact(&mut [0; 4]).unwrap();
    }
    fleet.coordinator.interrupt().unwrap();
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(105), "{}", ended.output);
    assert!(ended.output.stderr.contains("interrupted before"), "{}", ended.output);
}
