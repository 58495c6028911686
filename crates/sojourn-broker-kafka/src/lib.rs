//! Kafka: a passive tap on assigned partitions, without a consumer group.
