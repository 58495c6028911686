//! How much waits in streams for the system's consumer groups.

use std::time::Duration;

use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::now_ns;
use sojourn_plan::{RedisChannel, RedisSource};

use crate::config::Target;
use crate::connection::Connection;
use crate::failure::{Failure, accepted};
use crate::id::Id;
use crate::info::is_missing;
use crate::resp::{Cursor, Token};

/// Ids before September 2001 are no times: their producer chose them.
const TIME_MS_MIN: u64 = 1_000_000_000_000;

/// Most entries counted where the server does not tell how many wait, and their bytes.
const COUNTED_MAX: u64 = 10_000;
const COUNTED_BYTES_MAX: usize = 8 << 20;

/// Reads streams and groups; changes nothing.
#[derive(Debug)]
pub struct RedisBacklog {
    target: Target,
    streams: Vec<String>,
    groups: Vec<String>,
    connection: Option<Connection>,
}

/// A group of a stream as `XINFO GROUPS` describes it.
#[derive(Clone, Debug, Default)]
struct Group {
    name: String,
    pending: u64,
    delivered: Id,
    /// `None`: the server can't tell.
    lag: Option<u64>,
}

impl RedisBacklog {
    /// The backlog of these groups. Errs when the channel has no streams.
    pub fn new(redis: &RedisChannel, groups: &[String]) -> Result<Self, BrokerError> {
        let target = Target::new(redis)?;
        let RedisSource::Streams(names) = &redis.source else {
            return Err(target.error("only streams have a backlog"));
        };
        let mut streams: Vec<String> = Vec::new();
        for name in names {
            if !streams.contains(name) {
                streams.push(name.clone());
            }
        }
        Ok(Self { target, streams, groups: groups.to_vec(), connection: None })
    }

    fn ask(&mut self, deadline_ns: u64, readings: &mut Vec<Reading>) -> Result<(), Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.target, deadline_ns)?,
        };
        let asked = self.ask_all(&mut connection, deadline_ns, readings);
        // After an error answers may be on their way that belong to no question.
        if asked.is_ok() {
            self.connection = Some(connection);
        }
        asked
    }

    fn ask_all(
        &self,
        connection: &mut Connection,
        deadline_ns: u64,
        readings: &mut Vec<Reading>,
    ) -> Result<(), Failure> {
        connection.queue(&[b"TIME"]);
        for stream in &self.streams {
            connection.queue(&[b"XLEN", stream.as_bytes()]);
            connection.queue(&[b"XINFO", b"GROUPS", stream.as_bytes()]);
        }
        let mut cursor = Cursor::new(connection.answer(deadline_ns)?);
        accepted(&self.target, cursor.token()?)?;
        let now_ms = cursor.number()?.unwrap_or(0).saturating_mul(1_000);
        let mut found = Vec::new();
        let mut others = Vec::new();
        for stream in &self.streams {
            let mut cursor = Cursor::new(connection.answer(deadline_ns)?);
            if let Token::Integer(kept) = accepted(&self.target, cursor.token()?)? {
                let value = kept as f64;
                readings.push(Reading { of: stream.clone(), figure: Figure::Kept, value });
            }
            for group in read_groups(&self.target, connection.answer(deadline_ns)?)? {
                match self.groups.contains(&group.name) {
                    true => found.push((stream.as_str(), group)),
                    false => others.push(group.name),
                }
            }
        }
        for (stream, group) in &mut found {
            if group.lag.is_none() {
                group.lag = self.count(connection, deadline_ns, stream, group.delivered)?;
            }
        }
        self.ask_ages(connection, deadline_ns, now_ms, &found, readings)?;
        self.check(&found, &others)
    }

    /// Counts the entries that no member has been given, where the server does not: it can't of a
    /// group that began in the middle of its stream until that has caught up once, nor after
    /// entries were deleted one by one. `None`: they are too many.
    fn count(
        &self,
        connection: &mut Connection,
        deadline_ns: u64,
        stream: &str,
        delivered: Id,
    ) -> Result<Option<u64>, Failure> {
        let mut from = delivered;
        let (mut counted, mut bytes) = (0, 0);
        while counted < COUNTED_MAX && bytes < COUNTED_BYTES_MAX {
            let after = format!("({from}");
            let words = [b"XRANGE", stream.as_bytes(), after.as_bytes(), b"+", b"COUNT", b"500"];
            connection.queue(&words);
            let answer = connection.answer(deadline_ns)?;
            bytes += answer.len();
            let mut cursor = Cursor::new(answer);
            let Token::Array(entries) = accepted(&self.target, cursor.token()?)? else { break };
            for _ in 0..entries {
                cursor.array()?;
                from = Id::parse(cursor.text()?).unwrap_or(from);
                cursor.skip()?;
            }
            counted += entries as u64;
            if entries < 500 {
                return Ok(Some(counted));
            }
        }
        Ok(None)
    }

    /// The figures of these groups.
    fn ask_ages(
        &self,
        connection: &mut Connection,
        deadline_ns: u64,
        now_ms: u64,
        found: &[(&str, Group)],
        readings: &mut Vec<Reading>,
    ) -> Result<(), Failure> {
        for (stream, group) in found {
            connection.queue(&[b"XPENDING", stream.as_bytes(), group.name.as_bytes()]);
            let after = format!("({}", group.delivered);
            let words = [b"XRANGE", stream.as_bytes(), after.as_bytes(), b"+", b"COUNT", b"1"];
            connection.queue(&words);
        }
        for (stream, group) in found {
            let of = match self.streams.len() {
                1 => group.name.clone(),
                _ => format!("{} {stream}", group.name),
            };
            let mut push = |figure, value| {
                readings.push(Reading { of: of.clone(), figure, value });
            };
            push(Figure::Unacknowledged, group.pending as f64);
            if let Some(lag) = group.lag {
                push(Figure::Waiting, lag as f64);
            }
            let pending = oldest_pending(&self.target, connection.answer(deadline_ns)?)?;
            let waiting = first_entry(&self.target, connection.answer(deadline_ns)?)?;
            let oldest = pending.into_iter().chain(waiting).min();
            match oldest {
                None => push(Figure::OldestAgeMs, 0.0),
                Some(Id { ms, .. }) if ms >= TIME_MS_MIN => {
                    push(Figure::OldestAgeMs, now_ms.saturating_sub(ms) as f64);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Errs for what could not be told.
    fn check(&self, found: &[(&str, Group)], others: &[String]) -> Result<(), Failure> {
        let missing = |name: &&String| !found.iter().any(|(_, group)| group.name == **name);
        if let Some(name) = self.groups.iter().find(missing) {
            let streams = self.streams.join(" ");
            let error = self.target.error(format!("streams {streams}: there is no group `{name}`"));
            let mut others: Vec<_> = others.iter().map(|other| format!("`{other}`")).collect();
            others.sort();
            others.dedup();
            others.truncate(5);
            return Err(Failure::Fatal(match others.is_empty() {
                true => error.with_hint("they have no groups; consumers make theirs as they start"),
                false => error.with_hint(format!("there is {}", others.join(", "))),
            }));
        }
        if let Some((stream, group)) = found.iter().find(|(_, group)| group.lag.is_none()) {
            let what = format!(
                "how many entries of stream `{stream}` wait for group `{}`, the server does not \
                 tell, and they are too many to be counted",
                group.name
            );
            let hint = "it tells since Redis 7, when the group has caught up with the stream once \
                        and no entries were deleted one by one (XDEL)";
            return Err(Failure::Fatal(self.target.error(what).with_hint(hint)));
        }
        Ok(())
    }
}

impl Backlog for RedisBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 4);
        self.ask(now_ns() + timeout_ns, readings)
            .map_err(|failure| failure.into_error(&self.target))
    }
}

