//! Line charts over something else than time: a rate, or the values of a sweep.

use serde::Serialize;

use super::axis::{HEIGHT, Tick, Unit, Vertical, WIDTH, tenths};
use crate::RunLine;

/// A chart, ready to be drawn by the template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Curve {
    /// Heading.
    pub(super) title: String,
    /// Its figures in a sentence, for who can't see it.
    pub(super) description: String,
    /// Marks on the vertical axis.
    pub(super) y_ticks: Vec<Tick>,
    /// Marks on the other axis.
    pub(super) x_ticks: Vec<Tick>,
    /// A shaded span, as (x, width, name).
    pub(super) band: Option<(f64, f64, String)>,
    /// Vertical lines, as (x, name).
    pub(super) marks: Vec<(f64, String)>,
    /// The lines.
    pub(super) lines: Vec<CurveLine>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CurveLine {
    /// Its name in the legend.
    pub(super) name: String,
    /// Its number: colour and dashes.
    pub(super) style: usize,
    /// Its points, joined.
    pub(super) path: String,
    /// The points, as (x, y, what it says).
    pub(super) dots: Vec<(f64, f64, String)>,
}

/// A vertical axis.
enum Up {
    /// From zero on.
    Linear(Vertical),
    /// Powers of ten, from the first exponent to the second.
    Decades(i32, i32),
}

impl Up {
    /// An axis for these values: of decades where they are times, which lie far apart.
    fn of(unit: Unit, values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        if unit != Unit::Ns || least <= 0.0 {
            return Self::Linear(Vertical::of(values));
        }
        let most = values.fold(least, f64::max);
        let (low, high) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        Self::Decades(low, high.max(low + 1))
    }

    fn y(&self, value: f64) -> f64 {
        match self {
            Self::Linear(vertical) => vertical.y(value),
            Self::Decades(low, high) => {
                HEIGHT * (1.0 - (value.log10() - f64::from(*low)) / f64::from(high - low))
            }
        }
    }

    fn ticks(&self, unit: Unit) -> Vec<Tick> {
        let (low, high) = match self {
            Self::Linear(vertical) => return vertical.ticks(unit),
            Self::Decades(low, high) => (*low, *high),
        };
        (low..=high)
            .map(|exponent| {
                let value = 10f64.powi(exponent);
                let at = tenths(self.y(value));
                let percent = tenths((HEIGHT - at) / HEIGHT * 100.0);
                Tick { at, percent, label: unit.print(value) }
            })
            .collect()
    }
}

/// Where points lie on the horizontal axis.
pub(super) struct Across {
    places: Vec<f64>,
    labels: Vec<String>,
    high: f64,
    ticks: Vec<Tick>,
}

impl Across {
    /// Numbers from zero on.
    pub(super) fn numbers(values: &[f64], unit: Unit) -> Self {
        let vertical = Vertical::of(values.iter().copied());
        // The same round marks as a vertical axis has, laid down.
        let ticks: Vec<Tick> = vertical
            .ticks(unit)
            .into_iter()
            .map(|tick| Tick { at: tenths(tick.percent / 100.0 * WIDTH), ..tick })
            .collect();
        let high = vertical.high();
        let places = values.iter().map(|value| tenths(value / high * WIDTH)).collect();
        let labels = values.iter().map(|value| unit.print(*value)).collect();
        Self { places, labels, high, ticks }
    }

    /// Names, evenly apart.
    pub(super) fn names(names: &[String]) -> Self {
        let place = |index: usize| tenths((index as f64 + 0.5) / names.len() as f64 * WIDTH);
        let places: Vec<f64> = (0..names.len()).map(place).collect();
        // As many labels as there is room for.
        let every = names.len().div_ceil(8).max(1);
        let ticks = names.iter().zip(&places).step_by(every).map(|(name, at)| Tick {
            at: *at,
            percent: tenths(at / WIDTH * 100.0),
            label: name.clone(),
        });
        let ticks = ticks.collect();
        Self { places, labels: names.to_vec(), high: names.len() as f64, ticks }
    }

    /// Where a number lies.
    pub(super) fn place(&self, value: f64) -> f64 {
        tenths((value / self.high * WIDTH).clamp(0.0, WIDTH))
    }
}

