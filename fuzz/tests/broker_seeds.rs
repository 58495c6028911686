//! Seeds that are what a server really says are understood to their ends, or they would lead the
//! fuzzer nowhere.

use std::path::Path;

use sojourn_broker_amqp::foreign::read_frames as read_amqp;
use sojourn_broker_nats::foreign::read_frames as read_nats;
use sojourn_broker_postgres::foreign::read_messages;
use sojourn_broker_redis::foreign::read_answers;
use sojourn_vu::foreign::read_redis_replies;

/// The foreign bytes of a seed.
fn seed(target: &str, name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::read(folder.join(name)).unwrap().split_off(2)
}

#[test]
fn amqp() {
    for (name, frames) in [("login", 4), ("delivery", 4), ("returned-and-acked", 4), ("closed", 2)]
    {
        let bytes = seed("amqp_frames", name);
        let read = read_amqp(&bytes, usize::MAX, 131_072);
        assert_eq!((read.error, read.frame_bytes), (None, bytes.len()), "{name}");
        assert_eq!(read.frames, frames, "{name}");
    }
    let read = read_amqp(&seed("amqp_frames", "delivery"), 1, 131_072);
    assert_eq!(read.body_bytes, b"{\"a\":1}".len());
    let message = read.words.last().unwrap();
    for word in ["payments payment", "pay:1", "list.0", "in.d", "1700000000"] {
        // Values are shown as bytes.
        let bytes = format!("{:?}", word.as_bytes());
        assert!(message.contains(word) || message.contains(&bytes), "{word}: {message}");
    }
}

#[test]
fn nats() {
    for (name, frames) in [("greeting", 5), ("messages", 3), ("heartbeat", 1), ("headers", 1)] {
        let bytes = seed("nats_frames", name);
        let read = read_nats(&bytes, usize::MAX);
        assert_eq!((read.error, read.frame_bytes), (None, bytes.len()), "{name}");
        assert_eq!(read.frames.len(), frames, "{name}");
    }
}

#[test]
fn postgres() {
    let names = ["login", "rows", "error", "replication"];
    for (name, messages) in names.into_iter().zip([5, 4, 3, 11]) {
        let bytes = seed("postgres_messages", name);
        let read = read_messages(&bytes, usize::MAX);
        assert_eq!((read.error, read.message_bytes), (None, bytes.len()), "{name}");
        assert!(read.messages.len() >= messages, "{name}: {:?}", read.messages);
    }
    let changes = read_messages(&seed("postgres_messages", "replication"), 1).changes;
    assert_eq!(
        changes[0],
        r#"{"table":"outbox","op":"insert","row":{"id":1,"body":{"a":1},"note":null}}"#
    );
    assert_eq!(changes.len(), 3);
}

#[test]
fn redis() {
    for (name, answers) in [("kinds", 10), ("xread", 1), ("entry", 1), ("published", 3)] {
        let bytes = seed("redis_answers", name);
        let read = read_answers(&bytes, usize::MAX, 1 << 20);
        assert_eq!((read.error, read.answer_bytes), (None, bytes.len()), "{name}");
        assert_eq!(read.answers.len(), answers, "{name}");
    }
    let entry = read_answers(&seed("redis_answers", "entry"), 1, 1 << 20);
    assert_eq!(entry.objects, [&b"{\"a\":null,\"payload\":\"x\\r\\n\"}"[..], b"{\"a\":null}"]);
}

#[test]
fn redis_to_scripts() {
    for (name, replies) in [("kinds", 8), ("nested", 2), ("hgetall", 1), ("as-deep-as-can-be", 1)] {
        let read = read_redis_replies(&seed("redis_replies", name), 1);
        assert_eq!((read.error, read.replies.len()), (None, replies), "{name}");
    }
    let read = read_redis_replies(&seed("redis_replies", "too-deep"), 1);
    assert!(read.error.is_some_and(|why| why.contains("too many arrays")));
}
