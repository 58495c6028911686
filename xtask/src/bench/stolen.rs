//! How much of the processors the hypervisor gave to others.

/// The processors' time so far, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    /// The present count; `None` where the kernel does not tell.
    pub(crate) fn now() -> Option<Self> {
        parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The stolen share of the time since an earlier look.
    pub(crate) fn stolen_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all).max(1);
        self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64
    }
}

/// The first line of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. What
/// follows is counted in these already.
fn parse(stat: &str) -> Option<Ticks> {
    let mut words = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let mut counts = [0; 8];
    for count in &mut counts {
        *count = words.next()?.parse().ok()?;
    }
    Some(Ticks { all: counts.iter().sum(), stolen: counts[7] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stolen_share_is_that_of_the_time_between() {
        let before = parse("cpu  100 0 50 800 10 0 30 10 5 5\ncpu0 1 2 3\n").unwrap();
        let after = parse("cpu  200 0 90 900 10 0 40 60 9 9\n").unwrap();
        assert_eq!(after.stolen_since(before), 50.0 / 300.0);
        assert_eq!(before.stolen_since(before), 0.0);
        assert!(parse("cpu0 1 2").is_none() && parse("cpu  1 2 3").is_none());
        assert!(Ticks::now().is_some());
    }
}
