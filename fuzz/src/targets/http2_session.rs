//! HTTP/2 connections: every request ends at most once, windows hold, cuts change nothing.

use sojourn_http::foreign::converse;

use crate::Input;

/// More than this nobody need answer to so few bytes.
const REPLY_BYTES_PER_BYTE_MAX: usize = 8;

/// Option 0: our body is sent as soon as a window opens; 1: SETTINGS are put in front.
pub(crate) fn check(input: Input<'_>) {
    let bytes = if input.has(1) {
        [b"\0\0\0\x04\0\0\0\0\0", input.bytes].concat()
    } else {
        input.bytes.to_vec()
    };
    let whole = converse(&bytes, usize::MAX, false);
    let cut = converse(&bytes, input.portion(), false);
    assert_eq!(whole, cut);
    let sending = converse(&bytes, input.portion(), true);
    for found in [whole, sending] {
        assert!(found.error.is_some() || found.ended + found.open == 3, "{found:?}");
        assert!(found.ended + found.open <= 3, "{found:?}");
        assert!(found.bodies.len() <= bytes.len());
        assert!(found.replies.len() <= REPLY_BYTES_PER_BYTE_MAX * bytes.len() + 100);
    }
}
