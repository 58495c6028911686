//! The layout on disk: records, checksums, versions.

/// First bytes of every run file.
pub(crate) const MAGIC: &[u8; 8] = b"SOJOURN\x01";
