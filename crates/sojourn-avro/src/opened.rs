//! What a channel reads its messages with, ready: its schemas read.

use std::collections::HashMap;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{AvroSchema, SchemaRegistry};

use crate::Schema;
use crate::registry::{Miss, OpenError, Registered, Registry};

/// How long opening may take, all told.
const OPEN_NS: u64 = 15 * SECOND_NS;
/// Most ids remembered, whether or not there is a schema.
const IDS_MAX: usize = 10_000;
/// Ids that wait to be asked for.
const ASKED_MAX: usize = 100;
/// After how long an id that could not be had is asked for again.
const AGAIN_NS: u64 = 5 * SECOND_NS;
/// Magic byte and id.
const PREFIX_BYTES: usize = 5;

/// Reads a channel's messages.
#[derive(Debug)]
pub struct Avro {
    source: Source,
}

#[derive(Debug)]
enum Source {
    One(Schema),
    Registry(Schemas),
}

/// The schemas of a registry. It is never asked on the thread that reads messages, whose stamps
/// would wait with it.
#[derive(Debug)]
struct Schemas {
    known: HashMap<u32, Known>,
    /// Until then, no look is taken for ids that can be forgotten.
    look_ns: u64,
    /// Ids for the thread that asks; it ends when this is dropped.
    ask: Sender<u32>,
    answers: Receiver<(u32, Result<Schema, Miss>)>,
    /// How long a message may wait for its schema.
    patience: Duration,
}

#[derive(Debug)]
enum Known {
    Schema(Schema),
    Asked,
    Failed { why: String, again_ns: u64 },
}

impl Avro {
    /// Reads the schema's file; or asks the registry for what its subjects have, which are by
    /// default `TOPIC-value` of each topic. Errs when the file or the registry is not there, or a
    /// subject that the plan names.
    ///
    /// A message whose schema is not known yet waits for it as long as `patience`: zero on a thread
    /// that stamps what it receives.
    pub fn open(
        schema: &AvroSchema,
        topics: &[String],
        patience: Duration,
    ) -> Result<Self, OpenError> {
        let source = match schema {
            AvroSchema::File(path) => {
                let shown = path.display();
                let text = std::fs::read_to_string(path).map_err(|error| {
                    let message = format!("the schema {shown} cannot be read: {error}");
                    OpenError::new(message, "`schema` names a file of Avro's JSON (.avsc)")
                })?;
                let schema = Schema::parse(&text).map_err(|error| {
                    let message = format!("{shown}: {error}");
                    OpenError::new(message, "a schema names only what it defines itself")
                })?;
                Source::One(schema)
            }
            AvroSchema::Registry(settings) => {
                Source::Registry(Schemas::open(settings, topics, patience)?)
            }
        };
        Ok(Self { source })
    }

    /// Reads a message; with the full name of the record that it is, if it is one. Errs in words.
    pub fn read(&mut self, payload: &[u8]) -> Result<(Value, Option<String>), String> {
        let (schema, data) = match &mut self.source {
            Source::One(schema) => (&*schema, payload),
            Source::Registry(schemas) => {
                let (id, data) = split(payload)?;
                (schemas.of(id)?, data)
            }
        };
        Ok((schema.read(data)?, schema.name().map(str::to_owned)))
    }

    /// Whether an empty message means that a row's key is to be forgotten: some schema known so far
    /// is that of Debezium's changes.
    pub fn has_changes(&self) -> bool {
        match &self.source {
            Source::One(schema) => schema.is_change(),
            Source::Registry(schemas) => schemas
                .known
                .values()
                .any(|known| matches!(known, Known::Schema(schema) if schema.is_change())),
        }
    }
}

/// The id of a message's schema, and its data.
fn split(payload: &[u8]) -> Result<(u32, &[u8]), String> {
    match payload.split_first_chunk::<PREFIX_BYTES>() {
        Some((&[0, a, b, c, d], data)) => Ok((u32::from_be_bytes([a, b, c, d]), data)),
        Some(([other, ..], _)) => Err(format!(
            "not written by way of a schema registry: its first byte is {other}, not 0"
        )),
        None => Err("not written by way of a schema registry: shorter than its prefix".to_owned()),
    }
}

impl Schemas {
    fn open(
        settings: &SchemaRegistry,
        topics: &[String],
        patience: Duration,
    ) -> Result<Self, OpenError> {
        let mut registry = Registry::new(&settings.server)?;
        let deadline_ns = now_ns() + OPEN_NS;
        let mut known = HashMap::new();
        let place = registry.place.clone();
        let failed = |what: &str, miss: Miss| {
            let hint = match miss {
                Miss::Missing => "`curl REGISTRY/subjects` lists what there is",
                Miss::Denied(_) => {
                    "put user and password into the URL: https://${USER}:${PASSWORD}@host"
                }
                Miss::Failed(_) => "is it running there, and may this machine connect to it?",
            };
            OpenError::new(format!("{place}: {what}: {miss}"), hint)
        };
        registry.answers(deadline_ns).map_err(|miss| failed("asked what it is", miss))?;
        let named = settings.subjects.iter().map(|subject| (subject.clone(), true));
        let usual = topics.iter().map(|topic| (format!("{topic}-value"), false));
        let usual = usual.filter(|_| settings.subjects.is_empty());
        for (subject, is_named) in named.chain(usual) {
            match registry.subject(&subject, deadline_ns) {
                Ok(versions) => known.extend(versions.into_iter().map(Known::registered)),
                // Other strategies of naming have other subjects.
                Err(Miss::Missing) if !is_named => {}
                Err(miss) => return Err(failed(&format!("subject `{subject}`"), miss)),
            }
        }
        let (ask, asked) = bounded(ASKED_MAX);
        let (sender, answers) = bounded(ASKED_MAX);
        std::thread::Builder::new()
            .name("schemas".to_owned())
            .spawn(move || fetch(registry, &asked, &sender))
            .map_err(|error| {
                let message = format!("{place}: no thread for it can be started: {error}");
                OpenError::new(message, "raise the limit of threads (ulimit -u)")
            })?;
        Ok(Self { known, look_ns: 0, ask, answers, patience })
    }

