//! Samples of intervals, loaded when asked for.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use sojourn_metrics::{Kind, SeriesKey, Store};

use super::ReadError;
use crate::{
    codec::{read_figures, unpack},
    format::{HEADER, Header, MOST_PAYLOAD},
};

/// Where the samples of each interval of a [`crate::RunFile`] are.
#[derive(Clone, Debug, Default)]
pub struct Deltas {
    files: Vec<DeltaFile>,
    intervals: Vec<Vec<Place>>,
}

#[derive(Clone, Debug)]
struct DeltaFile {
    path: PathBuf,
    keys: Arc<[(SeriesKey, Kind)]>,
}

/// A record: which file, and where in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: usize,
    offset: u64,
}

impl Deltas {
    /// Those of one file: an offset per interval.
    pub(super) fn of_file(path: &Path, keys: Arc<[(SeriesKey, Kind)]>, offsets: &[u64]) -> Self {
        let place = |&offset| vec![Place { file: 0, offset }];
        Self {
            files: vec![DeltaFile { path: path.to_owned(), keys }],
            intervals: offsets.iter().map(place).collect(),
        }
    }

    /// Takes over another's files; interval `index` of it becomes part of `to(index)` here.
    pub(super) fn adopt(&mut self, other: Self, to: impl Fn(usize) -> usize) {
        let first = self.files.len();
        self.files.extend(other.files);
        for (index, places) in other.intervals.into_iter().enumerate() {
            let target = to(index);
            if self.intervals.len() <= target {
                self.intervals.resize(target + 1, Vec::new());
            }
            let moved = places.into_iter().map(|place| Place { file: place.file + first, ..place });
            self.intervals[target].extend(moved);
        }
    }

    /// How many intervals there are.
    pub(super) fn len(&self) -> usize {
        self.intervals.len()
    }

    /// The merged samples of an interval; nothing where there is no such interval.
    pub(super) fn load(&self, index: usize) -> Result<Store, ReadError> {
        let mut merged = Store::new();
        let mut of_file = Store::new();
        let mut before = None;
        for place in self.intervals.get(index).into_iter().flatten() {
            // Two stretches of one run follow each other; two runs stand side by side.
            if before.is_some_and(|before| before != place.file) {
                merged.merge(&of_file);
                of_file = Store::new();
            }
            before = Some(place.file);
            let file = &self.files[place.file];
            let mut input = File::open(&file.path).map_err(|e| ReadError::io(&file.path, e))?;
            read_packed(&mut input, &file.path, place.offset, &file.keys, &mut of_file)?;
        }
        merged.merge(&of_file);
        Ok(merged)
    }
}

/// Adds the figures of the delta or checkpoint at `offset` to `store`.
pub(super) fn read_packed(
    input: &mut File,
    path: &Path,
    offset: u64,
    keys: &[(SeriesKey, Kind)],
    store: &mut Store,
) -> Result<(), ReadError> {
    let io = |source| ReadError::io(path, source);
    input.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut header = [0; HEADER];
    input.read_exact(&mut header).map_err(io)?;
    let header = Header::from_bytes(header);
    let damaged = || ReadError::format(path, format!("the record at byte {offset} is damaged"));
    if header.length as usize > MOST_PAYLOAD {
        return Err(damaged());
    }
    let mut payload = vec![0; header.length as usize];
    input.read_exact(&mut payload).map_err(io)?;
    if !header.fits(&payload) {
        return Err(damaged());
    }
    let content = unpack(&payload).ok_or_else(damaged)?;
    read_figures(&content, keys, store).ok_or_else(damaged)
}
