//! A server whose owner is killed does not live on.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sojourn_services::{Process, Redis, Service};

const OWNER: &str = "SOJOURN_SERVICES_OWNER";

/// Not a test of its own: run by the one below in a process of its own, it starts a server, says
/// which, and waits to be killed.
#[test]
fn owner() {
    if std::env::var_os(OWNER).is_none() {
        return;
    }
    let redis = Redis::start().unwrap();
    let process = redis.instance().process().unwrap();
    let folder = redis.instance().folder().display();
    println!("\nredis {} {} {folder}", process.pid, process.start_ticks);
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_killed_owner_takes_its_servers_along() {
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["guardian::owner", "--exact", "--nocapture"])
        .env(OWNER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.starts_with("redis ")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let (pid, start_ticks) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let (process, folder) = (Process { pid, start_ticks }, PathBuf::from(words[3]));
    assert!(process.is_alive() && folder.is_dir());
    owner.kill().unwrap();
    owner.wait().unwrap();
    let deadline_ns = sojourn_clock::now_ns() + 60 * sojourn_clock::SECOND_NS;
    while process.is_alive() || folder.exists() {
        assert!(sojourn_clock::now_ns() < deadline_ns, "{process:?} or {folder:?} is still there");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
