//! The truth as a file: one JSON object a line, in the order in which answers left, written by a
//! thread of its own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use sojourn_clock::{MILLISECOND_NS, now_ns};

use super::{Truth, TruthRecord};

/// Records that are handed over together, at most.
const BATCH: usize = 512;
/// No record is kept longer before it is handed over, nanoseconds: handing over wakes the writer,
/// which beside every answer would delay the answers.
const KEPT_NS_MAX: u64 = 50 * MILLISECOND_NS;
/// Batches that wait for the disk; beyond, records are counted and left out.
const BATCHES_MAX: usize = 1024;

/// Writes truth records; belongs to the server's thread.
#[derive(Debug)]
pub struct TruthFile {
    /// Let in and not answered yet.
    open: HashMap<u64, TruthRecord>,
    batch: Vec<TruthRecord>,
    /// When what is in the batch is handed over at the latest.
    hand_over_ns: u64,
    batches: Sender<Vec<TruthRecord>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    left_out: AtomicU64,
    refused: AtomicU64,
}

/// What became of a truth file, from outside the server's thread.
#[derive(Debug)]
pub struct TruthReport {
    counts: Arc<Counts>,
    writer: JoinHandle<io::Result<()>>,
}

impl TruthFile {
    /// Makes the file and the thread that writes it.
    ///
    /// # Errors
    /// The file cannot be made, or no thread be had.
    pub fn create(path: &Path) -> io::Result<(Self, TruthReport)> {
        let file = BufWriter::new(File::create(path)?);
        let (batches, received) = bounded(BATCHES_MAX);
        let counts = Arc::new(Counts::default());
        let (counted, thread) = (counts.clone(), std::thread::Builder::new());
        let writer = thread
            .name("truth".to_owned())
            .spawn(move || write_all(file, &received, &counted.written))?;
        let truth = Self {
            open: HashMap::new(),
            batch: Vec::with_capacity(BATCH),
            hand_over_ns: u64::MAX,
            batches,
            counts: counts.clone(),
        };
        Ok((truth, TruthReport { counts, writer }))
    }

    /// Hands over what has been kept for long enough.
    pub fn flush(&mut self) {
        if self.hand_over_ns < u64::MAX && now_ns() >= self.hand_over_ns {
            self.hand_over();
        }
    }

    /// When [`Self::flush`] is to be called; `None` while there is nothing to hand over.
    pub fn flush_ns(&self) -> Option<u64> {
        (self.hand_over_ns < u64::MAX).then_some(self.hand_over_ns)
    }

    fn hand_over(&mut self) {
        self.hand_over_ns = u64::MAX;
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let left_out = match self.batches.try_send(batch) {
            Ok(()) => return,
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => batch.len(),
        };
        self.counts.left_out.fetch_add(left_out as u64, Ordering::Relaxed);
    }
}

impl Truth for TruthFile {
    fn admitted(&mut self, record: &TruthRecord) {
        self.open.insert(record.id, *record);
    }

    fn ended(&mut self, id: u64, sent_ns: Option<u64>) {
        let Some(mut record) = self.open.remove(&id) else {
            return;
        };
        record.sent_ns = sent_ns;
        if self.batch.is_empty() {
            self.hand_over_ns = now_ns() + KEPT_NS_MAX;
        }
        self.batch.push(record);
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
    }

    fn refused(&mut self) {
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for TruthFile {
    fn drop(&mut self) {
        // Those who left or were cut off were let in all the same.
        let mut open: Vec<TruthRecord> = self.open.drain().map(|(_, record)| record).collect();
        open.sort_unstable_by_key(|record| record.id);
        self.batch.append(&mut open);
        let _sent = self.batches.send(std::mem::take(&mut self.batch));
    }
}

impl TruthReport {
    /// Records that the disk could not take in time, so far.
    pub fn left_out(&self) -> u64 {
        self.counts.left_out.load(Ordering::Relaxed)
    }

    /// Requests answered 503, so far.
    pub fn refused(&self) -> u64 {
        self.counts.refused.load(Ordering::Relaxed)
    }

    /// Waits until everything is written, once the server has ended: how many records there are.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(self) -> io::Result<u64> {
        match self.writer.join() {
            Ok(written) => written?,
            Err(_) => return Err(io::Error::other("the thread that writes it has panicked")),
        }
        Ok(self.counts.written.load(Ordering::Relaxed))
    }
}

fn write_all(
    mut file: BufWriter<File>,
    batches: &Receiver<Vec<TruthRecord>>,
    written: &AtomicU64,
) -> io::Result<()> {
    while let Ok(batch) = batches.recv() {
        for record in &batch {
            serde_json::to_writer(&mut file, record)?;
            file.write_all(b"\n")?;
        }
        written.fetch_add(batch.len() as u64, Ordering::Relaxed);
        if batches.is_empty() {
            file.flush()?;
        }
    }
    file.flush()
}
