//! Creating streams and groups, for demos and tests.

use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{RedisChannel, RedisSource};

use crate::config::Target;
use crate::connection::Connection;
use crate::failure::accepted;
use crate::resp::{Cursor, Token};

/// Makes the channel's streams where they are missing, and the group at their ends.
pub(crate) fn provision(redis: &RedisChannel, group: &str) -> Result<(), BrokerError> {
    let RedisSource::Streams(names) = &redis.source else { return Ok(()) };
    let target = Target::new(redis)?;
    let deadline_ns = now_ns() + 5 * SECOND_NS;
    let make = |connection: &mut Connection| {
        for name in names {
            let (name, group) = (name.as_bytes(), group.as_bytes());
            connection.queue(&[b"XGROUP", b"CREATE", name, group, b"$", b"MKSTREAM"]);
            match Cursor::new(connection.answer(deadline_ns)?).token()? {
                Token::Error(said) if said.starts_with(b"BUSYGROUP") => {}
                token => drop(accepted(&target, token)?),
            }
        }
        Ok(())
    };
    let made = Connection::open(&target, deadline_ns).and_then(|mut it| make(&mut it));
    made.map_err(|failure| failure.into_error(&target))
}
