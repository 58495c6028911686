//! The module's constants, as its documentation lists them.

use sojourn_script::js::{self, Object};

const TEXTS: [(&str, &str); 44] = [
    ("CODEC_GZIP", "gzip"),
    ("CODEC_SNAPPY", "snappy"),
    ("CODEC_LZ4", "lz4"),
    ("CODEC_ZSTD", "zstd"),
    ("NONE", "none"),
    ("SASL_NONE", "none"),
    ("SASL_PLAIN", "sasl_plain"),
    ("SASL_SCRAM_SHA256", "sasl_scram_sha256"),
    ("SASL_SCRAM_SHA512", "sasl_scram_sha512"),
    ("SASL_SSL", "sasl_ssl"),
    ("SASL_AWS_IAM", "sasl_aws_iam"),
    ("SASL_AZURE_ENTRA", "sasl_azure_entra"),
    ("SASL_GCP_OAUTH", "sasl_gcp_oauth"),
    ("SASL_GSSAPI", "sasl_gssapi"),
    ("TLS_1_0", "tlsv1.0"),
    ("TLS_1_1", "tlsv1.1"),
    ("TLS_1_2", "tlsv1.2"),
    ("TLS_1_3", "tlsv1.3"),
    ("KEY", "KEY"),
    ("VALUE", "VALUE"),
    ("ELEMENT_TYPE_KEY", "KEY"),
    ("ELEMENT_TYPE_VALUE", "VALUE"),
    ("ISOLATION_LEVEL_READ_UNCOMMITTED", "isolation_level_read_uncommitted"),
    ("ISOLATION_LEVEL_READ_COMMITTED", "isolation_level_read_committed"),
    ("START_OFFSETS_LAST_OFFSET", LAST_OFFSET),
    ("START_OFFSETS_FIRST_OFFSET", FIRST_OFFSET),
    ("LAST_OFFSET", LAST_OFFSET),
    ("FIRST_OFFSET", FIRST_OFFSET),
    ("TOPIC_NAME_STRATEGY", "TopicNameStrategy"),
    ("RECORD_NAME_STRATEGY", "RecordNameStrategy"),
    ("TOPIC_RECORD_NAME_STRATEGY", "TopicRecordNameStrategy"),
    ("BALANCER_ROUND_ROBIN", "balancer_roundrobin"),
    ("BALANCER_LEAST_BYTES", "balancer_leastbytes"),
    ("BALANCER_HASH", "balancer_hash"),
    ("BALANCER_CRC32", "balancer_crc32"),
    ("BALANCER_MURMUR2", "balancer_murmur2"),
    ("GROUP_BALANCER_RANGE", "group_balancer_range"),
    ("GROUP_BALANCER_ROUND_ROBIN", "group_balancer_round_robin"),
    ("GROUP_BALANCER_RACK_AFFINITY", "group_balancer_rack_affinity"),
    ("SCHEMA_TYPE_STRING", "STRING"),
    ("SCHEMA_TYPE_BYTES", "BYTES"),
    ("SCHEMA_TYPE_AVRO", "AVRO"),
    ("SCHEMA_TYPE_JSON", "JSON"),
    ("SCHEMA_TYPE_PROTOBUF", "PROTOBUF"),
];

/// Durations, ns.
const TIMES: [(&str, f64); 6] = [
    ("NANOSECOND", 1.0),
    ("MICROSECOND", 1e3),
    ("MILLISECOND", 1e6),
    ("SECOND", 1e9),
    ("MINUTE", 60e9),
    ("HOUR", 3_600e9),
];

pub(super) const FIRST_OFFSET: &str = "start_offsets_first_offset";
pub(super) const LAST_OFFSET: &str = "start_offsets_last_offset";

pub(super) fn set(module: &Object<'_>) -> js::Result<()> {
    for (name, value) in TEXTS {
        module.set(name, value)?;
    }
    for (name, value) in TIMES {
        module.set(name, value)?;
    }
    Ok(())
}
