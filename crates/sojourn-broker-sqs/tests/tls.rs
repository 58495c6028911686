//! Over TLS, as AWS is spoken to: behind what ends it before a server.
//!
//! Whom to trust stands in `AWS_CA_BUNDLE`, which is the whole process's: what needs it runs in a
//! process of its own, this binary again.

use std::path::Path;
use std::process::Command;

use sojourn_broker::Connect;
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Message, Publishing, Rig};
use sojourn_plan::{SqsChannel, SqsSource};
use sojourn_testkit::TlsFront;

use crate::own::take_from;
use crate::rig::{SqsRig, channel};
use crate::sns_rig::{SnsRig, topic_at};

/// Where the other process finds the front's port and the queue or topic.
const PORT: &str = "SOJOURN_SQS_TEST_TLS_PORT";
const SOURCE: &str = "SOJOURN_SQS_TEST_TLS_SOURCE";
const STORE: &str = "SOJOURN_SQS_TEST_TLS_STORE";

const COUNT: u64 = 25;

/// The channel of a queue or topic behind the front, with a copy to `store` if it is a queue.
fn secure(port: u16, source: &str, store: &str) -> SqsChannel {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let topic = topic_at(address, source, "anybody", "anything");
    let sqs = SqsChannel { endpoint: Some(format!("https://localhost:{port}")), ..topic };
    if source.starts_with("arn:") {
        return sqs;
    }
    let publish = vec![source.to_owned(), store.to_owned()];
    SqsChannel { source: SqsSource::Queue(source.to_owned()), discard: true, publish, ..sqs }
}

/// In the other process: messages there and back.
#[test]
fn the_other_process() {
    let Ok(port) = std::env::var(PORT) else { return };
    let (source, store) = (std::env::var(SOURCE).unwrap(), std::env::var(STORE).unwrap());
    let channel = channel(secure(port.parse().unwrap(), &source, &store));
    let mut tap = Sqs.tap(&channel).unwrap();
    tap.open().unwrap();
    let mut publishing = Publishing::to(&Sqs, &channel, source, 100);
    publishing.ready().unwrap();
    for number in 0..COUNT {
        publishing.send(&Message::numbered(number)).unwrap();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    let mut seen: Vec<_> =
        take_from(tap.as_mut(), COUNT as usize).0.into_iter().map(|(payload, _)| payload).collect();
    let mut sent: Vec<_> = (0..COUNT).map(|number| Message::numbered(number).payload).collect();
    seen.sort();
    sent.sort();
    assert!(seen == sent);
}

/// Has the other process trust this authority, and that the rig's server has got what it sent.
#[track_caller]
fn assert_there_and_back(mut rig: impl Rig, source: &str, store: &str) {
    let front = TlsFront::before(rig.address()).unwrap();
    let run = |ca: &Path| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tls::the_other_process", "--nocapture"])
            .env(PORT, front.port().to_string())
            .env(SOURCE, source)
            .env(STORE, store)
            .env("AWS_CA_BUNDLE", ca)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    };
    let other = TlsFront::before(rig.address()).unwrap();
    let (passed, said) = run(other.ca_file());
    assert!(!passed && said.contains("certificate"), "{said}");
    assert_eq!(rig.stored(), Some(Vec::new()));
    let (passed, said) = run(front.ca_file());
    assert!(passed && said.contains("1 passed"), "{said}");
    let mut stored = rig.stored().unwrap();
    stored.sort_unstable();
    assert_eq!(stored, (0..COUNT).collect::<Vec<_>>());
}

#[test]
fn a_queue_there_and_back() {
    assert_there_and_back(SqsRig::standard(), "events", "store");
}

#[test]
fn a_topic_there_and_back() {
    let rig = SnsRig::standard();
    let topic = rig.topic.clone();
    assert_there_and_back(rig, &topic, "");
}
