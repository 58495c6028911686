//! A control group of this machine: version 2, and version 1 where its folders are.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sojourn_clock::now_ns;
use sojourn_metrics::names;

use super::{
    Figure, Trouble,
    parse::{cores, entry, processors, quota_cores},
};

/// Where groups are.
pub(super) const ROOT: &str = "/sys/fs/cgroup";
/// Controllers of version 1 whose files are read, as their hierarchies are usually mounted.
const HIERARCHIES: [&str; 4] = ["cpu,cpuacct", "cpu", "cpuacct", "memory"];

/// A group that is read again and again.
pub(super) struct Cgroup {
    /// Folders in which its files may be: one, or with version 1 one in each hierarchy.
    folders: Vec<PathBuf>,
    is_v2: bool,
    machine_cores: f64,
    before: Option<Counted>,
}

/// Its counters at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    at_ns: u64,
    used_s: f64,
    /// Periods in which it was allowed processor time, and those in which that was used up.
    periods: u64,
    throttled: u64,
    throttled_s: f64,
}

impl Cgroup {
    /// The group of this folder. Errs in words when it is none.
    pub(super) fn open(path: &Path, machine_cores: f64) -> Result<(Self, String), String> {
        let below = Path::new(ROOT).join(path.strip_prefix("/").unwrap_or(path));
        let folder =
            [path.to_owned(), below].into_iter().find(|it| it.is_absolute() && it.is_dir());
        let shown = path.display();
        let folder = folder.ok_or_else(|| format!("there is no folder {shown}"))?;
        let name = folder.file_name().map_or_else(|| "cgroup".into(), |it| it.to_string_lossy());
        let name = name.into_owned();
        let stat = fs::read_to_string(folder.join("cpu.stat")).unwrap_or_default();
        let is_v2 = entry(&stat, "usage_usec").is_some();
        let folders = if is_v2 { vec![folder] } else { in_hierarchies(&folder) };
        let group = Self { folders, is_v2, machine_cores, before: None };
        match group.counted() {
            Ok(_) => Ok((group, name)),
            Err(_) => Err(format!(
                "{shown} is no control group with processor time: it has neither cpu.stat with \
                 usage_usec nor cpuacct.usage"
            )),
        }
    }

