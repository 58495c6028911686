//! Payloads of series, rows, deltas and checkpoints.
//!
//! Numbers are varints, floats little-endian. Series are named once and numbered from 0; numbers
//! within a payload ascend and are written as the gap to the one before.

mod packed;
mod row;

pub(crate) use packed::{pack, unpack};
pub(crate) use row::{read_row, write_row};

use std::{collections::HashMap, sync::Arc};

use sojourn_metrics::{Figure, Kind, SeriesKey, SeriesPhase, Store, varint};

/// Numbers of the series of a file being written.
#[derive(Debug, Default)]
pub(crate) struct SeriesTable {
    numbers: HashMap<Arc<SeriesKey>, u32>,
    /// By number.
    keys: Vec<(Arc<SeriesKey>, Kind)>,
    /// How many of them stand in the file for good.
    kept: usize,
}

impl SeriesTable {
    /// Numbers the series of a store that have none.
    pub(crate) fn add(&mut self, store: &Store) {
        for (key, kind) in store.series() {
            if !self.numbers.contains_key(key) {
                let key = Arc::new(key.clone());
                self.numbers.insert(Arc::clone(&key), self.keys.len() as u32);
                self.keys.push((key, kind));
            }
        }
    }

    /// The payload that names what the file does not name yet; `None` when there is nothing. Once
    /// it stands in the file, [`Self::keep_named`] says so.
    pub(crate) fn name_new(&self) -> Option<Vec<u8>> {
        let new = &self.keys[self.kept..];
        if new.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        varint::write(&mut out, self.kept as u64);
        varint::write(&mut out, new.len() as u64);
        for (key, kind) in new {
            out.extend([kind.number(), key.phase.number()]);
            write_text(&mut out, &key.metric);
            varint::write(&mut out, key.tags.len() as u64);
            for (name, value) in &key.tags {
                write_text(&mut out, name);
                write_text(&mut out, value);
            }
        }
        Some(out)
    }

    /// Takes every name as standing in the file.
    pub(crate) fn keep_named(&mut self) {
        self.kept = self.keys.len();
    }

    /// The non-empty figures of a store, every series of which was added, with ascending numbers.
    pub(crate) fn numbered<'s>(&self, store: &'s Store) -> Vec<(u32, &'s Figure)> {
        let numbered = |(key, figure)| Some((*self.numbers.get(key)?, figure));
        let mut figures: Vec<_> =
            store.figures().filter(|(_, figure)| !figure.is_empty()).filter_map(numbered).collect();
        figures.sort_unstable_by_key(|&(number, _)| number);
        figures
    }
}

/// Reads a payload of names and adds them to those of the numbers before.
pub(crate) fn read_series(mut bytes: &[u8], keys: &mut Vec<(SeriesKey, Kind)>) -> Option<()> {
    let bytes = &mut bytes;
    if varint::read(bytes)? != keys.len() as u64 {
        return None;
    }
    for _ in 0..varint::read(bytes)? {
        let ([kind, phase], rest) = bytes.split_first_chunk::<2>()?;
        let (kind, phase) = (Kind::of_number(*kind)?, SeriesPhase::of_number(*phase)?);
        *bytes = rest;
        let metric = read_text(bytes)?;
        let mut tags = Vec::new();
        for _ in 0..varint::read(bytes)? {
            tags.push((read_text(bytes)?, read_text(bytes)?));
        }
        tags.sort();
        let key = SeriesKey { metric, tags, phase };
        keys.push((key, kind));
    }
    bytes.is_empty().then_some(())
}

/// Writes figures: how many, then gap and encoding of each.
pub(crate) fn write_figures(figures: &[(u32, &Figure)], out: &mut Vec<u8>) {
    varint::write(out, figures.len() as u64);
    let mut next = 0;
    for &(number, figure) in figures {
        varint::write(out, u64::from(number - next));
        figure.encode(out);
        next = number + 1;
    }
}

/// Reads figures and adds them to a store as a later stretch of time.
pub(crate) fn read_figures(
    mut bytes: &[u8],
    keys: &[(SeriesKey, Kind)],
    store: &mut Store,
) -> Option<()> {
    let bytes = &mut bytes;
    let mut next = 0usize;
    for _ in 0..varint::read(bytes)? {
        let number = next.checked_add(usize::try_from(varint::read(bytes)?).ok()?)?;
        let (key, kind) = keys.get(number)?;
        store.append_encoded(key, *kind, bytes)?;
        next = number + 1;
    }
    bytes.is_empty().then_some(())
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    varint::write(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn read_text(bytes: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(varint::read(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}
