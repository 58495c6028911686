//! `cargo xtask fuzz`: libFuzzer on the targets of the crate `fuzz`, built by the stable compiler.
//!
//! What cargo-fuzz does without a sanitizer: LLVM's coverage passes by compiler flags, overflow and
//! debug assertions on. Sanitizers would need a nightly compiler; our own code is safe Rust but for
//! small modules, and leaks and endless loops are found by the limits below.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{capture, cargo, command, root, run as run_command};
use crate::{Failure, phase::phase};

/// As cargo-fuzz has them.
const RUST_FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg fuzzing",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

/// What libFuzzer takes for a finding besides a panic, and the longest input it makes: a parser
/// that needs a second or half a gigabyte for 8 KB is broken.
const LIMITS: &[&str] =
    &["-timeout=5", "-rss_limit_mb=1024", "-malloc_limit_mb=512", "-max_len=8192"];

const SECONDS_DEFAULT: u64 = 20;

/// Reads the words behind `fuzz`, builds, runs.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    let wish = Wish::read(words, &names()?)?;
    let binary = phase("build the fuzzer", build)?;
    match &wish.input {
        Some(input) => reproduce(&binary, &wish.targets[0], input)?,
        None => {
            for target in &wish.targets {
                phase(&format!("fuzz {target}"), || fuzz(&binary, target, wish.seconds))?;
            }
        }
    }
    Ok(())
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    targets: Vec<String>,
    seconds: u64,
    /// One input instead of many.
    input: Option<PathBuf>,
}

impl Wish {
    fn read(words: &[&str], names: &[String]) -> Result<Self, Failure> {
        let mut wish = Self { targets: Vec::new(), seconds: SECONDS_DEFAULT, input: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seconds" => {
                    let seconds = words.next().and_then(|word| word.parse().ok());
                    wish.seconds = seconds
                        .filter(|seconds| *seconds > 0)
                        .ok_or_else(|| Failure::usage("--seconds wants a whole number above 0"))?;
                }
                "--input" => {
                    let input = words.next().map(PathBuf::from);
                    wish.input = Some(input.ok_or_else(|| Failure::usage("--input wants a file"))?);
                }
                name if names.iter().any(|known| known == name) => {
                    wish.targets.push(name.to_owned());
                }
                other => {
                    let known = names.join(" ");
                    let message = format!("`{other}` is no fuzz target; there are: {known}");
                    return Err(Failure::usage(&message));
                }
            }
        }
        if wish.input.is_some() && wish.targets.len() != 1 {
            return Err(Failure::usage("--input wants the one target that it is for"));
        }
        if wish.targets.is_empty() {
            wish.targets = names.to_vec();
        }
        Ok(wish)
    }
}

