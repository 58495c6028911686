//! Promise: a tap sees nothing of before its opening and everything after, as it was sent.

use crate::account::{assert_each_once, messages};
use crate::listener::{Book, Listener};
use crate::patience::wait_until;
use crate::{Message, Rig};

/// What was published before is not seen; what is published right after `open` returns is, though
/// the tap has not been polled even once.
pub fn nothing_before_and_everything_after(rig: &mut dyn Rig) {
    rig.publish(&messages(1_000..1_050));
    for round in 0..3_u64 {
        let mut tap = rig.connector().tap(&rig.channel(None)).unwrap();
        tap.open().unwrap();
        let opened_ns = sojourn_clock::now_ns();
        let numbers = round * 50..round * 50 + 50;
        rig.publish(&messages(numbers.clone()));
        let listener = Listener::of(tap);
        listener.wait_for_messages(50);
        listener.wait_for_watermark(opened_ns);
        let (_tap, book) = listener.stop();
        assert_each_once(rig, &book, numbers);
        assert_eq!(book.gaps, []);
        assert_positions(&book);
    }
}

/// Keys, headers and payloads come as they were sent, large and empty and binary ones too.
pub fn every_byte_as_it_was_sent(rig: &mut dyn Rig) {
    let can = rig.abilities();
    let mut payloads = vec![br#"{"n":0,"text":"gr\u00fc\u00df, \ud83d\ude00"}"#.to_vec()];
    payloads.push(b"{}".to_vec());
    if can.binary {
        payloads.push((0..=255).collect());
        payloads.push(vec![0xff; 3]);
    }
    if can.empty {
        payloads.push(Vec::new());
    }
    payloads.push(vec![b'x'; can.payload_bytes_max]);
    payloads.push(b"{\"last\":true}".to_vec());
    let sent: Vec<Message> = (0..)
        .zip(payloads)
        // One key: one partition, so that they come in this order.
        .map(|(number, payload)| Message {
            key: "key-0".to_owned(),
            ..Message::with_payload(number, payload)
        })
        .collect();
    let listener = Listener::open(rig, None);
    rig.publish(&sent);
    listener.wait_for_messages(sent.len() as u64);
    let (_tap, mut book) = listener.stop();
    if can.unordered {
        book.messages.sort_by_key(|seen| seen.header("number").map(<[u8]>::to_vec));
    }
    for (message, seen) in sent.iter().zip(&book.messages) {
        let number = message.number;
        assert_eq!(seen.payload.len(), message.payload.len(), "payload {number}");
        assert!(seen.payload == message.payload, "payload {number}");
        assert!(!seen.topic.is_empty(), "a message's topic");
        if can.keys {
            assert_eq!(seen.key.as_deref(), Some(message.key.as_bytes()), "key {number}");
        }
        for (name, value) in message.headers.iter().filter(|_| can.headers) {
            assert_eq!(seen.header(name), Some(value.as_slice()), "header {name} of {number}");
        }
    }
    assert_eq!(book.count, sent.len() as u64);
}

/// While messages come without an end, the watermark moves and every message is newer than it was.
pub fn the_watermark_follows(rig: &mut dyn Rig) {
    let listener = Listener::open(rig, None);
    let mut published = 0;
    for _ in 0..10 {
        rig.publish(&messages(published..published + 20));
        published += 20;
        let published_ns = sojourn_clock::now_ns();
        listener.wait_for_watermark(published_ns);
    }
    wait_until("all have come", || listener.book().count >= published);
    let (_tap, book) = listener.stop();
    assert_each_once(rig, &book, 0..published);
    assert!(book.watermarks.len() > 10);
}

/// Positions, where there are any, are unique and grow within their partition.
fn assert_positions(book: &Book) {
    let mut last = std::collections::HashMap::new();
    for seen in &book.messages {
        if let Some((partition, offset)) = seen.position {
            let before = last.insert(partition, offset);
            assert!(before.is_none_or(|before| before < offset), "{partition} {offset}");
        }
    }
    assert_eq!(book.rereads, 0, "nothing was read twice");
}
