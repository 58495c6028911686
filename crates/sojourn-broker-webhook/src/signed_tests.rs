//! Signed requests, failing and late answers, over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sojourn_broker::{RawMessage, Sink, Tap};
use sojourn_clock::{Anchor, MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::{Secret, WebhookAnswer, WebhookChannel, WebhookFailures, WebhookSignature};

use crate::WebhookTap;
use crate::tests::{post, settings};

const KEY: &[u8] = b"only the sender knows";

#[derive(Default)]
struct Kept {
    events: Vec<String>,
    unacceptable: Vec<String>,
}

impl Sink for Kept {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.events.push(String::from_utf8_lossy(message.payload).into_owned());
    }

    fn unacceptable(&mut self, _message: &RawMessage<'_>, reason: &str) {
        self.unacceptable.push(reason.to_owned());
    }
}

fn open(webhook: WebhookChannel) -> (WebhookTap, SocketAddr) {
    let mut tap = WebhookTap::new(webhook);
    let address = tap.open().unwrap().address.unwrap();
    (tap, address)
}

fn read(tap: &mut WebhookTap, count: usize) -> Kept {
    let mut kept = Kept::default();
    let deadline_ns = now_ns() + 10 * SECOND_NS;
    while kept.events.len() + kept.unacceptable.len() < count && now_ns() < deadline_ns {
        tap.poll(Duration::from_millis(50), &mut kept).unwrap();
    }
    assert_eq!(kept.events.len() + kept.unacceptable.len(), count);
    kept
}

fn signed(id: &str, seconds: u64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, KEY);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    let signature = BASE64.encode(tag.as_ref());
    format!(
        "webhook-id: {id}\r\nwebhook-timestamp: {seconds}\r\nwebhook-signature: v1,{signature}\r\n"
    )
}

#[test]
fn only_what_is_signed_is_an_event_and_the_rest_is_told() {
    let secret = Secret::new(format!("whsec_{}", BASE64.encode(KEY)));
    let signature = Some(WebhookSignature::Standard { secret, tolerance_ns: 60 * SECOND_NS });
    let (mut tap, address) = open(WebhookChannel { signature, ..settings("/hook") });
    let seconds = Anchor::now().unix_ns / SECOND_NS;
    let good = signed("a", seconds, "1");
    assert_eq!(post(address, "/hook", &good, "1"), 204);
    assert_eq!(post(address, "/hook", &good, "2"), 401);
    assert_eq!(post(address, "/hook", "", "3"), 401);
    assert_eq!(post(address, "/hook", &signed("b", seconds - 3_600, "4"), "4"), 401);
    assert_eq!(post(address, "/hook", &signed("c", seconds, "5"), "5"), 204);
    assert_eq!(post(address, "/elsewhere", "", "6"), 404);
    let kept = read(&mut tap, 5);
    assert_eq!(kept.events, ["1", "5"]);
    let reasons = [
        "the signature is wrong",
        "a header of the signature is missing",
        "the timestamp is too far from this machine's time",
    ];
    assert_eq!(kept.unacceptable, reasons);
    assert_eq!(tap.refused(), 0, "no bound refused them");
    assert!(!format!("{tap:?}").contains(&BASE64.encode(KEY)), "no secret is shown");
}

#[test]
fn failing_and_late_answers_are_events_all_the_same() {
    let fail = WebhookFailures { status: 503, share: 1.0, deliveries: Some(2) };
    let after_ns = 30 * MILLISECOND_NS;
    let respond =
        WebhookAnswer { status: 202, after_ns, fail: Some(fail), ..WebhookAnswer::default() };
    let (mut tap, address) = open(WebhookChannel { respond, ..settings("/*") });
    let began_ns = now_ns();
    let statuses = [0; 3].map(|_| post(address, "/", "webhook-id: a\r\n", "x"));
    assert_eq!(statuses, [503, 503, 202]);
    assert!(now_ns() - began_ns >= 3 * after_ns);
    assert_eq!(post(address, "/", "webhook-id: b\r\n", "y"), 503);
    assert_eq!(read(&mut tap, 4).events, ["x", "x", "x", "y"]);
    assert_eq!(tap.refused(), 0);
}
