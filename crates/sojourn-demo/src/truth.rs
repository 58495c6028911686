//! The ground-truth log's writer: a thread of its own behind a bounded queue.
//!
//! Truth is never dropped: who meets a full queue waits. The writer wakes at most fifty times a
//! second, so that it costs little beside what it records.

use crate::error::DemoError;
use crate::truth_record::Record;
use sojourn_clock::{Anchor, now_ns};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::thread::JoinHandle;
use std::time::Duration;

/// Records in the queue; at 200 journeys/s about twenty seconds of them.
const QUEUE_RECORDS: usize = 65_536;
/// Pause between two drains of the queue.
const DRAIN_PAUSE: Duration = Duration::from_millis(20);

/// Where records go; clones share the log. Without a file it takes records and does nothing.
#[derive(Clone)]
pub(crate) struct TruthSink {
    to: Option<SyncSender<Message>>,
    waited: Arc<AtomicU64>,
}

impl TruthSink {
    /// A sink that keeps nothing.
    pub(crate) fn none() -> Self {
        Self { to: None, waited: Arc::default() }
    }

    /// Notes a record; waits when the queue is full. The record is only made when it is kept.
    pub(crate) fn note(&self, record: impl FnOnce() -> Record) {
        let Some(to) = &self.to else { return };
        match to.try_send(Message::Record(record())) {
            Ok(()) => {}
            Err(TrySendError::Full(message)) => {
                self.waited.fetch_add(1, Ordering::Relaxed);
                // Fails only once the log is closed, when nothing is left to be noted.
                drop(to.send(message));
            }
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// How often someone had to wait for the log.
    pub(crate) fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }
}

/// The running writer.
pub(crate) struct TruthWriter {
    path: PathBuf,
    to: SyncSender<Message>,
    thread: JoinHandle<io::Result<()>>,
}

impl TruthWriter {
    /// Creates the file, notes the opening line and starts the thread.
    pub(crate) fn open(path: &Path, seed: u64) -> Result<(Self, TruthSink), DemoError> {
        let file = File::create(path)
            .map_err(|source| DemoError::File { path: path.to_owned(), source })?;
        let (to, from) = sync_channel(QUEUE_RECORDS);
        let thread = std::thread::Builder::new()
            .name("demo-truth".into())
            .spawn(move || write(&from, file))
            .map_err(|source| DemoError::Thread { name: "demo-truth", source })?;
        let sink = TruthSink { to: Some(to.clone()), waited: Arc::default() };
        let anchor = Anchor::now();
        sink.note(|| Record::Opened { at_ns: anchor.monotonic_ns, unix_ns: anchor.unix_ns, seed });
        let writer = Self { path: path.to_owned(), to, thread };
        Ok((writer, sink))
    }

    /// Writes what is queued, the closing line, and ends.
    pub(crate) fn close(self) -> Result<(), DemoError> {
        // A writer that failed has already gone; its error comes with the join.
        drop(self.to.send(Message::Close));
        match self.thread.join() {
            Ok(written) => written.map_err(|source| DemoError::File { path: self.path, source }),
            Err(_) => Err(DemoError::Panicked { name: "demo-truth" }),
        }
    }
}

enum Message {
    Record(Record),
    Close,
}

fn write(from: &Receiver<Message>, file: File) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    loop {
        match from.try_recv() {
            Ok(Message::Record(record)) => line(&mut out, &record)?,
            Ok(Message::Close) => break,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                std::thread::sleep(DRAIN_PAUSE);
                match from.recv() {
                    Ok(Message::Record(record)) => line(&mut out, &record)?,
                    Ok(Message::Close) | Err(_) => break,
                }
            }
        }
    }
    line(&mut out, &Record::Closed { at_ns: now_ns() })?;
    out.flush()
}

fn line(out: &mut impl Write, record: &Record) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}
