//! Messages in a queue of their own, beside what the client says of itself.

use super::*;

/// Takes its time with each message.
#[derive(Default)]
struct Slow(usize);

impl Sink for Slow {
    fn message(&mut self, _: &RawMessage<'_>) {
        self.0 += 1;
        let until_ns = now_ns() + SECOND_NS / 2_000;
        while now_ns() < until_ns {
            std::hint::spin_loop();
        }
    }
}

fn publish_many(cluster: &Cluster, count: usize) {
    let texts: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    let messages: Vec<_> = texts.iter().map(|text| ("k", text.as_str())).collect();
    publish(&mut publisher_with(cluster, count), "events", &messages);
}

#[test]
fn many_messages_come_once_each_and_in_order() {
    let cluster = cluster(&[("events", 1)]);
    let mut tap = open(&cluster, &["events"]);
    publish_many(&cluster, 3_000);
    let seen = read(&mut tap, 3_000);
    let numbers = seen.iter().map(|seen| seen.payload.parse::<u64>().unwrap());
    assert!(numbers.eq(0..3_000));
    let offsets = seen.iter().map(|seen| seen.position.unwrap().offset);
    assert!(offsets.eq(0..3_000));
    assert!(seen.is_sorted_by_key(|seen| seen.stamp_ns));
}

#[test]
fn statistics_are_heard_while_messages_never_run_out() {
    let cluster = cluster(&[("events", 1)]);
    let mut tap = open(&cluster, &["events"]);
    publish_many(&cluster, 6_000);
    let mut slow = Slow::default();
    // Half a second each, of which the first statistics take one.
    for poll in 1..=3 {
        let watermark_ns = tap.watermark_ns();
        while slow.0 < poll * 1_024 {
            tap.poll(Duration::from_millis(50), &mut slow).unwrap();
        }
        // None was found to be the last, or the watermark would have moved.
        assert!(poll == 1 || tap.watermark_ns() == watermark_ns, "poll {poll}: {}", slow.0);
    }
    assert!(tap.behind_ns().is_some());
}

#[test]
fn a_tap_that_is_dropped_leaves_its_messages_behind() {
    let cluster = cluster(&[("events", 2)]);
    let mut tap = open(&cluster, &["events"]);
    publish_many(&cluster, 3_000);
    let mut seen = Collect::default();
    while seen.0.is_empty() {
        tap.poll(Duration::from_millis(50), &mut seen).unwrap();
    }
    assert!(seen.0.len() < 3_000, "some are left");
    let begun_ns = now_ns();
    drop(tap);
    assert!(now_ns() - begun_ns < PATIENCE_NS);
    // The next one begins at the end.
    let mut next = open(&cluster, &["events"]);
    publish_many(&cluster, 1);
    assert_eq!(read(&mut next, 1).len(), 1);
}
