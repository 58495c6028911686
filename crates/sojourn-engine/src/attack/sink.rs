//! Results on their way out: generators fill chunks, a thread of its own writes them.
//!
//! None is dropped and memory is bounded, so a reader that is too slow holds the generators up in
//! the end; that shows as lag. A process of generators passes its chunks on to the coordinator's,
//! where those of all are one stream.

use std::{
    io::{self, Write},
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
    thread::JoinHandle,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_record::results::{Encoder, Encoding};

use super::merge::{Chunk, Merge};
use crate::coordinator::panic;

/// Chunks on their way: with their usual size, some two megabytes.
const CHUNKS_MAX: usize = 32;
/// Longest chunk that is passed on to another process, bytes.
const PASSED_BYTES_MAX: usize = 128 << 20;

/// A generator's end.
#[derive(Clone, Debug)]
pub struct ResultSink {
    full: Sender<Chunk>,
    empty: Receiver<Chunk>,
    bytes_max: usize,
    /// Why nothing is written any more.
    why: Arc<OnceLock<String>>,
}

/// The writing thread.
#[derive(Debug)]
pub struct ResultWriter(JoinHandle<io::Result<Written>>);

/// What became of results that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Those of a generator came so late that others did not wait for them: all are there, and not
    /// all are in order of time.
    pub is_out_of_order: bool,
}

/// The other ends of sinks whose chunks are passed on.
pub(crate) struct Passed {
    pub(crate) chunks: Receiver<Chunk>,
    /// Where chunks come back to, emptied.
    pub(crate) spares: Sender<Chunk>,
}

impl ResultSink {
    /// Results in gob encoding into `out`, of so many generators in all processes. The thread ends
    /// when every sink is gone; see [`ResultWriter::finish`].
    pub fn new(out: Box<dyn Write + Send>, generators: u32) -> io::Result<(Self, ResultWriter)> {
        let (sink, Passed { chunks, spares }) = Self::bounded(usize::MAX);
        let told = Arc::clone(&sink.why);
        let body = move || {
            let write = AssertUnwindSafe(|| match generators {
                0 | 1 => write(out, &chunks, &spares),
                _ => write_merged(out, &chunks, &spares, Merge::of(generators)),
            });
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
        Ok((sink, ResultWriter(thread)))
    }

    /// One whose chunks somebody passes on to another process.
    pub(crate) fn passed_on() -> (Self, Passed) {
        Self::bounded(PASSED_BYTES_MAX)
    }

    fn bounded(bytes_max: usize) -> (Self, Passed) {
        let (full, chunks) = bounded(CHUNKS_MAX);
        let (spares, empty) = bounded(CHUNKS_MAX);
        (Self { full, empty, bytes_max, why: Arc::default() }, Passed { chunks, spares })
    }

    /// Hands a chunk over, waiting for room, and leaves an empty one in its place. False: nobody
    /// writes any more.
    pub(crate) fn put(&self, chunk: &mut Chunk) -> bool {
        if chunk.bytes.len() > self.bytes_max {
            let why = format!(
                "{} bytes of an answer are more than a process of generators hands on; keep less \
                 of them with -max-body",
                chunk.bytes.len()
            );
            let _first = self.why.set(why);
            return false;
        }
        let spare = self.empty.try_recv().unwrap_or_default();
        self.full.send(std::mem::replace(chunk, spare)).is_ok()
    }

    /// Says that a generator has no further results.
    pub(crate) fn end(&self, generator: u32) {
        let last = Chunk { generator, until_ns: u64::MAX, ..Chunk::default() };
        // Nobody needs to know where nobody writes any more.
        let _ignored = self.full.send(last);
    }

    /// Why results could not be written, in words.
    pub(crate) fn why(&self) -> String {
        let why = self.why.get().map_or("nobody reads them", String::as_str);
        format!("results could not be written: {why}")
    }
}

impl ResultWriter {
    /// Waits until everything is written; every sink must have been dropped.
    pub fn finish(self) -> io::Result<Written> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))
    }
}

/// Begins the stream.
fn begin(out: &mut dyn Write) -> io::Result<()> {
    let mut beginning = Vec::new();
    Encoder::new(Encoding::Gob).begin(&mut beginning);
    out.write_all(&beginning)
}

/// Chunks of one generator, as they come.
fn write(
    mut out: Box<dyn Write + Send>,
    chunks: &Receiver<Chunk>,
    spares: &Sender<Chunk>,
) -> io::Result<Written> {
    begin(&mut out)?;
    for mut chunk in chunks {
        out.write_all(&chunk.bytes)?;
        // A reader at the other end of a pipe sees results as they come.
        out.flush()?;
        chunk.clear();
        // A generator that is gone needs no spare.
        let _ignored = spares.try_send(chunk);
    }
    out.flush()?;
    Ok(Written::default())
}

/// Chunks of several, in order of time.
fn write_merged(
    mut out: Box<dyn Write + Send>,
    chunks: &Receiver<Chunk>,
    spares: &Sender<Chunk>,
    mut merge: Merge,
) -> io::Result<Written> {
    begin(&mut out)?;
    let mut ready = Vec::new();
    // A generator that is gone needs no spare.
    let give_back = |chunk| drop(spares.try_send(chunk));
    for chunk in chunks {
        merge.add(chunk).into_iter().for_each(give_back);
        merge.take(&mut ready, give_back);
        if !ready.is_empty() {
            out.write_all(&ready)?;
            out.flush()?;
            ready.clear();
        }
    }
    merge.take_all(&mut ready);
    out.write_all(&ready)?;
    out.flush()?;
    Ok(Written { is_out_of_order: merge.is_out_of_order() })
}