    /// Its figures since the last call; the first one has no rates.
    pub(super) fn read(&mut self, out: &mut Vec<Figure>) -> Result<(), Trouble> {
        let now = self.counted().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Trouble::Ended,
            // What is read of a group that is being removed.
            _ if error.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error()) => {
                Trouble::Ended
            }
            _ => Trouble::Failed(error.to_string()),
        })?;
        if let Some(before) = &self.before {
            out.extend(rates(before, &now));
        }
        self.before = Some(now);
        let memory = if self.is_v2 { "memory.current" } else { "memory.usage_in_bytes" };
        let number = |name: &str| self.text(name).ok()?.trim().parse::<u64>().ok();
        out.extend(number(memory).map(|bytes| (names::MEMORY_BYTES, bytes as f64)));
        out.extend(number("pids.current").map(|tasks| (names::THREADS, tasks as f64)));
        out.extend(self.limit_cores().map(|limit| (names::LIMIT_CORES, limit)));
        Ok(())
    }

    /// Cores that it may use at once, where that is fewer than the machine has.
    fn limit_cores(&self) -> Option<f64> {
        let allowed = self.text("cpuset.cpus.effective").ok();
        let allowed = allowed.and_then(|text| processors(&text)).map(f64::from);
        let quota = if self.is_v2 {
            self.folders.first().and_then(|folder| quota_cores_above(folder))
        } else {
            let us = |name: &str| self.text(name).ok()?.trim().parse().ok();
            us("cpu.cfs_quota_us")
                .zip(us("cpu.cfs_period_us"))
                .and_then(|(quota_us, period_us)| cores(quota_us, period_us))
        };
        let least = [allowed, quota].into_iter().flatten().reduce(f64::min);
        least.filter(|limit| *limit < self.machine_cores)
    }

    fn counted(&self) -> io::Result<Counted> {
        let at_ns = now_ns();
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let stat = self.text("cpu.stat");
        let of = |stat: &str, name| entry(stat, name).unwrap_or(0);
        if self.is_v2 {
            let stat = stat?;
            let used_us = entry(&stat, "usage_usec").ok_or_else(invalid)?;
            return Ok(Counted {
                at_ns,
                used_s: used_us as f64 / 1e6,
                periods: of(&stat, "nr_periods"),
                throttled: of(&stat, "nr_throttled"),
                throttled_s: of(&stat, "throttled_usec") as f64 / 1e6,
            });
        }
        let used_ns: u64 = self.text("cpuacct.usage")?.trim().parse().map_err(|_| invalid())?;
        let stat = stat.unwrap_or_default();
        Ok(Counted {
            at_ns,
            used_s: used_ns as f64 / 1e9,
            periods: of(&stat, "nr_periods"),
            throttled: of(&stat, "nr_throttled"),
            throttled_s: of(&stat, "throttled_time") as f64 / 1e9,
        })
    }

    /// A file's text, from the first folder that has it.
    fn text(&self, name: &str) -> io::Result<String> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for folder in &self.folders {
            match fs::read_to_string(folder.join(name)) {
                Ok(text) => return Ok(text),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// What counters add up to per second; nothing where they went backwards: the group is another.
fn rates(before: &Counted, now: &Counted) -> Vec<Figure> {
    let seconds = now.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
    if now.used_s < before.used_s || seconds <= 0.0 {
        return Vec::new();
    }
    let mut rates = vec![(names::CORES, (now.used_s - before.used_s) / seconds)];
    let periods = now.periods.saturating_sub(before.periods);
    if periods > 0 {
        let throttled = now.throttled.saturating_sub(before.throttled);
        rates.push((names::THROTTLED_SHARE, (throttled as f64 / periods as f64).min(1.0)));
        let throttled_s = (now.throttled_s - before.throttled_s).max(0.0);
        rates.push((names::THROTTLED_S, throttled_s / seconds));
    }
    rates
}

/// The least of the quotas of a group and those that it is in; `None`: there is none.
pub(super) fn quota_cores_above(folder: &Path) -> Option<f64> {
    // A group whose parent does not hand it the controller has no such file; those above may.
    let quotas = folder.ancestors().filter_map(|it| fs::read_to_string(it.join("cpu.max")).ok());
    quotas.filter_map(|text| quota_cores(&text)).reduce(f64::min)
}

/// A group of version 1 in each hierarchy: the folder itself first, then those of the same path.
fn in_hierarchies(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    if let Ok(below) = folder.strip_prefix(ROOT) {
        let path: PathBuf = below.components().skip(1).collect();
        let others = HIERARCHIES.iter().map(|name| Path::new(ROOT).join(name).join(&path));
        folders.extend(others.filter(|other| other.is_dir() && other != folder));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    fn value(figures: &[Figure], name: &str) -> Option<f64> {
        figures.iter().find(|(figure, _)| *figure == name).map(|(_, value)| *value)
    }

    #[test]
    fn a_group_has_the_quota_of_the_tightest_group_that_it_is_in() {
        let folder = sojourn_testkit::temp_dir().unwrap();
        let outer = folder.path().join("outer");
        let inner = outer.join("inner");
        fs::create_dir_all(&inner).unwrap();
        write(&outer, &[("cpu.max", "150000 100000\n")]);
        let stat = "usage_usec 1000000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 500\n";
        let files = [
            ("cpu.max", "max 100000\n"),
            ("cpu.stat", stat),
            ("memory.current", "4096\n"),
            ("pids.current", "3\n"),
        ];
        write(&inner, &files);
        let (mut group, name) = Cgroup::open(&inner, 4.0).unwrap();
        assert_eq!(name, "inner");
        let mut figures = Vec::new();
        group.read(&mut figures).unwrap();
        assert_eq!(value(&figures, names::CORES), None);
        assert_eq!(value(&figures, names::LIMIT_CORES), Some(1.5));
        assert_eq!(value(&figures, names::MEMORY_BYTES), Some(4_096.0));
        assert_eq!(value(&figures, names::THREADS), Some(3.0));
        // One and a half cores are no limit on a machine with one.
        assert_eq!(Cgroup::open(&inner, 1.0).unwrap().0.limit_cores(), None);
        let deeper = inner.join("without/controller");
        fs::create_dir_all(&deeper).unwrap();
        assert_eq!(quota_cores_above(&deeper), Some(1.5));
        fs::remove_dir_all(&inner).unwrap();
        assert!(matches!(group.read(&mut Vec::new()), Err(Trouble::Ended)));
    }

    #[test]
    fn counters_become_rates_unless_they_go_backwards() {
        let before =
            Counted { at_ns: 0, used_s: 10.0, periods: 100, throttled: 5, throttled_s: 1.0 };
        let now = Counted {
            at_ns: 2_000_000_000,
            used_s: 13.0,
            periods: 120,
            throttled: 10,
            throttled_s: 1.5,
        };
        let expected =
            [(names::CORES, 1.5), (names::THROTTLED_SHARE, 0.25), (names::THROTTLED_S, 0.25)];
        assert_eq!(rates(&before, &now), expected);
        assert_eq!(rates(&now, &before), []);
    }

    #[test]
    fn version_1_is_read_too() {
        let folder = sojourn_testkit::temp_dir().unwrap();
        let files = [
            ("cpuacct.usage", "2500000000\n"),
            ("cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
            ("cpu.cfs_quota_us", "50000\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("memory.usage_in_bytes", "8192\n"),
        ];
        write(folder.path(), &files);
        let (mut group, _) = Cgroup::open(folder.path(), 4.0).unwrap();
        let mut figures = Vec::new();
        group.read(&mut figures).unwrap();
        assert_eq!(value(&figures, names::LIMIT_CORES), Some(0.5));
        assert_eq!(value(&figures, names::MEMORY_BYTES), Some(8_192.0));
        assert_eq!(group.counted().unwrap().used_s, 2.5);
    }

    #[test]
    fn what_is_no_group_is_refused() {
        let folder = sojourn_testkit::temp_dir().unwrap();
        let refused = Cgroup::open(folder.path(), 4.0).err().unwrap();
        assert!(refused.contains("neither cpu.stat"), "{refused}");
        let refused = Cgroup::open(Path::new("no/such/group"), 4.0).err().unwrap();
        assert_eq!(refused, "there is no folder no/such/group");
    }
}
