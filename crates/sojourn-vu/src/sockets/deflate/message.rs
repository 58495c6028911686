//! A message's payload, deflated and inflated (RFC 7692, section 7.2).

use std::cell::RefCell;

use flate2::{Compress, Compression, FlushCompress};
use miniz_oxide::inflate::TINFLStatus as Status;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// What a flushed block ends with, which is left out of messages.
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];
/// What a message goes on with when it is inflated: the above, and an empty last block. One that
/// was cut short takes it for something else: it says something, or never ends.
const TAIL: [u8; 9] = [0, 0, 0xff, 0xff, 1, 0, 0, 0xff, 0xff];
/// How many bytes of that are the last block's.
const LAST_BLOCK_BYTES: usize = 5;
/// Least room that is made for what comes out, bytes.
const ROOM_MIN: usize = 64;

thread_local! {
    /// One for all sockets of a thread, since each message begins anew: it has a third of a
    /// megabyte. As fast as may be, as k6 has it.
    static DEFLATING: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), false));
}

/// Why a message can't be inflated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("a compressed message is malformed")]
    Data,
    #[error("a compressed message is cut short")]
    Cut,
    /// It has so many bytes at least.
    #[error("a compressed message is too long")]
    TooLong(usize),
}

/// A payload for a frame with RSV1.
pub(super) fn deflate(message: &[u8]) -> Vec<u8> {
    // By section 7.2.3.6; there would be nothing to flush.
    if message.is_empty() {
        return vec![0];
    }
    DEFLATING.with_borrow_mut(|codec| {
        codec.reset();
        let (mut payload, mut left) = (Vec::new(), message);
        // Room that is left says that all is flushed.
        while !left.is_empty() || payload.len() == payload.capacity() {
            payload.reserve((left.len() / 2).max(ROOM_MIN));
            let before = codec.total_in();
            // Fails on a wrong use alone.
            if codec.compress_vec(left, &mut payload, FlushCompress::Sync).is_err() {
                break;
            }
            left = &left[(codec.total_in() - before) as usize..];
        }
        debug_assert!(payload.ends_with(&FLUSHED));
        payload.truncate(payload.len().saturating_sub(FLUSHED.len()));
        payload
    })
}

/// The message of a frame's payload with RSV1, of `bytes_max` at most.
///
/// It is made in one piece, so that what refers to bytes before it is seen to be malformed; flate2
/// inflates by way of a window of zeros.
pub(super) fn inflate(payload: &[u8], bytes_max: usize) -> Result<Vec<u8>, Malformed> {
    let flags = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut codec = Box::<DecompressorOxide>::default();
    let (mut message, mut length) = (Vec::new(), 0);
    let (mut left, mut is_tail) = (payload, false);
    make_room(&mut message, payload.len(), bytes_max);
    loop {
        let (status, taken, made) = decompress(&mut codec, left, &mut message, length, flags);
        left = &left[taken..];
        length += made;
        if length > bytes_max {
            return Err(Malformed::TooLong(length));
        }
        if is_tail && made > 0 {
            return Err(Malformed::Cut);
        }
        match status {
            Status::HasMoreOutput => make_room(&mut message, payload.len(), bytes_max),
            Status::NeedsMoreInput if is_tail => return Err(Malformed::Cut),
            Status::NeedsMoreInput => (left, is_tail) = (&TAIL, true),
            // A last block may end a message, or be followed by further ones.
            Status::Done if left.is_empty() || is_tail && left.len() == LAST_BLOCK_BYTES => {
                message.truncate(length);
                return Ok(message);
            }
            Status::Done if !is_tail => codec.init(),
            _ => return Err(Malformed::Data),
        }
    }
}

/// Room for twice as much, or for as much as the payload lets expect. One byte more than there may
/// be shows that there are too many.
fn make_room(message: &mut Vec<u8>, payload_bytes: usize, bytes_max: usize) {
    let wanted = message.len().max(payload_bytes).saturating_mul(2).max(ROOM_MIN);
    message.resize(wanted.min(bytes_max.saturating_add(1)), 0);
}
