//! A process of this machine: its processor time, memory, descriptors and threads, with those of
//! its children.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use sojourn_clock::now_ns;
use sojourn_metrics::names;

use super::{
    Figure, Trouble,
    cgroup::{self, ROOT},
    parse::{Stat, allowed_processors, unified_group},
    tree::{Id, Tree, Used, used_ticks},
};

/// Processes of one tree that are looked at.
const PROCESSES_MAX: usize = 1_000;
/// Above so many threads the busiest one is not looked for.
const THREADS_MAX: u64 = 1_000;

/// A process that is read again and again.
pub(super) struct Process {
    pid: u32,
    start_ticks: u64,
    before: Option<Taken>,
    /// Cores that it may use at once, where that is fewer than the machine has.
    limit_cores: Option<f64>,
}

/// What a look at the processes showed.
#[derive(Default)]
struct Taken {
    at_ns: u64,
    tree: Tree,
    /// Each thread's own processor time, clock ticks.
    threads: BTreeMap<Id, u64>,
    threads_count: u64,
    resident_pages: u64,
    /// `None`: of one of them it is not ours to see.
    descriptors: Option<u64>,
}

impl Process {
    /// The process of this number, and its name. Errs in words when there is none.
    pub(super) fn open(pid: u32, machine_cores: f64) -> Result<(Self, String), String> {
        let stat = stat_of(&folder(pid)).filter(|stat| !stat.has_ended());
        let stat = stat.ok_or_else(|| format!("there is no process {pid}"))?;
        let allowed = fs::read_to_string(folder(pid).join("status"));
        let allowed = allowed.ok().and_then(|text| allowed_processors(&text)).map(f64::from);
        let limit_cores = [allowed, quota_of(pid)].into_iter().flatten().reduce(f64::min);
        let limit_cores = limit_cores.filter(|limit| *limit < machine_cores);
        Ok((Self { pid, start_ticks: stat.start_ticks, before: None, limit_cores }, stat.command))
    }

    /// Its figures since the last call; the first one has no rates.
    pub(super) fn read(&mut self, out: &mut Vec<Figure>) -> Result<(), Trouble> {
        let root = stat_of(&folder(self.pid));
        let is_same = |stat: &Stat| stat.start_ticks == self.start_ticks && !stat.has_ended();
        if !root.as_ref().is_some_and(is_same) {
            return Err(Trouble::Ended);
        }
        let taken = self.take();
        if let Some(before) = &self.before {
            let seconds = taken.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
            let per_s = |ticks: u64| ticks as f64 / ticks_per_s() / seconds.max(1e-9);
            out.push((names::CORES, per_s(used_ticks(&before.tree, &taken.tree))));
            let busiest = busiest(&before.threads, &taken.threads);
            out.extend(busiest.map(|ticks| (names::BUSIEST_THREAD_CORES, per_s(ticks))));
        }
        let page_bytes = rustix::param::page_size() as f64;
        out.push((names::MEMORY_BYTES, taken.resident_pages as f64 * page_bytes));
        out.push((names::THREADS, taken.threads_count as f64));
        out.extend(taken.descriptors.map(|open| (names::DESCRIPTORS, open as f64)));
        out.extend(self.limit_cores.map(|limit| (names::LIMIT_CORES, limit)));
        self.before = Some(taken);
        Ok(())
    }

    /// Looks at the process and all that descend from it.
    fn take(&self) -> Taken {
        let mut taken = Taken { at_ns: now_ns(), descriptors: Some(0), ..Taken::default() };
        let mut left = vec![self.pid];
        let mut seen = BTreeSet::new();
        while let Some(pid) = left.pop() {
            if !seen.insert(pid) || seen.len() > PROCESSES_MAX {
                continue;
            }
            // One that has ended meanwhile is its parent's to tell of.
            let folder = folder(pid);
            let Some(stat) = stat_of(&folder) else { continue };
            let used = Used {
                parent: stat.parent,
                own_ticks: stat.own_ticks,
                waited_ticks: stat.waited_ticks,
            };
            taken.tree.insert((pid, stat.start_ticks), used);
            if stat.has_ended() {
                continue;
            }
            taken.threads_count += stat.threads;
            taken.resident_pages += stat.resident_pages;
            taken.descriptors = taken.descriptors.zip(descriptors(&folder)).map(|(a, b)| a + b);
            let is_few = taken.threads_count <= THREADS_MAX;
            if !is_few {
                taken.threads.clear();
            }
            // Of a process with very many threads, the first one's children.
            let tasks = if is_few { tasks(&folder) } else { vec![main_task(&folder, pid)] };
            for task in tasks {
                if is_few && let Some(thread) = stat_of(&task) {
                    let id = task.file_name().and_then(|it| it.to_str()?.parse().ok());
                    let id = (id.unwrap_or_default(), thread.start_ticks);
                    taken.threads.insert(id, thread.own_ticks);
                }
                let children = fs::read_to_string(task.join("children")).unwrap_or_default();
                left.extend(children.split_ascii_whitespace().flat_map(str::parse::<u32>));
            }
        }
        taken
    }
}

