//! The audit of a run: every journey that its file keeps, one object each, and those of one key.

use serde::Serialize;

use crate::{
    model::{KeptCounts, KeptJourney, RunIdentity},
    render::RenderError,
};

/// Version of the shape of the NDJSON.
pub const AUDIT_SCHEMA: u32 = 1;
/// Matches by the beginning of a key that are shown.
pub const PREFIX_MAX: usize = 20;

/// Every kept journey of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditReport {
    /// Which run.
    pub identity: RunIdentity,
    /// How many of each class were kept and were not.
    pub kept: KeptCounts,
    /// The telling ones first, then the sample.
    pub journeys: Vec<KeptJourney>,
}

/// The journeys of a run that a key names.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Which run.
    pub identity: RunIdentity,
    /// Those of the key; where there are none, those whose key begins like it.
    pub journeys: Vec<KeptJourney>,
    /// Whether the key itself was found.
    pub is_exact: bool,
    /// Further ones, which are not among them.
    pub beyond: usize,
}

/// The first line of the NDJSON.
#[derive(Debug, Serialize)]
struct Header<'a> {
    record: &'static str,
    schema: u32,
    run_id: &'a str,
    name: &'a str,
    labels: &'a [(String, String)],
    start: String,
    start_unix_ns: u64,
    version: &'a str,
    journeys: usize,
    kept: &'a KeptCounts,
}

/// Every other line.
#[derive(Debug, Serialize)]
struct Line<'a> {
    record: &'static str,
    #[serde(flatten)]
    journey: &'a KeptJourney,
}

impl AuditReport {
    pub(crate) fn new(identity: RunIdentity, kept: KeptCounts, journeys: Vec<KeptJourney>) -> Self {
        Self { identity, kept, journeys }
    }

    /// How many of each class are kept, in words.
    pub fn kept_in_words(&self) -> String {
        crate::render::text::audit::counts(&self.kept)
    }

    /// One object a line: the header, then each journey.
    pub fn ndjson(&self) -> Result<String, RenderError> {
        let mut out = header(&self.identity, &self.kept, self.journeys.len())?;
        lines(&mut out, &self.journeys)?;
        Ok(out)
    }

    /// The journeys whose key this is (or whose number it is, as `#17`, or trace id); where there
    /// are none, at most [`PREFIX_MAX`] whose key begins like it.
    pub fn select(self, key: &str) -> Selection {
        let is_named = |journey: &KeptJourney| {
            journey.key.as_deref() == Some(key)
                || journey.trace_id.as_deref() == Some(key)
                || key.strip_prefix('#').is_some_and(|id| id.parse() == Ok(journey.id))
        };
        let begins = |journey: &KeptJourney| {
            !key.is_empty() && journey.key.as_deref().is_some_and(|own| own.starts_with(key))
        };
        let is_exact = self.journeys.iter().any(is_named);
        let identity = self.identity;
        let journeys = self.journeys.into_iter();
        let mut journeys: Vec<KeptJourney> = match is_exact {
            true => journeys.filter(is_named).collect(),
            false => journeys.filter(begins).collect(),
        };
        let beyond = if is_exact { 0 } else { journeys.len().saturating_sub(PREFIX_MAX) };
        journeys.truncate(journeys.len() - beyond);
        Selection { identity, journeys, is_exact, beyond }
    }
}

impl Selection {
    /// As lines: a header for the run, then its journeys.
    pub fn ndjson(&self) -> Result<String, RenderError> {
        let mut out = header(&self.identity, &KeptCounts::default(), self.journeys.len())?;
        lines(&mut out, &self.journeys)?;
        Ok(out)
    }
}

fn header(
    identity: &RunIdentity,
    kept: &KeptCounts,
    journeys: usize,
) -> Result<String, RenderError> {
    let header = Header {
        record: "audit",
        schema: AUDIT_SCHEMA,
        run_id: &identity.run_id,
        name: &identity.name,
        labels: &identity.labels,
        start: crate::build::rfc3339(identity.start_unix_ns),
        start_unix_ns: identity.start_unix_ns,
        version: &identity.version,
        journeys,
        kept,
    };
    Ok(serde_json::to_string(&header)? + "\n")
}

fn lines(out: &mut String, journeys: &[KeptJourney]) -> Result<(), RenderError> {
    for journey in journeys {
        out.push_str(&serde_json::to_string(&Line { record: "journey", journey })?);
        out.push('\n');
    }
    Ok(())
}

/// The journeys that a key names, of each run, as one JSON array of objects with `run_id` and
/// `journeys`.
pub fn json(selections: &[Selection]) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct OfRun<'a> {
        run_id: &'a str,
        name: &'a str,
        is_exact: bool,
        beyond: usize,
        journeys: &'a [KeptJourney],
    }
    let runs: Vec<OfRun<'_>> = selections
        .iter()
        .map(|it| OfRun {
            run_id: &it.identity.run_id,
            name: &it.identity.name,
            is_exact: it.is_exact,
            beyond: it.beyond,
            journeys: &it.journeys,
        })
        .collect();
    Ok(serde_json::to_string_pretty(&runs)? + "\n")
}

/// The same for a terminal: a waterfall each.
pub fn text(selections: &[Selection], colour: bool) -> String {
    crate::render::text::audit::selections(selections, colour)
}

/// The same as a page of its own.
pub fn html(selections: &[Selection]) -> Result<String, RenderError> {
    crate::render::html::audit::page(selections)
}
