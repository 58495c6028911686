//! Fuzz targets: each takes any bytes, hands them to a parser of foreign input and panics when the
//! parser does, or breaks a promise of its own.
//!
//! A target is a plain function. `cargo xtask fuzz` runs it under libFuzzer; the crate's test runs
//! it on the seeds in `corpus/`, so that what was once found stays mended. The first two bytes of
//! an input are for the target itself ([`Input`]): how the rest is cut, and options.

mod input;
mod targets;

pub use input::Input;

/// One target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, also of its file and of its folder of seeds.
    pub name: &'static str,
    /// Panics when a promise is broken.
    pub check: fn(Input<'_>),
}

/// All targets, in the order in which they run.
pub const TARGETS: &[Target] = &[
    Target { name: "amqp_frames", check: targets::amqp_frames::check },
    Target { name: "avro_data", check: targets::avro_data::check },
    Target { name: "dns_reply", check: targets::dns_reply::check },
    Target { name: "event", check: targets::event::check },
    Target { name: "fleet_frames", check: targets::fleet_frames::check },
    Target { name: "har", check: targets::har::check },
    Target { name: "hpack", check: targets::hpack::check },
    Target { name: "http2_session", check: targets::http2_session::check },
    Target { name: "http_content", check: targets::http_content::check },
    Target { name: "http_response", check: targets::http_response::check },
    Target { name: "journey_file", check: targets::journey_file::check },
    Target { name: "k6_obstacles", check: targets::k6_obstacles::check },
    Target { name: "k6_options", check: targets::k6_options::check },
    Target { name: "key_store", check: targets::key_store::check },
    Target { name: "location", check: targets::location::check },
    Target { name: "mock_file", check: targets::mock_file::check },
    Target { name: "mock_request", check: targets::mock_request::check },
    Target { name: "mock_wishes", check: targets::mock_wishes::check },
    Target { name: "mqtt_packets", check: targets::mqtt_packets::check },
    Target { name: "nats_frames", check: targets::nats_frames::check },
    Target { name: "nfr", check: targets::nfr::check },
    Target { name: "postgres_messages", check: targets::postgres_messages::check },
    Target { name: "protobuf_data", check: targets::protobuf_data::check },
    Target { name: "proxy_reply", check: targets::proxy_reply::check },
    Target { name: "redis_answers", check: targets::redis_answers::check },
    Target { name: "redis_replies", check: targets::redis_replies::check },
    Target { name: "results", check: targets::results::check },
    Target { name: "run_file", check: targets::run_file::check },
    Target { name: "script_module", check: targets::script_module::check },
    Target { name: "session_journeys", check: targets::session_journeys::check },
    Target { name: "session_script", check: targets::session_script::check },
    Target { name: "sse_events", check: targets::sse_events::check },
    Target { name: "target_file", check: targets::target_file::check },
    Target { name: "websocket_frames", check: targets::websocket_frames::check },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
