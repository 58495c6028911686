//! Creating a stream, for demos and tests.

use serde_json::json;
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::NatsChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::jetstream::{Failure, JetStream, STREAM_NOT_FOUND};

/// How long the server has for it.
const TIMEOUT_NS: u64 = 5 * SECOND_NS;

/// Creates the channel's stream where it is missing; core NATS needs nothing.
pub(crate) fn provision(nats: &NatsChannel) -> Result<(), BrokerError> {
    let Some(stream) = nats.stream.as_deref() else {
        return Ok(());
    };
    let (settings, deadline_ns) = (Settings::new(nats)?, now_ns() + TIMEOUT_NS);
    let mut connection = Connection::open(&settings, deadline_ns).map_err(|lost| lost.error)?;
    let connection = &mut connection;
    let mut jetstream = JetStream { connection, settings: &settings, stream, deadline_ns };
    let made = match jetstream.stream_state() {
        Err(Failure::Refused { code: STREAM_NOT_FOUND, .. }) => {
            let config = json!({ "name": stream, "subjects": nats.subjects, "storage": "file" });
            jetstream.ask(&format!("STREAM.CREATE.{stream}"), &config).map(drop)
        }
        known => known.map(drop),
    };
    made.map_err(Failure::into_error)
}
