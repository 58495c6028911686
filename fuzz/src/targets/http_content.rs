//! Coded bodies: the bound holds, and it does not matter how they are cut.

use sojourn_http::foreign::{Content, read_content};

use crate::Input;

const BYTES_MAX: usize = 10_000;

/// Options 0 and 1: the coding; 2: what is too much is only counted.
pub(crate) fn check(input: Input<'_>) {
    let content = match input.options & 3 {
        0 => Content::Gzip,
        1 | 2 => Content::Deflate,
        _ => Content::Identity,
    };
    let truncates = input.has(2);
    let whole = read_content(content, [input.bytes], BYTES_MAX, truncates);
    let cut = read_content(content, input.portions(), BYTES_MAX, truncates);
    if let (Ok(_), _) | (_, Ok(_)) = (&whole, &cut) {
        assert_eq!(whole, cut);
    }
    if let Ok((kept, total)) = whole {
        assert!(kept.len() <= BYTES_MAX);
        assert_eq!(kept.len() as u64, total.min(BYTES_MAX as u64));
        assert!(truncates || total <= BYTES_MAX as u64);
    }
}
