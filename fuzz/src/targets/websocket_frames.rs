//! What a WebSocket's server sends to scripts: cuts change nothing, text is text, what is made of
//! bytes is bounded by them, and messages that were read and are compressed by another come again.

use std::io::Read as _;

use flate2::Compression;
use flate2::read::DeflateEncoder;
use sojourn_vu::foreign::read_websocket;

use crate::Input;

/// How many bytes one byte of DEFLATE may stand for.
const RATIO_MAX: usize = 1_032;

/// Option 0: compression was not agreed on.
pub(crate) fn check(input: Input<'_>) {
    let is_deflated = !input.has(0);
    let whole = read_websocket(input.bytes, usize::MAX, is_deflated);
    assert_eq!(whole, read_websocket(input.bytes, input.portion(), is_deflated));
    assert!(whole.error.as_ref().is_none_or(|why| !why.is_empty()));
    // The shortest frame has two bytes.
    assert!((whole.messages.len() + whole.controls) * 2 <= input.bytes.len());
    let made: usize = whole.messages.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(made <= input.bytes.len() * if is_deflated { RATIO_MAX } else { 1 });
    let mut sent = Vec::new();
    for (is_text, bytes) in &whole.messages {
        assert!(!is_text || std::str::from_utf8(bytes).is_ok());
        sent.extend(compressed(*is_text, bytes));
    }
    let again = read_websocket(&sent, input.portion(), true);
    assert_eq!((again.messages, again.controls, again.error), (whole.messages, 0, None));
}

/// One frame, of a last block.
fn compressed(is_text: bool, message: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    DeflateEncoder::new(message, Compression::fast())
        .read_to_end(&mut payload)
        .expect("bytes of memory can be read");
    payload.push(0);
    let mut frame = vec![if is_text { 0xc1 } else { 0xc2 }, 127];
    frame.extend_from_slice(&(payload.len() as u64).to_be_bytes());
    frame.extend_from_slice(&payload);
    frame
}
