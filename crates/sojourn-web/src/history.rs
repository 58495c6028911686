//! Lines over the whole run, in bounded memory: as points grow many, neighbours are joined.

use std::collections::HashMap;

use serde::Serialize;

/// Most points of a line: two hours of single seconds.
pub(crate) const POINTS_MAX: usize = 7_200;

/// Most lines of a run; those beyond are counted, and shown as figures of the moment only.
pub(crate) const LINES_MAX: usize = 1_000;

/// What a line is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct LineName {
    /// The chart that it belongs to.
    pub(crate) chart: Chart,
    /// The journey's name; empty where it is of the whole run.
    pub(crate) journey: String,
    /// Its own name within the chart.
    pub(crate) line: String,
}

/// A chart: lines of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chart {
    /// Arrivals due and journeys started, of all kinds together, per second.
    Rate,
    /// The generator's own lateness, nanoseconds.
    Lag,
    /// Journeys of one kind started and completed, per second.
    Completed,
    /// Journeys of one kind in flight.
    InFlight,
    /// Quantiles of a journey's duration, nanoseconds.
    Duration,
    /// Journeys that wait for each stage.
    Waiting,
    /// Median of each hop, nanoseconds.
    HopP50,
    /// 99th percentile of each hop, nanoseconds.
    HopP99,
    /// 99th percentile of each step's response time, nanoseconds.
    StepP99,
}

impl Chart {
    fn is_rate(self) -> bool {
        matches!(self, Self::Rate | Self::Completed)
    }

    /// How two neighbouring points become one: a rate's mean, anything else's higher.
    fn join(self, before: Option<f64>, after: Option<f64>) -> Option<f64> {
        let (Some(before), Some(after)) = (before, after) else {
            return before.or(after);
        };
        Some(if self.is_rate() { f64::midpoint(before, after) } else { before.max(after) })
    }
}

/// One value of a line at an instant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// Which line.
    pub(crate) name: LineName,
    /// Its value; `None` where there was none in this second.
    pub(crate) value: Option<f64>,
}

/// All lines so far.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct History {
    /// The instant of each point, seconds from the run's start.
    at_s: Vec<f64>,
    /// Frames that one point stands for.
    frames_per_point: usize,
    lines: Vec<Line>,
    /// Where each line is.
    #[serde(skip)]
    places: HashMap<LineName, usize>,
    /// Lines that found no room.
    lines_beyond: usize,
    /// Frames that the last point stands for so far.
    #[serde(skip)]
    filled: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Line {
    #[serde(flatten)]
    name: LineName,
    values: Vec<Option<f64>>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            at_s: Vec::new(),
            frames_per_point: 1,
            lines: Vec::new(),
            places: HashMap::new(),
            lines_beyond: 0,
            filled: 0,
        }
    }
}

impl History {
    /// Adds a second. What it came to, in the order of the lines: `None` where a line has no value
    /// in this second.
    pub(crate) fn push(&mut self, at_s: f64, points: &[Point]) -> Vec<Option<f64>> {
        let begins = self.at_s.is_empty() || self.filled >= self.frames_per_point;
        if begins {
            if self.at_s.len() >= POINTS_MAX {
                self.halve();
            }
            self.at_s.push(at_s);
            self.lines.iter_mut().for_each(|line| line.values.push(None));
            self.filled = 0;
        }
        self.filled += 1;
        self.lines_beyond = 0;
        let mut values = Vec::new();
        for point in points {
            if let Some(place) = self.put(point) {
                values.resize(self.lines.len(), None);
                values[place] = point.value;
            }
        }
        values
    }

    /// Where the point's line is; `None` when it found no room.
    fn put(&mut self, point: &Point) -> Option<usize> {
        let place = match self.places.get(&point.name) {
            Some(&place) => place,
            None if self.lines.len() >= LINES_MAX => {
                self.lines_beyond += 1;
                return None;
            }
            None => {
                let values = vec![None; self.at_s.len()];
                let place = self.lines.len();
                self.places.insert(point.name.clone(), place);
                self.lines.push(Line { name: point.name.clone(), values });
                place
            }
        };
        let line = &mut self.lines[place];
        if let Some(last) = line.values.last_mut() {
            *last = match *last {
                // A mean over what is there already and one more.
                Some(mean) if line.name.chart.is_rate() => {
                    let before = self.filled.saturating_sub(1).max(1) as f64;
                    let value = point.value.unwrap_or(mean);
                    Some((mean * before + value) / (before + 1.0))
                }
                last => line.name.chart.join(last, point.value),
            };
        }
        Some(place)
    }

    /// Joins each two neighbours.
    fn halve(&mut self) {
        self.frames_per_point *= 2;
        self.at_s = self.at_s.iter().step_by(2).copied().collect();
        for line in &mut self.lines {
            let chart = line.name.chart;
            let pairs = line.values.chunks(2);
            line.values =
                pairs.map(|pair| chart.join(pair[0], pair.get(1).copied().flatten())).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(chart: Chart, value: f64) -> Point {
        let name = LineName { chart, journey: String::new(), line: "a".into() };
        Point { name, value: Some(value) }
    }

    #[test]
    fn a_day_is_bounded_and_keeps_its_peak_and_its_mean() {
        let mut history = History::default();
        for second in 0..86_400_u32 {
            let value = if second == 40_001 { 1e6 } else { f64::from(second % 10) };
            let points = [point(Chart::Lag, value), point(Chart::Rate, f64::from(second % 10))];
            history.push(f64::from(second), &points);
        }
        assert!(history.at_s.len() <= POINTS_MAX, "{}", history.at_s.len());
        assert_eq!(history.frames_per_point, 16);
        let of = |chart| history.lines.iter().find(|line| line.name.chart == chart).unwrap();
        let peak = of(Chart::Lag).values.iter().flatten().copied().fold(0.0, f64::max);
        assert_eq!(peak, 1e6);
        let rates: Vec<_> = of(Chart::Rate).values.iter().flatten().copied().collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        assert!((mean - 4.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_line_that_begins_late_has_gaps_before() {
        let mut history = History::default();
        history.push(1.0, &[]);
        assert_eq!(history.push(2.0, &[point(Chart::Waiting, 3.0)]), [Some(3.0)]);
        history.push(3.0, &[]);
        assert_eq!(history.lines[0].values, [None, Some(3.0), None]);
    }

    #[test]
    fn lines_are_bounded() {
        let mut history = History::default();
        let points: Vec<_> = (0..LINES_MAX + 5)
            .map(|n| {
                let line = n.to_string();
                let name = LineName { chart: Chart::Rate, journey: String::new(), line };
                Point { name, value: Some(1.0) }
            })
            .collect();
        history.push(0.0, &points);
        history.push(1.0, &points);
        assert_eq!((history.lines.len(), history.lines_beyond), (LINES_MAX, 5));
    }
}
