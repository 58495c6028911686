//! Replies of Redis to scripts: cuts change nothing, depth is bounded, and what was read and is
//! written as servers write it is read as the same.

use sojourn_vu::foreign::read_redis_replies;

use crate::Input;

/// Deepest arrays within arrays that are taken.
const DEPTH_MAX: usize = 32;

pub(crate) fn check(input: Input<'_>) {
    let whole = read_redis_replies(input.bytes, usize::MAX);
    assert_eq!(whole, read_redis_replies(input.bytes, input.portion()));
    // An empty array within the deepest is one more.
    assert!(whole.depth <= DEPTH_MAX + 1, "{}", whole.depth);
    // The shortest reply has three bytes.
    assert!(whole.replies.len() * 3 <= input.bytes.len());
    assert!(whole.error.as_ref().is_none_or(|why| !why.is_empty()));
    let written = whole.replies.concat();
    let again = read_redis_replies(&written, usize::MAX);
    assert_eq!((again.replies, again.error), (whole.replies, None));
}
