//! OTLP's messages, as far as they are used here.
//!
//! Names and numbers are those of <https://github.com/open-telemetry/opentelemetry-proto>, version
//! 1.0 and later. They are written out since the crate of all messages brings an SDK along; the
//! tests read what is sent with that crate.

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyValue {
    #[prost(oneof = "Any", tags = "1, 3")]
    pub(super) value: Option<Any>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Any {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Integer(i64),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

impl KeyValue {
    pub(super) fn text(key: &str, value: &str) -> Self {
        Self::of(key, Any::Text(value.to_owned()))
    }

    pub(super) fn integer(key: &str, value: u64) -> Self {
        Self::of(key, Any::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn of(key: &str, value: Any) -> Self {
        Self { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }) }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Scope {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MetricsRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) resources: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scopes: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(super) metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "3")]
    pub(super) unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 9")]
    pub(super) data: Option<Data>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "9")]
    Histogram(Histogram),
}

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: since the run's start.
pub(super) const CUMULATIVE: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub(super) points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub(super) points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    pub(super) temporality: i32,
    #[prost(bool, tag = "3")]
    pub(super) is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(message, repeated, tag = "1")]
    pub(super) points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    pub(super) temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    pub(super) start_unix_ns: u64,
    #[prost(fixed64, tag = "3")]
    pub(super) unix_ns: u64,
    #[prost(oneof = "Number", tags = "4, 6")]
    pub(super) value: Option<Number>,
    #[prost(message, repeated, tag = "7")]
    pub(super) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Number {
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(sfixed64, tag = "6")]
    Integer(i64),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HistogramPoint {
    #[prost(fixed64, tag = "2")]
    pub(super) start_unix_ns: u64,
    #[prost(fixed64, tag = "3")]
    pub(super) unix_ns: u64,
    #[prost(fixed64, tag = "4")]
    pub(super) count: u64,
    #[prost(double, optional, tag = "5")]
    pub(super) sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    pub(super) bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    pub(super) explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    pub(super) attributes: Vec<KeyValue>,
    #[prost(double, optional, tag = "11")]
    pub(super) min: Option<f64>,
    #[prost(double, optional, tag = "12")]
    pub(super) max: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TraceRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) resources: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scopes: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(super) spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub(super) name: String,
    #[prost(int32, tag = "6")]
    pub(super) kind: i32,
    #[prost(fixed64, tag = "7")]
    pub(super) start_unix_ns: u64,
    #[prost(fixed64, tag = "8")]
    pub(super) end_unix_ns: u64,
    #[prost(message, repeated, tag = "9")]
    pub(super) attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "11")]
    pub(super) events: Vec<SpanEvent>,
    #[prost(message, optional, tag = "15")]
    pub(super) status: Option<Status>,
}

/// `SPAN_KIND_INTERNAL`.
pub(super) const INTERNAL: i32 = 1;
/// `SPAN_KIND_CLIENT`.
pub(super) const CLIENT: i32 = 3;
/// `SPAN_KIND_CONSUMER`.
pub(super) const CONSUMER: i32 = 5;

#[derive(Clone, PartialEq, Message)]
pub(super) struct SpanEvent {
    #[prost(fixed64, tag = "1")]
    pub(super) unix_ns: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "3")]
    pub(super) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Status {
    #[prost(string, tag = "2")]
    pub(super) message: String,
    #[prost(int32, tag = "3")]
    pub(super) code: i32,
}

/// `STATUS_CODE_OK`.
pub(super) const OK: i32 = 1;
/// `STATUS_CODE_ERROR`.
pub(super) const ERROR: i32 = 2;

/// The answer to either request.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ExportAnswer {
    #[prost(message, optional, tag = "1")]
    pub(super) partial: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PartialSuccess {
    /// Data points or spans.
    #[prost(int64, tag = "1")]
    pub(super) rejected: i64,
    #[prost(string, tag = "2")]
    pub(super) message: String,
}
