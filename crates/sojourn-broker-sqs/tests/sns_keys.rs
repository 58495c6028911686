//! Keys, at a server that checks each signature by AWS's own code, and then what its owner may do.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::json;
use sojourn_broker::{BrokerError, Connect};
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Message, Publishing};
use sojourn_services::{Moto, Service};

use crate::client::{post, queues};
use crate::own::take_from;
use crate::rig::channel;
use crate::sns_client::{create_topic, query, subscribed, texts};
use crate::sns_rig::topic_at;

const ALL: &[&str] = &["sqs:*", "sns:*"];

/// A server, a topic, and the keys of a user.
struct Guarded {
    server: Moto,
    topic: String,
    id: String,
    secret: String,
}

impl Guarded {
    /// Whose user may do these things.
    fn allowing(actions: &[&str]) -> Self {
        let server = Moto::start().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
        let topic = create_topic(address, "orders");
        let user = ("UserName", "load");
        query(address, "iam", &[("Action", "CreateUser"), user]);
        let keys = query(address, "iam", &[("Action", "CreateAccessKey"), user]);
        let statement = json!({ "Effect": "Allow", "Action": actions, "Resource": "*" });
        let policy = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
        let put = [
            ("Action", "PutUserPolicy"),
            user,
            ("PolicyName", "load"),
            ("PolicyDocument", &*policy),
        ];
        query(address, "iam", &put);
        let one = |name: &str| texts(&keys, name).remove(0);
        let (id, secret) = (one("AccessKeyId"), one("SecretAccessKey"));
        let guarded = Self { server, topic, id, secret };
        guarded.checks(true);
        guarded
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port()))
    }

    fn checks(&self, on: bool) {
        // After so many requests.
        let count = if on { "0" } else { "inf" };
        post(self.address(), "/moto-api/reset-auth", "", count);
    }

    /// What is there, whoever asks.
    fn footprint(&self) -> (Vec<String>, Vec<String>) {
        self.checks(false);
        let footprint = (queues(self.address()), subscribed(self.address()));
        self.checks(true);
        footprint
    }

    /// What a tap with these keys says, and what a publisher does.
    fn refusals(&self, id: &str, secret: &str) -> (BrokerError, Vec<String>) {
        let topic = channel(topic_at(self.address(), &self.topic, id, secret));
        let mut publishing = Publishing::to(&Sqs, &topic, self.topic.clone(), 10);
        publishing.send(&Message::numbered(1)).unwrap();
        publishing.settle();
        let mut tap = Sqs.tap(&topic).unwrap();
        (tap.open().unwrap_err(), publishing.failures())
    }
}

/// Both services take our signatures, whatever stands in a message.
#[test]
fn signatures_are_right() {
    let guarded = Guarded::allowing(ALL);
    let topic = topic_at(guarded.address(), &guarded.topic, &guarded.id, &guarded.secret);
    let topic = channel(topic);
    let mut tap = Sqs.tap(&topic).unwrap();
    tap.open().unwrap();
    let mut publishing = Publishing::to(&Sqs, &topic, guarded.topic.clone(), 10);
    // No blank: the server signs a body that it has put together again, with `+` for it.
    let text = r#"{"n":1,"text":"ü&=+%~*'\n"}"#;
    publishing.send(&Message::with_payload(1, text.as_bytes().to_vec())).unwrap();
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    assert_eq!(take_from(tap.as_mut(), 1).0[0].0, text.as_bytes());
    drop(tap);
    assert_eq!(guarded.footprint(), (Vec::new(), Vec::new()));
}

#[test]
fn wrong_keys_are_named_and_never_shown() {
    let guarded = Guarded::allowing(ALL);
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    for (id, code) in
        [(guarded.id.as_str(), "SignatureDoesNotMatch"), ("AKIANOBODY", "InvalidClientTokenId")]
    {
        let (error, failures) = guarded.refusals(id, secret);
        assert!(error.message.contains(code), "{error}");
        assert!(error.hint.as_ref().unwrap().contains("AWS_SECRET_ACCESS_KEY"), "{error:?}");
        assert_eq!(failures, [format!("refused: {code}")]);
        assert!(!format!("{error:?} {error}").contains(secret));
    }
    assert_eq!(guarded.footprint(), (Vec::new(), Vec::new()));
}

/// Who may make a queue and not subscribe it leaves none behind.
#[test]
fn what_is_not_allowed_is_named() {
    let guarded = Guarded::allowing(&["sqs:*"]);
    let (error, failures) = guarded.refusals(&guarded.id, &guarded.secret);
    assert!(error.message.contains("sns at") && error.message.contains("AccessDenied"));
    assert!(error.message.contains("sns:Subscribe"), "{error}");
    assert!(error.hint.unwrap().contains("docs/brokers/sqs.md"));
    assert_eq!(failures, ["refused: AccessDenied"]);
    assert_eq!(guarded.footprint(), (Vec::new(), Vec::new()));
}
