//! What a control group allows its processes: a quota of processor time, and memory.

use std::path::{Path, PathBuf};

use crate::resources::parse::{quota_cores, unified_group};

/// The least that this process's control groups allow, each within the one above it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Allowance {
    /// Processors' worth of time; `None`: no quota.
    pub(crate) processors: Option<f64>,
    /// Memory left, bytes; `None`: no limit.
    pub(crate) memory_bytes: Option<u64>,
}

impl Allowance {
    /// This process's.
    pub(crate) fn this() -> Self {
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let Some(own) = path(&groups) else { return Self::default() };
        let read = |folder: &Path, file: &str| {
            std::fs::read_to_string(Path::new("/sys/fs/cgroup").join(folder).join(file))
                .unwrap_or_default()
        };
        let levels = own.ancestors().map(|folder| Self {
            processors: quota_cores(&read(folder, "cpu.max")),
            memory_bytes: left(&read(folder, "memory.max"), &read(folder, "memory.current")),
        });
        levels.fold(Self::default(), Self::and)
    }

    /// What both together leave.
    fn and(self, other: Self) -> Self {
        let least = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let memory_bytes = self.memory_bytes.into_iter().chain(other.memory_bytes).min();
        Self { processors: least(self.processors, other.processors), memory_bytes }
    }
}

/// The process's group of the unified hierarchy (`0::/a/b`), relative to its root.
fn path(groups: &str) -> Option<PathBuf> {
    Some(PathBuf::from(unified_group(groups)?.strip_prefix('/')?))
}

/// What is left by `memory.max` and `memory.current`, bytes.
fn left(max: &str, current: &str) -> Option<u64> {
    let max: u64 = max.trim().parse().ok()?;
    Some(max.saturating_sub(current.trim().parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_read_and_no_limit_is_none() {
        assert_eq!(path("0::/user.slice/a.scope\n"), Some("user.slice/a.scope".into()));
        assert_eq!(path("12:cpu:/x\n0::/\n"), Some(PathBuf::new()));
        assert_eq!(path("12:cpu:/x\n"), None);
        assert_eq!(quota_cores("150000 100000\n"), Some(1.5));
        for none in ["max 100000\n", "", "5", "5 0"] {
            assert_eq!(quota_cores(none), None, "{none}");
        }
        assert_eq!(left("1000\n", "400\n"), Some(600));
        assert_eq!(left("1000\n", "4000\n"), Some(0));
        assert_eq!((left("max\n", "4"), left("", "")), (None, None));
    }

    #[test]
    fn the_least_of_all_levels_holds() {
        let of = |processors, memory_bytes| Allowance { processors, memory_bytes };
        assert_eq!(of(Some(2.0), None).and(of(Some(1.5), Some(7))), of(Some(1.5), Some(7)));
        assert_eq!(of(None, Some(9)).and(of(Some(3.0), Some(7))), of(Some(3.0), Some(7)));
        assert_eq!(Allowance::default().and(Allowance::default()), Allowance::default());
    }
}
