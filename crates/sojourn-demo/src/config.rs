//! Every knob of the demo, with defaults for a quick tour.

use crate::faults::FaultConfig;
use crate::service_time::ServiceTime;
use crate::stage::Stage;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// What a demo shall be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DemoConfig {
    /// Where the payments API listens; port 0 takes a free one.
    pub api_listen: SocketAddr,
    /// Which Kafka carries the events.
    pub kafka: KafkaChoice,
    /// Topic of the integration events.
    pub events_topic: String,
    /// Topic of events that their consumer gave up on.
    pub dead_letter_topic: String,
    /// Partitions of a topic that the demo creates.
    pub partitions: u16,
    /// `fetch.wait.max.ms` of the demo's own consumer. With the embedded broker this is the
    /// consumer's delay, and the lower it is the more processor time idle fetches take.
    pub fetch_wait_ms: u16,
    /// How the outbox becomes events.
    pub relay: RelayConfig,
    /// The consumer of `PaymentInitiated`, which appends `PaymentCreated`.
    pub created: StageConfig,
    /// The consumer of `PaymentCreated`, which appends `PaymentSettled`.
    pub settled: StageConfig,
    /// The consumer of `PaymentSettled`, which appends `PaymentCompleted`.
    pub completed: StageConfig,
    /// Latency of the payment service provider's mock.
    pub psp_latency: ServiceTime,
    /// Latency of the notification service's mock.
    pub notification_latency: ServiceTime,
    /// Faults on purpose.
    pub faults: FaultConfig,
    /// Seed of every random decision. With the embedded broker and a temporary store the n-th
    /// accepted payment has the same id, and so the same faults, in every run of a seed.
    pub seed: u64,
    /// Behave like the published system with its holes: append conflicts are ignored, consumers
    /// are not idempotent, and one failure is enough for the dead-letter topic.
    pub naive: bool,
    /// The event store's file; by default a temporary one, removed at the end.
    pub store_path: Option<PathBuf>,
    /// The ground-truth log's file (NDJSON); by default none is written.
    pub truth_path: Option<PathBuf>,
}

/// How often and how much the relay takes from the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelayConfig {
    /// Interval between polls, on a fixed grid, milliseconds.
    pub poll_ms: u64,
    /// Events per batch; a poll takes batches until the outbox is drained.
    pub batch: u32,
}

/// A consumer's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StageConfig {
    /// How long the work takes, the third party's latency apart.
    pub service: ServiceTime,
    /// Events worked on at once.
    pub concurrency: u32,
    /// Servers that the work has to share, one event at a time each; none: as many as wanted. The
    /// stage's capacity is then servers over mean service time, exactly.
    pub servers: Option<u32>,
}

/// Which Kafka to use; as text, `embedded` or `HOST:PORT[,HOST:PORT…]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum KafkaChoice {
    /// librdkafka's mock cluster, in this process.
    #[default]
    Embedded,
    /// Bootstrap servers of a real one.
    External(String),
}

impl DemoConfig {
    /// The published experiment: a relay that polls every 5 s, 300 ms of work per stage and a last
    /// stage of 5 to 9 s.
    pub fn published_experiment() -> Self {
        let work = |service| StageConfig { service, ..StageConfig::default() };
        Self {
            relay: RelayConfig { poll_ms: 5_000, ..RelayConfig::default() },
            created: work(ServiceTime::fixed_ms(300)),
            settled: work(ServiceTime::fixed_ms(300)),
            completed: work(crate::faults::five_to_nine_seconds()),
            ..Self::default()
        }
    }

    /// The consumer that produces `stage`, with the slow-stage fault applied; none for
    /// `initiated`, which the API produces.
    pub fn consumer_of(&self, stage: Stage) -> Option<StageConfig> {
        let mut consumer = match stage {
            Stage::Initiated => return None,
            Stage::Created => self.created,
            Stage::Settled => self.settled,
            Stage::Completed => self.completed,
        };
        if let Some(slow) = self.faults.slow_stage
            && slow.stage == stage
        {
            consumer.service = slow.service;
        }
        Some(consumer)
    }

    /// Checks what types can't.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_faults()?;
        self.validate_bounds()?;
        if let KafkaChoice::External(servers) = &self.kafka {
            for server in servers.split(',') {
                let port = server.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
                if !matches!(port, Some(Ok(_))) {
                    return refuse("kafka", format!("{server:?} is not HOST:PORT"));
                }
            }
        }
        if self.events_topic.is_empty() || self.dead_letter_topic.is_empty() {
            return refuse("events_topic and dead_letter_topic", "must be named");
        }
        if self.events_topic == self.dead_letter_topic {
            return refuse("dead_letter_topic", "must not be the events topic");
        }
        Ok(())
    }

    fn validate_faults(&self) -> Result<(), ConfigError> {
        let mut sum = 0.0;
        for (name, percent) in self.faults.percentages() {
            if !(0.0..=100.0).contains(&percent) {
                let problem = format!("{percent} is not between 0 and 100");
                return refuse(&format!("faults.{name}"), problem);
            }
            sum += percent;
        }
        if sum > 100.0 {
            let problem =
                format!("the percentages add up to {sum}; an event has one fault at most");
            return refuse("faults", problem);
        }
        let stages = [
            ("slow_stage", self.faults.slow_stage.map(|it| it.stage)),
            ("stop_stage", self.faults.stop_stage.map(|it| it.stage)),
        ];
        for (name, stage) in stages {
            if stage == Some(Stage::Initiated) {
                let problem = "initiated has no consumer; take created, settled or completed";
                return refuse(&format!("faults.{name}"), problem);
            }
        }
        Ok(())
    }

    fn validate_bounds(&self) -> Result<(), ConfigError> {
        let concurrency = |it: &StageConfig| u64::from(it.concurrency);
        let servers = |it: &StageConfig| u64::from(it.servers.unwrap_or(1));
        let bounds = [
            ("partitions", u64::from(self.partitions), 1_000),
            ("fetch_wait_ms", u64::from(self.fetch_wait_ms), 1_000),
            ("relay.poll_ms", self.relay.poll_ms, 600_000),
            ("relay.batch", u64::from(self.relay.batch), 10_000),
            ("created.concurrency", concurrency(&self.created), 100_000),
            ("settled.concurrency", concurrency(&self.settled), 100_000),
            ("completed.concurrency", concurrency(&self.completed), 100_000),
            ("created.servers", servers(&self.created), 100_000),
            ("settled.servers", servers(&self.settled), 100_000),
            ("completed.servers", servers(&self.completed), 100_000),
        ];
        for (field, value, max) in bounds {
            if !(1..=max).contains(&value) {
                return refuse(field, format!("{value} is not between 1 and {max}"));
            }
        }
        Ok(())
    }
}

