//! Line charts over time.

use serde::Serialize;

use super::axis::{Tick, Unit, Vertical, WIDTH, tenths, time_ticks};
use crate::model::{TimeSeries, Timeline};

/// A chart, ready to be drawn by the template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct LineChart {
    /// Unique within the page.
    pub(super) id: String,
    /// Heading.
    pub(super) title: String,
    /// Anchor of what it shows.
    pub(super) definition: &'static str,
    /// Its figures in a sentence, for who can't see it.
    pub(super) description: String,
    /// Marks on the vertical axis.
    pub(super) y_ticks: Vec<Tick>,
    /// Marks on the time axis.
    pub(super) x_ticks: Vec<Tick>,
    /// Shaded spans of the time axis: (x, width, name).
    pub(super) bands: Vec<(f64, f64, &'static str)>,
    /// The lines.
    pub(super) lines: Vec<Line>,
    /// How values print.
    pub(super) unit: Unit,
    /// Values for the script: one list per line.
    #[serde(skip)]
    pub(super) values: Vec<Vec<Option<f64>>>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Line {
    /// Its name in the legend.
    pub(super) name: String,
    /// Its number: colour and dashes.
    pub(super) style: usize,
    /// Neighbouring points, joined.
    pub(super) path: String,
    /// Across points that have no value: drawn faintly.
    pub(super) bridges: String,
    /// Points without a neighbour.
    pub(super) dots: String,
}

/// What a chart is of.
pub(super) struct Subject {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) definition: &'static str,
    pub(super) unit: Unit,
    /// Where the warm-up ends and the drain starts.
    pub(super) warm_up_ns: u64,
    pub(super) drain_from_ns: Option<u64>,
}

/// A chart of these series, each with its name; `None` when none has a value.
pub(super) fn chart(
    timeline: &Timeline,
    subject: Subject,
    series: &[(String, &TimeSeries)],
) -> Option<LineChart> {
    let known = || series.iter().flat_map(|(_, series)| series.values.iter().flatten().copied());
    known().next()?;
    let vertical = Vertical::of(known());
    let end_ns = timeline.end_ns.max(1);
    let xs: Vec<f64> = timeline
        .starts_ns
        .iter()
        .enumerate()
        .map(|(index, start_ns)| {
            let next_ns = timeline.starts_ns.get(index + 1).copied().unwrap_or(end_ns);
            let middle_ns = (*start_ns as f64 + next_ns.max(*start_ns) as f64) / 2.0;
            (middle_ns / end_ns as f64 * WIDTH).min(WIDTH)
        })
        .collect();
    let lines = series
        .iter()
        .enumerate()
        .map(|(style, (name, series))| line(name, style, &xs, &series.values, &vertical))
        .collect();
    Some(LineChart {
        description: description(&subject, timeline, series),
        y_ticks: vertical.ticks(subject.unit),
        x_ticks: time_ticks(end_ns),
        bands: bands(&subject, end_ns),
        lines,
        values: series
            .iter()
            .map(|(_, series)| series.values.iter().map(|value| value.map(short)).collect())
            .collect(),
        id: subject.id,
        title: subject.title,
        definition: subject.definition,
        unit: subject.unit,
    })
}

fn line(name: &str, style: usize, xs: &[f64], values: &[Option<f64>], vertical: &Vertical) -> Line {
    let mut line = Line {
        name: name.to_owned(),
        style,
        path: String::new(),
        bridges: String::new(),
        dots: String::new(),
    };
    let at = |index: usize| {
        let value = values.get(index).copied().flatten()?;
        Some((tenths(*xs.get(index)?), tenths(vertical.y(value))))
    };
    let mut last: Option<(usize, (f64, f64))> = None;
    for index in 0..values.len() {
        let Some((x, y)) = at(index) else { continue };
        let joined = last.is_some_and(|(before, _)| before + 1 == index);
        if joined {
            line.path.push_str(&format!("L{x},{y}"));
        } else {
            line.path.push_str(&format!("M{x},{y}"));
            if let Some((_, (last_x, last_y))) = last {
                line.bridges.push_str(&format!("M{last_x},{last_y}L{x},{y}"));
            }
        }
        if !joined && at(index + 1).is_none() {
            line.dots.push_str(&format!("M{x},{y}h0"));
        }
        last = Some((index, (x, y)));
    }
    line
}

