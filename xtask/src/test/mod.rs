//! `cargo xtask test`: all that must hold before a change is taken, cheapest first.

mod cluster;
mod count;
mod fleet;
mod suite;
mod suites;

pub(crate) use suites::EVERY_FEATURE;

use crate::phase::phase;
use crate::shell::{cargo, find_on_path, run as run_command};
use crate::{Failure, services, tidy, tools};

/// Whether the slow tests run too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Usual,
    Full,
}

type Work = fn(Size) -> Result<(), String>;

/// Runs the slow tests too.
const FULL: &str = "--full";

/// In the order in which they run.
const PHASES: &[(&str, Work)] = &[
    ("tools", |_| tools::ensure()),
    ("services", |_| services::ensure()),
    ("format", |_| format()),
    ("clippy", |_| clippy()),
    ("tidy", |_| tidy::check()),
    ("deny", |_| cargo_deny()),
    ("test", suites::run),
];

/// Runs the named phases, or all of them when none is named.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["fleet"] => return Ok(fleet::run(false)?),
        ["fleet", fleet::CLUSTER] => return Ok(fleet::run(true)?),
        _ => {}
    }
    let names: Vec<&str> = words.iter().copied().filter(|word| *word != FULL).collect();
    let size = if names.len() < words.len() { Size::Full } else { Size::Usual };
    let known = |name: &&str| PHASES.iter().any(|(phase, _)| phase == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return Err(Failure::usage(&format!("`{unknown}` is no phase of test")));
    }
    for (name, work) in PHASES {
        if names.is_empty() || names.contains(name) {
            phase(name, || work(size))?;
        }
    }
    Ok(())
}

fn format() -> Result<(), String> {
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
        .map_err(|error| format!("{error}; `cargo fmt --all` mends it"))
}

/// In the release profile, so that build scripts and macros are those of the tests. The program is
/// looked at with fewer features too: as the README's first command builds it, and with none.
fn clippy() -> Result<(), String> {
    let every = fleet::cluster_features();
    let whole: [&str; 4] = ["--workspace", "--all-targets", "--features", &every];
    let program = ["--package", "sojourn-cli", "--bin", "sojourn"];
    let bare = [&program[..], &["--no-default-features"]].concat();
    for which in [&whole[..], &program, &bare] {
        let mut clippy = cargo(&["clippy", "--release"]);
        run_command(clippy.args(which).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Our own check of `deny.toml` is part of tidy; cargo-deny's finer one runs where it is installed.
/// Advisories are left out: they need the network, and change without the project changing.
fn cargo_deny() -> Result<(), String> {
    if find_on_path("cargo-deny").is_none() {
        eprintln!("  cargo-deny is not installed: tidy's reading of deny.toml must do");
        return Ok(());
    }
    run_command(&mut cargo(&["deny", "--all-features", "check", "licenses", "bans", "sources"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_phase_is_wrong_usage() {
        assert!(matches!(run(&["format", "lint"]), Err(Failure::Usage(_))));
    }
}
