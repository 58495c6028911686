//! The last seconds of what sparklines show, bounded in length and number.

use std::collections::{BTreeMap, VecDeque};

use sojourn_live::frame::{Frame, Spread};

/// Seconds that are kept: as many as a wide terminal has columns.
const SECONDS_MAX: usize = 240;
/// Lines that are kept; further ones have no sparkline.
const LINES_MAX: usize = 2_000;
/// Heights of a column.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Which of a line's two quantiles.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantile {
    P50,
    P99,
}

/// What a line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    /// A stage's hop.
    Stage,
    /// A step's response time.
    Step,
}

/// One second of a line, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Point {
    number: u64,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
}

/// The last seconds of every stage and step.
#[derive(Debug, Default)]
pub(crate) struct History {
    lines: BTreeMap<(String, Of, String), VecDeque<Point>>,
}

impl History {
    /// Takes in a frame.
    pub(crate) fn take(&mut self, frame: &Frame) {
        for journey in &frame.journeys {
            let stages = journey.stages.iter().map(|stage| (Of::Stage, &stage.name, &stage.hop));
            let steps = journey.steps.iter().map(|step| (Of::Step, &step.name, &step.response));
            for (of, name, spread) in stages.chain(steps) {
                self.add(frame.number, (journey.name.clone(), of, name.clone()), spread);
            }
        }
    }

    /// A line's last `width` seconds up to frame `until` as columns from zero to the highest of
    /// them; a second without samples is empty.
    pub(crate) fn sparkline(
        &self,
        (journey, of, name): (&str, Of, &str),
        quantile: Quantile,
        until: u64,
        width: usize,
    ) -> String {
        let key = (journey.to_owned(), of, name.to_owned());
        let Some(points) = self.lines.get(&key) else { return String::new() };
        let shown: Vec<Option<f64>> = points
            .iter()
            .filter(|point| point.number <= until)
            .map(|point| match quantile {
                Quantile::P50 => point.p50_ns,
                Quantile::P99 => point.p99_ns,
            })
            .collect();
        let shown = &shown[shown.len().saturating_sub(width)..];
        let highest = shown.iter().flatten().copied().fold(0.0, f64::max);
        shown.iter().map(|point| point.map_or(' ', |ns| column(ns, highest))).collect()
    }

    fn add(&mut self, number: u64, key: (String, Of, String), spread: &Spread) {
        if self.lines.len() >= LINES_MAX && !self.lines.contains_key(&key) {
            return;
        }
        let points = self.lines.entry(key).or_default();
        points.push_back(Point { number, p50_ns: spread.p50_ns, p99_ns: spread.p99_ns });
        if points.len() > SECONDS_MAX {
            points.pop_front();
        }
    }
}

fn column(ns: f64, highest: f64) -> char {
    // The first height stands for everything near or below zero: hops may be negative.
    let height = if highest > 0.0 { (ns / highest).clamp(0.0, 1.0) * 7.0 } else { 0.0 };
    HEIGHTS[(height.round() as usize).min(7)]
}

#[cfg(test)]
mod tests {
    use sojourn_live::frame::{JourneyFrame, StageFrame};

    use super::*;

    fn frame(number: u64, p99_ns: Option<f64>) -> Frame {
        let hop = Spread { p99_ns, ..Spread::default() };
        let stage = StageFrame { name: "s".into(), hop, ..StageFrame::default() };
        let journeys =
            vec![JourneyFrame { name: "j".into(), stages: vec![stage], ..JourneyFrame::default() }];
        Frame { number, journeys, ..Frame::default() }
    }

    fn line(history: &History, until: u64, width: usize) -> String {
        history.sparkline(("j", Of::Stage, "s"), Quantile::P99, until, width)
    }

    #[test]
    fn columns_are_of_the_shown_seconds_and_gaps_stay_empty() {
        let mut history = History::default();
        let figures = [Some(8e9), Some(1e6), None, Some(7e6), Some(-3.0)];
        for (number, p99_ns) in (0..).zip(figures) {
            history.take(&frame(number, p99_ns));
        }
        assert_eq!(line(&history, 4, 4), "▂ █▁");
        assert_eq!(line(&history, 4, 80), "█▁ ▁▁");
        assert_eq!(line(&history, 1, 80), "█▁");
        assert_eq!(line(&history, 4, 0), "");
        assert_eq!(history.sparkline(("j", Of::Step, "s"), Quantile::P50, 4, 9), "");
    }

    #[test]
    fn it_is_bounded() {
        let mut history = History::default();
        for number in 0..1_000 {
            history.take(&frame(number, Some(1.0)));
        }
        assert_eq!(line(&history, 1_000, 1_000).chars().count(), SECONDS_MAX);
    }
}
