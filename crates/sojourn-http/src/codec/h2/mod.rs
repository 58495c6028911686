//! HTTP/2, RFC 9113, as a sans-IO codec: bytes in, pieces out; bytes to send in a buffer.

mod hpack;
