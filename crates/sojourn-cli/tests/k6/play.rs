//! One run of a script, as `record` runs the real k6.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sojourn_clock::now_ns;

use super::script::{Script, folder};
use super::targets::Targets;

/// What runs longer is killed.
const LONGEST_NS: u64 = 40_000_000_000;

/// Runs it with everything it leaves in `out`; its exit code.
pub(super) fn play(script: &Script, targets: &Targets, out: &Path) -> i32 {
    let out_text = out.to_str().unwrap();
    let is_input = script.directive("Stdin").is_some();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
    command.current_dir(script.path.parent().unwrap()).args(["k6"]);
    let word = script.directive("Command").unwrap_or("run");
    command.args([word, "--no-color", "--log-format", "json"]);
    if script.directive("Command").is_none() {
        command.args(["--quiet", "--out", &format!("json={out_text}/samples")]);
        command.args(["--summary-export", &format!("{out_text}/summary")]);
    }
    for (name, address) in &targets.addresses {
        command.arg("-e").arg(format!("{name}={address}"));
    }
    command.arg("-e").arg(format!("OUT={out_text}"));
    let arguments = script.directive("Args").unwrap_or_default().replace("@OUT@", out_text);
    command.args(arguments.split_whitespace());
    let path = Path::new(script.path.file_name().unwrap());
    command.arg(if is_input { Path::new("-") } else { path });
    for pair in script.directive("Env").unwrap_or_default().split_whitespace() {
        let (name, value) = pair.split_once('=').unwrap();
        command.env(name, value);
    }
    if is_input {
        command.stdin(File::open(&script.path).unwrap());
    } else {
        command.stdin(Stdio::null());
    }
    command.stdout(File::create(out.join("stdout")).unwrap());
    command.stderr(File::create(out.join("stderr")).unwrap());
    let mut child = command.spawn().unwrap();
    signals(script, &mut child);
    let code = wait(&mut child);
    after(script, out_text);
    code
}

/// Sends what `Signal` says: names, each with the seconds to wait before it.
fn signals(script: &Script, child: &mut Child) {
    let words: Vec<&str> =
        script.directive("Signal").unwrap_or_default().split_whitespace().collect();
    for pair in words.chunks_exact(2) {
        std::thread::sleep(Duration::from_secs_f64(pair[1].parse().unwrap()));
        let signal = match pair[0] {
            "INT" => rustix::process::Signal::INT,
            "TERM" => rustix::process::Signal::TERM,
            other => panic!("{}: no signal of the name {other}", script.name),
        };
        if child.try_wait().unwrap().is_none() {
            let pid = rustix::process::Pid::from_child(child);
            rustix::process::kill_process(pid, signal).unwrap();
        }
    }
}

fn wait(child: &mut Child) -> i32 {
    let until_ns = now_ns() + LONGEST_NS;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        if now_ns() > until_ns {
            child.kill().unwrap();
            child.wait().unwrap();
            return -1;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command of its own when it has ended.
fn after(script: &Script, out: &str) {
    if let Some(command) = script.directive("After") {
        let command = command.replace("@OUT@", out);
        let mut shell = Command::new("bash");
        shell.args(["-c", &command]).env("HERE", folder()).stdout(Stdio::null());
        shell.stderr(Stdio::null()).status().unwrap();
    }
}
