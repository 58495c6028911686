//! The parser of events: by the standard's own rules, however the bytes are cut.

use proptest::prelude::*;
use sojourn_broker_stream::foreign::{Events, read_events};

fn check(bytes: &[u8], portion: usize) -> Events {
    let whole = read_events(bytes, usize::MAX);
    assert_eq!(whole, read_events(bytes, portion));
    let total: usize = whole.events.iter().map(|(name, _, data)| name.len() + data.len()).sum();
    // An event without a name is called `message`.
    assert!(total <= bytes.len() + 7 * whole.events.len());
    whole
}

/// Events as `name|id|data`.
fn shown(bytes: &[u8]) -> Vec<String> {
    let found = check(bytes, 1);
    for portion in 2..=bytes.len().max(2) {
        assert_eq!(check(bytes, portion), found);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let events = found.events.iter();
    events.map(|(name, id, data)| [text(name), text(id), text(data)].join("|")).collect()
}

#[test]
fn the_standards_own_examples() {
    let stream = b"data: YHOO\ndata: +2\ndata: 10\n\n";
    assert_eq!(shown(stream), ["message||YHOO\n+2\n10"]);
    let stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
        data:  third event\n";
    assert_eq!(shown(stream), ["message|1|first event", "message||second event"]);
    assert_eq!(shown(b"data\n\ndata\ndata\n\ndata:"), ["message||", "message||\n"]);
    assert_eq!(shown(b"data:test\n\ndata: test\n\n"), ["message||test", "message||test"]);
}

#[test]
fn line_ends_names_ids_and_marks() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = ["event: paid", "id: 7", "data: {}", "", "data: x", "", ""].join(end);
        assert_eq!(shown(stream.as_bytes()), ["paid|7|{}", "message|7|x"], "{end:?}");
    }
    assert_eq!(shown(b"data: a\r\ndata: b\rdata: c\n\r\n"), ["message||a\nb\nc"]);
    assert_eq!(shown(b"\xef\xbb\xbfdata: a\n\n"), ["message||a"]);
    assert_eq!(shown(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n"), [""; 0]);
    // A name without data is no event, and does not stay.
    assert_eq!(shown(b"event: x\n\ndata: a\n\n"), ["message||a"]);
    assert_eq!(shown(b"id: 1\n\ndata: a\n\nid: 2\0\ndata: b\n\n"), ["message|1|a", "message|1|b"]);
    assert_eq!(shown(b"Data: a\n data: b\ndata : c\n\n"), [""; 0]);
    assert_eq!(shown(b"data: \xff\xfe\n\n"), ["message||\u{fffd}\u{fffd}"]);
    let found = check(b"retry: 10\nretry: 1x\nretry\nid: 5\n\nid: 6\nretry: 200", 3);
    // Neither the id nor the pause of what is not whole counts.
    assert_eq!((found.retry_ms, found.last_id.as_slice()), (Some(10), &b"5"[..]));
    assert_eq!(check(b"retry: 99999999999999999999\n", 1).retry_ms, Some(u64::MAX));
}

#[test]
fn what_never_ends_is_given_up() {
    let line = vec![b'x'; 17 << 20];
    assert!(read_events(&line, 1 << 16).is_too_long);
    let line = [b"data: ".as_slice(), &vec![b'x'; 1 << 20], b"\n"].concat();
    assert!(read_events(&line.repeat(17), 1 << 16).is_too_long);
    assert!(!read_events(&line.repeat(15), 1 << 16).is_too_long);
}

proptest! {
    #[test]
    fn any_bytes_are_read_alike_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        portion in 1_usize..40,
    ) {
        check(&bytes, portion);
    }

    #[test]
    fn any_lines_are_read_alike_however_they_are_cut(
        lines in prop::collection::vec(
            "(data|id|event|retry|:|x|\u{feff}data|)(: ?)?[a-z0-9 ]{0,5}(\r|\n|\r\n)", 0..30),
        portion in 1_usize..20,
    ) {
        check(lines.concat().as_bytes(), portion);
    }

    #[test]
    fn what_a_server_writes_is_read(
        events in prop::collection::vec(("[a-z]{1,8}", "[0-9]{1,4}", "[ -~]{0,30}"), 0..20),
        portion in 1_usize..50,
    ) {
        let mut stream = String::new();
        for (name, id, data) in &events {
            stream.push_str(&format!("event: {name}\nid: {id}\ndata: {data}\n\n"));
        }
        let found = check(stream.as_bytes(), portion);
        let expected: Vec<_> = events
            .iter()
            .map(|(name, id, data)| {
                (name.clone().into_bytes(), id.clone().into_bytes(), data.clone().into_bytes())
            })
            .collect();
        prop_assert_eq!(found.events, expected);
    }
}
