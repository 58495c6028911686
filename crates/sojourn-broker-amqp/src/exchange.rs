//! What is known of an exchange before a tap is bound to it, and what is said of one that is not
//! there.

use sojourn_broker::BrokerError;
use sojourn_plan::AmqpChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::management::Management;
use crate::wire::method::Said;

/// The types whose exchanges hand each message to all bound queues that it fits. Any other may
/// share messages out among its queues: a tap would take them from the system's.
const FANNING_OUT: [&str; 4] = ["direct", "fanout", "headers", "topic"];
/// Further types of RabbitMQ's plugins that fan out as well.
const OF_PLUGINS: [&str; 4] = ["x-delayed-message", "x-recent-history", "x-rtopic", "x-event"];

/// Whether a tap may be bound to an exchange of this type without taking messages from others.
pub(crate) fn fans_out(kind: &str) -> bool {
    FANNING_OUT.contains(&kind) || OF_PLUGINS.contains(&kind)
}

/// Asks RabbitMQ for the type of an exchange that is known to exist, on a channel that it closes
/// by its answer. `None` where it does not tell: another broker, or no permission to configure.
///
/// It is asked by a declaration that it must refuse (see [`crate::wire::writer::Writer`]), so
/// nothing is made even if the exchange has just gone.
pub(crate) fn ask_type(
    connection: &mut Connection,
    channel: u16,
    exchange: &str,
    deadline_ns: u64,
) -> Result<Option<String>, Failure> {
    if !connection.is_rabbitmq() {
        return Ok(None);
    }
    connection.open_channel(channel, deadline_ns)?;
    connection.out().exchange_type(channel, exchange)?;
    let asked = connection.until(deadline_ns, "asking for the exchange's type", |said, _| {
        Ok(matches!(said, Some(Said::Ok(_))).then_some(()))
    });
    match asked {
        Err(Failure::ChannelClosed { code: 406, text }) => Ok(type_in(&text)),
        Err(Failure::ChannelClosed { .. }) | Ok(()) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The type in RabbitMQ's words for a declaration that differs from what there is.
fn type_in(text: &str) -> Option<String> {
    if !text.contains("inequivalent arg") {
        return None;
    }
    // Types are compared first: where another argument differs, the type is the one asked for.
    let current = text.split_once("inequivalent arg 'type'");
    let Some((_, rest)) = current else {
        return Some("headers".to_owned());
    };
    let (_, current) = rest.split_once("but current is '")?;
    current.split_once('\'').map(|(kind, _)| kind.to_owned())
}

/// Says what is wrong with the exchange, or with the connection.
pub(crate) fn explain(
    failure: &Failure,
    settings: &Settings,
    channel: &AmqpChannel,
) -> BrokerError {
    let Failure::ChannelClosed { code: 404, .. } = failure else {
        return failure.error(settings);
    };
    let (name, exchange, vhost) = (settings.name(), &channel.exchange, &settings.vhost);
    let error =
        BrokerError::new(format!("{name}: no exchange `{exchange}` in virtual host `{vhost}`"));
    let management = Management::of(channel).ok().flatten();
    let similar = management.and_then(|management| management.similar_exchange(vhost, exchange));
    match similar {
        Some(name) => error.with_hint(format!("did you mean `{name}`?")),
        None => error.with_hint(
            "none is made here: start what declares it first, or mend the name or the URL's \
             virtual host",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_read_from_the_refusal() {
        for (text, kind) in [
            (
                "PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'e' in vhost '/': \
                 received 'headers' but current is 'x-consistent-hash'",
                Some("x-consistent-hash"),
            ),
            (
                "PRECONDITION_FAILED - inequivalent arg 'durable' for exchange 'e' in vhost '/': \
                 received 'false' but current is 'true'",
                Some("headers"),
            ),
            ("PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange'", None),
            ("", None),
        ] {
            assert_eq!(type_in(text).as_deref(), kind, "{text}");
        }
    }
}