/// Warm-up and drain as shaded spans.
fn bands(subject: &Subject, end_ns: u64) -> Vec<(f64, f64, &'static str)> {
    let x = |ns: u64| tenths((ns.min(end_ns)) as f64 / end_ns as f64 * WIDTH);
    let drain_from = subject.drain_from_ns.unwrap_or(end_ns);
    [(0.0, x(subject.warm_up_ns), "warm-up"), (x(drain_from), WIDTH - x(drain_from), "drain")]
        .into_iter()
        .filter(|(_, width, _)| *width > 0.0)
        .collect()
}

fn description(subject: &Subject, timeline: &Timeline, series: &[(String, &TimeSeries)]) -> String {
    let parts: Vec<String> = series
        .iter()
        .filter_map(|(name, series)| {
            let known = || {
                let points = series.values.iter().enumerate();
                points.filter_map(|(index, value)| Some((index, (*value)?)))
            };
            let (_, low) = known().min_by(|a, b| a.1.total_cmp(&b.1))?;
            let (index, high) = known().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let second = timeline.starts_ns.get(index).copied().unwrap_or_default() / 1_000_000_000;
            Some(format!(
                "{name} between {} and {}, highest {second} s into the run",
                subject.unit.print(low),
                subject.unit.print(high),
            ))
        })
        .collect();
    format!("{}: {}.", subject.title, parts.join("; "))
}

/// A value with four significant digits: what a tooltip prints, in few bytes.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Statistic;

    fn subject() -> Subject {
        Subject {
            id: "c".into(),
            title: "t".into(),
            definition: "hop",
            unit: Unit::Count,
            warm_up_ns: 1_000_000_000,
            drain_from_ns: Some(4_000_000_000),
        }
    }

    fn series(values: &[Option<f64>]) -> (Timeline, TimeSeries) {
        let timeline = Timeline {
            starts_ns: (0..values.len() as u64).map(|s| s * 1_000_000_000).collect(),
            end_ns: values.len() as u64 * 1_000_000_000,
            seconds_per_point: 1,
            series: Vec::new(),
        };
        let series = TimeSeries {
            metric: "m".into(),
            of: String::new(),
            statistic: Statistic::Max,
            values: values.to_vec(),
        };
        (timeline, series)
    }

    #[test]
    fn gaps_are_bridged_and_lone_points_are_dots() {
        let (timeline, values) = series(&[Some(0.0), Some(10.0), None, None, Some(5.0)]);
        let chart = chart(&timeline, subject(), &[("x".into(), &values)]).expect("has values");
        let line = &chart.lines[0];
        assert_eq!(line.path, "M100,240L300,0M900,120");
        assert_eq!(line.bridges, "M300,0L900,120");
        assert_eq!(line.dots, "M900,120h0");
        assert_eq!(chart.bands, [(0.0, 200.0, "warm-up"), (800.0, 200.0, "drain")]);
        assert!(chart.description.contains("x between 0 and 10, highest 1 s into the run"));
    }

    #[test]
    fn nothing_measured_is_no_chart() {
        let (timeline, values) = series(&[None, None]);
        assert_eq!(chart(&timeline, subject(), &[("x".into(), &values)]), None);
    }

    #[test]
    fn values_are_shortened_to_four_digits() {
        assert_eq!(short(123_456.0), 123_500.0);
        assert_eq!(short(0.0), 0.0);
        assert_eq!(short(0.123_456), 0.1235);
    }
}
