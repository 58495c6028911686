//! A member of a consumer group.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sojourn_broker::{BrokerError, Consumer, RawMessage, Sink, Start};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{RedisChannel, RedisSource};

use crate::config::Target;
use crate::connection::Connection;
use crate::entry::Entry;
use crate::failure::{Failure, accepted};
use crate::id::Id;
use crate::info::is_missing;
use crate::resp::{Cursor, Token};

/// How long the server may take beyond the time that it was asked to wait.
const GRACE_NS: u64 = 2 * SECOND_NS;
/// After so long without an acknowledgement another member's messages are taken over.
const CLAIM_IDLE_MS: &str = "30000";
/// What is set as idle time of messages that a leaving member has not acknowledged, so that any
/// other claims them at once: a day.
const LEFT_IDLE_MS: &str = "86400000";
/// How often such messages are looked for.
const CLAIM_EVERY_NS: u64 = SECOND_NS;
/// Most messages taken and not committed.
const TAKEN_MAX: usize = 100_000;
/// Most ids in one command.
const IDS_MAX: usize = 1_000;

/// Takes entries of streams as a member of a group, and acknowledges them when asked.
#[derive(Debug)]
pub struct RedisConsumer {
    target: Target,
    field: Option<String>,
    group: String,
    start: Start,
    /// Its own name in the group.
    member: String,
    streams: Vec<Taken>,
    connection: Option<Connection>,
    joined: bool,
    left: bool,
    /// When it last looked for messages that others left.
    claimed_ns: u64,
    object: Vec<u8>,
}

/// What was taken of a stream and not committed yet.
#[derive(Debug)]
struct Taken {
    stream: String,
    ids: BTreeSet<Id>,
}

impl RedisConsumer {
    /// A member of `group`; it connects and joins with the first call. The group is made at the
    /// streams' ends where there is none. Errs when the channel has no streams.
    pub fn new(redis: &RedisChannel, group: &str) -> Result<Self, BrokerError> {
        static MEMBERS: AtomicU32 = AtomicU32::new(0);
        let target = Target::new(redis)?;
        let RedisSource::Streams(names) = &redis.source else {
            return Err(target.error("only streams have consumer groups"));
        };
        let number = MEMBERS.fetch_add(1, Ordering::Relaxed);
        let taken = |name: &String| Taken { stream: name.clone(), ids: BTreeSet::new() };
        Ok(Self {
            target,
            field: redis.field.clone(),
            group: group.to_owned(),
            start: Start::Latest,
            member: format!("sojourn-{}-{number}", std::process::id()),
            streams: names.iter().map(taken).collect(),
            connection: None,
            joined: false,
            left: false,
            claimed_ns: 0,
            object: Vec::new(),
        })
    }

    /// The same that begins elsewhere in the streams, where it makes the group.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// The connection, made if there is none, with the group joined.
    fn connected(&mut self, deadline_ns: u64) -> Result<&mut Connection, Failure> {
        if self.connection.is_none() {
            let mut connection = Connection::open(&self.target, deadline_ns)?;
            let begin: &[u8] = match self.start {
                Start::Earliest => b"0",
                Start::Latest => b"$",
            };
            for Taken { stream, .. } in &self.streams {
                let (stream, group) = (stream.as_bytes(), self.group.as_bytes());
                connection.queue(&[b"XGROUP", b"CREATE", stream, group, begin]);
                match Cursor::new(connection.answer(deadline_ns)?).token()? {
                    // There is one already.
                    Token::Error(said) if said.starts_with(b"BUSYGROUP") => {}
                    Token::Error(said)
                        if is_missing(said) || said.windows(8).any(|part| part == b"MKSTREAM") =>
                    {
                        let stream = String::from_utf8_lossy(stream);
                        let what = format!("there is no stream `{stream}`");
                        return Err(Failure::Fatal(self.target.error(what)));
                    }
                    token => drop(accepted(&self.target, token)?),
                }
            }
            self.joined = true;
            self.connection = Some(connection);
        }
        self.connection.as_mut().ok_or_else(|| Failure::Lost("no connection".to_owned()))
    }

