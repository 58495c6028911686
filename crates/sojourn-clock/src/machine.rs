//! What the machine's processors have done, and what was taken from them.

/// Processor time of all processors since the machine began, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineCpu {
    /// All of it.
    pub all: u64,
    /// With nothing to do.
    pub idle: u64,
    /// Taken by the hypervisor while there was something to do.
    pub stolen: u64,
}

/// The machine's accounting (`/proc/stat`); `None` where the kernel does not tell it.
pub fn machine_cpu() -> Option<MachineCpu> {
    from_stat(&std::fs::read_to_string("/proc/stat").ok()?)
}

impl MachineCpu {
    /// What was added since an `earlier` reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            all: self.all.saturating_sub(earlier.all),
            idle: self.idle.saturating_sub(earlier.idle),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }

    /// The share in which it did something, as a fraction.
    pub fn busy_share(&self) -> f64 {
        self.all.saturating_sub(self.idle + self.stolen) as f64 / self.all.max(1) as f64
    }

    /// The share that the hypervisor took, as a fraction.
    pub fn stolen_share(&self) -> f64 {
        self.stolen as f64 / self.all.max(1) as f64
    }
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal. The two after them are
/// part of the first two.
fn from_stat(text: &str) -> Option<MachineCpu> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_ascii_whitespace().take(8).map(str::parse::<u64>);
    let ticks = ticks.collect::<Result<Vec<u64>, _>>().ok()?;
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some(MachineCpu { all: ticks.iter().sum(), idle, stolen: *ticks.get(7)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_share_of_all_and_no_work() {
        let read = from_stat("cpu  10 0 5 80 1 0 4 3 9 9\ncpu0 1 2\n").expect("a line");
        assert_eq!(read, MachineCpu { all: 103, idle: 81, stolen: 3 });
        assert_eq!((from_stat("cpu  1 2\n"), from_stat("")), (None, None));
        let later = MachineCpu { all: 203, idle: 141, stolen: 13 };
        let spent = later.since(&read);
        assert_eq!((spent.busy_share(), spent.stolen_share()), (0.3, 0.1));
        assert_eq!(read.since(&later).busy_share(), 0.0);
    }
}
