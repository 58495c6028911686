//! Windows, bodies in turn, early answers.

use super::*;

#[test]
fn windows_are_renewed_and_no_byte_beyond_them_is_taken() {
    let mut session = with_streams();
    let head = frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x88");
    feed(&mut session, &head, 99).expect("valid");
    let data = |length: usize| frame(kind::DATA, 0, 1, &vec![0; length]);
    feed(&mut session, &data(500), 99).expect("valid");
    assert!(session.out.is_empty());
    feed(&mut session, &data(1), 99).expect("valid");
    let mut update = Vec::new();
    write_window_update(1, 501, &mut update);
    assert_eq!(session.out, update);
    feed(&mut session, &data(1_000), 99).expect("as much as allowed");
    let error = feed(&mut session, &data(1_001), 99).expect_err("one more");
    assert_eq!(error.code, ErrorCode::FLOW_CONTROL_ERROR);
    // Bytes for a stream that was given up count for the connection.
    let mut session = with_streams();
    session.cancel(1);
    session.out.clear();
    for _ in 0..5 {
        feed(&mut session, &data(10_001), 1 << 14).expect("valid");
    }
    let mut update = Vec::new();
    write_window_update(0, 50_005, &mut update);
    assert_eq!(session.out, update);
}

#[test]
fn bodies_are_sent_in_turn_within_the_windows() {
    let mut session = session();
    for exchange in 0..2 {
        let new = NewStream {
            exchange,
            block: b"\x83",
            has_body: true,
            head_only: false,
            keep_head: false,
        };
        session.open(new);
    }
    // A stream's window of 10, lowered to 4 after 6 are sent, then raised again.
    feed(&mut session, &settings(&[(4, 10)]), 99).expect("valid");
    session.out.clear();
    let turn = |session: &mut Session, bytes: usize, is_last: bool| {
        let turn = session.turn()?;
        let bytes = bytes.min(turn.bytes_max);
        session.send_body(turn, &vec![b'x'; bytes], is_last);
        Some((turn.exchange, bytes))
    };
    assert_eq!(turn(&mut session, 6, false), Some((0, 6)));
    assert_eq!(turn(&mut session, 99, false), Some((1, 10)));
    feed(&mut session, &settings(&[(4, 4)]), 99).expect("valid");
    assert_eq!(turn(&mut session, 99, false), None);
    let mut update = Vec::new();
    write_window_update(1, 3, &mut update);
    feed(&mut session, &update, 99).expect("valid");
    assert_eq!(turn(&mut session, 99, false), Some((0, 1)));
    assert_eq!(turn(&mut session, 99, false), None);
    // Windows that settings open are open for all, in no certain order.
    feed(&mut session, &settings(&[(4, 100_000)]), 99).expect("valid");
    let both = [turn(&mut session, 99, false), turn(&mut session, 99, false)];
    assert!(both.contains(&Some((0, 99))) && both.contains(&Some((1, 99))));
    session.cancel(3);
    // The connection's window is another: 65535, less what was sent.
    let mut sent = 6 + 10 + 1 + 99 + 99;
    while let Some((exchange, bytes)) = turn(&mut session, usize::MAX, false) {
        assert_eq!(exchange, 0);
        sent += bytes;
    }
    assert_eq!(sent, 65_535);
    assert!(!session.has_turns());
    let mut update = Vec::new();
    write_window_update(0, 1, &mut update);
    feed(&mut session, &update, 99).expect("valid");
    assert_eq!(turn(&mut session, 99, true), Some((0, 1)));
    assert_eq!(turn(&mut session, 99, true), None);
}

#[test]
fn an_answer_before_the_whole_request_gives_the_rest_up() {
    let mut session = session();
    let new =
        NewStream { exchange: 0, block: b"", has_body: true, head_only: false, keep_head: false };
    session.open(new);
    session.out.clear();
    let mut bytes = settings(&[]);
    bytes.extend(frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, b"\x88"));
    let told = feed(&mut session, &bytes, 99);
    assert_eq!(told, Ok(vec![Told::Head(0, 200), Told::End(0)]));
    let mut reset = Vec::new();
    write_reset(1, ErrorCode::CANCEL, &mut reset);
    assert!(session.out.ends_with(&reset));
    assert_eq!(session.turn(), None);
}

#[test]
fn answers_to_head_have_no_body() {
    let mut session = session();
    let new =
        NewStream { exchange: 0, block: b"", has_body: false, head_only: true, keep_head: false };
    session.open(new);
    let mut bytes = settings(&[]);
    let ends = flag::END_HEADERS | flag::END_STREAM;
    bytes.extend(frame(kind::HEADERS, ends, 1, b"\x88\x0f\x0d\x015"));
    assert_eq!(feed(&mut session, &bytes, 99), Ok(vec![Told::Head(0, 200), Told::End(0)]));
}
