//! Frames of a NATS server: cuts change nothing, and nothing is longer than what came.

use sojourn_broker_nats::foreign::read_frames;

use crate::Input;

/// No options. That what is asked for is needed, and is never more than the frame has, is asserted
/// where the bytes come.
pub(crate) fn check(input: Input<'_>) {
    let whole = read_frames(input.bytes, usize::MAX);
    assert_eq!(whole, read_frames(input.bytes, input.portion()));
    assert!(whole.frame_bytes <= input.bytes.len());
    assert!(whole.message_bytes <= whole.frame_bytes || whole.error.is_some());
    // The shortest frame is `+OK` and its line feed.
    assert!(whole.frames.len() * 4 <= input.bytes.len());
}
