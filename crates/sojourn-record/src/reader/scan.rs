//! Walking over the records of a file.
//!
//! Every header says how long its record is, so deltas and all checkpoints but the last are passed
//! over without reading them: headers are the index.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
    sync::Arc,
};

use sojourn_metrics::{Kind, SeriesKey, Store};

use super::{
    ReadError, RunFile,
    deltas::{Deltas, read_packed},
};
use crate::{
    DuplicateRecord, Interval, JourneyRecord,
    codec::{read_row, read_series},
    format::{HEADER, Header, MAGIC, MOST_PAYLOAD, RecordType, VERSION},
};

pub(super) fn open(path: &Path) -> Result<RunFile, ReadError> {
    let io = |source| ReadError::io(path, source);
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let mut records = Records {
        input: BufReader::with_capacity(1 << 16, file),
        next: 0,
        length,
        payload: Vec::new(),
    };
    records.check_magic(path)?;
    let mut scan = Scan::default();
    loop {
        let start = records.next;
        let problem = match records.advance().map_err(io)? {
            Advance::End => break,
            Advance::Broken => "is incomplete or damaged",
            Advance::Record(kind) if scan.take(start, kind, &records.payload).is_some() => continue,
            Advance::Record(_) => "cannot be understood",
        };
        let unread = length - start;
        scan.run.cut_off = Some(format!(
            "the record at byte {start} {problem}; the last {unread} bytes were not read"
        ));
        break;
    }
    if !scan.has_identity {
        let reason = "it ends before it says which run it is; it was cut off at its very start";
        return Err(ReadError::format(path, reason));
    }
    scan.finish(path, records.input.into_inner())
}

/// The records of a file, one after the other.
struct Records {
    input: BufReader<File>,
    /// Where the next record starts.
    next: u64,
    length: u64,
    /// The last record's, where it was read.
    payload: Vec<u8>,
}

enum Advance {
    /// Past a record; `None`: of a type that this version does not know.
    Record(Option<RecordType>),
    /// The next record is not whole.
    Broken,
    End,
}

impl Records {
    fn check_magic(&mut self, path: &Path) -> Result<(), ReadError> {
        let mut magic = [0; MAGIC.len()];
        if self.length < magic.len() as u64 {
            let reason = format!("it has {} bytes, fewer than any run file", self.length);
            return Err(ReadError::format(path, reason));
        }
        let io = |source| ReadError::io(path, source);
        self.input.read_exact(&mut magic).map_err(io)?;
        self.next = magic.len() as u64;
        let [name @ .., version] = magic;
        if name != MAGIC[..name.len()] {
            return Err(ReadError::format(path, "it does not begin as one"));
        }
        if version != VERSION {
            let reason = format!(
                "it is of format version {version}, this Sojourn reads version {VERSION}; use the \
                 Sojourn that wrote it, or a newer one"
            );
            return Err(ReadError::format(path, reason));
        }
        Ok(())
    }

    fn advance(&mut self) -> std::io::Result<Advance> {
        let left = self.length - self.next;
        if left == 0 {
            return Ok(Advance::End);
        }
        if left < HEADER as u64 {
            return Ok(Advance::Broken);
        }
        let mut header = [0; HEADER];
        self.input.read_exact(&mut header)?;
        let header = Header::from_bytes(header);
        let length = header.length as usize;
        if length > MOST_PAYLOAD || length as u64 > left - HEADER as u64 {
            return Ok(Advance::Broken);
        }
        let kind = RecordType::of_number(header.kind);
        if matches!(kind, Some(RecordType::Delta | RecordType::Checkpoint)) {
            self.input.seek_relative(i64::from(header.length))?;
        } else {
            self.payload.resize(length, 0);
            self.input.read_exact(&mut self.payload)?;
            if !header.fits(&self.payload) {
                return Ok(Advance::Broken);
            }
        }
        self.next += (HEADER + length) as u64;
        Ok(Advance::Record(kind))
    }
}

