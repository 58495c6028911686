//! What can be wrong with the bytes of a record.

use std::borrow::Cow;

/// Why no record could be decoded.
#[derive(Debug)]
pub(super) enum Fault {
    /// The input ends in the middle of a record.
    CutOff,
    /// The system's word.
    Io(std::io::Error),
    /// The bytes are not what they should be, in words.
    Format(Cow<'static, str>),
}

impl Fault {
    pub(super) fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Format(reason.into())
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
