//! The comparison as one page: a table whose changes are drawn as intervals.

use minijinja::context;
use serde::Serialize;
use sojourn_analysis::compare::Finding;

use super::{Comparison, FigureRow, Unit, text};
use crate::render::{
    RenderError,
    html::{
        self,
        page::{Frame, framed},
    },
};

/// Half the width of a drawn interval's field.
const HALF_WIDTH: f64 = 120.0;
/// Changes that are drawn at the fields' edges at least, as fractions.
const LEAST_SCALE: f64 = 0.1;
const MOST_SCALE: f64 = 1.0;

#[derive(Serialize)]
struct Section {
    heading: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    cells: [String; 6],
    finding: &'static str,
    /// Where its interval and its change are drawn.
    drawn: Option<Drawn>,
}

#[derive(Serialize)]
struct Drawn {
    low: f64,
    high: f64,
    at: f64,
}

pub(super) fn page(comparison: &Comparison) -> Result<String, RenderError> {
    let scale = scale(comparison);
    let section = |subject: &super::SubjectRows| Section {
        heading: text::heading(subject),
        rows: subject.figures.iter().map(|figure| row(figure, scale)).collect(),
    };
    let sections: Vec<Section> = comparison.subjects.iter().map(section).collect();
    let frame = Frame {
        title: "comparison of two runs".to_owned(),
        class: class(comparison.finding),
        version: env!("CARGO_PKG_VERSION"),
    };
    let figures = context! {
        sentence => text::sentence(comparison),
        runs => html::serialised(&comparison.runs),
        cautions => &comparison.cautions,
        sections => html::serialised(&sections),
        half_width => HALF_WIDTH,
        scale_percent => (scale * 100.0).round() as u64,
        legend => text::legend(comparison),
    };
    framed(include_str!("../../assets/compare.html"), &frame, figures)
}

fn row(figure: &FigureRow, scale: f64) -> Row {
    let place = |change: f64| (change / scale).clamp(-1.0, 1.0) * HALF_WIDTH;
    // Shares are drawn nowhere: their changes are no fractions of the first.
    let change = figure.change.filter(|_| figure.unit != Unit::Share);
    Row {
        name: figure.name.clone(),
        cells: text::cells(figure),
        finding: class(figure.finding),
        drawn: change.map(|change| Drawn {
            low: place(change.interval[0]),
            high: place(change.interval[1]),
            at: place(change.change),
        }),
    }
}

/// The change at the fields' edges: the farthest end of an interval, within reason.
fn scale(comparison: &Comparison) -> f64 {
    let figures = comparison.subjects.iter().flat_map(|subject| &subject.figures);
    let changes = figures.filter(|it| it.unit != Unit::Share).filter_map(|figure| figure.change);
    let ends = changes.flat_map(|change| change.interval).map(f64::abs);
    ends.fold(LEAST_SCALE, f64::max).min(MOST_SCALE)
}

fn class(finding: Finding) -> &'static str {
    match finding {
        Finding::Worse => "fail",
        Finding::Better => "pass",
        Finding::NoDifference => "none",
    }
}
