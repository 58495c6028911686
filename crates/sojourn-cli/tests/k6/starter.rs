//! `sojourn k6 new`: what it writes runs, and it overwrites nothing unasked.

use std::path::Path;
use std::process::{Command, Output};

use super::targets::Targets;

fn sojourn(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
    command.arg("k6").args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn a_new_script_runs_and_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let targets = Targets::start(&super::script::folder(), folder.path());
    let base = format!("BASE={}", targets.address("BASE"));
    for (template, function) in [("minimal", "default"), ("protocol", "visit")] {
        let made = sojourn(folder.path(), &["new", "--template", template]);
        assert!(made.status.success(), "{made:?}");
        let path = folder.path().join("script.js");
        let text = std::fs::read_to_string(&path).unwrap();
        // Its own options last half a minute: one iteration of each function will do.
        let short = text.replace("export const options", "const longer");
        let short = format!(
            "{short}\nexport const options = {{ scenarios: {{ one: {{ executor: \
             'per-vu-iterations', exec: '{function}' }} }}, thresholds: {{ checks: ['rate==1'] }} \
             }};\n"
        );
        std::fs::write(folder.path().join("short.js"), short).unwrap();
        let run = sojourn(folder.path(), &["run", "-q", "-e", &base, "short.js"]);
        assert!(run.status.success(), "{run:?}");
        let inspected =
            sojourn(folder.path(), &["inspect", "--execution-requirements", "script.js"]);
        assert!(inspected.status.success(), "{inspected:?}");
        let again = sojourn(folder.path(), &["new"]);
        let told = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(again.status.code() == Some(2) && told.contains("--force"), "{told}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert!(sojourn(folder.path(), &["new", "--force"]).status.success());
        std::fs::remove_file(&path).unwrap();
    }
}