fn refuse(field: &str, problem: impl Into<String>) -> Result<(), ConfigError> {
    Err(ConfigError { field: field.to_owned(), problem: problem.into() })
}

impl Default for DemoConfig {
    fn default() -> Self {
        let work = |service| StageConfig { service, ..StageConfig::default() };
        Self {
            api_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            kafka: KafkaChoice::Embedded,
            events_topic: "payments.events".into(),
            dead_letter_topic: "payments.dead-letter".into(),
            partitions: 16,
            fetch_wait_ms: 2,
            relay: RelayConfig::default(),
            created: work(ServiceTime::LogNormal { ns_median: 20_000_000, ns_p99: 80_000_000 }),
            settled: work(ServiceTime::Uniform { ns_min: 20_000_000, ns_max: 60_000_000 }),
            completed: work(ServiceTime::Exponential { ns_mean: 20_000_000 }),
            psp_latency: ServiceTime::fixed_ms(2),
            notification_latency: ServiceTime::fixed_ms(2),
            faults: FaultConfig::default(),
            seed: 1,
            naive: false,
            store_path: None,
            truth_path: None,
        }
    }
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self { poll_ms: 100, batch: 500 }
    }
}

impl Default for StageConfig {
    fn default() -> Self {
        Self { service: ServiceTime::fixed_ms(20), concurrency: 2_048, servers: None }
    }
}

impl From<String> for KafkaChoice {
    fn from(text: String) -> Self {
        if text == "embedded" { Self::Embedded } else { Self::External(text) }
    }
}

impl From<KafkaChoice> for String {
    fn from(choice: KafkaChoice) -> Self {
        choice.to_string()
    }
}

impl fmt::Display for KafkaChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => out.write_str("embedded"),
            Self::External(servers) => out.write_str(servers),
        }
    }
}

/// A configuration that can't run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("demo setting {field}: {problem}")]
pub struct ConfigError {
    field: String,
    problem: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{SlowStage, StopStage};

    #[test]
    fn default_and_published_are_valid_and_round_trip() {
        for config in [DemoConfig::default(), DemoConfig::published_experiment()] {
            config.validate().unwrap();
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<DemoConfig>(&text).unwrap(), config);
        }
    }

    #[test]
    fn reads_a_partial_document() {
        let config: DemoConfig = serde_json::from_str(
            r#"{"kafka": "127.0.0.1:9092", "settled": {"service": "uniform(5s,9s)"},
                "faults": {"drop_percent": 1, "slow_stage": {"stage": "created"}}}"#,
        )
        .unwrap();
        assert_eq!(config.kafka, KafkaChoice::External("127.0.0.1:9092".into()));
        assert_eq!(config.settled.service.to_string(), "uniform(5s,9s)");
        assert_eq!(
            config.consumer_of(Stage::Created).unwrap().service,
            crate::faults::five_to_nine_seconds()
        );
        assert!(serde_json::from_str::<DemoConfig>(r#"{"kafca": "x"}"#).is_err());
    }

    #[test]
    fn refuses_what_can_not_run() {
        let check = |change: &dyn Fn(&mut DemoConfig), expected: &str| {
            let mut config = DemoConfig::default();
            change(&mut config);
            let error = config.validate().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(&|it| it.faults.drop_percent = -1.0, "faults.drop_percent");
        check(&|it| it.faults.drop_percent = f64::NAN, "not between 0 and 100");
        check(
            &|it| (it.faults.drop_percent, it.faults.poison_percent) = (60.0, 60.0),
            "add up to 120",
        );
        check(&|it| it.kafka = KafkaChoice::External("kafka".into()), "not HOST:PORT");
        check(&|it| it.kafka = KafkaChoice::External("a:9092,".into()), "not HOST:PORT");
        check(&|it| it.partitions = 0, "partitions: 0");
        check(&|it| it.relay.poll_ms = 0, "relay.poll_ms");
        check(&|it| it.settled.concurrency = 0, "settled.concurrency");
        check(&|it| it.settled.servers = Some(0), "settled.servers");
        check(&|it| it.events_topic = it.dead_letter_topic.clone(), "dead_letter_topic");
        check(
            &|it| {
                it.faults.stop_stage = Some(StopStage { stage: Stage::Initiated, after_ms: 0 });
            },
            "faults.stop_stage",
        );
        check(
            &|it| {
                it.faults.slow_stage =
                    Some(SlowStage { stage: Stage::Initiated, service: ServiceTime::fixed_ms(1) });
            },
            "faults.slow_stage",
        );
    }
}
