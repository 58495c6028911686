//! The layout on disk: records, checksums, versions. `docs/run-file.md` describes it in full.
//!
//! A file is eight magic bytes, the last of which is the version, and records one after the other:
//! type (u8), length of the payload (u32), CRC-32 of type, length and payload (u32), payload.

/// First bytes of every run file.
pub(crate) const MAGIC: &[u8; 8] = b"SOJOURN\x01";

/// The version this crate writes and reads: the last byte of [`MAGIC`].
pub(crate) const VERSION: u8 = MAGIC[7];

/// Whether a file that begins with these bytes is a run file, of whatever version.
#[must_use]
pub fn is_run_file(head: &[u8]) -> bool {
    head.starts_with(&MAGIC[..7])
}

/// Bytes of a record before its payload.
pub(crate) const HEADER: usize = 9;

/// Most bytes of a payload, and of what a compressed one unpacks to: far above any real one, so
/// that a damaged length cannot ask for memory.
pub(crate) const MOST_PAYLOAD: usize = 256 << 20;

/// What a record holds. The numbers never change; readers skip those they don't know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RecordType {
    /// The run's identity, JSON; the first record.
    Identity = 1,
    /// Names of series and their numbers in this file.
    Series = 2,
    /// One interval's figures for every active series.
    Row = 3,
    /// The same interval's samples, compressed; follows its row.
    Delta = 4,
    /// Everything so far, compressed.
    Checkpoint = 5,
    /// A kept journey, JSON.
    Journey = 6,
    /// How the run ended, JSON; the last record.
    Summary = 7,
    /// A change of rate, JSON.
    Amendment = 8,
    /// A duplicate for a journey written before, JSON.
    Duplicate = 9,
    /// How many journeys were kept and were not, JSON; the last one counts.
    Kept = 10,
    /// The outline of a journey that came into being during the run, JSON.
    Shape = 11,
}

impl RecordType {
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        [
            Self::Identity,
            Self::Series,
            Self::Row,
            Self::Delta,
            Self::Checkpoint,
            Self::Journey,
            Self::Summary,
            Self::Amendment,
            Self::Duplicate,
            Self::Kept,
            Self::Shape,
        ]
        .into_iter()
        .find(|&kind| kind as u8 == number)
    }
}

/// A record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u8,
    pub(crate) length: u32,
    crc32: u32,
}

impl Header {
    /// The header of a payload; `None` when it is longer than a record may be.
    pub(crate) fn of(kind: RecordType, payload: &[u8]) -> Option<Self> {
        let length = u32::try_from(payload.len()).ok()?;
        let kind = kind as u8;
        (payload.len() <= MOST_PAYLOAD).then(|| Self {
            kind,
            length,
            crc32: checksum(kind, length, payload),
        })
    }

    pub(crate) fn from_bytes(bytes: [u8; HEADER]) -> Self {
        let [kind, l0, l1, l2, l3, c0, c1, c2, c3] = bytes;
        Self {
            kind,
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            crc32: u32::from_le_bytes([c0, c1, c2, c3]),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER] {
        let [l0, l1, l2, l3] = self.length.to_le_bytes();
        let [c0, c1, c2, c3] = self.crc32.to_le_bytes();
        [self.kind, l0, l1, l2, l3, c0, c1, c2, c3]
    }

    /// Whether the payload is the one the header was made for.
    pub(crate) fn fits(self, payload: &[u8]) -> bool {
        self.crc32 == checksum(self.kind, self.length, payload)
    }
}

fn checksum(kind: u8, length: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}