    /// The schema of an id. Errs when it is not there, or not there yet.
    fn of(&mut self, id: u32) -> Result<&Schema, String> {
        while let Ok(answer) = self.answers.try_recv() {
            self.take(answer);
        }
        let is_new = match self.known.get(&id) {
            Some(Known::Failed { again_ns, .. }) => now_ns() >= *again_ns,
            Some(Known::Schema(_) | Known::Asked) => false,
            None => true,
        };
        if is_new {
            self.ask_for(id)?;
        }
        self.wait_for(id);
        match self.known.get(&id) {
            Some(Known::Schema(schema)) => Ok(schema),
            Some(Known::Failed { why, .. }) => {
                Err(format!("the schema registry has no schema {id} for it: {why}"))
            }
            Some(Known::Asked) | None => Err(format!(
                "its schema {id} was not known at the beginning and is being asked for: name its \
                 subject in `subjects`"
            )),
        }
    }

    fn ask_for(&mut self, id: u32) -> Result<(), String> {
        if self.known.len() >= IDS_MAX && !self.known.contains_key(&id) {
            self.forget_failures();
        }
        if self.known.len() >= IDS_MAX && !self.known.contains_key(&id) {
            return Err(format!("schema {id} is one more than the {IDS_MAX} that are kept"));
        }
        if self.ask.try_send(id).is_err() {
            return Err(format!("schema {id}: too many others are being asked for"));
        }
        self.known.insert(id, Known::Asked);
        Ok(())
    }

    /// Drops ids that could not be had and that nobody has asked for since. Messages that are no
    /// Avro name any ids, and must not keep out those of later schemas. At most once a second: it
    /// looks at all of them.
    fn forget_failures(&mut self) {
        let now_ns = now_ns();
        if now_ns < self.look_ns {
            return;
        }
        self.look_ns = now_ns + SECOND_NS;
        let is_over =
            |known: &Known| matches!(known, Known::Failed { again_ns, .. } if *again_ns <= now_ns);
        self.known.retain(|_, known| !is_over(known));
    }

    /// Waits for an id that has been asked for, whichever message it was that asked.
    fn wait_for(&mut self, id: u32) {
        if self.patience.is_zero() {
            return;
        }
        let patience_ns = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
        let deadline_ns = now_ns().saturating_add(patience_ns);
        while matches!(self.known.get(&id), Some(Known::Asked)) {
            let left_ns = deadline_ns.saturating_sub(now_ns());
            match self.answers.recv_timeout(Duration::from_nanos(left_ns)) {
                Ok(answer) => self.take(answer),
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, (id, answer): (u32, Result<Schema, Miss>)) {
        let known = answer.map_or_else(|miss| Known::failed(miss.to_string()), Known::Schema);
        self.known.insert(id, known);
    }
}

impl Known {
    fn registered(registered: Registered) -> (u32, Self) {
        (registered.id, registered.schema.map_or_else(Self::failed, Self::Schema))
    }

    fn failed(why: String) -> Self {
        Self::Failed { why, again_ns: now_ns() + AGAIN_NS }
    }
}

/// The thread that asks: one id after the other, until nobody wants one any more.
fn fetch(
    mut registry: Registry,
    asked: &Receiver<u32>,
    answers: &Sender<(u32, Result<Schema, Miss>)>,
) {
    for id in asked {
        let answer = registry.schema(id);
        if answers.send((id, answer)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::type_complexity, reason = "the two ends of the fetching thread")]
    fn schemas(again_ns: u64) -> (Schemas, Receiver<u32>, Sender<(u32, Result<Schema, Miss>)>) {
        let (ask, asked) = bounded(10);
        let (sender, answers) = bounded(10);
        let failed = |id| (id, Known::Failed { why: "it has none".to_owned(), again_ns });
        let known = (0..IDS_MAX as u32).map(failed).collect();
        let patience = Duration::ZERO;
        (Schemas { known, look_ns: 0, ask, answers, patience }, asked, sender)
    }

    #[test]
    fn ids_that_could_not_be_had_keep_no_place_for_ever() {
        let (mut schemas, asked, sender) = schemas(1);
        assert!(schemas.of(70_000).unwrap_err().contains("is being asked for"));
        assert_eq!(asked.try_recv(), Ok(70_000));
        sender.send((70_000, Ok(Schema::parse("\"string\"").unwrap()))).unwrap();
        assert!(schemas.of(70_000).is_ok());
        // One that could not be had is asked for again when a message names it.
        assert!(schemas.of(7).unwrap_err().contains("is being asked for"));
        assert_eq!((asked.try_recv(), schemas.known.len()), (Ok(7), 2));
    }

    #[test]
    fn ids_of_late_are_kept_and_bounded() {
        let (mut schemas, asked, _sender) = schemas(u64::MAX);
        assert!(schemas.of(70_000).unwrap_err().contains("10000"));
        assert!(schemas.of(7).unwrap_err().contains("it has none"));
        assert!(asked.is_empty() && schemas.known.len() == IDS_MAX);
    }
}
