//! What the kernel's files say, as pure functions of their text.

/// What `/proc/PID/stat` says of a process or a thread (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Name of its program, at most 15 bytes: anything, spaces and parentheses too.
    pub(super) command: String,
    /// What it does: `R`, `S`, `Z` …
    pub(super) state: char,
    /// Its parent's number.
    pub(super) parent: u32,
    /// Its own processor time, clock ticks: fields 14 and 15.
    pub(super) own_ticks: u64,
    /// That of children that ended and were waited for, with theirs: fields 16 and 17.
    pub(super) waited_ticks: u64,
    /// Threads: field 20.
    pub(super) threads: u64,
    /// When it began, clock ticks since boot, which tells two processes of one number apart: field
    /// 22.
    pub(super) start_ticks: u64,
    /// Resident memory, pages: field 24.
    pub(super) resident_pages: u64,
}

impl Stat {
    /// `None` when the text is not of that form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // The name stands in parentheses and may hold some itself: its end is the last one.
        let (open, close) = (text.find('(')?, text.rfind(')')?);
        let command = text.get(open + 1..close)?.to_owned();
        let fields: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
        // The first of them is field 3.
        let field = |number: usize| fields.get(number - 3).copied();
        // Times of children are signed, and a kernel's defect has shown them below zero.
        let ticks = |number| Some(field(number)?.parse::<i64>().ok()?.max(0).unsigned_abs());
        Some(Self {
            command,
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            own_ticks: ticks(14)? + ticks(15)?,
            waited_ticks: ticks(16)? + ticks(17)?,
            threads: ticks(20)?,
            start_ticks: ticks(22)?,
            resident_pages: ticks(24)?,
        })
    }

    /// Whether it has ended, and is there only until its parent has asked how.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// How many processors a list as `0-3,8` names; `None` when it is none.
pub(super) fn processors(text: &str) -> Option<u32> {
    let mut count = 0u32;
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u32, u32) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        count = count.checked_add(to.checked_sub(from)?.checked_add(1)?)?;
    }
    Some(count)
}

/// The processors that `/proc/PID/status` allows.
pub(crate) fn allowed_processors(status: &str) -> Option<u32> {
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    processors(allowed?)
}

/// The folder of a process's group in the unified hierarchy, by `/proc/PID/cgroup`: `/a/b`.
pub(crate) fn unified_group(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

/// The number beside a name in a file of `name number` lines, such as `cpu.stat`.
pub(super) fn entry(text: &str, name: &str) -> Option<u64> {
    let of_name = |line: &str| {
        let (found, number) = line.split_once(' ')?;
        (found == name).then(|| number.trim().parse().ok()).flatten()
    };
    text.lines().find_map(of_name)
}

/// Cores that `cpu.max` allows, as `200000 100000`; `None`: without a limit, or unreadable.
pub(crate) fn quota_cores(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    cores(quota.parse().ok()?, period.trim().parse().ok()?)
}

/// The same of version 1's `cpu.cfs_quota_us` and `cpu.cfs_period_us`; −1 is no limit.
pub(super) fn cores(quota_us: i64, period_us: i64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(command: &str) -> String {
        format!(
            "42 ({command}) S 7 42 42 0 -1 4194560 900 80 0 0 150 25 30 5 20 0 12 0 98765 \
             123456789 2048 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"
        )
    }

    #[test]
    fn whatever_a_process_is_called_its_figures_are_found() {
        let odd = ["api", "tmux: server", "(sd-pam)", "a) R 1 (b", "))", "", "ü) (ü"];
        for command in odd {
            let expected = Stat {
                command: command.to_owned(),
                state: 'S',
                parent: 7,
                own_ticks: 175,
                waited_ticks: 35,
                threads: 12,
                start_ticks: 98_765,
                resident_pages: 2_048,
            };
            assert_eq!(Stat::parse(&stat(command)), Some(expected), "{command}");
        }
        for wrong in ["", "42", "42 (api", "42 (api) S 7", ") 42 (", "42 (api) S x 1 2 3"] {
            assert_eq!(Stat::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_process_that_is_only_waited_for_has_ended() {
        let ended = Stat::parse(&stat("api").replace(" S ", " Z ")).unwrap();
        assert!(ended.has_ended() && !Stat::parse(&stat("api")).unwrap().has_ended());
    }

    #[test]
    fn lists_of_processors_are_counted() {
        for (text, expected) in [
            ("0", Some(1)),
            ("0-3", Some(4)),
            ("0-1,4,6-7\n", Some(5)),
            ("", None),
            ("3-1", None),
            ("a", None),
            ("0-4294967295", None),
        ] {
            assert_eq!(processors(text), expected, "{text}");
        }
        let status = "Name:\tapi\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n";
        assert_eq!(allowed_processors(status), Some(8));
        assert_eq!(allowed_processors("Name:\tapi\n"), None);
    }

    #[test]
    fn files_of_control_groups_are_read() {
        let text = "usage_usec 1234\nuser_usec 1000\nnr_periods 5\nnr_throttled x\n";
        assert_eq!(entry(text, "usage_usec"), Some(1_234));
        assert_eq!(entry(text, "usage"), None);
        assert_eq!(entry(text, "nr_throttled"), None);
        assert_eq!(quota_cores("150000 100000\n"), Some(1.5));
        assert_eq!(quota_cores("max 100000\n"), None);
        assert_eq!(quota_cores("max"), None);
        assert_eq!(cores(-1, 100_000), None);
        assert_eq!(unified_group("4:memory:/x\n0::/a.slice/b\n"), Some("/a.slice/b"));
        assert_eq!(unified_group("4:memory:/x\n"), None);
    }
}