/// What is shown of several runs at the places of an axis, `by` which they differ.
pub(super) fn curves(runs: &[&RunLine], by: &str, across: &Across) -> Vec<Curve> {
    let ns = |of: fn(&RunLine) -> Option<u64>| -> Vec<Option<f64>> {
        runs.iter().map(|run| of(run).map(|ns| ns as f64)).collect()
    };
    let latency = [
        ("p50", ns(|run| run.p50_ns)),
        ("p95", ns(|run| run.p95_ns)),
        ("p99", ns(|run| run.p99_ns)),
    ];
    let throughput = [
        ("completed", runs.iter().map(|run| Some(run.completed_per_s)).collect()),
        ("arrivals", runs.iter().map(|run| Some(run.arrivals_per_s)).collect()),
    ];
    let in_flight = [("most in flight", runs.iter().map(|run| run.in_flight_max).collect())];
    [
        curve(&format!("Duration of the journeys by {by}"), Unit::Ns, across, &latency),
        curve(&format!("Throughput by {by}"), Unit::PerSecond, across, &throughput),
        curve(&format!("In flight by {by}"), Unit::Count, across, &in_flight),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A chart of lines, each with its name and its values at the places of the axis; `None` when none
/// has a value.
fn curve(
    title: &str,
    unit: Unit,
    across: &Across,
    lines: &[(&str, Vec<Option<f64>>)],
) -> Option<Curve> {
    let known = || lines.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    known().next()?;
    let vertical = Up::of(unit, known());
    let drawn = lines.iter().enumerate().map(|(style, (name, values))| {
        let points = across.places.iter().zip(&across.labels).zip(values);
        let dots: Vec<(f64, f64, String)> = points
            .filter_map(|((x, label), value)| {
                let value = (*value)?;
                let said = format!("{name} {} at {label}", unit.print(value));
                Some((*x, tenths(vertical.y(value)), said))
            })
            .collect();
        let mut path = String::new();
        for (index, (x, y, _)) in dots.iter().enumerate() {
            path.push_str(&format!("{}{x},{y}", if index == 0 { "M" } else { "L" }));
        }
        CurveLine { name: (*name).to_owned(), style, path, dots }
    });
    let lines: Vec<CurveLine> = drawn.collect();
    let said = lines.iter().flat_map(|line| line.dots.iter().map(|(_, _, said)| said.as_str()));
    let description = format!("{title}: {}.", said.collect::<Vec<_>>().join("; "));
    Some(Curve {
        title: title.to_owned(),
        description,
        y_ticks: vertical.ticks(unit),
        x_ticks: across.ticks.clone(),
        band: None,
        marks: Vec::new(),
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_in_proportion_and_names_evenly() {
        let rates = Across::numbers(&[50.0, 100.0], Unit::PerSecond);
        assert_eq!(rates.places, [500.0, 1000.0]);
        assert_eq!(rates.place(75.0), 750.0);
        let names = Across::names(&["one".to_owned(), "two".to_owned()]);
        assert_eq!(names.places, [250.0, 750.0]);
        let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        assert!(Across::names(&many).ticks.len() <= 8);
    }

    #[test]
    fn times_lie_on_decades() {
        let across = Across::numbers(&[1.0, 2.0], Unit::PerSecond);
        let lines = [("p99", vec![Some(1e6), Some(3e9)])];
        let curve = curve("latency", Unit::Ns, &across, &lines).unwrap();
        let labels: Vec<&str> = curve.y_ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["1.00 ms", "10.0 ms", "100 ms", "1.00 s", "10.0 s"]);
        assert!(curve.lines[0].path.starts_with("M500,240L1000,"), "{}", curve.lines[0].path);
    }

    #[test]
    fn a_gap_is_passed_over_and_nothing_is_no_chart() {
        let across = Across::numbers(&[1.0, 2.0, 4.0], Unit::PerSecond);
        let lines = [("p99", vec![Some(0.0), None, Some(4.0)])];
        let curve = curve("latency", Unit::Count, &across, &lines).unwrap();
        assert_eq!(curve.lines[0].path, "M250,240L1000,0");
        assert_eq!(curve.description, "latency: p99 0 at 1/s; p99 4 at 4/s.");
        assert_eq!(super::curve("x", Unit::Count, &across, &[("a", vec![None; 3])]), None);
    }
}
