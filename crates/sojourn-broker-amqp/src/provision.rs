//! Declaring an exchange and a queue, for demos and tests.

use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::AmqpChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::wire::method::{Answer, QueueKind, Said};

const CHANNEL: u16 = 1;
const HEARTBEAT_S: u16 = 30;
const TIMEOUT_NS: u64 = 5 * SECOND_NS;

/// Declares the channel's exchange, of type `topic` and durable, and a durable queue of the group's
/// name, bound with the channel's keys. Errs when there is one of another kind.
pub(crate) fn provision(channel: &AmqpChannel, group: &str) -> Result<(), BrokerError> {
    let settings = Settings::new(channel)?;
    declare(&settings, channel, group).map_err(|failure| failure.error(&settings))
}

fn declare(settings: &Settings, channel: &AmqpChannel, group: &str) -> Result<(), Failure> {
    let (deadline_ns, queue) = (now_ns() + TIMEOUT_NS, group.as_bytes());
    let mut connection = Connection::open(settings, HEARTBEAT_S, deadline_ns)?;
    connection.open_channel(CHANNEL, deadline_ns)?;
    // The default exchange is always there, and every queue is bound to it by its name.
    let exchange = channel.exchange.as_str();
    if !exchange.is_empty() {
        connection.out().exchange_declare(CHANNEL, exchange)?;
        let doing = "declaring the exchange";
        connection.answer(CHANNEL, Answer::ExchangeDeclare, deadline_ns, doing)?;
    }
    connection.out().queue_declare(CHANNEL, queue, QueueKind::Durable)?;
    connection.until(deadline_ns, "declaring the queue", |said, _| {
        Ok(matches!(said, Some(Said::QueueDeclared { .. })).then_some(()))
    })?;
    if exchange.is_empty() {
        return Ok(());
    }
    for key in &channel.routing {
        connection.out().queue_bind(CHANNEL, queue, exchange, key)?;
        connection.answer(CHANNEL, Answer::QueueBind, deadline_ns, "binding the queue")?;
    }
    Ok(())
}
