//! Protobuf: messages to JSON by a descriptor set.
//!
//! Descriptors and the wire format are prost-reflect's, which bounds how deep a message may be
//! nested; what JSON its values become is decided here.

mod json;
pub mod prefix;

use std::path::Path;

use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use serde_json::Value;

/// Most names that are suggested for one that is wrong.
const SUGGESTED_MAX: usize = 3;

/// Why messages cannot be read, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Reads a channel's messages.
#[derive(Clone, Debug)]
pub struct Protobuf {
    message: MessageDescriptor,
    /// Messages begin with a schema registry's prefix.
    has_prefix: bool,
}

impl Protobuf {
    /// Reads the file of a descriptor set and finds a message in it by its full name. Errs when the
    /// file is not there or no such set, and when it has no such message.
    pub fn open(file: &Path, message: &str, has_prefix: bool) -> Result<Self, OpenError> {
        let shown = file.display();
        let set = std::fs::read(file).map_err(|error| OpenError {
            message: format!("the descriptor set {shown} cannot be read: {error}"),
            hint: Some(HOW.to_owned()),
        })?;
        Self::of_set(&set, message, has_prefix).map_err(|error| OpenError {
            message: format!("{shown}: {}", error.message),
            hint: error.hint,
        })
    }

    /// The same of a descriptor set's bytes.
    pub fn of_set(set: &[u8], message: &str, has_prefix: bool) -> Result<Self, OpenError> {
        let wrong = |why: String| OpenError {
            message: format!("not a descriptor set with all that it imports: {why}"),
            hint: Some(HOW.to_owned()),
        };
        let contradicts = || wrong("it contradicts itself".to_owned());
        // prost-reflect 0.16 panics over some sets that contradict themselves.
        let pool = std::panic::catch_unwind(|| DescriptorPool::decode(set))
            .map_err(|_| contradicts())?
            .map_err(|error| wrong(error.to_string()))?;
        // And later over maps whose entries have no key or no value.
        let is_whole = |entry: MessageDescriptor| [1, 2].map(|n| entry.get_field(n).is_some());
        if pool
            .all_messages()
            .filter(MessageDescriptor::is_map_entry)
            .any(|it| is_whole(it) != [true; 2])
        {
            return Err(contradicts());
        }
        let found = pool.get_message_by_name(message);
        let message = found.ok_or_else(|| OpenError {
            message: format!("no message `{message}`"),
            hint: Some(suggestion(&pool, message)),
        })?;
        Ok(Self { message, has_prefix })
    }

    /// Reads a message; with the full name of its type, which a registry's prefix may say. Errs in
    /// words.
    ///
    /// Fields have the names of the .proto file. Those without presence are there even where they
    /// have their default, others only where they were written. Enums are their names (of values
    /// that the descriptors do not have the number), bytes Base64, 64-bit numbers exact; numbers
    /// that JSON does not have are null. Well-known types are messages like any other.
    pub fn read(&self, payload: &[u8]) -> Result<(Value, String), String> {
        let (message, data) = match self.has_prefix {
            true => {
                let (path, data) = prefix::split(payload)?;
                (prefix::message_at(&self.message.parent_file(), &path)?, data)
            }
            false => (self.message.clone(), payload),
        };
        let name = message.full_name().to_owned();
        let read = DynamicMessage::decode(message, data)
            .map_err(|error| format!("the payload is not a message {name}: {error}"))?;
        let mut budget = payload.len().saturating_mul(4).saturating_add(100_000);
        let value = json::message(&read, &mut budget)
            .map_err(|why| format!("the payload is a message {name} of {why}"))?;
        Ok((value, name))
    }
}

const HOW: &str = "write it with `protoc --include_imports --descriptor_set_out=FILE …`";

/// Names that are like the one wanted, or some that there are.
fn suggestion(pool: &DescriptorPool, wanted: &str) -> String {
    let names: Vec<String> = pool
        .all_messages()
        .filter(|message| !message.is_map_entry())
        .map(|message| message.full_name().to_owned())
        .collect();
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let mut ranked: Vec<(f64, &String)> = names
        .iter()
        .map(|name| {
            let whole = strsim::jaro_winkler(wanted, name);
            (whole.max(strsim::jaro_winkler(&short(wanted), &short(name))), name)
        })
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let listed: Vec<_> =
        ranked.iter().take(SUGGESTED_MAX).map(|(_, name)| format!("`{name}`")).collect();
    match listed.as_slice() {
        [] => "the set declares no message".to_owned(),
        listed => format!("there is {}", listed.join(", ")),
    }
}
