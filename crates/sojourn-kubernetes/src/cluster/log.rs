//! What the coordinator says meanwhile, for people.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use super::Cluster;
use crate::objects::Part;
use crate::{ClusterError, RunName};

/// A coordinator's lines, as they come, on a thread of their own. Dropped, it hears no more.
#[derive(Debug)]
pub struct LogLines {
    child: Child,
    reader: Option<JoinHandle<()>>,
}

impl Cluster {
    /// Hands on each line that the coordinator has said and will say, or only those of the last
    /// while, such as `2s`. They are for people: the log of a pod may have holes, and end before
    /// the pod does.
    ///
    /// # Errors
    /// There is no coordinator, or `kubectl` can't be run.
    pub fn follow_log(
        &self,
        name: &RunName,
        since: Option<&str>,
        mut line: impl FnMut(&str) + Send + 'static,
    ) -> Result<LogLines, ClusterError> {
        let pod = self.coordinator_pod(name)?;
        let since = since.map(|since| format!("--since={since}"));
        let mut words = vec!["logs", "--follow", &pod, "-c", Part::Coordinator.word()];
        words.extend(since.as_deref());
        let mut child = self.kubectl().start(&words, Stdio::null())?;
        let reader = child.stdout.take().map(|stdout| {
            std::thread::spawn(move || {
                for said in BufReader::new(stdout).lines().map_while(Result::ok) {
                    line(&said);
                }
            })
        });
        Ok(LogLines { child, reader })
    }
}

impl LogLines {
    /// Whether no line will follow.
    pub fn is_over(&self) -> bool {
        self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for LogLines {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ignored = self.child.kill();
        let _ignored = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ignored = reader.join();
        }
    }
}
