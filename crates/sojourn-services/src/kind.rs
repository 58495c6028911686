//! Which servers there are, and whether one answers.

use std::io;

use crate::{
    dnsmasq, elasticmq, fauxqs, influxdb, kafka, mosquitto, moto, nats, opentelemetry, postgres,
    prometheus, rabbitmq, redis, statsd,
};

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// DNS over UDP and TCP.
    Dnsmasq,
    /// Speaks SQS.
    ElasticMq,
    /// Speaks SNS and SQS, fast.
    Fauxqs,
    /// Of version 1.
    InfluxDb,
    /// One node, without ZooKeeper.
    Kafka,
    /// MQTT 3.1.1 and 5.
    Mosquitto,
    /// Speaks SNS and SQS, and checks keys.
    Moto,
    /// With JetStream.
    Nats,
    /// Takes metrics and traces.
    OpenTelemetry,
    /// With logical decoding.
    Postgres,
    /// Takes remote writes.
    Prometheus,
    /// AMQP 0-9-1, with its management.
    RabbitMq,
    /// With streams, as every Redis since 5.
    Redis,
    /// The original one.
    Statsd,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Dnsmasq,
        Self::ElasticMq,
        Self::Fauxqs,
        Self::InfluxDb,
        Self::Kafka,
        Self::Mosquitto,
        Self::Moto,
        Self::Nats,
        Self::OpenTelemetry,
        Self::Postgres,
        Self::Prometheus,
        Self::RabbitMq,
        Self::Redis,
        Self::Statsd,
    ];

    /// Its name in lists and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dnsmasq => "dnsmasq",
            Self::ElasticMq => "elasticmq",
            Self::Fauxqs => "fauxqs",
            Self::InfluxDb => "influxdb",
            Self::Kafka => "kafka",
            Self::Mosquitto => "mosquitto",
            Self::Moto => "moto",
            Self::Nats => "nats",
            Self::OpenTelemetry => "opentelemetry",
            Self::Postgres => "postgres",
            Self::Prometheus => "prometheus",
            Self::RabbitMq => "rabbitmq",
            Self::Redis => "redis",
            Self::Statsd => "statsd",
        }
    }

    /// Whether such a server answers, in its own protocol, without TLS and password, at this port
    /// of 127.0.0.1; of StatsD, whose UDP has no answers, at that of its administration.
    ///
    /// # Errors
    /// Nothing listens there, or what listens gives another answer or none within five seconds.
    pub fn probe(self, port: u16) -> io::Result<()> {
        match self {
            Self::Dnsmasq => dnsmasq::probe(port),
            Self::ElasticMq => elasticmq::probe(port),
            Self::Fauxqs => fauxqs::probe(port),
            Self::InfluxDb => influxdb::probe(port),
            Self::Kafka => kafka::probe(port),
            Self::Mosquitto => mosquitto::probe(port),
            Self::Moto => moto::probe(port),
            Self::Nats => nats::probe(port),
            Self::OpenTelemetry => opentelemetry::probe(port),
            Self::Postgres => postgres::probe(port),
            Self::Prometheus => prometheus::probe(port),
            Self::RabbitMq => rabbitmq::probe(port),
            Self::Redis => redis::probe(port),
            Self::Statsd => statsd::probe(port),
        }
    }
}
