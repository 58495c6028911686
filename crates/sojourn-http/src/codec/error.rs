//! What makes an answer unreadable.

/// Why bytes are not an HTTP/1.1 answer. Fragments read after "HOST:PORT answered with …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// Chunked framing broken.
    #[error("broken chunked framing: {0}")]
    Chunk(&'static str),
    /// A Content-Length that is no number, contradicts another or is absurd.
    #[error("a content-length that is not one number below 2^63")]
    ContentLength,
    /// The connection ended inside the answer.
    #[error("an end of connection inside {0}")]
    Ended(&'static str),
    /// Status line or header not of the grammar.
    #[error("a broken head: {0}")]
    Head(httparse::Error),
    /// Head above the bound.
    #[error("a head longer than {} bytes", super::head::HEAD_BYTES_MAX)]
    HeadTooLong,
    /// Not HTTP at all.
    #[error("bytes that are not HTTP/1")]
    NotHttp,
}
