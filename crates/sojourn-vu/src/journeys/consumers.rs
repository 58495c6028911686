//! Consumers that a script declares.
//!
//! Where one consumes is written as a tap's channel is, and read by the reader of journey files.

use serde_json::{Map, Value};
use sojourn_broker::{BrokerError, Consumer, Registry, Start};
use sojourn_plan::Channel;

use super::ScriptFiles;

/// Most consumers that a script declares.
const CONSUMERS_MAX: usize = 32;

/// Everything declared, in the order of declaration.
#[derive(Default)]
pub(crate) struct Consumers(Vec<Declared>);

struct Declared {
    name: String,
    written: Value,
    channel: Channel,
    group: String,
    start: Start,
}

impl Consumers {
    /// Declares a consumer; its number. Declared again as before it is the same; `is_frozen`:
    /// nothing new can come. Errs, in words, where its broker has no such thing too.
    pub(crate) fn declare(
        &mut self,
        name: &str,
        written: Value,
        is_frozen: bool,
        files: &ScriptFiles<'_>,
        connectors: &Registry,
    ) -> Result<usize, String> {
        if let Some(at) = self.0.iter().position(|known| known.name == name) {
            return match self.0[at].written == written {
                true => Ok(at),
                false => {
                    Err(format!("the consumer \"{name}\" is declared twice, and not the same"))
                }
            };
        }
        if is_frozen {
            return Err(format!(
                "the consumer \"{name}\" was not declared when the script's top level ran first"
            ));
        }
        if self.0.len() >= CONSUMERS_MAX {
            return Err(format!(
                "the consumer \"{name}\" is one too many: a script has at most {CONSUMERS_MAX}"
            ));
        }
        let wrong = |problem: String| format!("consumer \"{name}\": {problem}");
        let declared = Declared::read(name, written, files).map_err(wrong)?;
        // Nothing is connected by it; one for each user is made when the user first takes.
        let consumer = declared.make(connectors).map_err(wrong)?;
        if !consumer.commits() {
            return Err(wrong(declared.keeps_nothing()));
        }
        self.0.push(declared);
        Ok(self.0.len() - 1)
    }

    /// A member of a consumer's group that has not joined yet. Errs in words.
    pub(crate) fn make(
        &self,
        number: usize,
        connectors: &Registry,
    ) -> Result<Box<dyn Consumer>, String> {
        let declared = self.0.get(number).ok_or("there is no such consumer")?;
        declared.make(connectors)
    }
}

impl Declared {
    fn read(name: &str, written: Value, files: &ScriptFiles<'_>) -> Result<Self, String> {
        let Value::Object(mut fields) = written.clone() else {
            return Err("it is to be an object such as { kafka: {…}, group: 'billing' }".to_owned());
        };
        let group = match fields.remove("group") {
            Some(Value::String(group)) if !group.is_empty() => group,
            None | Some(Value::Null) => {
                return Err(
                    "it does not say which group it is of: write group: 'billing', in the \
                            broker's words a consumer group, a durable consumer or a queue"
                        .to_owned(),
                );
            }
            Some(other) => return Err(format!("the group {other} is no name")),
        };
        let start = match fields.remove("start") {
            None | Some(Value::Null) => Start::default(),
            Some(Value::String(word)) if word == "earliest" => Start::Earliest,
            Some(Value::String(word)) if word == "latest" => Start::Latest,
            Some(other) => {
                return Err(format!("the start {other} is none of 'earliest' and 'latest'"));
            }
        };
        let channel = read(name, &fields, files)?;
        let word = channel.connector.word();
        if let Some(other) = fields.keys().find(|key| *key != word) {
            return Err(format!(
                "there is no \"{other}\", only {word}, group and start: messages are handed over \
                 as they came"
            ));
        }
        Ok(Self { name: name.to_owned(), written, channel, group, start })
    }

    fn make(&self, connectors: &Registry) -> Result<Box<dyn Consumer>, String> {
        let connector = connectors.of(&self.channel);
        let made = connector.and_then(|it| it.consumer(&self.channel, &self.group, self.start));
        made.map_err(|error| in_words(&error))
    }

    fn keeps_nothing(&self) -> String {
        let word = self.channel.connector.word();
        format!(
            "{word} keeps nothing here, so that there is nothing to commit and nothing comes \
             again (consume from a stream: write `stream`, or listen with tap())"
        )
    }
}

/// The channel of these fields.
fn read(
    name: &str,
    fields: &Map<String, Value>,
    files: &ScriptFiles<'_>,
) -> Result<Channel, String> {
    let channel = Value::Object(fields.clone());
    let stage = serde_json::json!({ "name": name, "key": "key" });
    let plan = sojourn_plan::read_declared(name, &channel, &stage, files)?;
    plan.channels.into_iter().next().ok_or_else(|| "it has no channel".to_owned())
}

/// What is wrong, and what to do about it.
pub(super) fn in_words(error: &BrokerError) -> String {
    match &error.hint {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}
