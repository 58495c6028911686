//! Two runs side by side: per journey, hop and step, what changed and how sure that is.
//!
//! The figures come from [`sojourn_analysis::compare`]; here they are taken out of run files, put
//! in order and rendered.

mod html;
mod measured;
mod text;

use serde::Serialize;
use sojourn_analysis::compare::{
    BLOCKS_MIN, Change, Finding, Worse, quantile_change, rate_change, share_change,
};
use sojourn_record::{ReadError, RunFile, Verdict};

use crate::render::RenderError;
use measured::{Measured, Subject, measure};

/// Version of the serialised shape.
const SCHEMA: u32 = 1;
/// Quantiles that are compared.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];
/// Arrival rates that differ by more than this fraction are not the same load.
const SAME_RATE: f64 = 0.02;

/// What became of a second run beside a first one. Latencies are nanoseconds, changes fractions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this shape.
    pub schema: u32,
    /// The first run, and the second.
    pub runs: [Compared; 2],
    /// What the whole amounts to: worse when any figure is.
    pub finding: Finding,
    /// Changes up to this fraction of the first run's figure are not called a difference.
    pub tolerance: f64,
    /// Each journey, hop and step.
    pub subjects: Vec<SubjectRows>,
    /// What to know before believing it.
    pub cautions: Vec<String>,
    /// Whether the figures of either run may not be believed.
    pub is_void: bool,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The plan's name.
    pub name: String,
    /// Run id.
    pub run_id: String,
    /// Labels.
    pub labels: Vec<(String, String)>,
    /// Sojourn's version.
    pub version: String,
    /// Blocks of time that the scatter is told from.
    pub blocks: usize,
}

/// A journey, hop or step and its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubjectRows {
    /// `journey payment`, `hop settled`, `step create`.
    pub name: String,
    /// The journey that it is of.
    pub journey: String,
    /// Its figures.
    pub figures: Vec<FigureRow>,
}

/// One figure of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// `p50`, `completed/s`, `errors`.
    pub name: String,
    /// What its numbers are.
    pub unit: Unit,
    /// `None` where a run has no such figure: no samples, or the quantile is among lost journeys.
    pub change: Option<Change>,
    /// What it amounts to.
    pub finding: Finding,
}

/// What a figure's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds; the change is a fraction of the first.
    Nanoseconds,
    /// Per second; likewise.
    PerSecond,
    /// A fraction of all; the change is the difference of both.
    Share,
}

/// Why two runs could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A run file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Too short a run.
    #[error(
        "{run} has {seconds} s of steady load: at least {BLOCKS_MIN} are needed to tell a \
         difference from its own scatter"
    )]
    TooShort {
        /// Which run.
        run: String,
        /// Seconds it has.
        seconds: usize,
    },
    /// Nothing that both runs have.
    #[error("the runs have no journey, hop or step in common: {first} has {of_first}")]
    NothingInCommon {
        /// The first run.
        first: String,
        /// What it has, in words.
        of_first: String,
    },
}

impl Comparison {
    /// Compares two runs; changes up to `tolerance`, a fraction, are not called a difference.
    pub fn of(first: &RunFile, second: &RunFile, tolerance: f64) -> Result<Self, CompareError> {
        let (before, after) = (measure(first)?, measure(second)?);
        let in_common: Vec<(&Subject, &Subject)> = before
            .subjects
            .iter()
            .filter_map(|own| {
                let other = after.subjects.iter().find(|other| other.is_same(own))?;
                Some((own, other))
            })
            .collect();
        if in_common.is_empty() {
            let of_first: Vec<_> = before.subjects.iter().map(Subject::name).collect();
            return Err(CompareError::NothingInCommon {
                first: first.identity.run_id.clone(),
                of_first: sojourn_analysis::words::list(&of_first),
            });
        }
        let figures = in_common.iter().map(|(own, _)| own.figures()).sum();
        let subjects: Vec<SubjectRows> =
            in_common.iter().map(|(own, other)| rows(own, other, figures, tolerance)).collect();
        let all = || subjects.iter().flat_map(|subject| &subject.figures);
        let has = |finding| all().any(|figure| figure.finding == finding);
        let finding = match (has(Finding::Worse), has(Finding::Better)) {
            (true, _) => Finding::Worse,
            (false, true) => Finding::Better,
            (false, false) => Finding::NoDifference,
        };
        Ok(Self {
            schema: SCHEMA,
            runs: [compared(first, &before), compared(second, &after)],
            finding,
            tolerance,
            cautions: cautions([first, second], [&before, &after]),
            is_void: is_void(first) || is_void(second),
            subjects,
        })
    }

