//! Results on their way out: generators fill chunks, a thread of its own writes them.
//!
//! None is dropped and memory is bounded, so a reader that is too slow holds the generators up in
//! the end; that shows as lag.

use std::{
    io::{self, Write},
    thread::JoinHandle,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_record::results::{Encoder, Encoding};

/// Chunks on their way: with their usual size, some two megabytes.
const CHUNKS_MAX: usize = 32;

/// A generator's end.
#[derive(Clone, Debug)]
pub struct ResultSink {
    full: Sender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
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
        let body = move || write(out, &chunks, &spares);
        let thread = std::thread::Builder::new().name("results".to_owned()).spawn(body)?;
        Ok((Self { full, empty }, ResultWriter(thread)))
    }

    /// Hands a chunk over, waiting for room, and leaves an empty one in its place. False: nobody
    /// writes any more.
    pub(crate) fn put(&self, chunk: &mut Vec<u8>) -> bool {
        let spare = self.empty.try_recv().unwrap_or_default();
        self.full.send(std::mem::replace(chunk, spare)).is_ok()
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
