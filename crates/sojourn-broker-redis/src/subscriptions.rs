//! Pub/sub channels, patterns, and notifications about keys.
//!
//! The server confirms each subscription: from then on nothing is missed, as long as the connection
//! lasts. It keeps nothing for who is away, so a gap is a loss.

use sojourn_broker::{Echo, Gap, RawMessage, Recovery, Sink};
use sojourn_clock::now_ns;

use crate::config::Target;
use crate::connection::Connection;
use crate::failure::{Failure, accepted};
use crate::glob::fits;
use crate::resp::{Cursor, Token};
use crate::tap::{SILENCE_NS_MAX, Source};

/// Letters of `notify-keyspace-events` that stand for events.
const EVENT_CLASSES: &[u8] = b"g$lshzxetdmnA";

/// What was subscribed to.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    target: Target,
    /// As in the plan.
    names: Vec<String>,
    channels: Vec<Vec<u8>>,
    patterns: Vec<Vec<u8>>,
    /// Beginning of the channels that tell of keys, where those are meant.
    keyspace: Option<String>,
    /// The server did not let us see whether it tells of keys.
    unchecked: bool,
    echo: Echo,
    gaps: Vec<Gap>,
}

impl Subscriptions {
    /// Channels; those with `*`, `?` or `[` are patterns.
    pub(crate) fn of_channels(target: Target, names: &[String]) -> Self {
        let (patterns, channels): (Vec<&String>, Vec<_>) =
            names.iter().partition(|name| name.contains(['*', '?', '[']));
        let bytes = |names: Vec<&String>| names.iter().map(|name| name.as_bytes().into()).collect();
        Self::new(target, names, bytes(channels), bytes(patterns), None)
    }

    /// Keys that fit these patterns.
    pub(crate) fn of_keyspace(target: Target, names: &[String]) -> Self {
        let prefix = format!("__keyspace@{}__:", target.database);
        let patterns = names.iter().map(|name| format!("{prefix}{name}").into()).collect();
        Self::new(target, names, Vec::new(), patterns, Some(prefix))
    }

    fn new(
        target: Target,
        names: &[String],
        channels: Vec<Vec<u8>>,
        patterns: Vec<Vec<u8>>,
        keyspace: Option<String>,
    ) -> Self {
        let (echo, gaps, unchecked) = (Echo::new(now_ns()), Vec::new(), false);
        let names = names.to_vec();
        Self { target, names, channels, patterns, keyspace, unchecked, echo, gaps }
    }

    /// Whether the server tells of keys at all.
    fn check_keyspace(
        &mut self,
        connection: &mut Connection,
        deadline_ns: u64,
    ) -> Result<(), Failure> {
        connection.queue(&[b"CONFIG", b"GET", b"notify-keyspace-events"]);
        let mut cursor = Cursor::new(connection.answer(deadline_ns)?);
        let flags = match cursor.token()? {
            Token::Array(2) => {
                cursor.skip()?;
                cursor.text()?
            }
            // Hidden or renamed, as hosted servers do.
            _ => {
                self.unchecked = true;
                return Ok(());
            }
        };
        let mut wanted = String::from_utf8_lossy(flags).into_owned();
        if !flags.contains(&b'K') {
            wanted.push('K');
        }
        if !flags.iter().any(|flag| EVENT_CLASSES.contains(flag)) {
            wanted.push('A');
        }
        if wanted.as_bytes() == flags {
            return Ok(());
        }
        let error = self.target.error("it does not tell of keys: `notify-keyspace-events` is off");
        Err(Failure::Fatal(error.with_hint(format!(
            "switch it on, a tap never changes a server: \
             `redis-cli CONFIG SET notify-keyspace-events {wanted}`"
        ))))
    }

    fn subscribe(&mut self, connection: &mut Connection, deadline_ns: u64) -> Result<(), Failure> {
        let mut left = self.channels.len() + self.patterns.len();
        if left == 0 {
            return Err(Failure::Fatal(self.target.error("no channels named")));
        }
        for (command, names) in [("SUBSCRIBE", &self.channels), ("PSUBSCRIBE", &self.patterns)] {
            if !names.is_empty() {
                let words = [command.as_bytes()];
                let words: Vec<&[u8]> =
                    words.into_iter().chain(names.iter().map(Vec::as_slice)).collect();
                connection.queue(&words);
            }
        }
        while left > 0 {
            let mut cursor = Cursor::new(connection.answer(deadline_ns)?);
            accepted(&self.target, cursor.token()?)?;
            // Messages of what is subscribed to already came before we listen to all of it.
            if matches!(cursor.text()?, b"subscribe" | b"psubscribe") {
                left -= 1;
            }
        }
        self.echo = Echo::new(now_ns());
        Ok(())
    }

