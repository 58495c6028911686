//! The broker's own tools, as processes.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use sojourn_clock::now_ns;

use crate::Used;

/// Linux reports these times in hundredths of a second on every architecture (`USER_HZ`).
const TICK_NS: u64 = 10_000_000;

/// Where a program lies on PATH.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let mut candidates =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.find(|candidate| candidate.is_file())
}

/// Says that a way could not be gone: what is missing, and where it comes from.
pub fn missing(cost: &str, what: &str) {
    println!("MISSING for {cost}: {what}");
}

/// Runs a tool to its end, its output thrown away; `meanwhile` is called once it is started. Its
/// whole processor time counts, in steps of 10 ms, its start included.
pub fn tool<T>(command: &mut Command, meanwhile: impl FnOnce() -> T) -> Used {
    let (cpu_ns, begun_ns) = (children_cpu_ns(), now_ns());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    // What it makes is dropped behind the figures: a child waited for before would be in them.
    let held = meanwhile();
    assert!(child.wait().unwrap().success(), "{command:?} failed");
    let cpu_ns = children_cpu_ns() - cpu_ns;
    let used = Used { cpu_ns, behind_ns: None, passed_ns: now_ns() - begun_ns };
    drop(held);
    used
}

/// What those of our children have used that have ended and been waited for (fields 16 and 17 of
/// proc(5)).
fn children_cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The second field is the program's name in parentheses, which may hold anything.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(13).take(2).map(|field| field.parse::<u64>().unwrap());
    ticks.sum::<u64>() * TICK_NS
}
