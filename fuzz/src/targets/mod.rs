//! The targets, one a file.

pub(crate) mod amqp_frames;
pub(crate) mod avro_data;
pub(crate) mod dns_reply;
pub(crate) mod event;
pub(crate) mod hpack;
pub(crate) mod http2_session;
pub(crate) mod http_content;
pub(crate) mod http_response;
pub(crate) mod journey_file;
pub(crate) mod k6_options;
pub(crate) mod location;
pub(crate) mod mock_file;
pub(crate) mod mock_request;
pub(crate) mod mock_wishes;
pub(crate) mod mqtt_packets;
pub(crate) mod nats_frames;
pub(crate) mod postgres_messages;
pub(crate) mod protobuf_data;
pub(crate) mod proxy_reply;
pub(crate) mod redis_answers;
pub(crate) mod results;
pub(crate) mod run_file;
pub(crate) mod script_module;
pub(crate) mod sse_events;
pub(crate) mod target_file;
