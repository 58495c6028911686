//! Results on their way out: generators fill chunks, a thread of its own writes them.
//!
//! None is dropped and memory is bounded, so a reader that is too slow holds the generators up in
//! the end; that shows as lag.

use std::{
    io::{self, Write},
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
    thread::JoinHandle,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_record::results::{Encoder, Encoding};

use crate::coordinator::panic;

/// Chunks on their way: with their usual size, some two megabytes.
const CHUNKS_MAX: usize = 32;

/// A generator's end.
#[derive(Clone, Debug)]
pub struct ResultSink {
    full: Sender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    /// Why nothing is written any more.
    why: Arc<OnceLock<String>>,
}

/// The writing thread.
#[derive(Debug)]
pub struct ResultWriter(JoinHandle<io::Result<()>>);

impl ResultSink {
    /// Results in gob encoding into `out`. The thread ends when every sink is gone; see
    /// [`ResultWriter::finish`].
    pub fn new(out: Box<dyn Write + Send>) -> io::Result<(Self, ResultWriter)> {
        let (full, chunks) = bounded(CHUNKS_MAX);
        let (spares, empty) = bounded(CHUNKS_MAX);
        let why = Arc::new(OnceLock::new());
        let told = Arc::clone(&why);
        let body = move || {
            let write = AssertUnwindSafe(|| write(out, &chunks, &spares));
            let written = std::panic::catch_unwind(write).unwrap_or_else(|payload| {
                let message = panic::message(payload.as_ref());
                Err(io::Error::other(format!("the writing thread panicked: {message}")))
            });
            if let Err(error) = &written {
                // Set once, before a generator can find that nobody reads its chunks.
                let _ignored = told.set(error.to_string());
            }
            drop(chunks);
            written
        };
        let thread = std::thread::Builder::new().name("results".to_owned()).spawn(body)?;
        Ok((Self { full, empty, why }, ResultWriter(thread)))
    }

    /// Hands a chunk over, waiting for room, and leaves an empty one in its place. False: nobody
    /// writes any more.
    pub(crate) fn put(&self, chunk: &mut Vec<u8>) -> bool {
        let spare = self.empty.try_recv().unwrap_or_default();
        self.full.send(std::mem::replace(chunk, spare)).is_ok()
    }

    /// Why results could not be written, in words.
    pub(crate) fn why(&self) -> String {
        let why = self.why.get().map_or("nobody reads them", String::as_str);
        format!("results could not be written: {why}")
    }
}

impl ResultWriter {
    /// Waits until everything is written; every sink must have been dropped.
    pub fn finish(self) -> io::Result<()> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))
    }
}

fn write(
    mut out: Box<dyn Write + Send>,
    chunks: &Receiver<Vec<u8>>,
    spares: &Sender<Vec<u8>>,
) -> io::Result<()> {
    let mut beginning = Vec::new();
    Encoder::new(Encoding::Gob).begin(&mut beginning);
    out.write_all(&beginning)?;
    for mut chunk in chunks {
        out.write_all(&chunk)?;
        // A reader at the other end of a pipe sees results as they come.
        out.flush()?;
        chunk.clear();
        // A generator that is gone needs no spare.
        let _ignored = spares.try_send(chunk);
    }
    out.flush()
}
