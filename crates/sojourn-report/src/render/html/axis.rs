//! Scales and their ticks. Charts are drawn on a canvas of [`WIDTH`] by [`HEIGHT`] that is
//! stretched to the page; labels are set beside it as text, so that they stay readable at any
//! width.

use serde::Serialize;
use sojourn_analysis::words;

/// Width of a chart's canvas.
pub(super) const WIDTH: f64 = 1000.0;
/// Height of a chart's canvas.
pub(super) const HEIGHT: f64 = 240.0;

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Tick {
    /// Where on the canvas.
    pub(super) at: f64,
    /// Where, as a percentage of the axis from its start (left, or bottom).
    pub(super) percent: f64,
    /// What it says.
    pub(super) label: String,
}

/// How values of a chart are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    /// Plain numbers.
    Count,
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Plain numbers per second.
    PerSecond,
}

impl Unit {
    pub(super) fn print(self, value: f64) -> String {
        match self {
            Self::Count => words::number(value),
            Self::Ns => words::duration(value),
            Self::Bytes => words::bytes(value),
            Self::PerSecond => format!("{}/s", words::number(value)),
        }
    }
}

/// A linear vertical axis from zero (or the least value, where that is negative).
#[derive(Clone, Debug)]
pub(super) struct Vertical {
    low: f64,
    high: f64,
    step: f64,
}

impl Vertical {
    /// An axis that holds these values, with three to six ticks at round numbers.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / 4.0);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// Its end.
    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Where a value lies on the canvas, whose y grows downwards.
    pub(super) fn y(&self, value: f64) -> f64 {
        HEIGHT - (value - self.low) / (self.high - self.low) * HEIGHT
    }

    pub(super) fn ticks(&self, unit: Unit) -> Vec<Tick> {
        let count = ((self.high - self.low) / self.step).round() as u32;
        (0..=count)
            .map(|index| {
                let value = self.low + f64::from(index) * self.step;
                Tick {
                    at: tenths(self.y(value)),
                    percent: tenths(f64::from(index) / f64::from(count) * 100.0),
                    label: if value == 0.0 { "0".to_owned() } else { unit.print(value) },
                }
            })
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least the value given.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= least * 0.999)
        .unwrap_or(10.0);
    factor * power
}

/// Ticks of a time axis from 0 to `end_ns`.
pub(super) fn time_ticks(end_ns: u64) -> Vec<Tick> {
    const STEPS_S: [u64; 15] =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600];
    let end_s = end_ns as f64 / 1e9;
    if end_s <= 0.0 {
        return Vec::new();
    }
    let day_s = 86_400;
    let step_s = STEPS_S
        .into_iter()
        .find(|step_s| end_s / *step_s as f64 <= 7.0)
        .unwrap_or_else(|| (end_s / 7.0 / day_s as f64).ceil() as u64 * day_s);
    (0..)
        .map(|index| index * step_s)
        .take_while(|second| *second as f64 <= end_s)
        .map(|second| Tick {
            at: tenths(second as f64 / end_s * WIDTH),
            percent: tenths(second as f64 / end_s * 100.0),
            label: clock(second, end_s),
        })
        .collect()
}

/// Seconds since the run's start as a label; the script prints the same when zoomed.
fn clock(second: u64, end_s: f64) -> String {
    if end_s <= 120.0 {
        format!("{second} s")
    } else if end_s <= 7_200.0 {
        format!("{}:{:02}", second / 60, second % 60)
    } else {
        format!("{}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
    }
}

/// A canvas coordinate with the one decimal that is visible.
pub(super) fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_values_between_round_ticks() {
        let axis = Vertical::of([0.3, 9.7].into_iter());
        let labels: Vec<String> =
            axis.ticks(Unit::Count).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0", "5", "10"]);
        assert_eq!(axis.y(0.0), HEIGHT);
        assert_eq!(axis.y(10.0), 0.0);
    }

    #[test]
    fn an_axis_without_values_or_with_negative_ones_still_is_one() {
        assert!(!Vertical::of(std::iter::empty()).ticks(Unit::Ns).is_empty());
        let axis = Vertical::of([-4.0, 4.0].into_iter());
        assert!(axis.y(-4.0) <= HEIGHT && axis.y(4.0) >= 0.0);
    }

    #[test]
    fn time_ticks_are_round_and_few() {
        for end_s in [1, 3, 30, 95, 600, 3_600, 86_400, 1_000_000] {
            let ticks = time_ticks(end_s * 1_000_000_000);
            assert!((2..=8).contains(&ticks.len()), "{end_s} s: {} ticks", ticks.len());
        }
        assert_eq!(time_ticks(600_000_000_000)[1].label, "2:00");
        assert!(time_ticks(0).is_empty());
    }
}
