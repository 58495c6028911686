//! Fetching what the coordinator's pod keeps.
//!
//! A file comes over the standard output of a command in the pod, from where the last try ended,
//! until it is as long as it is there and has the same SHA-256: a connection to a pod may end at
//! any byte without saying so.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::Cluster;
use crate::objects::{FILES_FILE, KEEPER, PRINTED_FILE, RECORDS_FILE, RESULTS, RUN_FILE};
use crate::pod::{Sum, Summing};
use crate::{ClusterError, RunName};

/// Tries in a row that brought nothing.
const TRIES_MAX: u32 = 10;
/// Between two of them.
const PAUSE: Duration = Duration::from_secs(2);

impl Cluster {
    /// Fetches the run file to a path here.
    ///
    /// # Errors
    /// The pod has none, can't be reached, or `to` can't be written.
    pub fn fetch(&self, name: &RunName, to: &Path) -> Result<(), ClusterError> {
        let part = to.with_extension("part");
        let mut file = File::create(&part).map_err(|error| ClusterError::of_file(&part, error))?;
        self.pour(name, RUN_FILE, &mut file)?;
        std::fs::rename(&part, to).map_err(|error| ClusterError::of_file(to, error))
    }

    /// Writes the records of an attack to `out`, as they come.
    ///
    /// # Errors
    /// The pod has none, can't be reached, or `out` takes no more. What was written may be a part
    /// of them then.
    pub fn fetch_records(
        &self,
        name: &RunName,
        out: &mut (dyn Write + Send),
    ) -> Result<(), ClusterError> {
        self.pour(name, RECORDS_FILE, out)
    }

    /// Writes what the coordinator printed to `out`.
    ///
    /// # Errors
    /// The same as of records.
    pub fn fetch_printed(
        &self,
        name: &RunName,
        out: &mut (dyn Write + Send),
    ) -> Result<(), ClusterError> {
        self.pour(name, PRINTED_FILE, out)
    }

    /// The files that a script's test has written, as [`crate::pod::pack`] made one of them.
    ///
    /// # Errors
    /// The same as of records.
    pub fn fetch_files(&self, name: &RunName) -> Result<Vec<u8>, ClusterError> {
        let mut files = Vec::new();
        self.pour(name, FILES_FILE, &mut files)?;
        Ok(files)
    }

    /// Writes a file of the pod's to `out`.
    fn pour(
        &self,
        name: &RunName,
        file: &str,
        out: &mut (dyn Write + Send),
    ) -> Result<(), ClusterError> {
        let pod = self.coordinator_pod(name)?;
        let there: Sum = self.insistently(|| self.sum_there(&pod, file))?;
        let mut came = Summing::new(out);
        let mut tries = 0;
        while came.bytes() < there.bytes {
            let before = came.bytes();
            let from = before.to_string();
            let words = words(&pod, &["fleet", "hand", file, "--from", &from]);
            let outcome = self.kubectl().stream(&words, &mut came);
            tries = if came.bytes() > before { 0 } else { tries + 1 };
            if tries >= TRIES_MAX {
                return Err(outcome.err().unwrap_or_else(|| stuck(&pod, before, there.bytes)));
            }
            if tries > 0 {
                std::thread::sleep(PAUSE);
            }
        }
        if came.sum() != there {
            return Err(ClusterError::Kubectl(format!(
                "{file} did not come as it is in the pod {pod}: fetch it again with `sojourn \
                 fleet report {name}`",
            )));
        }
        Ok(())
    }

    /// Lets the keeper go: the results are here.
    ///
    /// # Errors
    /// The pod can't be reached.
    pub fn release(&self, name: &RunName) -> Result<(), ClusterError> {
        let pod = self.coordinator_pod(name)?;
        self.in_keeper(&pod, &["fleet", "release", RESULTS]).map(drop)
    }

    fn sum_there(&self, pod: &str, file: &str) -> Result<Sum, ClusterError> {
        let said = self.in_keeper(pod, &["fleet", "hand", file, "--sum"])?;
        serde_json::from_slice(&said).map_err(|_| {
            ClusterError::Kubectl(format!("the pod {pod} does not say what its {file} is"))
        })
    }

    fn in_keeper(&self, pod: &str, command: &[&str]) -> Result<Vec<u8>, ClusterError> {
        self.exec(&words(pod, command))
    }

    /// The first success of several tries.
    fn insistently<T>(
        &self,
        mut work: impl FnMut() -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        for _ in 1..TRIES_MAX {
            if let Ok(done) = work() {
                return Ok(done);
            }
            std::thread::sleep(PAUSE);
        }
        work()
    }
}

/// What to say of tries that all succeeded and brought nothing.
fn stuck(pod: &str, have: u64, of: u64) -> ClusterError {
    ClusterError::Kubectl(format!(
        "the pod {pod} gives no more than {have} of the {of} bytes that its file has"
    ))
}

/// The words that run a command beside the coordinator.
fn words<'a>(pod: &'a str, command: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["exec", pod, "-c", KEEPER, "--", "sojourn"];
    words.extend(command);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kubectl;

    /// A `kubectl` whose `exec` says how long the file is, and nothing else, as a success.
    #[test]
    fn a_fetch_that_brings_nothing_ends() {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mute_kubectl.sh");
        let cluster = Cluster::new(Kubectl { program: Some(script), ..Kubectl::default() });
        let name = RunName::parse("pay-1").unwrap();
        let to = folder.path().join("run.sojourn");
        let error = cluster.fetch(&name, &to).unwrap_err().to_string();
        assert!(error.contains("no more than 0 of the 1000 bytes"), "{error}");
        assert!(!to.exists());
    }
}
