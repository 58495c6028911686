//! Whole runs, checked against what is known to be true.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod amendments;
mod attack;
mod bad_input;
mod beforehand;
mod beside;
#[cfg(all(
    feature = "amqp",
    feature = "kafka-tls",
    feature = "mqtt",
    feature = "nats",
    feature = "postgres",
    feature = "redis",
    feature = "sqs"
))]
mod broker_roots;
mod closed;
mod command_line;
mod common;
mod compare;
mod crash;
#[cfg(all(
    feature = "amqp",
    feature = "kafka-tls",
    feature = "mqtt",
    feature = "nats",
    feature = "postgres",
    feature = "redis",
    feature = "sqs"
))]
mod demo_brokers;
mod discover;
mod doctor;
mod event_queue;
mod experiment;
mod fleet;
mod follow_up;
mod from_tests;
mod generators;
#[cfg(all(
    feature = "est",
    feature = "mqtt",
    feature = "nats",
    feature = "redis",
    feature = "script",
    feature = "wrk"
))]
mod guide;
#[cfg(feature = "script")]
mod k6;
#[cfg(all(
    feature = "amqp",
    feature = "mqtt",
    feature = "nats",
    feature = "postgres",
    feature = "redis",
    feature = "script",
    feature = "sqs"
))]
mod k6_brokers;
#[cfg(feature = "script")]
mod k6_commands;
#[cfg(feature = "script")]
mod k6_ends;
#[cfg(feature = "script")]
mod k6_fleet;
#[cfg(feature = "script")]
mod k6_grpc;
#[cfg(feature = "script")]
mod k6_journeys;
#[cfg(feature = "script")]
mod k6_jslib;
#[cfg(all(feature = "script", feature = "kafka"))]
mod k6_kafka;
#[cfg(all(feature = "script", feature = "mqtt"))]
mod k6_mqtt;
#[cfg(feature = "script")]
mod k6_outputs;
#[cfg(feature = "script")]
mod k6_places;
#[cfg(feature = "script")]
mod k6_processes;
#[cfg(feature = "script")]
mod k6_proxies;
#[cfg(feature = "script")]
mod k6_redis;
#[cfg(feature = "script")]
mod k6_rest;
#[cfg(feature = "script")]
mod k6_streams;
#[cfg(all(feature = "script", feature = "kafka", feature = "mqtt"))]
mod k6_types;
#[cfg(feature = "script")]
mod k6_words;
mod kubernetes;
mod labels;
mod mock;
mod mock_callbacks;
mod nothing_worked;
mod omission;
#[cfg(feature = "cluster")]
mod on_cluster;
#[cfg(feature = "outputs")]
mod opentelemetry;
#[cfg(all(
    feature = "amqp",
    feature = "kafka-tls",
    feature = "mqtt",
    feature = "nats",
    feature = "postgres",
    feature = "redis",
    feature = "sqs"
))]
mod outage;
#[cfg(feature = "outputs")]
mod outputs;
mod pictures;
mod polled;
mod resources;
mod results;
mod retries;
mod rows;
#[cfg(all(feature = "avro", feature = "protobuf"))]
mod schemas;
#[cfg(feature = "script")]
mod session;
mod several;
mod terminal;
mod theory;
mod truth;
mod webhook;
#[cfg(feature = "wrk")]
mod wrk;
#[cfg(all(
    feature = "amqp",
    feature = "kafka-tls",
    feature = "mqtt",
    feature = "nats",
    feature = "postgres",
    feature = "redis",
    feature = "sqs"
))]
mod wrong_settings;
