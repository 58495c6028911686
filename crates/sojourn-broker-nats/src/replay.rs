//! Reading a stretch again, over a connection of its own: the tap's position does not move.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use sojourn_broker::{BrokerError, Position, Sink, Span};
use sojourn_clock::{SECOND_NS, now_ns};

use crate::connection::{Connection, Event};
use crate::dial::left;
use crate::headers::status;
use crate::jetstream::{Delivery, Failure, JetStream, StreamState};
use crate::message::raw;
use crate::protocol::{publish, subscribe};
use crate::subject::matches;
use crate::tap::NatsTap;

/// Number of the subscription that the stretch comes by.
const SID: u64 = 2;

/// The sequences of a stretch, and when the last of it was stored.
struct Stretch {
    start: serde_json::Value,
    /// The sequence after the last one that can belong to it.
    to_seq: u64,
    to_unix_ns: u64,
}

/// [`sojourn_broker::Tap::replay`] of a NATS tap, open or not.
pub(crate) fn replay(
    tap: &NatsTap,
    span: &Span,
    timeout: Duration,
    sink: &mut dyn Sink,
) -> Result<u64, BrokerError> {
    let at = &tap.settings.address;
    let Some(stream) = tap.stream() else {
        return Err(BrokerError::new(format!("nats at {at}: core NATS keeps no messages"))
            .with_hint("name the `stream` that keeps them"));
    };
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let deadline_ns = now_ns().saturating_add(timeout_ns);
    let mut connection = Connection::open(&tap.settings, deadline_ns).map_err(|lost| lost.error)?;
    let settings = &tap.settings;
    let mut jetstream = JetStream { connection: &mut connection, settings, stream, deadline_ns };
    let state = jetstream.stream_state().map_err(Failure::into_error)?;
    let stretches = stretches(tap, span, &state)?;
    let mut handed_over = 0;
    for stretch in stretches {
        handed_over += read(tap, &mut jetstream, &stretch, sink)?;
    }
    Ok(handed_over)
}

fn stretches(tap: &NatsTap, span: &Span, state: &StreamState) -> Result<Vec<Stretch>, BrokerError> {
    let end = state.last_seq + 1;
    let deleted = || {
        let (at, first) = (&tap.settings.address, state.first_seq);
        BrokerError::new(format!(
            "nats at {at}: a part of the span has been deleted: the stream begins at {first}"
        ))
        .with_hint("the stream's limits are too low for this load")
    };
    match span {
        Span::Positions(ranges) => ranges
            .iter()
            .map(|range| {
                if range.partition != tap.generation() {
                    let (at, number) = (&tap.settings.address, range.partition);
                    return Err(BrokerError::new(format!("nats at {at}: no partition {number}")));
                }
                let from = range.from.max(1);
                if from < state.first_seq && range.to > from {
                    return Err(deleted());
                }
                Ok(Stretch {
                    start: json!({
                        "deliver_policy": "by_start_sequence", "opt_start_seq": from,
                    }),
                    to_seq: if range.to > from { range.to.min(end) } else { 0 },
                    to_unix_ns: u64::MAX,
                })
            })
            .collect(),
        Span::Time { from_unix_ms, to_unix_ms } => {
            // What was deleted was stored before the first that is left; how long, nobody knows.
            let from = i64::try_from(*from_unix_ms).unwrap_or(i64::MAX);
            let from = Timestamp::from_millisecond(from).unwrap_or(Timestamp::MAX);
            let first = state.first_time.parse::<Timestamp>();
            if state.first_seq > 1 && first.is_ok_and(|first| from < first) {
                return Err(deleted());
            }
            Ok(vec![Stretch {
                start: json!({
                    "deliver_policy": "by_start_time", "opt_start_time": from.to_string(),
                }),
                to_seq: if to_unix_ms > from_unix_ms { end } else { 0 },
                to_unix_ns: to_unix_ms.saturating_mul(1_000_000),
            }])
        }
    }
}

fn read(
    tap: &NatsTap,
    jetstream: &mut JetStream<'_>,
    stretch: &Stretch,
    sink: &mut dyn Sink,
) -> Result<u64, BrokerError> {
    let deliver_to = jetstream.connection.inbox("d");
    subscribe(jetstream.connection.out(), &deliver_to, None, SID);
    let filter = match tap.subjects.as_slice() {
        [one] => Some(one.as_str()),
        _ => None,
    };
    let (name, mut left_over) = jetstream
        .ordered_consumer(&deliver_to, filter, &stretch.start, SECOND_NS)
        .map_err(Failure::into_error)?;
    let (mut handed_over, mut consumer_seq) = (0, 0);
    let deadline_ns = jetstream.deadline_ns;
    let stream = jetstream.stream;
    let connection = &mut *jetstream.connection;
    let late = || {
        let at = &tap.settings.address;
        BrokerError::new(format!("nats at {at}: stream {stream} was not read again in time"))
            .with_hint("read a shorter span, or give it longer")
    };
    while left_over > 0 && stretch.to_seq > 0 {
        match connection.next().map_err(|lost| lost.error)? {
            Some(Event::Message(place)) if place.sid == SID => {
                let message = connection.message(&place);
                if message.payload.is_empty() && status(message.headers).is_some() {
                    // Flow control, answered so that the consumer goes on.
                    if let Some(reply) = message.reply.map(ToOwned::to_owned) {
                        publish(connection.out(), &reply, None, b"", b"");
                    }
                    continue;
                }
                let Some(delivery) = message.reply.and_then(Delivery::parse) else { continue };
                if delivery.consumer_seq != consumer_seq + 1 {
                    return Err(connection.lost("what its consumer sends is not complete").error);
                }
                consumer_seq = delivery.consumer_seq;
                let is_in = delivery.stream_seq < stretch.to_seq
                    && delivery.stored_unix_ns < stretch.to_unix_ns;
                let is_ours = tap.subjects.iter().any(|subject| matches(subject, message.subject));
                if is_in && is_ours {
                    let position =
                        Position { partition: tap.generation(), offset: delivery.stream_seq };
                    sink.message(&raw(&message, connection.read_ns(), Some(position)));
                    handed_over += 1;
                }
                left_over = match is_in && delivery.stream_seq + 1 < stretch.to_seq {
                    true => delivery.pending,
                    false => 0,
                };
            }
            Some(_) => {}
            None => {
                let left = left(deadline_ns).ok_or_else(late)?;
                connection.fill(left).map_err(|lost| lost.error)?;
            }
        }
    }
    let _unneeded = jetstream.ask(&format!("CONSUMER.DELETE.{stream}.{name}"), &json!({}));
    Ok(handed_over)
}