/// What was read so far.
#[derive(Default)]
struct Scan {
    run: RunFile,
    has_identity: bool,
    keys: Vec<(SeriesKey, Kind)>,
    /// A row whose delta has not come yet: both or neither.
    row: Option<Interval>,
    /// Where each interval's delta is.
    deltas: Vec<u64>,
    checkpoints: Vec<u64>,
    /// Where each kept journey is, by its number.
    places: HashMap<u64, usize>,
}

impl Scan {
    /// Takes in a record; `None` when it makes no sense, here or at all.
    fn take(&mut self, offset: u64, kind: Option<RecordType>, payload: &[u8]) -> Option<()> {
        if (kind == Some(RecordType::Identity)) == self.has_identity {
            return None;
        }
        if self.row.is_some() && kind != Some(RecordType::Delta) {
            return None;
        }
        let Some(kind) = kind else {
            // A later addition to the format, which leaves everything else as it is.
            return Some(());
        };
        match kind {
            RecordType::Identity => {
                self.run.identity = serde_json::from_slice(payload).ok()?;
                self.has_identity = true;
            }
            RecordType::Series => read_series(payload, &mut self.keys)?,
            RecordType::Row => self.row = Some(read_row(payload, &self.keys)?),
            RecordType::Delta => {
                self.run.intervals.push(self.row.take()?);
                self.deltas.push(offset);
            }
            RecordType::Checkpoint => self.checkpoints.push(offset),
            RecordType::Journey => {
                let journey = serde_json::from_slice(payload).ok()?;
                self.keep(journey);
            }
            RecordType::Duplicate => {
                let record = serde_json::from_slice(payload).ok()?;
                self.add_duplicate(record);
            }
            RecordType::Shape => {
                let shape = serde_json::from_slice(payload).ok()?;
                self.run.identity.journeys.push(shape);
            }
            RecordType::Kept => self.run.kept = Some(serde_json::from_slice(payload).ok()?),
            RecordType::Summary => self.run.summary = Some(serde_json::from_slice(payload).ok()?),
            RecordType::Amendment => {
                let amendment = serde_json::from_slice(payload).ok()?;
                self.run.amendments.push(amendment);
            }
        }
        Some(())
    }

    /// A journey kept for several things at several times is one journey.
    fn keep(&mut self, journey: JourneyRecord) {
        match self.places.get(&journey.id) {
            Some(&place) => self.run.journeys[place].merge(journey),
            None => {
                self.places.insert(journey.id, self.run.journeys.len());
                self.run.journeys.push(journey);
            }
        }
    }

    /// One for a journey that did not reach the file is passed over: it has been counted.
    fn add_duplicate(&mut self, record: DuplicateRecord) {
        if let Some(&place) = self.places.get(&record.id) {
            let journey = &mut self.run.journeys[place];
            journey.add_duplicate(record.duplicate);
            record.message.into_iter().for_each(|message| journey.add_message(message));
        }
    }

    /// Rebuilds the store: the last whole checkpoint and the intervals after it.
    fn finish(mut self, path: &Path, mut input: File) -> Result<RunFile, ReadError> {
        if self.row.is_some() && self.run.cut_off.is_none() {
            self.run.cut_off = Some("the last second has figures and no samples".to_owned());
        }
        let mut after = 0;
        for &offset in self.checkpoints.iter().rev() {
            let mut store = Store::new();
            match read_packed(&mut input, path, offset, &self.keys, &mut store) {
                Ok(()) => {
                    after = offset;
                    self.run.store = store;
                    break;
                }
                // The one before and more seconds serve as well.
                Err(ReadError::Format { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        for (index, &offset) in self.deltas.iter().enumerate() {
            if offset < after {
                continue;
            }
            let store = &mut self.run.store;
            match read_packed(&mut input, path, offset, &self.keys, store) {
                Ok(()) => {}
                Err(ReadError::Format { reason, .. }) => {
                    self.run.cut_off = Some(format!("{reason}; later seconds were left out"));
                    self.run.intervals.truncate(index);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.deltas.truncate(self.run.intervals.len());
        let keys: Arc<[_]> = self.keys.into();
        self.run.deltas = Deltas::of_file(path, keys, &self.deltas);
        Ok(self.run)
    }
}