    fn read(
        &mut self,
        count: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, Failure> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 4);
        let deadline_ns = now_ns() + timeout_ns + GRACE_NS;
        self.connected(deadline_ns)?;
        if now_ns().saturating_sub(self.claimed_ns) >= CLAIM_EVERY_NS {
            self.claimed_ns = now_ns();
            let claimed = self.claim(count, deadline_ns, sink)?;
            if claimed > 0 {
                self.claimed_ns = 0;
                return Ok(claimed);
            }
        }
        let mut words: Vec<Vec<u8>> = ["XREADGROUP", "GROUP", &self.group, &self.member, "COUNT"]
            .map(|word| word.as_bytes().to_vec())
            .into();
        words.push(count.to_string().into());
        // Nought would wait for ever.
        if timeout.as_millis() > 0 {
            words.extend(["BLOCK".into(), timeout.as_millis().to_string().into()]);
        }
        words.push("STREAMS".into());
        words.extend(self.streams.iter().map(|taken| taken.stream.clone().into()));
        words.extend(self.streams.iter().map(|_| b">".to_vec()));
        let connection = self.connected(deadline_ns)?;
        connection.queue_all(&words);
        connection.answer(deadline_ns)?;
        self.hand_over_read(sink)
    }

    /// Hands over the answer to XREADGROUP, which the connection keeps.
    fn hand_over_read(&mut self, sink: &mut dyn Sink) -> Result<usize, Failure> {
        let Some(connection) = &self.connection else { return Ok(0) };
        let stamp_ns = connection.received_ns();
        let mut cursor = Cursor::new(connection.latest());
        let listed = match accepted(&self.target, cursor.token()?)? {
            Token::Array(listed) => listed,
            _ => 0,
        };
        let mut handed_over = 0;
        for _ in 0..listed {
            cursor.array()?;
            let name = cursor.text()?;
            let mut known = self.streams.iter_mut().enumerate();
            match known.find(|(_, taken)| taken.stream.as_bytes() == name) {
                Some((index, taken)) => {
                    let place = Place { index, stamp_ns, field: self.field.as_deref() };
                    handed_over += place.hand_over(&mut cursor, taken, &mut self.object, sink)?;
                }
                None => cursor.skip()?,
            }
        }
        Ok(handed_over)
    }

    /// Takes over what other members have left lying, or lost with their connections.
    fn claim(
        &mut self,
        count: usize,
        deadline_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<usize, Failure> {
        let mut handed_over = 0;
        for index in 0..self.streams.len() {
            let Some(connection) = &mut self.connection else { return Ok(handed_over) };
            let taken = &mut self.streams[index];
            let words = [&taken.stream, &self.group, &self.member, CLAIM_IDLE_MS, "0-0", "COUNT"];
            let mut words: Vec<_> = words.into_iter().map(str::as_bytes).collect();
            let left = (count - handed_over).to_string();
            words.insert(0, b"XAUTOCLAIM");
            words.push(left.as_bytes());
            connection.queue(&words);
            connection.answer(deadline_ns)?;
            let stamp_ns = connection.received_ns();
            let mut cursor = Cursor::new(connection.latest());
            accepted(&self.target, cursor.token()?)?;
            cursor.skip()?;
            let place = Place { index, stamp_ns, field: self.field.as_deref() };
            handed_over += place.hand_over(&mut cursor, taken, &mut self.object, sink)?;
            if handed_over >= count {
                break;
            }
        }
        Ok(handed_over)
    }

    /// Sends `words`, ids, `more` for all that was taken, in pieces; returns the sum of the numbers
    /// answered.
    fn of_all_taken(&mut self, words: &[&str], more: &[&str]) -> Result<(), Failure> {
        let deadline_ns = now_ns() + 5 * SECOND_NS;
        let Some(connection) = &mut self.connection else {
            return Err(Failure::Lost("the connection was lost".to_owned()));
        };
        for taken in &mut self.streams {
            while !taken.ids.is_empty() {
                let piece = taken.ids.len().min(IDS_MAX);
                let mut all: Vec<String> = vec![words[0].to_owned(), taken.stream.clone()];
                all.push(self.group.clone());
                all.extend(words[1..].iter().map(|word| (*word).to_owned()));
                for _ in 0..piece {
                    all.extend(taken.ids.pop_first().map(|id| id.to_string()));
                }
                all.extend(more.iter().map(|word| (*word).to_owned()));
                connection.queue_all(&all);
                let done = match accepted(
                    &self.target,
                    Cursor::new(connection.answer(deadline_ns)?).token()?,
                )? {
                    Token::Integer(done) => usize::try_from(done).unwrap_or(0),
                    Token::Array(done) => done,
                    _ => 0,
                };
                if done < piece && more.is_empty() {
                    let what = format!(
                        "{} messages of stream `{}` were not taken as done: other members have \
                         claimed them",
                        piece - done,
                        taken.stream
                    );
                    return Err(Failure::Fatal(self.target.error(what)));
                }
            }
        }
        Ok(())
    }
}

