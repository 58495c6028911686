//! The same on every broker that can carry the demo's events, each a real server: all faults that
//! befall messages, together.
//!
//! `SOJOURN_TESTS=full` (`cargo xtask test --full`) makes it 500 journeys a second for 30 s, and has
//! the system falter besides: one stage slow, another stopped.

use sojourn_conformance::runs_slow;
use sojourn_demo::{Carrier, FaultConfig};
use sojourn_testkit::Program;
use sojourn_testkit::services::{
    ElasticMq, Fauxqs, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis, find_program,
};

use super::{Case, Expected, PLAN, Size, examine_on, size, slow_completed, stop_settled};
use crate::common;

/// Two channels of a broker, as a journey file has them.
pub(crate) struct Channels {
    pub(crate) broker: &'static str,
    pub(crate) events: String,
    pub(crate) dead_letters: String,
}

impl Channels {
    /// The plan of all cases with these channels.
    pub(crate) fn plan(&self) -> String {
        let (head, rest) = PLAN.split_once("channels:").expect("channels");
        let (_, rest) = rest.split_once("journeys:").expect("journeys");
        let Self { broker, events, dead_letters } = self;
        format!(
            "{head}channels:\n  events: {{ {broker}: {events} }}\n  \
             dead-letters: {{ {broker}: {dead_letters} }}\njourneys:{rest}"
        )
    }

    fn carrier(&self, environment: &[(&str, &str)]) -> Carrier {
        let addresses = [("TARGET", "http://127.0.0.1:1")];
        let plan = common::plan(&self.plan(), &[&addresses, environment].concat());
        let channel = |name: &str| plan.channels.iter().find(|it| it.name == name).expect(name);
        let (events, dead_letters) = (channel("events"), channel("dead-letters"));
        Carrier::connect(&common::registry(), self.broker, events, dead_letters)
            .unwrap_or_else(|error| panic!("{}: {error}", self.broker))
    }

    fn agree(&self) {
        let expected =
            &["completed", "lost", "failed", "redelivery", "republication", "out of order"];
        let case = Case::new(self.broker, faults_of_messages());
        self.agree_on(&size_of_brokers(), case, expected);
    }

    fn agree_on(&self, size: &Size, case: Case, expected: Expected) {
        let connect = |environment: &[(&str, &str)]| self.carrier(environment);
        examine_on(Some(&connect), &self.plan(), size, case, expected);
    }
}

/// Both on a broker. `of` gives the settings of the channel that has this name in it.
fn agree(broker: &'static str, of: impl Fn(&str) -> String) {
    let channels = |events: &str, dead: &str| {
        let (events, dead_letters) = (of(events), of(dead));
        Channels { broker, events, dead_letters }
    };
    channels("events", "dead").agree();
    if runs_slow(&format!("a stage that is slow and one that stops, told by {broker}")) {
        let size = Size { rate_per_s: 50, warmup_s: 1, steady_s: 6 };
        let faults = FaultConfig { stop_stage: Some(stop_settled(&size)), ..slow_completed() };
        let case = Case::new(broker, faults).within(7_000, 5_000);
        channels("staged", "staged_dead").agree_on(&size, case, &["completed", "late", "lost"]);
    }
}

/// Everything that can befall a message.
pub(super) fn faults_of_messages() -> FaultConfig {
    FaultConfig {
        drop_percent: 2.0,
        poison_percent: 3.0,
        redeliver_percent: 5.0,
        republish_percent: 5.0,
        reorder_percent: 5.0,
        ..FaultConfig::default()
    }
}

pub(super) fn size_of_brokers() -> Size {
    match size() {
        full @ Size { rate_per_s: 200.., .. } => Size { rate_per_s: 500, ..full },
        small => small,
    }
}

#[test]
fn amqp() {
    let rabbit = RabbitMq::shared().expect("RabbitMQ starts");
    let url = rabbit.url_with_password();
    let of = |exchange: &str| {
        format!("{{ url: \"{url}\", exchange: truth.{exchange}, routing: [payment] }}")
    };
    agree("amqp", of);
}

