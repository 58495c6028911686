//! What a request asks of the mock, in its query and its header.

use sojourn_mock::wishes;

use crate::Input;

/// A line for the query, the rest for the header.
pub(crate) fn check(input: Input<'_>) {
    let end = input.bytes.iter().position(|byte| *byte == b'\n').unwrap_or(input.bytes.len());
    let (query, header) = input.bytes.split_at(end);
    let target = format!("/?{}", String::from_utf8_lossy(query));
    let header = header.strip_prefix(b"\n").unwrap_or_default();
    let wished = wishes(&target, header);
    assert_eq!(wished, wishes(&target, header));
    if let Ok((_, Some(status))) = wished {
        assert!((200..=999).contains(&status));
    }
}
