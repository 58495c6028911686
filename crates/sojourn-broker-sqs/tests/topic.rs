//! What a topic's tap and publisher do when SNS refuses: what no real server can be made to.
//!
//! Before ElasticMQ stands a server of our own that answers SNS's requests as its documentation has
//! them and passes SQS's on. What goes well is proven on a real server (`sns`).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sojourn_broker::{RawMessage, Sink};
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Message, Publishing, Rig, wait_until};
use sojourn_plan::{SqsChannel, SqsSource};

use crate::before::answering;
use crate::client::{queues, send};
use crate::rig::{SqsRig, channel};

const TOPIC: &str = "arn:aws:sns:us-east-1:000000000000:orders";

/// Bodies of SNS's requests.
type Asked = Arc<Mutex<Vec<String>>>;

/// The server; `refused`: an action that it refuses.
fn topic_server(sqs: SocketAddr, refused: &'static str) -> (SocketAddr, Asked) {
    let asked = Asked::default();
    let book = Arc::clone(&asked);
    let address = answering(move |request| match request.action() {
        Some(_) => request.passed_on(sqs),
        None => answer(&request.body, refused, &book),
    });
    (address, asked)
}

fn answer(body: &str, refused: &str, asked: &Asked) -> Option<Vec<u8>> {
    asked.lock().unwrap().push(body.to_owned());
    let action = body.split('&').find_map(|pair| pair.strip_prefix("Action="))?;
    let (status, text) = match action {
        action if action == refused => (
            "403 Forbidden",
            "<ErrorResponse><Error><Type>Sender</Type><Code>AuthorizationError</Code>\
             <Message>not allowed</Message></Error></ErrorResponse>",
        ),
        "Subscribe" => ("200 OK", "<R><SubscriptionArn>arn:sub:1</SubscriptionArn></R>"),
        "GetSubscriptionAttributes" => (
            "200 OK",
            "<R><Attributes><entry><key>PendingConfirmation</key><value>false</value></entry>\
             </Attributes></R>",
        ),
        "PublishBatch" => (
            "200 OK",
            "<R><Successful><member><Id>0</Id></member></Successful><Failed><member><Id>1</Id>\
             <Code>InternalError</Code></member></Failed></R>",
        ),
        _ => ("200 OK", "<R/>"),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    Some(answer.into_bytes())
}

fn topic(server: SocketAddr) -> SqsChannel {
    SqsChannel {
        endpoint: Some(format!("http://{server}")),
        region: None,
        source: SqsSource::Topic(TOPIC.to_owned()),
        ..SqsChannel::default()
    }
}

#[derive(Default)]
struct Payloads(Vec<Vec<u8>>);

impl Sink for Payloads {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.0.push(message.payload.to_vec());
    }
}

#[test]
fn a_queue_is_made_subscribed_and_removed() {
    let rig = SqsRig::standard();
    let before = queues(rig.address());
    let (server, asked) = topic_server(rig.address(), "");
    let mut tap = rig.connector().tap(&channel(topic(server))).unwrap();
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains(TOPIC), "{}", info.listens_to);
    let during = queues(rig.address());
    let own: Vec<_> = during.iter().filter(|url| !before.contains(url)).collect();
    assert!(own.len() == 1 && own[0].contains("/sojourn-tap-"), "{own:?}");
    let name = own[0].rsplit('/').next().unwrap().to_owned();
    let subscribe = asked.lock().unwrap()[0].clone();
    assert!(subscribe.contains("Action=Subscribe") && subscribe.contains(&name), "{subscribe}");
    assert!(subscribe.contains("RawMessageDelivery"), "{subscribe}");
    send(rig.address(), &rig.url(&name), &[Message::numbered(5)]);
    let mut payloads = Payloads::default();
    wait_until("the topic's message", || {
        tap.poll(Duration::from_millis(20), &mut payloads).unwrap();
        payloads.0.len() == 1
    });
    assert_eq!(payloads.0[0], Message::numbered(5).payload);
    drop(tap);
    assert_eq!(queues(rig.address()), before, "nothing is left behind");
    let last = asked.lock().unwrap().last().cloned().unwrap();
    assert!(last.contains("Action=Unsubscribe") && last.contains("arn%3Asub%3A1"), "{last}");
}

#[test]
fn nothing_is_left_behind_when_subscribing_is_refused() {
    let rig = SqsRig::standard();
    let before = queues(rig.address());
    let (server, _asked) = topic_server(rig.address(), "Subscribe");
    let mut tap = rig.connector().tap(&channel(topic(server))).unwrap();
    let error = tap.open().unwrap_err();
    assert!(error.message.contains("sns at") && error.message.contains("AuthorizationError"));
    assert!(error.message.contains("not allowed") && error.hint.is_some(), "{error}");
    assert_eq!(queues(rig.address()), before);
}

#[test]
fn a_topics_refusals_are_outcomes() {
    let rig = SqsRig::standard();
    let (server, asked) = topic_server(rig.address(), "");
    // Two in one batch, which a busy machine may tear apart.
    wait_until("a batch of two", || {
        let topic = channel(topic(server));
        let mut publishing = Publishing::to(&Sqs, &topic, TOPIC.to_owned(), 10);
        publishing.ready().unwrap();
        // That asks whether the topic is there.
        asked.lock().unwrap().clear();
        publishing.send(&Message::numbered(0)).unwrap();
        publishing.send(&Message::numbered(1)).unwrap();
        publishing.settle();
        let together = asked.lock().unwrap().len() == 1;
        if together {
            assert_eq!(publishing.acked(), [0]);
            assert_eq!(publishing.failures(), ["refused: InternalError"]);
        }
        together
    });
    let asked = asked.lock().unwrap().clone();
    let name = "PublishBatchRequestEntries.member.1.MessageAttributes.entry.1.Name=sojourn-run";
    assert!(asked[0].contains(name), "{}", asked[0]);
}