    /// Whether a channel that came through this pattern does not also come through another
    /// subscription of ours that stands before it.
    fn is_first(&self, pattern: &[u8], channel: &[u8]) -> bool {
        if self.channels.is_empty() && self.patterns.len() == 1 {
            return true;
        }
        let by_name = self.channels.iter().any(|name| name == channel);
        let first = self.patterns.iter().find(|known| fits(known, channel));
        !by_name && first.is_none_or(|first| first == pattern)
    }

    fn hand_over(&self, channel: &[u8], payload: &[u8], stamp_ns: u64, sink: &mut dyn Sink) {
        let topic = String::from_utf8_lossy(channel);
        let key = self.keyspace.as_ref().and_then(|prefix| channel.get(prefix.len()..));
        let headers = match key {
            Some(_) => vec![("type", payload)],
            None => Vec::new(),
        };
        let position = None;
        sink.message(&RawMessage { stamp_ns, topic: &topic, key, headers, payload, position });
    }
}

impl Source for Subscriptions {
    fn begin(&mut self, connection: &mut Connection, deadline_ns: u64) -> Result<(), Failure> {
        if self.keyspace.is_some() {
            self.check_keyspace(connection, deadline_ns)?;
        }
        self.subscribe(connection, deadline_ns)
    }

    fn begin_again(
        &mut self,
        connection: &mut Connection,
        lost_ns: u64,
        deadline_ns: u64,
    ) -> Result<(), Failure> {
        self.begin(connection, deadline_ns)?;
        let recovery = Recovery::Missed;
        self.gaps.push(Gap { from_ns: lost_ns, to_ns: now_ns(), recovery });
        Ok(())
    }

    fn take(
        &mut self,
        connection: &mut Connection,
        sink: &mut dyn Sink,
    ) -> Result<Option<usize>, Failure> {
        let stamp_ns = connection.received_ns();
        let Some(answer) = connection.next_answer()? else { return Ok(None) };
        let mut cursor = Cursor::new(answer);
        accepted(&self.target, cursor.token()?)?;
        let (channel, payload) = match cursor.text()? {
            b"message" => (cursor.text()?, cursor.text()?),
            b"pmessage" => {
                let pattern = cursor.text()?;
                let (channel, payload) = (cursor.text()?, cursor.text()?);
                if !self.is_first(pattern, channel) {
                    return Ok(Some(0));
                }
                (channel, payload)
            }
            b"pong" => {
                self.echo.answered(stamp_ns);
                return Ok(Some(0));
            }
            _ => return Ok(Some(0)),
        };
        self.hand_over(channel, payload, stamp_ns, sink);
        Ok(Some(1))
    }

    fn tend(&mut self, connection: &mut Connection, now_ns: u64) -> Result<(), Failure> {
        if let Some(asked_ns) = self.echo.asked_ns() {
            let heard_ns = asked_ns.max(connection.received_ns());
            if now_ns.saturating_sub(heard_ns) > SILENCE_NS_MAX {
                return Err(Failure::Lost("the server answers nothing".to_owned()));
            }
        } else if self.echo.is_due(now_ns) {
            connection.queue(&[b"PING"]);
            self.echo.asked(now_ns);
        }
        Ok(())
    }

    fn is_caught_up(&self) -> bool {
        true
    }

    fn behind_ns(&self, now_ns: u64) -> u64 {
        self.echo.behind_ns(now_ns)
    }

    fn gaps(&mut self) -> &mut Vec<Gap> {
        &mut self.gaps
    }

    fn listens_to(&self) -> String {
        let names = self.names.join(" ");
        match (&self.keyspace, self.unchecked) {
            (None, _) => format!("pub/sub {names}"),
            (Some(_), false) => format!("keyspace {names}"),
            (Some(_), true) => format!(
                "keyspace {names} (whether notify-keyspace-events is on, the server does not let \
                 us see)"
            ),
        }
    }
}
