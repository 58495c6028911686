//! Rows of a summary: names with dots behind them and figures in columns.

use super::number;
use super::options::TrendStat;
use super::source::{Source, trend_values};
use crate::metrics::{Metric, Sink};

/// The colours of a summary; all empty where there is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette {
    pub(super) is_on: bool,
    pub(super) dots: &'static str,
    pub(super) extra: &'static str,
}

pub(super) const GREEN: &str = "32";
pub(super) const RED: &str = "31";
const CYAN: &str = "36";

impl Palette {
    /// `text` in a colour, given by the number of its ANSI sequence.
    pub(super) fn paint(&self, colour: &str, text: &str) -> String {
        if self.is_on { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A row before its columns are aligned.
#[derive(Debug)]
pub(super) struct Row {
    /// What stands before the name and is not as wide as it seems: blanks and a mark.
    pub(super) prefix: String,
    /// How much further in the name stands than others.
    pub(super) inset: usize,
    pub(super) name: String,
    pub(super) cells: Cells,
}

/// The figures of a row.
#[derive(Debug)]
pub(super) enum Cells {
    /// Of a trend, one for each of the summary's stats.
    Trend(Vec<String>),
    /// Of any other metric: its value and what is said beside.
    Plain(String, Vec<String>),
}

/// How wide columns are.
#[derive(Debug, Default)]
pub(super) struct Widths {
    name: usize,
    value: usize,
    extras: Vec<usize>,
    stats: Vec<usize>,
}

impl Widths {
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Self {
        let mut widths = Self::default();
        for row in rows {
            widths.name = widths.name.max(row.inset + width(&row.name));
            match &row.cells {
                Cells::Trend(stats) => widen(&mut widths.stats, stats),
                Cells::Plain(value, extras) => {
                    widths.value = widths.value.max(width(value));
                    widen(&mut widths.extras, extras);
                }
            }
        }
        widths
    }
}

impl Row {
    /// Writes the row and ends its line.
    pub(super) fn push(
        &self,
        out: &mut String,
        widths: &Widths,
        stats: &[TrendStat],
        palette: &Palette,
    ) {
        let dots = ".".repeat(widths.name + 3 - self.inset - width(&self.name)) + ":";
        out.push_str(&self.prefix);
        out.push_str(&self.name);
        out.push_str(&palette.paint(palette.dots, &dots));
        match &self.cells {
            Cells::Trend(values) => {
                for ((value, stat), to) in values.iter().zip(stats).zip(&widths.stats) {
                    out.push_str(&format!(" {}=", stat.name));
                    push_padded(out, value, &palette.paint(CYAN, value), *to);
                }
            }
            Cells::Plain(value, extras) => {
                out.push(' ');
                push_padded(out, value, &palette.paint(CYAN, value), widths.value);
                let is_only = extras.len() == 1;
                for (extra, to) in extras.iter().zip(&widths.extras) {
                    out.push(' ');
                    let painted = palette.paint(palette.extra, extra);
                    push_padded(out, extra, &painted, if is_only { 0 } else { *to });
                }
            }
        }
        out.push('\n');
    }
}

/// What is said of a metric.
pub(super) fn cells(source: &Source<'_>, metric: &Metric, sink: &Sink) -> Cells {
    let show = |value| number::value(value, metric.contains, source.time_unit);
    match sink {
        Sink::Counter(counter) => {
            let rate = counter.per_second(source.elapsed_ns);
            Cells::Plain(show(counter.sum), vec![format!("{}/s", show(rate))])
        }
        Sink::Gauge(gauge) => Cells::Plain(
            show(gauge.last),
            vec![format!("min={}", show(gauge.min)), format!("max={}", show(gauge.max))],
        ),
        Sink::Rate(rate) => Cells::Plain(
            number::percent(rate.share()),
            vec![format!("{} out of {}", rate.trues, rate.total)],
        ),
        Sink::Trend(trend) => {
            let values = trend_values(trend, source.trend_stats);
            let shown = source.trend_stats.iter().zip(values).map(|(stat, value)| {
                if stat.is_count() { number::script(value) } else { show(value) }
            });
            Cells::Trend(shown.collect())
        }
    }
}

/// `✗` lines of a check are followed by its share; this is what stands behind the arrow.
pub(super) fn failed_share(passes: u64, fails: u64) -> String {
    let percent = (100.0 * passes as f64 / (passes + fails) as f64).floor();
    format!("↳  {percent}% — ✓ {passes} / ✗ {fails}")
}

fn widen(widths: &mut Vec<usize>, texts: &[String]) {
    if widths.len() < texts.len() {
        widths.resize(texts.len(), 0);
    }
    for (own, text) in widths.iter_mut().zip(texts) {
        *own = (*own).max(width(text));
    }
}

fn push_padded(out: &mut String, text: &str, painted: &str, to: usize) {
    out.push_str(painted);
    out.extend(std::iter::repeat_n(' ', to.saturating_sub(width(text))));
}

fn width(text: &str) -> usize {
    text.chars().count()
}
