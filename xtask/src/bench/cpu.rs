//! CPU time of processes, as `/proc/<pid>/stat` counts it: in ticks of 10 ms, fine over seconds.

use std::path::Path;

/// Linux reports these times in hundredths of a second on every architecture (`USER_HZ`).
const TICK_US: u64 = 10_000;

/// What a process itself has used, microseconds.
pub(crate) fn of_process(pid: u32) -> Result<u64, String> {
    let [user, system, ..] = read(format!("/proc/{pid}/stat"))?;
    Ok((user + system) * TICK_US)
}

/// Processor time of a kind each, microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
}

impl Times {
    /// What was used after an earlier look.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us - earlier.user_us,
            system_us: self.system_us - earlier.system_us,
        }
    }
}

/// What those of our children have used that have ended and been waited for, by kind.
pub(crate) fn times_of_ended_children() -> Result<Times, String> {
    let [_, _, user, system] = read("/proc/self/stat")?;
    Ok(Times { user_us: user * TICK_US, system_us: system * TICK_US })
}

/// What those of our children have used that have ended and been waited for, microseconds.
pub(crate) fn of_ended_children() -> Result<u64, String> {
    let [_, _, user, system] = read("/proc/self/stat")?;
    Ok((user + system) * TICK_US)
}

fn read(path: impl AsRef<Path>) -> Result<[u64; 4], String> {
    let path = path.as_ref();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).ok_or_else(|| format!("{}: not understood", path.display()))
}

/// Fields 14 to 17 of proc(5): utime, stime, cutime, cstime.
fn parse(stat: &str) -> Option<[u64; 4]> {
    // The second field is the program's name in parentheses, which may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(|field| field.parse().ok());
    Some([times.next()??, times.next()??, times.next()??, times.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_may_hold_anything() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        assert_eq!(parse(stat), Some([11, 12, 13, 14]));
        assert_eq!(parse("7 (a) S 1 2"), None);
    }

    #[test]
    fn our_own_can_be_read() {
        assert!(of_process(std::process::id()).is_ok() && of_ended_children().is_ok());
    }
}