/// The answer to `XINFO GROUPS`.
fn read_groups(target: &Target, answer: &[u8]) -> Result<Vec<Group>, Failure> {
    let mut cursor = Cursor::new(answer);
    let listed = match cursor.token()? {
        Token::Array(listed) => listed,
        // No stream, no groups.
        Token::Error(said) if is_missing(said) => 0,
        token => {
            accepted(target, token)?;
            0
        }
    };
    let mut groups = Vec::new();
    for _ in 0..listed {
        let mut group = Group::default();
        for _ in 0..cursor.array()? / 2 {
            match cursor.text()? {
                b"name" => group.name = String::from_utf8_lossy(cursor.text()?).into_owned(),
                b"pending" => group.pending = cursor.number()?.unwrap_or(0),
                b"last-delivered-id" => {
                    group.delivered = Id::parse(cursor.text()?).unwrap_or_default();
                }
                b"lag" => group.lag = cursor.number()?,
                _ => cursor.skip()?,
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

/// The oldest id in an answer to `XPENDING`: count, oldest, newest, consumers.
fn oldest_pending(target: &Target, answer: &[u8]) -> Result<Option<Id>, Failure> {
    let mut cursor = Cursor::new(answer);
    accepted(target, cursor.token()?)?;
    cursor.skip()?;
    match cursor.token()? {
        Token::Bulk(id) => Ok(Id::parse(id)),
        _ => Ok(None),
    }
}

/// The first id in an answer to `XRANGE`.
fn first_entry(target: &Target, answer: &[u8]) -> Result<Option<Id>, Failure> {
    let mut cursor = Cursor::new(answer);
    match accepted(target, cursor.token()?)? {
        Token::Array(entries) if entries > 0 => {
            cursor.array()?;
            Ok(Id::parse(cursor.text()?))
        }
        _ => Ok(None),
    }
}