impl Consumer for RedisConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        if self.left {
            return Err(self.target.error("the group was left"));
        }
        let taken: usize = self.streams.iter().map(|taken| taken.ids.len()).sum();
        if taken >= TAKEN_MAX {
            return Err(self
                .target
                .error(format!("{taken} messages were taken and not committed")));
        }
        let count = messages_max.min(IDS_MAX);
        if count == 0 {
            return Ok(0);
        }
        match self.read(count, timeout, sink) {
            Ok(handed_over) => Ok(handed_over),
            Err(Failure::Lost(_)) => {
                self.connection = None;
                // A server that refuses at once is not asked again at once.
                std::thread::sleep(timeout.min(Duration::from_millis(50)));
                Ok(0)
            }
            Err(Failure::Fatal(error)) => Err(error),
        }
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        if self.left {
            return Err(self.target.error("the group was left"));
        }
        if self.streams.iter().all(|taken| taken.ids.is_empty()) {
            return Ok(());
        }
        let deadline_ns = now_ns() + 5 * SECOND_NS;
        let done = self.connected(deadline_ns).map(drop);
        done.and_then(|()| self.of_all_taken(&["XACK"], &[]))
            .map_err(|failure| failure.into_error(&self.target))
    }

    fn assigned(&self) -> usize {
        if self.joined && !self.left { self.streams.len() } else { 0 }
    }

    fn leave(&mut self) {
        let nothing_taken: Vec<_> = self.streams.iter().map(|taken| taken.ids.is_empty()).collect();
        // Shown as idle for long, they are claimed by whoever looks next.
        let member = self.member.clone();
        let claim = ["XCLAIM", &member, "0"];
        drop(self.of_all_taken(&claim, &["IDLE", LEFT_IDLE_MS, "JUSTID"]));
        if let Some(mut connection) = self.connection.take() {
            for (taken, nothing) in self.streams.iter().zip(nothing_taken) {
                // Deleted with its pending messages they would never come again.
                if nothing {
                    let (stream, group) = (taken.stream.as_bytes(), self.group.as_bytes());
                    let words = [b"XGROUP", b"DELCONSUMER".as_slice(), stream, group];
                    connection.queue(&[words[0], words[1], words[2], words[3], member.as_bytes()]);
                    drop(connection.answer(now_ns() + SECOND_NS));
                }
            }
        }
        self.left = true;
    }
}

/// Where entries come from.
struct Place<'a> {
    index: usize,
    stamp_ns: u64,
    field: Option<&'a str>,
}

impl Place<'_> {
    /// Hands over a list of entries.
    fn hand_over(
        &self,
        cursor: &mut Cursor<'_>,
        taken: &mut Taken,
        object: &mut Vec<u8>,
        sink: &mut dyn Sink,
    ) -> Result<usize, Failure> {
        let entries = cursor.array()?;
        let mut handed_over = 0;
        for _ in 0..entries {
            let Some(entry) = Entry::read(cursor, self.field)? else { continue };
            // Claimed from ourselves: it is being worked on.
            if !taken.ids.insert(entry.id) {
                continue;
            }
            let object = self.field.is_none().then_some(&mut *object);
            let message = entry.message(&taken.stream, self.index, self.stamp_ns, object);
            // A group re-reads what nobody committed: that is its business.
            sink.message(&RawMessage { position: None, ..message });
            handed_over += 1;
        }
        Ok(handed_over)
    }
}
