//! What a caller asks for.

/// An origin registered with a [`crate::Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OriginId(pub u32);

/// One request and how to treat its answer. The bytes are the whole message: request line, headers
/// (with Host and Content-Length), body: see [`crate::write_request`]. The client copies them.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// Comes back in the completion.
    pub token: u64,
    /// Where to.
    pub origin: OriginId,
    /// The whole request message.
    pub bytes: &'a [u8],
    /// The answer has no body whatever its headers say (HEAD).
    pub head_only: bool,
    /// From the beginning (t1) to the last body byte, nanoseconds.
    pub timeout_ns: u64,
    /// What to do with the body.
    pub body: BodyPolicy,
}

/// What to do with an answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPolicy {
    /// Count its bytes as they come, keep none.
    Discard,
    /// Decode gzip/deflate and count the bytes that come of it; keep none, and no head either.
    Count,
    /// Keep up to so many bytes after decoding gzip/deflate; a longer one is a failure
    /// ([`crate::FailureKind::BodyTooLarge`]) and closes the connection.
    Keep {
        /// Most bytes kept.
        bytes_max: usize,
    },
    /// Keep the first so many bytes after decoding gzip/deflate, count the rest. Another coding is
    /// kept as it comes.
    Truncate {
        /// Most bytes kept.
        bytes_max: usize,
    },
}

impl BodyPolicy {
    /// Whether the answer's head is kept, not only a redirect's.
    pub(crate) fn keeps_head(self) -> bool {
        matches!(self, Self::Keep { .. } | Self::Truncate { .. })
    }
}
