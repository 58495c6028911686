//! Watching channels: each message is printed, rates are told, a lost tap ends it.

use std::time::Duration;

use sojourn_broker::{BrokerError, OpenDecoder, RawMessage, Sink, Tap, TapInfo};
use sojourn_live::{WatchOptions, Watched, watch};
use sojourn_plan::{Channel, Connector, Decoder, NatsChannel};

/// Hands over three messages, and is then silent or lost.
struct Three {
    left: u8,
    is_lost: bool,
}

impl Tap for Three {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        Ok(TapInfo::default())
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        std::thread::sleep(timeout);
        if self.left == 0 && self.is_lost {
            return Err(BrokerError::new("lost nats").with_hint("start it again"));
        }
        for number in 0..std::mem::take(&mut self.left) {
            let payload = format!("{{\"type\":\"Paid\",\"n\":{number}}}");
            sink.message(&RawMessage {
                stamp_ns: 1,
                topic: "orders",
                key: Some(b"k"),
                headers: Vec::new(),
                payload: payload.as_bytes(),
                position: None,
            });
        }
        Ok(())
    }

    fn watermark_ns(&self) -> u64 {
        0
    }
}

fn watched(is_lost: bool) -> Vec<Watched> {
    let channel = Channel {
        name: "events".to_owned(),
        connector: Connector::Nats(NatsChannel::default()),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    };
    let decoder = OpenDecoder::plain(Decoder::Auto);
    vec![Watched { channel, tap: Box::new(Three { left: 3, is_lost }), decoder }]
}

#[test]
fn every_message_is_printed_and_the_rate_told() {
    let options = WatchOptions { length_ns: Some(300_000_000), samples: 2, json: true };
    let (mut out, mut progress) = (Vec::new(), Vec::new());
    watch(watched(false), &options, &|| false, &mut out, &mut progress).unwrap();
    let out = String::from_utf8(out).unwrap();
    let numbers: Vec<u64> = out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["payload"]["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [0, 1, 2]);
    let progress = String::from_utf8(progress).unwrap();
    assert!(progress.contains("3/s") && progress.contains("Paid 3"), "{progress}");

    let words = WatchOptions { json: false, ..options };
    let mut out = Vec::new();
    watch(watched(false), &words, &|| false, &mut out, &mut Vec::new()).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out.lines().count(), 2, "samples only: {out}");
}

#[test]
fn a_lost_tap_ends_it_with_the_reason() {
    let options = WatchOptions::default();
    let lost = watch(watched(true), &options, &|| false, &mut Vec::new(), &mut Vec::new());
    assert_eq!(lost, Err("channel events: lost nats; start it again".to_owned()));
}
