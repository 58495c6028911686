//! A process that is still the same one: its id together with the instant it began.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// A process, told apart from a later one with the same id by its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// The kernel's id.
    pub pid: u32,
    /// When it began, in clock ticks since the machine's start (`starttime` of `/proc/PID/stat`).
    pub start_ticks: u64,
}

impl Process {
    /// The process that has this id now; none, or one that has ended, is `None`.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        (!stat.ended).then_some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Whether it has not ended.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Sends a signal if it is still the same process; whether it was.
    pub fn signal(self, signal: Signal) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        self.is_alive() && pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
    }

    /// Asks it to end.
    pub fn terminate(self) -> bool {
        self.signal(Signal::TERM)
    }

    /// Ends it.
    pub fn kill(self) -> bool {
        self.signal(Signal::KILL)
    }
}

/// The process and all that it started, directly or not; empty when it has ended.
pub fn descendants(root: Process) -> Vec<Process> {
    if !root.is_alive() {
        return Vec::new();
    }
    let mut all: Vec<(u32, Process)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((pid, stat)) = pid.and_then(|pid| Some((pid, Stat::read(pid)?)))
            && !stat.ended
        {
            all.push((stat.parent, Process { pid, start_ticks: stat.start_ticks }));
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = all.iter().filter(|(of, child)| *of == parent.pid && *child != parent);
        found.extend(children.map(|(_, child)| *child));
        next += 1;
    }
    found
}

/// What `/proc/PID/stat` says.
struct Stat {
    parent: u32,
    ended: bool,
    start_ticks: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The second field is the program's name in brackets, which may itself hold any character.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        Some(Self {
            ended: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn names_with_brackets_and_blanks_do_not_shift_the_fields() {
        let text = "7 (a) b (c) S 3 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.ended, stat.start_ticks), (3, false, 4711));
        for cut in 0..text.len() - 6 {
            assert!(Stat::parse(&text[..cut]).is_none_or(|stat| stat.start_ticks <= 4711));
        }
    }

    #[test]
    fn a_later_process_with_the_same_id_is_another() {
        let own = Process::of(std::process::id()).unwrap();
        assert!(own.is_alive());
        let other = Process { start_ticks: own.start_ticks + 1, ..own };
        assert!(!other.is_alive() && !other.terminate() && descendants(other).is_empty());
    }

    #[test]
    fn grandchildren_are_found() {
        let mut shell =
            Command::new("sh").args(["-c", "sh -c 'sleep 60; :' & wait"]).spawn().unwrap();
        let root = Process::of(shell.id()).unwrap();
        let family = loop {
            let family = descendants(root);
            if family.len() == 3 {
                break family;
            }
            std::thread::yield_now();
        };
        // Parents first: one whose child has gone ends by itself.
        assert!(family.iter().all(|process| process.kill()));
        shell.wait().unwrap();
        assert!(!root.is_alive());
    }
}
