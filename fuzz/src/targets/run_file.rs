//! Run files: damage loses seconds, nothing else.

use std::path::PathBuf;

use flate2::{Compression, write::DeflateEncoder};
use sojourn_record::RunFile;

use crate::Input;

const MAGIC: &[u8] = b"SOJOURN\x01";
const DELTA: u8 = 4;
const CHECKPOINT: u8 = 5;

/// Option 0: the bytes are a file as it is; else they are records of type, length (two bytes) and
/// payload, from which a file is made: with sums, and with deltas and checkpoints compressed. 1:
/// the end of the file is cut off.
pub(crate) fn check(input: Input<'_>) {
    let mut bytes = if input.has(0) { input.bytes.to_vec() } else { file_of(input.bytes) };
    if input.has(1) {
        bytes.truncate(bytes.len().saturating_sub(input.portion()));
    }
    let place = Place::new(&bytes);
    let run = match RunFile::open(&place.0) {
        Ok(run) => run,
        Err(error) => {
            assert!(error.to_string().contains(&place.0.display().to_string()), "{error}");
            return;
        }
    };
    for index in 0..run.intervals.len() {
        // Samples before the last checkpoint are looked at only when they are asked for.
        if let Err(error) = run.delta(index) {
            assert!(error.to_string().contains(" is damaged"), "{error}");
        }
    }
    assert!(run.intervals.len() + run.journeys.len() <= bytes.len() / 9);
    assert!(run.cut_off.as_ref().is_none_or(|words| words.len() < 300));
    let (whole, journeys) = (run.intervals.len(), run.journeys.len());
    // Files of one run, or nearly: they can be merged, or it is said why not.
    if let Ok(merged) = RunFile::merge(vec![run.clone(), run]) {
        assert_eq!(merged.journeys.len(), 2 * journeys);
        for index in 0..merged.intervals.len().min(2 * whole) {
            merged.delta(index).ok();
        }
    }
}

fn file_of(mut records: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    while let Some(([kind, low, high], rest)) = records.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (payload, rest) = rest.split_at(length);
        records = rest;
        if matches!(*kind, DELTA | CHECKPOINT) {
            write_record(*kind, &packed(payload), &mut file);
        } else {
            write_record(*kind, payload, &mut file);
        }
    }
    file
}

fn packed(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("inputs are short");
    let mut encoder = DeflateEncoder::new(length.to_le_bytes().to_vec(), Compression::fast());
    std::io::Write::write_all(&mut encoder, content).expect("to memory");
    encoder.finish().expect("to memory")
}

fn write_record(kind: u8, payload: &[u8], file: &mut Vec<u8>) {
    let length = u32::try_from(payload.len()).expect("inputs are short").to_le_bytes();
    let mut sum = crc32fast::Hasher::new();
    sum.update(&[kind]);
    sum.update(&length);
    sum.update(payload);
    file.push(kind);
    file.extend(length);
    file.extend(sum.finalize().to_le_bytes());
    file.extend(payload);
}

/// A file in memory, where the system has such.
struct Place(PathBuf);

impl Place {
    fn new(bytes: &[u8]) -> Self {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let path = folder.join(format!("fuzz-{process}-{thread:?}.sojourn"));
        std::fs::write(&path, bytes).expect("a file can be written");
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}
