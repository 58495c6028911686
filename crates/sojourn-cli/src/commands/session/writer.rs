//! A thread that writes what a run's threads tell, so that none of them waits for a disk or a
//! terminal.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::errors::UsageError;

/// Where it writes.
pub(super) enum To {
    Output,
    Error,
    File(PathBuf),
}

impl To {
    /// The file, or else this.
    pub(super) fn file_or(path: Option<&PathBuf>, other: Self) -> Self {
        path.map_or(other, |path| Self::File(path.clone()))
    }

    fn open(&self, flag: &str) -> Result<Box<dyn Write + Send>, UsageError> {
        Ok(match self {
            Self::Output => Box::new(io::stdout()),
            Self::Error => Box::new(io::stderr()),
            Self::File(path) => Box::new(BufWriter::new(create(path, flag)?)),
        })
    }
}

fn create(path: &Path, flag: &str) -> Result<File, UsageError> {
    File::create(path).map_err(|error| {
        UsageError::new(
            format!("cannot write {flag} {}: {error}", path.display()),
            "choose another place",
        )
    })
}

/// The thread, until it has written everything.
pub(super) struct Writer {
    thread: JoinHandle<io::Result<()>>,
    /// What it writes, for messages: `--log x.txt`.
    what: String,
}

impl Writer {
    /// Starts the thread; it ends when the last sender is gone. `text` makes of each message what
    /// is written, and of the end (`None`) what is left.
    pub(super) fn start<T: Send + 'static>(
        flag: &str,
        to: &To,
        messages_max: usize,
        mut text: impl FnMut(Option<T>) -> Option<String> + Send + 'static,
    ) -> Result<(Sender<T>, Self), UsageError> {
        let mut out = to.open(flag)?;
        let (sender, receiver): (Sender<T>, Receiver<T>) = bounded(messages_max);
        let thread = std::thread::spawn(move || {
            let mut written = Ok(());
            for message in &receiver {
                if let (Some(text), Ok(())) = (text(Some(message)), &written) {
                    written = out.write_all(text.as_bytes());
                    if receiver.is_empty() {
                        written = written.and_then(|()| out.flush());
                    }
                }
            }
            written?;
            out.write_all(text(None).unwrap_or_default().as_bytes())?;
            out.flush()
        });
        let what = match to {
            To::File(path) => format!("{flag} {}", path.display()),
            To::Output => "standard output".to_owned(),
            To::Error => "standard error".to_owned(),
        };
        Ok((sender, Self { thread, what }))
    }

    /// Waits until everything is written, and says what could not be. All senders must be gone.
    pub(super) fn finish(self) {
        let failed = match self.thread.join() {
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => error.to_string(),
            Ok(_) => return,
            Err(_) => "its thread panicked".to_owned(),
        };
        eprintln!("warning: {} is not whole: {failed}", self.what);
    }
}
