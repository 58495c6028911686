//! Frames of an AMQP broker and the messages in them: cuts change nothing, a frame is not longer
//! than agreed, and a message not longer than what came.

use sojourn_broker_amqp::foreign::read_frames;

use crate::Input;

/// As RabbitMQ proposes, and the least that AMQP allows.
const FRAME_MAX: usize = 131_072;
const FRAME_MIN: usize = 4_096;
/// Kind, channel, length and end.
const OVERHEAD: usize = 8;

/// Option 0: the least bound on a frame instead of the usual one.
pub(crate) fn check(input: Input<'_>) {
    let frame_max = if input.has(0) { FRAME_MIN } else { FRAME_MAX };
    let whole = read_frames(input.bytes, usize::MAX, frame_max);
    assert_eq!(whole, read_frames(input.bytes, input.portion(), frame_max));
    assert!(whole.frame_bytes <= input.bytes.len());
    assert!(whole.frame_bytes <= whole.frames * frame_max);
    assert!(whole.body_bytes + whole.frames * OVERHEAD <= whole.frame_bytes);
}
