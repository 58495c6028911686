//! Keeping results until they have been fetched.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use sojourn_clock::now_ns;

use super::{RELEASED_FILE, REPORT_FILE, lock};
use crate::ClusterError;

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How long results are kept.
#[derive(Clone, Copy, Debug)]
pub struct Keeping {
    /// After the coordinator's end, nanoseconds.
    pub linger_ns: u64,
    /// After the beginning, whatever happened, nanoseconds.
    pub at_most_ns: u64,
}

/// Why results are kept no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Somebody has them.
    Released,
    /// Nobody came in time.
    Lingered,
    /// The coordinator never began, or never ended.
    TooLong,
    /// The pod is to go.
    Told,
}

/// Stays until the results of a folder are needed no more; writes the report to `out` as soon as
/// there is one. `is_told`: whether the pod is to go.
///
/// # Errors
/// The report can't be read or written.
pub fn keep(
    folder: &Path,
    keeping: Keeping,
    out: &mut dyn Write,
    is_told: &dyn Fn() -> bool,
) -> Result<Kept, ClusterError> {
    let begun_ns = now_ns();
    let mut ended_ns = None;
    loop {
        let now = now_ns();
        if ended_ns.is_none() && lock::is_over(folder) {
            ended_ns = Some(now);
            show(&folder.join(REPORT_FILE), out)?;
        }
        if folder.join(RELEASED_FILE).exists() {
            return Ok(Kept::Released);
        }
        if is_told() {
            return Ok(Kept::Told);
        }
        if ended_ns.is_some_and(|ended_ns| now - ended_ns >= keeping.linger_ns) {
            return Ok(Kept::Lingered);
        }
        if now - begun_ns >= keeping.at_most_ns {
            return Ok(Kept::TooLong);
        }
        std::thread::sleep(LOOK);
    }
}

/// Lets a folder's keeper go.
///
/// # Errors
/// The folder takes no file.
pub fn release(folder: &Path) -> Result<(), ClusterError> {
    let path = folder.join(RELEASED_FILE);
    File::create(&path).map(drop).map_err(|error| ClusterError::of_file(&path, error))
}

fn show(report: &Path, out: &mut dyn Write) -> Result<(), ClusterError> {
    let copied = File::open(report).and_then(|mut file| std::io::copy(&mut file, out));
    copied.and_then(|_| out.flush()).map_err(|error| ClusterError::of_file(report, error))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    use sojourn_clock::SECOND_NS;

    use super::*;

    const LONG: Keeping = Keeping { linger_ns: 60 * SECOND_NS, at_most_ns: 120 * SECOND_NS };

    /// A process that holds the folder's lock as the coordinator's does: `flock` of util-linux
    /// would do as well, but the lock must be taken before its file has its name.
    fn holder(folder: &Path) -> std::process::Child {
        let script = "exec 9>\"$0/.lock\"; flock -x 9; mv \"$0/.lock\" \"$0/lock\"; \
                      echo said > \"$0/report.txt\"; read line";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(folder).stdin(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        while !folder.join(REPORT_FILE).exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    #[test]
    fn it_stays_while_the_coordinator_lives_and_shows_what_it_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut holder = holder(folder.path());
        let looked = AtomicBool::new(false);
        let keeping = Keeping { linger_ns: 1, ..LONG };
        let mut out = Vec::new();
        std::thread::scope(|scope| {
            let keeper = scope.spawn(|| {
                keep(folder.path(), keeping, &mut out, &|| {
                    looked.store(true, Ordering::SeqCst);
                    false
                })
            });
            while !looked.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(!keeper.is_finished() && !lock::is_over(folder.path()));
            // However it ends: here it is killed.
            holder.kill().unwrap();
            holder.wait().unwrap();
            assert_eq!(keeper.join().unwrap().unwrap(), Kept::Lingered);
        });
        assert_eq!(out, b"said\n");
    }

    #[test]
    fn it_goes_when_it_is_released_or_told_or_nothing_ever_began() {
        let folder = tempfile::tempdir().unwrap();
        let told = keep(folder.path(), LONG, &mut Vec::new(), &|| true).unwrap();
        assert_eq!(told, Kept::Told);
        let short = Keeping { at_most_ns: 1, ..LONG };
        let never = keep(folder.path(), short, &mut Vec::new(), &|| false).unwrap();
        assert_eq!(never, Kept::TooLong);
        release(folder.path()).unwrap();
        let released = keep(folder.path(), LONG, &mut Vec::new(), &|| false).unwrap();
        assert_eq!(released, Kept::Released);
    }
}
