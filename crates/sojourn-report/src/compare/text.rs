//! The comparison for a terminal.

use sojourn_analysis::{
    compare::{Change, ERROR_PROBABILITY, Finding},
    words,
};

use super::{Comparison, FigureRow, SubjectRows, Unit};
use crate::render::text::{
    paint::{Paint, clean, wrap},
    table::Table,
};

/// Columns that a line may have.
const WIDTH: usize = 100;

pub(super) fn text(comparison: &Comparison, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    let mut say = |text: String| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let sentence = wrap(&sentence(comparison), "", 0, WIDTH);
    say(match comparison.finding {
        Finding::Worse => paint.red(&sentence),
        Finding::Better => paint.green(&sentence),
        Finding::NoDifference => paint.bold(&sentence),
    });
    for (letter, run) in ["A", "B"].iter().zip(&comparison.runs) {
        let labels = run.labels.iter().map(|(name, value)| format!("{name}={value}"));
        let words: Vec<_> = [run.name.clone(), format!("run {}", run.run_id)]
            .into_iter()
            .chain(labels)
            .map(|word| clean(&word))
            .collect();
        say(paint.dim(&wrap(&words.join(" · "), &format!("{letter}  "), 3, WIDTH)));
    }
    for caution in &comparison.cautions {
        say(paint.yellow(&wrap(&clean(caution), "~ ", 2, WIDTH)));
    }
    for subject in &comparison.subjects {
        let lines = table(subject, &paint);
        say(String::new());
        say(paint.bold(&clean(&heading(subject))));
        say(lines);
    }
    say(String::new());
    say(paint.dim(&wrap(&legend(comparison), "", 0, WIDTH)));
    out
}

/// The whole in one sentence.
pub(super) fn sentence(comparison: &Comparison) -> String {
    let named = |finding| {
        let of_subject = |subject: &SubjectRows| {
            let figures = subject.figures.iter().filter(|figure| figure.finding == finding);
            let of_figure = |figure: &FigureRow| {
                let change = figure.change.map_or_else(String::new, |it| moved(figure.unit, &it));
                format!("{} {} {change}", clean(&subject.name), figure.name)
            };
            figures.map(of_figure).collect::<Vec<_>>()
        };
        let all: Vec<String> = comparison.subjects.iter().flat_map(of_subject).collect();
        let more = all.len().saturating_sub(NAMED_MAX);
        let mut all = all;
        all.truncate(NAMED_MAX);
        if more > 0 {
            all.push(words::plural(more as u64, "further figure", "further figures"));
        }
        words::list(&all)
    };
    let both = [Finding::Worse, Finding::Better].map(named);
    match both.each_ref().map(String::as_str) {
        ["", ""] => "no difference seen".to_owned(),
        [worse, ""] => format!("✗ worse: {worse}"),
        ["", better] => format!("✓ better: {better}"),
        [worse, better] => format!("✗ worse: {worse}; better: {better}"),
    }
}

/// Figures that one sentence names.
const NAMED_MAX: usize = 4;

/// A subject's name, with its journey where it isn't the journey itself.
pub(super) fn heading(subject: &SubjectRows) -> String {
    let own = format!("journey {}", subject.journey);
    if subject.name == own { own } else { format!("{} ({own})", subject.name) }
}

fn table(subject: &SubjectRows, paint: &Paint) -> String {
    let mut table = Table::new(&["", "A", "B", "change", "from", "to", ""]);
    for figure in &subject.figures {
        table.row(&figure.name, cells(figure));
    }
    let mut out = String::new();
    table.render(&mut out, WIDTH);
    let paint_line = |(line, finding): (&str, Option<Finding>)| match finding {
        Some(Finding::Worse) => paint.red(line),
        Some(Finding::Better) => paint.green(line),
        _ => line.to_owned(),
    };
    let findings = std::iter::once(None).chain(subject.figures.iter().map(|it| Some(it.finding)));
    out.lines().zip(findings).map(paint_line).collect::<Vec<_>>().join("\n")
}

/// Both figures, the change, its interval, and what it amounts to.
pub(super) fn cells(figure: &FigureRow) -> [String; 6] {
    let Some(change) = figure.change else {
        let mut cells = ["–"; 6].map(str::to_owned);
        cells[5] = "not comparable".to_owned();
        return cells;
    };
    let value = |value: f64| match figure.unit {
        Unit::Nanoseconds => words::duration(value),
        Unit::PerSecond => words::number(value),
        Unit::Share => words::percent(value),
    };
    let [low, high] = change.interval;
    [
        value(change.before),
        value(change.after),
        moved(figure.unit, &change),
        step(figure.unit, low),
        step(figure.unit, high),
        finding(figure.finding).to_owned(),
    ]
}

/// In a word or three.
pub(super) fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Worse => "✗ worse",
        Finding::Better => "✓ better",
        Finding::NoDifference => "no difference seen",
    }
}

fn moved(unit: Unit, change: &Change) -> String {
    step(unit, change.change)
}

/// A change with its sign: of shares in percentage points.
fn step(unit: Unit, change: f64) -> String {
    let percent = change * 100.0;
    let sign = if percent < 0.0 { "−" } else { "+" };
    let size = percent.abs();
    let digits = if size < 9.95 { format!("{size:.1}") } else { format!("{size:.0}") };
    let unit = if unit == Unit::Share { " pp" } else { " %" };
    if digits == "0.0" { format!("±0{unit}") } else { format!("{sign}{digits}{unit}") }
}

/// How to read it.
pub(super) fn legend(comparison: &Comparison) -> String {
    format!(
        "A difference is said where the whole interval lies on one side of 0 and the change is \
         more than {}. All intervals together hold with {} confidence; they are drawn from {} \
         and {} blocks of time.",
        words::percent(comparison.tolerance),
        words::percent(1.0 - ERROR_PROBABILITY),
        comparison.runs[0].blocks,
        comparison.runs[1].blocks,
    )
}
