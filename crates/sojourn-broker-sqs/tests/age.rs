//! The age of the oldest message, at a server that speaks CloudWatch.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::json;
use sojourn_broker::{BrokerError, Connect, Figure};
use sojourn_broker_sqs::Sqs;
use sojourn_plan::SqsSource;
use sojourn_services::{Moto, Service};

use crate::client::create;
use crate::rig::SqsRig;
use crate::rig::channel;
use crate::sns_client::query;
use crate::sns_rig::topic_at;

/// What SQS would tell CloudWatch, of a minute so many minutes ago.
fn tell(server: SocketAddr, queue: &str, minutes_ago: i64, seconds: &str) {
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes_ago);
    let at = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let pairs = [
        ("Action", "PutMetricData"),
        ("Namespace", "AWS/SQS"),
        ("MetricData.member.1.MetricName", "ApproximateAgeOfOldestMessage"),
        ("MetricData.member.1.Dimensions.member.1.Name", "QueueName"),
        ("MetricData.member.1.Dimensions.member.1.Value", queue),
        ("MetricData.member.1.Timestamp", &*at),
        ("MetricData.member.1.Value", seconds),
        ("MetricData.member.1.Unit", "Seconds"),
    ];
    query(server, "monitoring", &pairs);
}

/// A queue, its figure, and how much.
type Told = (String, Figure, f64);

/// The figures of a backlog's names.
fn read(channel: &sojourn_plan::Channel) -> (Vec<Told>, Result<(), BrokerError>) {
    let mut backlog = Sqs.backlog(channel).unwrap().unwrap();
    let mut readings = Vec::new();
    let read = backlog.read(Duration::from_secs(10), &mut readings);
    (readings.into_iter().map(|it| (it.of, it.figure, it.value)).collect(), read)
}

#[test]
fn cloudwatch_tells_the_age_of_the_oldest_and_none_is_not_zero() {
    let server = Moto::shared().unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
    create(address, "aged", json!({}));
    tell(address, "aged", 4, "7");
    tell(address, "aged", 2, "67");
    tell(address, "of-yesterday", 1_440, "3");
    let mut sqs = topic_at(address, "", "anybody", "anything");
    sqs.source = SqsSource::Queue("aged".to_owned());
    let mut channel = channel(sqs);
    channel.backlog =
        ["cloudwatch:aged", "cloudwatch:of-yesterday", "aged"].map(str::to_owned).to_vec();
    let (figures, outcome) = read(&channel);
    outcome.unwrap();
    let aged = |figure, value| ("aged".to_owned(), figure, value);
    let expected = [
        aged(Figure::Waiting, 0.0),
        aged(Figure::Unacknowledged, 0.0),
        aged(Figure::OldestAgeMs, 67_000.0),
    ];
    assert_eq!(figures, expected);
}

/// A server of SQS that knows no ages.
#[test]
fn what_cannot_be_asked_is_said() {
    let rig = SqsRig::standard();
    let mut channel = channel(rig.sqs("events", None));
    channel.backlog = vec!["cloudwatch:events".to_owned()];
    let (figures, outcome) = read(&channel);
    assert_eq!(figures, []);
    let error = outcome.unwrap_err();
    assert!(error.message.contains("monitoring at"), "{error}");
    assert!(error.message.contains("the age of queue `events`"), "{error}");
}
