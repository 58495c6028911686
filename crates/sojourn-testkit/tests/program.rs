//! Programs run by tests: output, input, exit codes, interruption, timeouts.

use std::io::ErrorKind;
use std::time::Duration;

use sojourn_testkit::{Program, free_port, temp_dir};

fn shell(script: &str) -> Program {
    Program::new("/bin/sh").args(["-c", script])
}

#[test]
fn output_code_folder_and_environment() {
    let folder = temp_dir().unwrap();
    let output =
        shell("pwd; echo $COLOUR >&2; exit 3").in_dir(&folder).env("COLOUR", "blue").run().unwrap();
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(output.stdout.trim(), real.to_str().unwrap());
    assert_eq!((output.stderr.as_str(), output.code), ("blue\n", Some(3)));
}

#[test]
fn more_input_than_a_pipe_holds_comes_back() {
    let input = vec![b'y'; 1_000_000];
    let output = Program::new("/bin/cat").input(input).run().unwrap();
    assert_eq!((output.stdout.len(), output.code), (1_000_000, Some(0)));
}

#[test]
fn a_program_that_runs_too_long_is_killed_and_what_it_said_is_kept() {
    let program = shell("echo begun; exec sleep 1000").timeout(Duration::from_millis(300));
    let error = program.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.to_string().contains("begun"), "{error}");
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    // The sleeper holds the output open; waiting for it would take 1000 s.
    let output = shell("sleep 1000 & echo $!").run().unwrap();
    assert_eq!(output.code, Some(0));
    let sleeper = std::path::Path::new("/proc").join(output.stdout.trim());
    // Killed; whoever adopted it may take a moment to reap it.
    let is_gone = || {
        let state = std::fs::read_to_string(sleeper.join("stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ") || state.contains(") X ")
    };
    while !is_gone() {
        std::thread::yield_now();
    }

    let program = shell("sleep 1000 & sleep 1000").timeout(Duration::from_millis(100));
    assert_eq!(program.run().unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn an_interrupted_program_can_say_goodbye() {
    let folder = temp_dir().unwrap();
    let script = "trap 'echo bye; exit 105' INT; touch ready; while :; do sleep 0.01; done";
    let running = shell(script).in_dir(&folder).start().unwrap();
    while !folder.path().join("ready").exists() {
        std::thread::yield_now();
    }
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!((output.stdout.as_str(), output.code), ("bye\n", Some(105)));
}

#[test]
fn a_missing_program_is_named() {
    let error = Program::new("/nowhere/sojourn").run().unwrap_err();
    assert!(error.to_string().contains("/nowhere/sojourn"), "{error}");
}

#[test]
fn a_free_port_refuses_connections() {
    let port = free_port().unwrap();
    let error = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}
