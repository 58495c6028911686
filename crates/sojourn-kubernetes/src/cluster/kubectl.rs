//! The user's own `kubectl`.
//!
//! It knows every way of logging in to a cluster, of proxies and of certificates, and its user
//! knows what it may do. Objects go in and come out as JSON.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::ClusterError;

/// How long the API server may take to answer one request.
const REQUEST_TIMEOUT: &str = "--request-timeout=20s";
/// How long a command in a pod may say nothing.
const STALLED_NS: u64 = 60 * SECOND_NS;
/// How long it may take to end once it has said everything, or can say no more.
const OVER_NS: u64 = 5 * SECOND_NS;
/// What of a complaint is read, bytes.
const COMPLAINT_MAX: u64 = 10_000;

/// How `kubectl` is called.
#[derive(Clone, Debug, Default)]
pub struct Kubectl {
    /// Its file; `None`: found on `PATH`.
    pub program: Option<PathBuf>,
    /// The context; `None`: the configuration's current one.
    pub context: Option<String>,
    /// The namespace; `None`: the context's.
    pub namespace: Option<String>,
}

/// What it said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) succeeded: bool,
    pub(crate) out: Vec<u8>,
    /// Errors and warnings.
    pub(crate) complaint: String,
}

impl Kubectl {
    /// The words that a person would type before all others.
    pub fn shown(&self) -> String {
        let mut shown = "kubectl".to_owned();
        for (flag, value) in [("--context", &self.context), ("--namespace", &self.namespace)] {
            if let Some(value) = value {
                shown.push_str(&format!(" {flag} {value}"));
            }
        }
        shown
    }

    /// A command that has not been started.
    fn command(&self, words: &[&str]) -> Command {
        let program = self.program.clone().unwrap_or_else(|| PathBuf::from("kubectl"));
        let mut command = Command::new(program);
        for (flag, value) in [("--context", &self.context), ("--namespace", &self.namespace)] {
            if let Some(value) = value {
                command.arg(format!("{flag}={value}"));
            }
        }
        command.args(words);
        command
    }

    /// Runs it to its end, apart from this process's signals: what Ctrl-C would cut short may have
    /// been done all the same.
    pub(crate) fn run(&self, words: &[&str], input: Option<&[u8]>) -> Result<Said, ClusterError> {
        let mut command = self.command(words);
        command.arg(REQUEST_TIMEOUT);
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = command.process_group(0).spawn();
        let mut child = spawned.map_err(|error| self.missing(&error))?;
        let stdin = child.stdin.take();
        let ended = std::thread::scope(|scope| {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // It answers while it reads; if it reads no more, it says why.
                scope.spawn(move || {
                    let _ignored = stdin.write_all(input);
                });
            }
            child.wait_with_output()
        });
        let output = ended.map_err(|error| self.missing(&error))?;
        Ok(Said {
            succeeded: output.status.success(),
            out: output.stdout,
            complaint: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }

    /// Runs it to its end; errs when it did not succeed, in its own words.
    pub(crate) fn ask(&self, words: &[&str], input: Option<&[u8]>) -> Result<Said, ClusterError> {
        let said = self.run(words, input)?;
        match said.succeeded {
            true => Ok(said),
            false => Err(self.refused(words, &said.complaint)),
        }
    }

    /// The same, of one that answers in JSON: all documents.
    pub(crate) fn documents(
        &self,
        words: &[&str],
        input: Option<&[u8]>,
    ) -> Result<Vec<Value>, ClusterError> {
        let said = self.ask(words, input)?;
        documents(&said.out).ok_or_else(|| self.refused(words, "its answer is no JSON"))
    }

    /// Starts it for as long as it takes, apart from this process's signals: Ctrl-C is not for it.
    pub(crate) fn start(&self, words: &[&str], stderr: Stdio) -> Result<Child, ClusterError> {
        let mut command = self.command(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        command.process_group(0).spawn().map_err(|error| self.missing(&error))
    }

    /// Runs it, apart from this process's signals, for as long as it goes on writing to `out`.
    pub(crate) fn stream(
        &self,
        words: &[&str],
        out: &mut (dyn Write + Send),
    ) -> Result<(), ClusterError> {
        let child = self.start(words, Stdio::piped())?;
        let (status, complaint) =
            until_stalled(child, out).map_err(|error| self.refused(words, &error.to_string()))?;
        match status.success() {
            true => Ok(()),
            false => Err(self.refused(words, complaint.trim())),
        }
    }

    pub(crate) fn refused(&self, words: &[&str], complaint: &str) -> ClusterError {
        let verb: Vec<&str> = words.iter().copied().take_while(|it| !it.starts_with('-')).collect();
        ClusterError::Kubectl(format!("{} {}: {complaint}", self.shown(), verb.join(" ")))
    }

    fn missing(&self, error: &std::io::Error) -> ClusterError {
        let program = self
            .program
            .as_ref()
            .map_or_else(|| "kubectl".to_owned(), |it| it.display().to_string());
        ClusterError::Kubectl(format!("{program} can't be run: {error}"))
    }
}

/// Hands a child's output on until it ends, and ends it when nothing comes for long: a connection
/// may be cut without anybody being told.
fn until_stalled(
    mut child: Child,
    out: &mut (dyn Write + Send),
) -> std::io::Result<(ExitStatus, String)> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let came = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let copy = scope.spawn(|| {
            let mut piece = vec![0; 1 << 16];
            let mut stdout = stdout;
            while let Some(stdout) = &mut stdout {
                match stdout.read(&mut piece)? {
                    0 => break,
                    length => out.write_all(&piece[..length])?,
                }
                came.fetch_add(1, Ordering::Relaxed);
            }
            out.flush()
        });
        let complaint = scope.spawn(|| {
            let mut text = Vec::new();
            if let Some(stderr) = stderr {
                // What can't be read is not said.
                let _ignored = stderr.take(COMPLAINT_MAX).read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        // Whatever changes says that it goes on: a piece more, or that no more will come.
        let (mut last, mut last_ns) = ((0, false), now_ns());
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let now = (came.load(Ordering::Relaxed), copy.is_finished());
            if now != last {
                (last, last_ns) = (now, now_ns());
            }
            let patience_ns = if now.1 { OVER_NS } else { STALLED_NS };
            if now_ns() - last_ns > patience_ns {
                // It may end just now.
                let _ignored = child.kill();
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let copied = copy.join().unwrap_or(Ok(()));
        let complaint = complaint.join().unwrap_or_default();
        copied.map(|()| (status, complaint))
    })
}

/// All JSON documents of a text.
pub(crate) fn documents(text: &[u8]) -> Option<Vec<Value>> {
    serde_json::Deserializer::from_slice(text).into_iter().collect::<Result<_, _>>().ok()
}

/// Objects as one list.
pub(crate) fn list(objects: &[Value]) -> Vec<u8> {
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": objects });
    list.to_string().into_bytes()
}