#[test]
fn kafka() {
    let kafka = Kafka::shared().expect("Kafka starts");
    let brokers = kafka.bootstrap();
    let of = |topic: &str| {
        format!(
            "{{ brokers: \"{brokers}\", topics: [truth.{topic}], \
             properties: {{ fetch.wait.max.ms: \"1\" }} }}"
        )
    };
    agree("kafka", of);
}

#[test]
fn mqtt() {
    let mosquitto = Mosquitto::start().expect("Mosquitto starts");
    let url = mosquitto.url();
    let of = |topic: &str| format!("{{ url: \"{url}\", topics: [truth/{topic}], qos: 1 }}");
    agree("mqtt", of);
}

#[test]
fn nats() {
    let nats = Nats::start().expect("NATS starts");
    let url = nats.url();
    let of = |subject: &str| {
        format!("{{ url: \"{url}\", subjects: [truth.{subject}], stream: truth-{subject} }}")
    };
    agree("nats", of);
}

#[test]
fn postgres() {
    let postgres = Postgres::start().expect("Postgres starts");
    let url = postgres.url();
    // Each event is a transaction of its own, and all go over one connection: a slow disk would say
    // how many fit into a second. Nobody pulls the plug here.
    let relaxed = "ALTER DATABASE postgres SET synchronous_commit = off";
    let psql = Program::new(find_program("psql").expect("psql"));
    let output = psql.args(["--quiet", "--no-psqlrc", "-c", relaxed, &url]).run().expect("psql");
    assert_eq!(output.code, Some(0), "{output}");
    // Asked often: how late a row is seen is a part of every hop.
    let of = |table: &str| {
        format!(
            "{{ url: \"{url}\", table: {{ name: truth_{table}, cursor: id, every: 1ms, \
             key: key, headers: headers, payload: payload }} }}"
        )
    };
    agree("postgres", of);
}

#[test]
fn redis() {
    let redis = Redis::start().expect("Redis starts");
    let url = redis.url();
    let of =
        |stream: &str| format!("{{ url: \"{url}\", streams: [truth.{stream}], field: payload }}");
    agree("redis", of);
}

/// Of queues. Those without groups promise no order, and messages of one answer have one stamp: so
/// nothing is reordered on purpose. Their servers handle each event six times (two copies that are
/// sent, given out and deleted) on the processors that all else here runs on. On two of them that is
/// too slow for 500 journeys a second, whose events wait in the queues for up to 25 s: the deadline
/// is behind that. Few journeys have the usual one.
fn agree_by_queues(name: &'static str, events: String, dead_letters: String) {
    let faults = FaultConfig { reorder_percent: 0.0, ..faults_of_messages() };
    let expected = &["completed", "lost", "failed", "redelivery", "republication"];
    let size = size_of_brokers();
    let (size, within_ms) = match size.rate_per_s {
        200.. => (size, 45_000),
        small => (Size { rate_per_s: small.min(50), ..size }, 6_000),
    };
    let case = Case::new(name, faults).within(within_ms, 2_000);
    Channels { broker: "sqs", events, dead_letters }.agree_on(&size, case, expected);
}

#[test]
fn sqs() {
    let server = ElasticMq::shared().expect("ElasticMQ starts");
    let endpoint = server.url();
    let of = |queue: &str, publish: &str| {
        format!("{{ endpoint: \"{endpoint}\", queue: {queue}, discard: true{publish} }}")
    };
    // A copy for the tap and one for the demo's own consumer, which is a group and so a queue.
    let events = of("truth-events", ", publish: [truth-events, sojourn-demo]");
    agree_by_queues("sqs", events, of("truth-dead", ""));
}

/// A topic, of which the tap has a queue of its own and the demo's consumer another.
#[test]
fn sns() {
    let server = Fauxqs::start().expect("fauxqs starts");
    let of = |topic: &str| common::sns_topic(&server, topic);
    agree_by_queues("sns", of("truth-events"), of("truth-dead"));
}
