//! Who speaks: the resource and the scope of everything that is sent.

use prost::Message;

use super::messages::{ExportAnswer, KeyValue, Resource, Scope};
use crate::{
    failure::{Failure, Took},
    target::Run,
};

pub(super) fn resource(run: &Run) -> Resource {
    Resource {
        attributes: vec![
            KeyValue::text("service.name", "sojourn"),
            KeyValue::text("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::text("service.instance.id", &run.id),
            KeyValue::text("run", &run.id),
            KeyValue::text("plan", &run.plan),
        ],
    }
}

pub(super) fn scope() -> Scope {
    Scope { name: "sojourn".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// What the receiver's answer says it took. What it does not say is taken as success.
pub(super) fn took(answer: &[u8]) -> Result<Took, Failure> {
    Ok(match rejected(answer) {
        0 => Took::All,
        rejected => Took::AllBut(rejected),
    })
}

/// How many points or spans a receiver's answer says it did not take.
pub fn rejected(answer: &[u8]) -> u64 {
    let partial = ExportAnswer::decode(answer).ok().and_then(|answer| answer.partial);
    partial.map_or(0, |partial| u64::try_from(partial.rejected).unwrap_or(0))
}
