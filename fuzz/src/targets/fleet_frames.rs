//! Frames of a fleet's link: cuts change nothing, and what is read can be written and read again.

use sojourn_fleet::{Decoder, Frame, FrameError};

use crate::Input;

pub(crate) fn check(input: Input<'_>) {
    let whole = read(input.bytes, usize::MAX);
    assert_eq!(whole, read(input.bytes, input.portion()));
    let (frames, _) = whole;
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| frame.encode(&mut bytes));
    assert_eq!(read(&bytes, usize::MAX), (frames, None));
}

/// What comes of bytes that come in portions: frames, and the error that ended them.
fn read(bytes: &[u8], portion: usize) -> (Vec<Frame>, Option<FrameError>) {
    let (mut decoder, mut frames) = (Decoder::default(), Vec::new());
    for portion in bytes.chunks(portion) {
        decoder.push(portion);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}
