//! What scripts configure, and librdkafka's properties for it.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sojourn_broker_kafka::client::{Begin, Source};
use sojourn_k6::duration::Nanos;
use sojourn_script::js::{self, Ctx, Exception, Value};

use super::access::{Access, Cluster};
use super::constants::{FIRST_OFFSET, LAST_OFFSET};

/// How long a message may wait for its acknowledgement, unless the script says otherwise, ns.
const WRITE_TIMEOUT_NS: u64 = 10_000_000_000;
/// Messages of a partition that a reader has waiting before it fetches no more.
pub(super) const QUEUE_MAX: u32 = 100_000;
/// How long a reader waits for messages, unless the script says otherwise, ns.
const MAX_WAIT_NS: u64 = 200_000_000;

/// A configuration object as the type that its class takes. Members that it does not know are
/// passed over, as are functions.
pub(super) fn read<'js, T: DeserializeOwned>(
    ctx: &Ctx<'js>,
    class: &str,
    config: &Value<'js>,
) -> js::Result<T> {
    let json = ctx.json_stringify(config.clone())?;
    let json = json.map_or_else(|| Ok("{}".to_owned()), |json| json.to_string())?;
    serde_json::from_str(&json).map_err(|error| {
        // The place in a text that nobody has written says nothing.
        let told = error.to_string();
        let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(told, _)| told);
        Exception::throw_type(ctx, &format!("{class}: {told}"))
    })
}

/// A duration: a number of nanoseconds, or a text such as `500ms`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "Given")]
pub(super) struct Span(pub(super) u64);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a duration is a number of nanoseconds or a text such as \"500ms\"")]
enum Given {
    Number(f64),
    Text(String),
}

impl TryFrom<Given> for Span {
    type Error = String;

