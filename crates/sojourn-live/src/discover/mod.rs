//! Finding the events of one journey: everything on the given channels that mentions its id, in the
//! order in which it came.

mod file;

use std::collections::HashMap;
use std::time::Duration;

use sojourn_broker::{Mention, OpenDecoder, RawMessage, Sink, mentions};
use sojourn_clock::now_ns;

use crate::Watched;
pub use file::{journey_file, stages};

/// How long each tap is asked in its turn.
const POLL: Duration = Duration::from_millis(5);
/// Most kinds of event kept.
const FOUND_MAX: usize = 100;
/// Messages kept that came before the id was known.
const EARLY_MAX: usize = 10_000;

/// A kind of event that mentions the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Channel.
    pub channel: String,
    /// Topic, subject or path.
    pub topic: String,
    /// Type, where it has one.
    pub event_type: Option<String>,
    /// Where it mentions the id; the first place is the one to go by.
    pub mentions: Vec<Mention>,
    /// First seen, CLOCK_MONOTONIC nanoseconds.
    pub first_ns: u64,
    /// How many came.
    pub count: u64,
}

/// Listens to channels, first without knowing the id, then for what mentions it.
pub struct Discovery {
    watched: Vec<Watched>,
    early: Vec<Kept>,
    early_dropped: u64,
    found: Vec<Found>,
}

/// A message kept until the id is known.
struct Kept {
    channel: usize,
    stamp_ns: u64,
    topic: String,
    key: Option<Vec<u8>>,
    headers: Vec<(String, Vec<u8>)>,
    payload: Vec<u8>,
}

impl Discovery {
    /// Over channels whose taps are open.
    pub fn new(watched: Vec<Watched>) -> Self {
        Self { watched, early: Vec::new(), early_dropped: 0, found: Vec::new() }
    }

    /// Keeps what comes until the action is over, which runs on a thread of its own.
    pub fn during<T: Send>(&mut self, action: impl FnOnce() -> T + Send) -> Result<T, String> {
        std::thread::scope(|scope| {
            let acting = scope.spawn(action);
            while !acting.is_finished() {
                self.poll(None)?;
            }
            acting.join().map_err(|_| "the root's thread panicked: please report it".to_owned())
        })
    }

    /// Looks for the id in what was kept and in what comes, until `quiet_ns` have passed without a
    /// further mention, `length_ns` in all, or `stop` says so.
    pub fn look_for(
        &mut self,
        id: &str,
        quiet_ns: u64,
        length_ns: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        for kept in std::mem::take(&mut self.early) {
            let headers =
                kept.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
            let message = RawMessage {
                stamp_ns: kept.stamp_ns,
                topic: &kept.topic,
                key: kept.key.as_deref(),
                headers: headers.collect(),
                payload: &kept.payload,
                position: None,
            };
            let Watched { channel, decoder, .. } = &mut self.watched[kept.channel];
            note(&mut self.found, (&channel.name, decoder), &message, id);
        }
        let start_ns = now_ns();
        let mut heard_ns = start_ns;
        let mut mentioned = self.mentioned();
        while !stop() {
            self.poll(Some(id))?;
            let now = now_ns();
            if self.mentioned() > mentioned {
                (mentioned, heard_ns) = (self.mentioned(), now);
            }
            if now >= start_ns + length_ns || now >= heard_ns + quiet_ns {
                break;
            }
        }
        self.found.sort_by_key(|found| found.first_ns);
        Ok(())
    }

    /// What mentions the id, by kind, in order of appearance.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Messages that came before the id was known, and were too many to be kept.
    pub fn early_dropped(&self) -> u64 {
        self.early_dropped
    }

    fn mentioned(&self) -> u64 {
        self.found.iter().map(|found| found.count).sum()
    }

    /// Asks every tap once: for what mentions the id, or, while it is not known, for everything.
    fn poll(&mut self, id: Option<&str>) -> Result<(), String> {
        for (index, Watched { channel, tap, decoder }) in self.watched.iter_mut().enumerate() {
            let polled = match id {
                Some(id) => {
                    let of = (channel.name.as_str(), decoder);
                    tap.poll(POLL, &mut Looking { found: &mut self.found, of, id })
                }
                None => {
                    let (kept, dropped) = (&mut self.early, &mut self.early_dropped);
                    tap.poll(POLL, &mut Keeping { channel: index, kept, dropped })
                }
            };
            polled.map_err(|error| format!("channel {}: {error}", channel.name))?;
        }
        Ok(())
    }
}

struct Looking<'a> {
    found: &'a mut Vec<Found>,
    of: (&'a str, &'a mut OpenDecoder),
    id: &'a str,
}

impl Sink for Looking<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        note(self.found, (self.of.0, self.of.1), message, self.id);
    }
}

struct Keeping<'a> {
    channel: usize,
    kept: &'a mut Vec<Kept>,
    dropped: &'a mut u64,
}

impl Sink for Keeping<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        if self.kept.len() >= EARLY_MAX {
            *self.dropped += 1;
            return;
        }
        self.kept.push(Kept {
            channel: self.channel,
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: message
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.to_vec()))
                .collect(),
            payload: message.payload.to_vec(),
        });
    }
}

/// Takes note of a message if it mentions the id.
fn note(found: &mut Vec<Found>, of: (&str, &mut OpenDecoder), message: &RawMessage<'_>, id: &str) {
    let decoded = of.1.decode(message).unwrap_or_default();
    let mentions = mentions(message, &decoded, id);
    if mentions.is_empty() {
        return;
    }
    let event_type = decoded.event_type;
    let is_room = found.len() < FOUND_MAX;
    let same = found.iter_mut().find(|known| {
        known.channel == of.0 && known.topic == message.topic && known.event_type == event_type
    });
    match same {
        Some(known) => {
            known.count += 1;
            known.first_ns = known.first_ns.min(message.stamp_ns);
        }
        None if is_room => found.push(Found {
            channel: of.0.to_owned(),
            topic: message.topic.to_owned(),
            event_type,
            mentions,
            first_ns: message.stamp_ns,
            count: 1,
        }),
        None => {}
    }
}

/// How many kinds of event each channel has, for telling them apart.
fn kinds_by_channel(found: &[Found]) -> HashMap<&str, usize> {
    let mut kinds = HashMap::new();
    for event in found {
        *kinds.entry(event.channel.as_str()).or_default() += 1;
    }
    kinds
}
