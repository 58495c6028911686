//! A session of a client with a loop of its own, on any bytes.

use proptest::prelude::*;
use sojourn_broker_mqtt::session::{Event, Session};

/// Packets that a broker of 3.1.1 sends, among them both copies of a message of QoS 2.
const PACKETS: &[&[u8]] = &[
    b"\x20\x02\0\0",
    b"\x30\x0a\0\x01tpayload",
    b"\x32\x06\0\x01t\0\x07p",
    b"\x34\x06\0\x01t\0\x07p",
    b"\x3c\x06\0\x01t\0\x07p",
    b"\x62\x02\0\x07",
    b"\x40\x02\0\x07",
    b"\x50\x02\0\x07",
    b"\x70\x02\0\x07",
    b"\x90\x04\0\x01\0\x80",
    b"\xb0\x02\0\x02",
    b"\xd0\0",
];

/// Events, answers, and why it ended.
type Heard = (Vec<Event>, Vec<u8>, Option<&'static str>);

fn hear(bytes: &[u8], portion: usize) -> Heard {
    let (mut session, mut events, mut answers) = (Session::default(), Vec::new(), Vec::new());
    for portion in bytes.chunks(portion) {
        session.room().extend(portion);
        loop {
            match session.next(&mut answers) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(why) => return (events, answers, Some(why)),
            }
        }
    }
    (events, answers, None)
}

fn check(bytes: &[u8], portion: usize) -> Heard {
    let whole = hear(bytes, bytes.len().max(1));
    assert_eq!(whole, hear(bytes, portion));
    // Nothing is longer than what came: an answer is as long as the shortest packet that wants one.
    let payloads = whole.0.iter().map(|event| match event {
        Event::Message { topic, payload } => topic.len() + payload.len(),
        _ => 0,
    });
    assert!(payloads.sum::<usize>() <= bytes.len() && whole.1.len() <= bytes.len());
    whole
}

#[test]
fn sessions_are_heard_alike_however_they_are_cut() {
    let all = PACKETS.concat();
    for portion in 1..=all.len() {
        let (events, answers, error) = check(&all, portion);
        // The second copy, PUBREC, PUBREL and the ping's answer are no events.
        assert_eq!((events.len(), error), (PACKETS.len() - 4, None));
        // PUBACK, PUBREC twice, PUBCOMP, PUBREL.
        assert_eq!(answers.len(), 5 * 4);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_heard_alike(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        portion in 1_usize..40,
    ) {
        check(&bytes, portion);
    }

    #[test]
    fn mutated_sessions_are_heard_alike(
        picks in prop::collection::vec(0..PACKETS.len(), 1..8),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        portion in 1_usize..20,
    ) {
        let mut bytes: Vec<u8> = picks.iter().flat_map(|pick| PACKETS[*pick]).copied().collect();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        check(&bytes, portion);
    }
}
