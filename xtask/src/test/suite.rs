//! One test binary, or all doctests: how it is built, found and run.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Size;
use super::count::Count;
use crate::shell::{capture, cargo, command, root, show};

/// What is run by one command and prints one result, or one for each crate (doctests).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Suite {
    /// `crates/sojourn-pace, lib`.
    pub(super) name: String,
    program: PathBuf,
    /// What stands before the tests' names.
    arguments: Vec<String>,
    /// Where cargo would run it.
    folder: PathBuf,
}

impl Suite {
    /// Builds all test binaries of some packages, and returns them in cargo's order.
    pub(super) fn build(which: &[&str]) -> Result<Vec<Self>, String> {
        let mut build = cargo(&["test", "--release", "--no-run"]);
        build.arg("--message-format=json-render-diagnostics").args(which);
        eprintln!("  $ {}", show(&build));
        let mut suites = Vec::new();
        for line in capture(&mut build)?.lines() {
            let message: Value =
                serde_json::from_str(line).map_err(|error| format!("cargo's `{line}`: {error}"))?;
            suites.extend(Self::of_message(&message));
        }
        if suites.is_empty() {
            return Err("cargo built no test binary".to_owned());
        }
        Ok(suites)
    }

    /// A test binary that a message of cargo tells of; most tell of something else.
    fn of_message(message: &Value) -> Option<Self> {
        if !message["profile"]["test"].as_bool()? {
            return None;
        }
        let program = message["executable"].as_str()?.into();
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        let package = folder.strip_prefix(root()).unwrap_or(&folder).display();
        let (kind, target) = (message["target"]["kind"][0].as_str()?, &message["target"]["name"]);
        let name = match kind {
            "lib" => format!("{package}, lib"),
            _ => format!("{package}, {kind} {}", target.as_str()?),
        };
        Some(Self { name, program, arguments: Vec::new(), folder })
    }

    /// The doctests of some packages.
    pub(super) fn of_docs(which: &[&str]) -> Self {
        let words = ["test", "--release", "--no-fail-fast", "--doc"].iter().chain(which);
        Self {
            name: "doctests".to_owned(),
            program: cargo(&[]).get_program().into(),
            arguments: words.chain(&["--"]).map(|word| (*word).to_owned()).collect(),
            folder: root(),
        }
    }

    /// Whether it is this target of this package, such as `crates/sojourn-cli, test tests`.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Runs it, shows what it prints and counts it. Those that are to give way to others run
    /// `nice`.
    pub(super) fn run(
        &self,
        names: &[String],
        size: Size,
        nice: bool,
    ) -> (Count, Result<(), String>) {
        let mut count = Count::default();
        let mut child = if nice { command("nice", &[]) } else { Command::new(&self.program) };
        if nice {
            child.arg(&self.program);
        }
        child.args(&self.arguments).args(names).current_dir(&self.folder).stdin(Stdio::null());
        if size == Size::Full {
            child.env("SOJOURN_TESTS", "full");
        }
        eprintln!("  $ {} {}", self.name, names.join(" "));
        let outcome = follow(&mut child, &mut count);
        (count, outcome.map_err(|error| format!("{}: {error}", self.name)))
    }
}

fn follow(command: &mut Command, count: &mut Count) -> Result<(), String> {
    let explain = |error: std::io::Error| error.to_string();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(explain)?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(explain)?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            count.read(&line);
        }
    }
    let status = child.wait().map_err(explain)?;
    if status.success() { Ok(()) } else { Err(format!("ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn binaries_are_found_in_cargos_messages() {
        let manifest = root().join("crates/sojourn-pace/Cargo.toml");
        let message = |test: bool, kind: &str| {
            json!({
                "reason": "compiler-artifact", "executable": "/t/pace-1", "manifest_path": manifest,
                "profile": {"test": test}, "target": {"name": "sojourn_pace", "kind": [kind]},
            })
        };
        let suite = Suite::of_message(&message(true, "lib")).unwrap();
        assert!(suite.is("crates/sojourn-pace, lib"), "{suite:?}");
        assert_eq!(suite.folder, root().join("crates/sojourn-pace"));
        let suite = Suite::of_message(&message(true, "bin")).unwrap();
        assert!(suite.is("crates/sojourn-pace, bin sojourn_pace"), "{suite:?}");
        assert_eq!(Suite::of_message(&message(false, "bin")), None);
        assert_eq!(Suite::of_message(&json!({"reason": "build-finished", "success": true})), None);
    }

    #[test]
    fn a_suite_that_ends_badly_is_told_with_what_it_counted() {
        let line = "test result: FAILED. 1 passed; 2 failed; 0 ignored;";
        let script = format!("echo '{line}'; exit 101");
        let suite = Suite {
            name: "shell".to_owned(),
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script],
            folder: root(),
        };
        for nice in [false, true] {
            let (count, outcome) = suite.run(&[], Size::Usual, nice);
            assert_eq!((count.passed, count.failed), (1, 2));
            let error = outcome.unwrap_err();
            assert!(error.starts_with("shell: ended with") && error.contains("101"), "{error}");
        }
    }
}