/// The targets, by their folders of seeds: a test of the crate holds both together.
fn names() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/corpus");
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(explain)? {
        names.push(entry.map_err(explain)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds the fuzzer and says where it is. Naming the machine's own triple keeps these flags away
/// from build scripts and macros, so those are the ones that tests and product have built already.
fn build() -> Result<PathBuf, String> {
    let version = capture(&mut command("rustc", &["-vV"]))?;
    let triple = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("`rustc -vV` does not name its host")?;
    let arguments =
        ["build", "--release", "--package", "fuzz", "--features", "libfuzzer", "--target", triple];
    run_command(cargo(&arguments).env("RUSTFLAGS", RUST_FLAGS.join(" ")))?;
    let folder =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(folder.join(triple).join("release/fuzz"))
}

/// Fuzzes one target. What is new goes into `target/fuzz/corpus`, so that the next run goes on from
/// there; the seeds stay as they are.
fn fuzz(binary: &Path, target: &str, seconds: u64) -> Result<(), String> {
    let corpus = root().join("target/fuzz/corpus").join(target);
    let findings = root().join("fuzz/findings").join(target);
    for folder in [&corpus, &findings] {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = fuzzer(binary, target);
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg("-use_value_profile=1")
        .arg(format!("-artifact_prefix={}/", findings.display()));
    let dictionary = root().join("fuzz/dictionaries").join(format!("{target}.dict"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    command.arg(corpus).arg(root().join("fuzz/corpus").join(target));
    let log = root().join("target/fuzz").join(format!("{target}.log"));
    let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let status = command.stderr(file).status().map_err(|error| format!("fuzz: {error}"))?;
    let text = std::fs::read(&log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if status.success() {
        eprintln!("  {}", summary(&text));
        return Ok(());
    }
    let name = finding(&text).unwrap_or("NAME");
    let (complaint, log) = (complaint(&text), log.display());
    Err(format!(
        "{complaint}\n  everything it said: {log}\n  \
         to see it again: cargo xtask fuzz {target} --input {name}\n  \
         when it is mended, put that input into fuzz/corpus/{target}/, under a name that says \
         what was wrong"
    ))
}

/// How far it has come, in libFuzzer's words: places reached, inputs kept, tries a second.
fn summary(log: &str) -> &str {
    log.lines().rfind(|line| line.contains("\tDONE ")).unwrap_or("it ended without a word")
}

/// The panic, or what libFuzzer itself has found.
fn complaint(log: &str) -> String {
    let is_told = |line: &&str| line.contains("panicked at") || line.starts_with("==");
    match log.lines().position(|line| is_told(&line)) {
        Some(at) => log.lines().skip(at).take(4).collect::<Vec<_>>().join("\n  "),
        None => log.lines().last().unwrap_or("it ended without a word").to_owned(),
    }
}

/// The file that the finding was written to.
fn finding(log: &str) -> Option<&str> {
    log.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path)
}

/// Runs one input once.
fn reproduce(binary: &Path, target: &str, input: &Path) -> Result<(), String> {
    // Relative to where the user stands, which need not be the root.
    let input =
        std::path::absolute(input).map_err(|error| format!("{}: {error}", input.display()))?;
    if !input.is_file() {
        return Err(format!("{}: there is no such file", input.display()));
    }
    run_command(fuzzer(binary, target).arg(input))
}

fn fuzzer(binary: &Path, target: &str) -> Command {
    let mut command = command(&binary.display().to_string(), LIMITS);
    command.env("SOJOURN_FUZZ_TARGET", target);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Wish, Failure> {
        Wish::read(words, &["hpack".to_owned(), "results".to_owned()])
    }

    #[test]
    fn wishes_are_read() {
        let all = read(&[]).unwrap();
        assert_eq!((all.targets.len(), all.seconds, all.input), (2, SECONDS_DEFAULT, None));
        let one = read(&["results", "--seconds", "60"]).unwrap();
        assert_eq!((one.targets, one.seconds), (vec!["results".to_owned()], 60));
        let input = read(&["hpack", "--input", "a/b"]).unwrap().input;
        assert_eq!(input, Some("a/b".into()));
        for bad in [
            &["gob"][..],
            &["--seconds", "0"],
            &["--seconds"],
            &["--input", "a"],
            &["hpack", "results", "--input", "a"],
        ] {
            assert!(matches!(read(bad), Err(Failure::Usage(_))), "{bad:?}");
        }
    }

    #[test]
    fn what_was_found_is_told() {
        let log = "INFO: Seed: 7\nthread '<unnamed>' panicked at a.rs:1:2:\nboom\n==9== ERROR: x\n\
                   artifact_prefix='f/'; Test unit written to f/crash-1\n";
        assert!(complaint(log).contains("boom"));
        assert_eq!(finding(log), Some("f/crash-1"));
        assert_eq!(summary("#9\tDONE   cov: 3\nDone 9 runs"), "#9\tDONE   cov: 3");
    }

    #[test]
    fn every_target_has_a_folder_of_seeds() {
        assert!(names().unwrap().iter().any(|name| name == "http_response"));
    }
}