    fn try_from(given: Given) -> Result<Self, String> {
        match given {
            Given::Number(ns) => Ok(Self(ns.max(0.0) as u64)),
            Given::Text(text) => match Nanos::parse_go(&text) {
                Ok(nanos) => Ok(Self(nanos.ns())),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

impl Span {
    /// Whole milliseconds, at least one for what is not nothing.
    fn ms(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WriterConfig {
    brokers: Vec<String>,
    pub(super) topic: Option<String>,
    pub(super) auto_create_topic: Option<bool>,
    pub(super) balancer: Option<String>,
    pub(super) max_attempts: Option<u32>,
    pub(super) batch_size: Option<u32>,
    batch_bytes: Option<u64>,
    pub(super) batch_timeout: Option<Span>,
    pub(super) read_timeout: Option<Span>,
    write_timeout: Option<Span>,
    required_acks: Option<i32>,
    compression: Option<String>,
    #[serde(flatten)]
    access: Access,
}

impl WriterConfig {
    /// Acknowledgements waited for; -1: of all copies in sync.
    pub(super) fn acks(&self) -> i32 {
        self.required_acks.unwrap_or(-1)
    }

    /// How long a message may wait for its acknowledgement, ns.
    pub(super) fn write_timeout_ns(&self) -> u64 {
        let asked = self.write_timeout.map(|span| span.0).filter(|ns| *ns > 0);
        // Shorter than what it is held back for, it would never be sent.
        let held_ns = self.batch_timeout.map_or(0, |span| span.0);
        asked.unwrap_or(WRITE_TIMEOUT_NS).max(held_ns.saturating_add(1_000_000))
    }

    pub(super) fn cluster(&self) -> Result<Cluster, String> {
        let mut properties = self.access.properties()?;
        let mut set = |name: &str, value: String| properties.push((name.to_owned(), value));
        set("message.timeout.ms", Span(self.write_timeout_ns()).ms().to_string());
        if let Some(span) = self.batch_timeout {
            set("linger.ms", span.ms().to_string());
        }
        if let Some(span) = self.read_timeout.filter(|span| span.0 > 0) {
            set("socket.timeout.ms", span.ms().max(10).to_string());
        }
        if let Some(size) = self.batch_size.filter(|size| *size > 0) {
            set("batch.num.messages", size.to_string());
        }
        if let Some(bytes) = self.batch_bytes.filter(|bytes| *bytes > 0) {
            set("message.max.bytes", bytes.to_string());
        }
        if let Some(codec) = self.compression.as_deref().filter(|codec| !codec.is_empty()) {
            if !["none", "gzip", "snappy", "lz4", "zstd"].contains(&codec) {
                return Err(format!("there is no compression \"{codec}\""));
            }
            set("compression.codec", codec.to_owned());
        }
        let acks = match self.acks() {
            -1 => "all",
            0 => "0",
            1 => "1",
            other => return Err(format!("requiredAcks is {other}: -1 (all), 0 or 1")),
        };
        set("acks", acks.to_owned());
        let retries = self.max_attempts.filter(|attempts| *attempts > 0).map(|it| it - 1);
        if let Some(retries) = retries {
            set("message.send.max.retries", retries.to_string());
        }
        // It takes all copies, and the right to try again.
        let is_safe = acks == "all" && retries != Some(0);
        set("enable.idempotence", is_safe.to_string());
        if let Some(partitioner) = partitioner(self.balancer.as_deref())? {
            set("partitioner", partitioner.to_owned());
        }
        self.access.cluster(&self.brokers, properties)
    }
}

/// librdkafka's name for a balancer; `None` where it has none, or none is named.
fn partitioner(balancer: Option<&str>) -> Result<Option<&'static str>, String> {
    Ok(match balancer {
        None | Some("" | "balancer_roundrobin" | "balancer_leastbytes") => None,
        Some("balancer_hash") => Some("fnv1a_random"),
        Some("balancer_crc32") => Some("consistent_random"),
        Some("balancer_murmur2") => Some("murmur2_random"),
        Some(other) => return Err(format!("there is no balancer \"{other}\"")),
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ReaderConfig {
    brokers: Vec<String>,
    #[serde(alias = "groupID")]
    group_id: Option<String>,
    group_topics: Option<Vec<String>>,
    topic: Option<String>,
    partition: Option<i32>,
    offset: Option<i64>,
    start_offset: Option<StartOffset>,
    min_bytes: Option<u32>,
    max_bytes: Option<u32>,
    max_wait: Option<Span>,
    heartbeat_interval: Option<Span>,
    session_timeout: Option<Span>,
    group_balancers: Option<Vec<String>>,
    isolation_level: Option<String>,
    #[serde(flatten)]
    access: Access,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "startOffset is FIRST_OFFSET or LAST_OFFSET")]
enum StartOffset {
    Number(i64),
    Text(String),
}

impl ReaderConfig {
    /// How long is waited for messages, ns.
    pub(super) fn wait_ns(&self) -> u64 {
        self.max_wait.map(|span| span.0).filter(|ns| *ns > 0).unwrap_or(MAX_WAIT_NS)
    }

    /// The topics' names, for messages and tags.
    pub(super) fn topics(&self) -> String {
        let topics = self.group_topics.as_ref().filter(|topics| !topics.is_empty());
        topics.map_or_else(|| self.topic.clone().unwrap_or_default(), |topics| topics.join(","))
    }

    /// `fetch.min.bytes` and `fetch.message.max.bytes`.
    pub(super) fn bytes(&self) -> (u32, u32) {
        let given = |bytes: Option<u32>| bytes.filter(|bytes| *bytes > 0);
        (given(self.min_bytes).unwrap_or(1), given(self.max_bytes).unwrap_or(1_048_576))
    }

    pub(super) fn source(&self) -> Result<Source, String> {
        let begin = self.begin()?;
        let topic = self.topic.clone().filter(|topic| !topic.is_empty());
        let topics = self.group_topics.clone().filter(|topics| !topics.is_empty());
        let group = self.group_id.clone().filter(|group| !group.is_empty());
        match (group, topics, topic) {
            (Some(group), Some(topics), _) => Ok(Source::Group { group, topics, begin }),
            (Some(group), None, Some(topic)) => {
                Ok(Source::Group { group, topics: vec![topic], begin })
            }
            (None, None, Some(topic)) => {
                let partition = self.partition.unwrap_or(0);
                let begin = self.offset.map_or(begin, Begin::of);
                Ok(Source::Partition { topic, partition, begin })
            }
            (None, Some(_), _) => Err("groupTopics need a groupId".to_owned()),
            (_, None, None) => Err("it needs a topic, or groupTopics and a groupId".to_owned()),
        }
    }

    fn begin(&self) -> Result<Begin, String> {
        match &self.start_offset {
            None => Ok(Begin::First),
            Some(StartOffset::Number(-1)) => Ok(Begin::Last),
            Some(StartOffset::Number(-2 | 0)) => Ok(Begin::First),
            Some(StartOffset::Text(text)) => match text.as_str() {
                LAST_OFFSET | "-1" => Ok(Begin::Last),
                FIRST_OFFSET | "-2" | "" => Ok(Begin::First),
                other => Err(format!("startOffset is \"{other}\": FIRST_OFFSET or LAST_OFFSET")),
            },
            Some(StartOffset::Number(other)) => {
                Err(format!("startOffset is {other}: FIRST_OFFSET or LAST_OFFSET"))
            }
        }
    }

    pub(super) fn cluster(&self) -> Result<Cluster, String> {
        let mut properties = self.access.properties()?;
        let mut set = |name: &str, value: String| properties.push((name.to_owned(), value));
        let (least, most) = self.bytes();
        set("fetch.min.bytes", least.to_string());
        set("fetch.message.max.bytes", most.to_string());
        set("queued.min.messages", QUEUE_MAX.to_string());
        set("allow.auto.create.topics", "false".to_owned());
        if let Some(span) = self.heartbeat_interval.filter(|span| span.0 > 0) {
            // More often would only load the broker.
            set("heartbeat.interval.ms", span.ms().max(100).to_string());
        }
        if let Some(span) = self.session_timeout.filter(|span| span.0 > 0) {
            set("session.timeout.ms", span.ms().to_string());
        }
        let isolation = match self.isolation_level.as_deref() {
            Some("isolation_level_read_committed") => "read_committed",
            None | Some("" | "isolation_level_read_uncommitted") => "read_uncommitted",
            Some(other) => return Err(format!("there is no isolation level \"{other}\"")),
        };
        set("isolation.level", isolation.to_owned());
        let strategies = self.group_balancers.iter().flatten().map(|balancer| {
            match balancer.as_str() {
                // Racks are the broker's business here: it is told of none.
                "group_balancer_range" | "group_balancer_rack_affinity" => Ok("range"),
                "group_balancer_round_robin" => Ok("roundrobin"),
                other => Err(format!("there is no group balancer \"{other}\"")),
            }
        });
        let mut strategies = strategies.collect::<Result<Vec<_>, _>>()?;
        strategies.dedup();
        if !strategies.is_empty() {
            set("partition.assignment.strategy", strategies.join(","));
        }
        self.access.cluster(&self.brokers, properties)
    }
}

/// Of `Connection` and `AdminClient`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConnectionConfig {
    address: Option<String>,
    brokers: Option<Vec<String>>,
    #[serde(flatten)]
    access: Access,
}

impl ConnectionConfig {
    pub(super) fn cluster(&self) -> Result<Cluster, String> {
        let brokers = self.brokers.clone().unwrap_or_default();
        let brokers: Vec<String> = self.address.clone().into_iter().chain(brokers).collect();
        self.access.cluster(&brokers, self.access.properties()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(json: &str) -> Vec<(String, String)> {
        let config: WriterConfig = serde_json::from_str(json).unwrap();
        config.cluster().unwrap().kafka.properties
    }

    #[test]
    fn a_writers_settings_are_librdkafkas() {
        let of = |json: &str, name: &str| {
            let found = properties(json).into_iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value)
        };
        let plain = r#"{"brokers":["a:1","b:2"],"connectLogger":true}"#;
        assert_eq!(of(plain, "acks").as_deref(), Some("all"));
        assert_eq!(of(plain, "enable.idempotence").as_deref(), Some("true"));
        assert_eq!(of(plain, "message.timeout.ms").as_deref(), Some("10000"));
        assert_eq!(of(plain, "security.protocol"), None);
        let full = r#"{"brokers":["a:1"],"requiredAcks":1,"maxAttempts":3,"batchTimeout":2e6,
            "writeTimeout":"1.5s","compression":"lz4","balancer":"balancer_murmur2",
            "sasl":{"username":"u","password":"p","algorithm":"sasl_scram_sha512"},
            "tls":{"enableTls":true,"insecureSkipTlsVerify":true,
            "serverCaPem":"-----BEGIN CERTIFICATE-----"}}"#;
        for (name, value) in [
            ("acks", "1"),
            ("enable.idempotence", "false"),
            ("message.send.max.retries", "2"),
            ("linger.ms", "2"),
            ("message.timeout.ms", "1500"),
            ("compression.codec", "lz4"),
            ("partitioner", "murmur2_random"),
            ("security.protocol", "sasl_ssl"),
            ("sasl.mechanism", "SCRAM-SHA-512"),
            ("enable.ssl.certificate.verification", "false"),
            ("ssl.ca.pem", "-----BEGIN CERTIFICATE-----"),
        ] {
            assert_eq!(of(full, name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn what_a_reader_reads() {
        let source = |json: &str| serde_json::from_str::<ReaderConfig>(json).unwrap().source();
        let partition =
            |partition, begin| Ok(Source::Partition { topic: "t".to_owned(), partition, begin });
        assert_eq!(source(r#"{"topic":"t"}"#), partition(0, Begin::First));
        assert_eq!(source(r#"{"topic":"t","offset":7,"partition":2}"#), partition(2, Begin::At(7)));
        assert_eq!(source(r#"{"topic":"t","offset":-1}"#), partition(0, Begin::Last));
        let (group, topics) = ("g".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
        let json = r#"{"groupID":"g","groupTopics":["a","b"],
            "startOffset":"start_offsets_last_offset"}"#;
        assert_eq!(source(json), Ok(Source::Group { group, topics, begin: Begin::Last }));
        assert!(source("{}").is_err() && source(r#"{"groupTopics":["a"]}"#).is_err());
        assert!(source(r#"{"topic":"t","startOffset":"x"}"#).is_err());
    }

    #[test]
    fn durations_are_nanoseconds_or_texts() {
        let wait = |json: &str| serde_json::from_str::<ReaderConfig>(json).map(|it| it.wait_ns());
        assert_eq!(wait("{}").unwrap(), 200_000_000);
        assert_eq!(wait(r#"{"maxWait":30000000000}"#).unwrap(), 30_000_000_000);
        assert_eq!(wait(r#"{"maxWait":"30s"}"#).unwrap(), 30_000_000_000);
        let error = wait(r#"{"maxWait":true}"#).unwrap_err().to_string();
        assert!(error.starts_with("a duration is"), "{error}");
        assert!(wait(r#"{"maxWait":"30"}"#).is_err());
    }
}