    /// For a terminal.
    pub fn text(&self, colour: bool) -> String {
        text::text(self, colour)
    }

    /// The comparison's serialisation, indented.
    pub fn json(&self) -> Result<String, RenderError> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// One self-contained page.
    pub fn html(&self) -> Result<String, RenderError> {
        html::page(self)
    }

    /// In one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        text::sentence(self)
    }
}

fn compared(run: &RunFile, measured: &Measured) -> Compared {
    let identity = &run.identity;
    Compared {
        name: identity.name.clone(),
        run_id: identity.run_id.clone(),
        labels: identity.labels.clone(),
        version: identity.version.clone(),
        blocks: measured.blocks,
    }
}

fn is_void(run: &RunFile) -> bool {
    run.summary.as_ref().is_none_or(|summary| summary.verdict == Verdict::Void)
}

fn rows(before: &Subject, after: &Subject, figures: usize, tolerance: f64) -> SubjectRows {
    let row = |name: String, unit, change: Option<Change>, worse| FigureRow {
        name,
        unit,
        finding: change.map_or(Finding::NoDifference, |it| it.finding(worse, tolerance)),
        change,
    };
    let mut rows: Vec<FigureRow> = QUANTILES
        .into_iter()
        .map(|q| {
            let change = quantile_change(&before.latencies, &after.latencies, q, figures);
            let name = sojourn_analysis::words::quantile(q);
            row(name, Unit::Nanoseconds, change, Worse::Greater)
        })
        .collect();
    if let (Some(first), Some(second)) = (&before.outcomes, &after.outcomes) {
        let change = rate_change(&first.done, &second.done, figures);
        rows.push(row("completed/s".into(), Unit::PerSecond, change, Worse::Smaller));
        let change = share_change(&first.failed, &second.failed, figures);
        rows.push(row("errors".into(), Unit::Share, change, Worse::Greater));
    }
    SubjectRows { name: before.name(), journey: before.journey.clone(), figures: rows }
}

/// What makes a comparison less than it seems.
fn cautions(runs: [&RunFile; 2], measured: [&Measured; 2]) -> Vec<String> {
    let mut cautions = Vec::new();
    for run in runs {
        let id = &run.identity.run_id;
        match run.summary.as_ref().map(|summary| summary.verdict) {
            None => cautions.push(format!("{id} was cut off before its end")),
            Some(Verdict::Void) => {
                cautions.push(format!("{id} is void: its figures may not be believed"));
            }
            Some(Verdict::Pass | Verdict::Fail) => {}
        }
        for journey in crate::ReportModel::from_run(run).growing() {
            cautions.push(format!(
                "in {id} the backlog of {journey} grew: its percentiles describe the length of \
                 the run"
            ));
        }
    }
    let [first, second] = measured.map(|measured| measured.arrivals_per_s);
    if (second / first - 1.0).abs() > SAME_RATE {
        let [first, second] = [first, second].map(sojourn_analysis::words::number);
        cautions.push(format!(
            "the loads differ: {first} arrivals/s and {second}; latency depends on load"
        ));
    }
    let [first, second] = runs.map(|run| run.identity.host.as_str());
    if first != second {
        cautions.push(format!("the runs were made on two machines, {first} and {second}"));
    }
    for (own, other, run) in [(0, 1, runs[0]), (1, 0, runs[1])] {
        let (own, other) = (measured[own], measured[other]);
        let alone = own.subjects.iter().filter(|it| !other.subjects.iter().any(|o| o.is_same(it)));
        let names: Vec<_> = alone.map(Subject::name).collect();
        if !names.is_empty() {
            let names = sojourn_analysis::words::list(&names);
            cautions.push(format!("only {} has {names}", run.identity.run_id));
        }
    }
    cautions
}
