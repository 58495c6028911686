//! Schemas that others refer to: fetched together, each once, then put before those that name them.

use std::collections::HashMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::Schema;
use crate::registry::{Miss, Registry};

/// Most schemas that one may refer to, all told.
const REFERENCES_MAX: usize = 100;

/// A subject and its version, which never changes.
type Reference = (String, u64);

/// What the registry has of the schemas that others refer to, or why it has it not.
#[derive(Default)]
pub(crate) struct References(HashMap<Reference, Result<Value, String>>);

impl Registry {
    /// All that these answers refer to, and what that refers to. One that cannot be had spoils only
    /// the schemas that need it.
    pub(crate) fn references(&mut self, answers: &[Value], deadline_ns: u64) -> References {
        let mut known = References::default();
        let most = REFERENCES_MAX * answers.len();
        let mut wanted: Vec<Reference> = Vec::new();
        answers.iter().for_each(|answer| known.wants(answer, &mut wanted));
        while !wanted.is_empty() {
            wanted.truncate(most.saturating_sub(known.0.len()));
            let path = |(subject, version): &Reference| {
                let subject = utf8_percent_encode(subject, NON_ALPHANUMERIC);
                format!("/subjects/{subject}/versions/{version}")
            };
            let paths: Vec<String> = wanted.iter().map(path).collect();
            let found = self.get_all(&paths, deadline_ns);
            for (reference, found) in wanted.drain(..).zip(found) {
                let found = found.map_err(|miss| why(&reference, &miss));
                known.0.insert(reference, found);
            }
            if known.0.len() < most {
                let new = known.0.values().flatten().flat_map(references_of).flatten();
                wanted.extend(new.filter(|reference| !known.0.contains_key(reference)));
                wanted.sort_unstable();
                wanted.dedup();
            }
        }
        known
    }
}

impl References {
    /// The schema of an answer.
    pub(crate) fn schema(&self, answer: &Value) -> Result<Schema, String> {
        let (mut used, mut texts) = (Vec::new(), Vec::new());
        self.collect(answer, &mut used, &mut texts)?;
        Schema::parse_all(&texts)
    }

    /// The schema's text behind those that it refers to, each once.
    fn collect<'a>(
        &'a self,
        answer: &'a Value,
        used: &mut Vec<Reference>,
        texts: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        let kind = answer["schemaType"].as_str().unwrap_or("AVRO");
        if kind != "AVRO" {
            let kind: String = kind.chars().take(20).collect();
            return Err(format!("its schema is of the type {kind}, not Avro"));
        }
        let text = answer["schema"].as_str().ok_or("an answer without `schema`")?;
        for reference in references_of(answer) {
            let reference = reference.ok_or("a reference without subject and version")?;
            // Known before its own references are, which therefore can't go round in circles.
            if used.contains(&reference) {
                continue;
            }
            let found = match self.0.get(&reference) {
                Some(found) if used.len() < REFERENCES_MAX => found.as_ref(),
                _ => return Err(format!("a schema that refers to over {REFERENCES_MAX} others")),
            };
            used.push(reference);
            self.collect(found.map_err(Clone::clone)?, used, texts)?;
        }
        texts.push(text);
        Ok(())
    }

    /// Adds what an answer refers to.
    fn wants(&self, answer: &Value, wanted: &mut Vec<Reference>) {
        for reference in references_of(answer).flatten() {
            if !self.0.contains_key(&reference) && !wanted.contains(&reference) {
                wanted.push(reference);
            }
        }
    }
}

/// What an answer refers to; `None`: a reference that names nothing.
fn references_of(answer: &Value) -> impl Iterator<Item = Option<Reference>> {
    let references = answer["references"].as_array().into_iter().flatten();
    references.map(|reference| {
        let subject = reference["subject"].as_str()?.to_owned();
        Some((subject, reference["version"].as_u64()?))
    })
}

/// Why a schema that is referred to cannot be had. Its name is the registry's: not over a line.
fn why((subject, version): &Reference, miss: &Miss) -> String {
    let subject: String = subject.chars().filter(|c| !c.is_control()).take(100).collect();
    format!("it refers to version {version} of subject `{subject}`: {miss}")
}