/// What the busiest of the threads used, clock ticks; `None` where there are too many to look at.
fn busiest(before: &BTreeMap<Id, u64>, now: &BTreeMap<Id, u64>) -> Option<u64> {
    let used = now.iter().map(|(id, ticks)| {
        // A new one has used all that it used since it began.
        ticks.saturating_sub(before.get(id).copied().unwrap_or(0))
    });
    used.max()
}

fn folder(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}"))
}

fn stat_of(folder: &Path) -> Option<Stat> {
    // A name need not be UTF-8.
    let bytes = fs::read(folder.join("stat")).ok()?;
    Stat::parse(&String::from_utf8_lossy(&bytes))
}

fn tasks(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("task")).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn main_task(folder: &Path, pid: u32) -> PathBuf {
    folder.join("task").join(pid.to_string())
}

/// How many descriptors it has open; `None`: not ours to see. Linux 6.2 and later tell the number
/// without listing them.
fn descriptors(folder: &Path) -> Option<u64> {
    let open = folder.join("fd");
    // Whether it may be seen shows when it is opened, not by its size.
    let entries = fs::read_dir(&open).ok()?;
    match fs::metadata(&open).ok()?.len() {
        0 => Some(entries.flatten().count() as u64),
        known => Some(known),
    }
}

/// Cores that the groups of a process allow it, in the unified hierarchy.
fn quota_of(pid: u32) -> Option<f64> {
    let text = fs::read_to_string(folder(pid).join("cgroup")).ok()?;
    let group = unified_group(&text)?.trim_start_matches('/').to_owned();
    cgroup::quota_cores_above(&Path::new(ROOT).join(group))
}

fn ticks_per_s() -> f64 {
    rustix::param::clock_ticks_per_second().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_figures_and_one_that_is_not_there_has_none() {
        let (mut own, name) = Process::open(std::process::id(), 1e9).unwrap();
        assert!(!name.is_empty());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        own.read(&mut first).unwrap();
        own.read(&mut second).unwrap();
        let value = |figures: &[Figure], name: &str| {
            figures.iter().find(|(figure, _)| *figure == name).map(|(_, value)| *value)
        };
        assert_eq!(value(&first, names::CORES), None);
        assert!(value(&second, names::CORES).unwrap() >= 0.0);
        assert!(value(&second, names::MEMORY_BYTES).unwrap() > 100_000.0);
        assert!(value(&second, names::THREADS).unwrap() >= 1.0);
        assert!(value(&second, names::DESCRIPTORS).unwrap() >= 3.0);
        // Fewer than a billion cores: the limit is what it may use.
        assert!(value(&second, names::LIMIT_CORES).unwrap() >= 0.1);
        assert!(Process::open(4_194_304, 1.0).err().unwrap().contains("no process 4194304"));
    }

    #[test]
    fn another_process_of_the_same_number_is_not_the_one_that_was_asked_for() {
        let (mut own, _) = Process::open(std::process::id(), 1.0).unwrap();
        own.start_ticks += 1;
        assert!(matches!(own.read(&mut Vec::new()), Err(Trouble::Ended)));
    }

    #[test]
    fn the_busiest_thread_may_be_a_new_one() {
        let before = [((1, 1), 100), ((2, 1), 5)].into();
        let now = [((1, 1), 103), ((2, 1), 9), ((3, 8), 6)].into();
        assert_eq!(busiest(&before, &now), Some(6));
        assert_eq!(busiest(&before, &BTreeMap::new()), None);
    }
}
