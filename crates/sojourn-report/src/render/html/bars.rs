//! Distributions of times as bars on a logarithmic axis; all hops of a journey share one.

use serde::Serialize;
use sojourn_analysis::words;

use super::axis::{HEIGHT, Tick, WIDTH, tenths};
use crate::model::{Bin, Distribution, StageRow};

/// One distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BarChart {
    /// The stage, or what it is of.
    pub(super) title: String,
    /// Anchor of what it shows.
    pub(super) definition: &'static str,
    /// Its figures in a sentence.
    pub(super) description: String,
    /// The bars.
    pub(super) bars: Vec<Bar>,
    /// Marks on the axis.
    pub(super) x_ticks: Vec<Tick>,
    /// Quantiles as vertical lines: (x, name and value).
    pub(super) marks: Vec<(f64, String)>,
    /// Hops that are negative and have no bar.
    pub(super) negative: u64,
}

/// One bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Bar {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Its range and count in words.
    pub(super) label: String,
}

/// What a chart is of.
struct Subject<'a> {
    title: &'a str,
    definition: &'static str,
    /// With its number before it: `hops to created`.
    what: String,
    bins: &'a [Bin],
    figures: Option<&'a Distribution>,
    negative: u64,
}

/// A chart per stage that has samples, all on one axis.
pub(super) fn charts(stages: &[StageRow]) -> Vec<BarChart> {
    let subjects: Vec<Subject<'_>> =
        stages.iter().filter(|stage| !stage.hop_bins.is_empty()).map(Subject::hop).collect();
    draw(&subjects)
}

/// The response times of all requests; `None` without any.
pub(super) fn responses(bins: &[Bin], figures: Option<&Distribution>) -> Option<BarChart> {
    let subject = Subject {
        title: "Response time",
        definition: "latency-distribution",
        what: "response times".to_owned(),
        bins,
        figures,
        negative: 0,
    };
    draw(&[subject]).pop()
}

impl<'a> Subject<'a> {
    fn hop(stage: &'a StageRow) -> Self {
        Self {
            title: &stage.name,
            definition: "hop-distribution",
            what: format!("hops to {}", stage.name),
            bins: &stage.hop_bins,
            figures: stage.hop_ns.as_ref(),
            negative: stage.order_violations,
        }
    }
}

fn draw(subjects: &[Subject<'_>]) -> Vec<BarChart> {
    let bins = || subjects.iter().flat_map(|subject| subject.bins);
    let low = bins().map(|bin| bin.low_ns).fold(f64::INFINITY, f64::min);
    let high = bins().map(|bin| bin.high_ns).fold(0.0, f64::max);
    if low >= high {
        return Vec::new();
    }
    // A third of a decade of room, so that a single bin is a bar and not the whole chart.
    let axis = Logarithmic { low: low.max(1.0).log10() - 0.15, high: high.log10() + 0.15 };
    subjects.iter().map(|subject| chart(subject, &axis)).collect()
}

fn chart(subject: &Subject<'_>, axis: &Logarithmic) -> BarChart {
    let all: u64 = subject.bins.iter().map(|bin| bin.count).sum();
    let most = subject.bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    let bar = |bin: &Bin| {
        let x = axis.x(bin.low_ns);
        let height = bin.count as f64 / most as f64 * (HEIGHT - 8.0);
        // A bin of one in a million must still be seen.
        let height = height.max(1.5);
        Bar {
            x: tenths(x),
            y: tenths(HEIGHT - height),
            width: tenths((axis.x(bin.high_ns) - x - 1.0).max(1.0)),
            height: tenths(height),
            label: format!(
                "{} – {}: {} ({})",
                words::duration(bin.low_ns),
                words::duration(bin.high_ns),
                words::count(bin.count),
                words::percent(bin.count as f64 / all as f64)
            ),
        }
    };
    let quantiles = subject.figures.map_or_else(Vec::new, |figures| {
        vec![("p50", figures.p50), ("p95", figures.p95), ("p99", figures.p99)]
    });
    let described: Vec<String> = quantiles
        .iter()
        .map(|(name, ns)| format!("{name} {}", words::duration(*ns as f64)))
        .collect();
    BarChart {
        title: subject.title.to_owned(),
        definition: subject.definition,
        description: format!(
            "Distribution of {} {}: {}.",
            words::count(all),
            subject.what,
            words::list(&described)
        ),
        bars: subject.bins.iter().map(bar).collect(),
        x_ticks: axis.ticks(),
        marks: quantiles
            .iter()
            .filter(|(_, ns)| *ns > 0)
            .zip(&described)
            .map(|((_, ns), label)| (tenths(axis.x(*ns as f64)), label.clone()))
            .collect(),
        negative: subject.negative,
    }
}

/// A logarithmic axis; its ends are powers of ten.
struct Logarithmic {
    low: f64,
    high: f64,
}

impl Logarithmic {
    fn x(&self, ns: f64) -> f64 {
        (ns.max(1.0).log10() - self.low) / (self.high - self.low) * WIDTH
    }

    /// Ticks at powers of ten, and at 2 and 5 times them where there is room.
    fn ticks(&self) -> Vec<Tick> {
        let factors: &[f64] = if self.high - self.low <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = self.low.floor() as i32;
        let last = self.high.ceil() as i32;
        (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
            .map(|ns| (ns, self.x(ns)))
            .filter(|(_, x)| (0.0..=WIDTH).contains(x))
            .map(|(ns, x)| Tick {
                at: tenths(x),
                percent: tenths(x / WIDTH * 100.0),
                label: words::duration(ns),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(bins: &[(f64, f64, u64)]) -> StageRow {
        StageRow {
            name: "created".into(),
            hop_bins: bins
                .iter()
                .map(|&(low_ns, high_ns, count)| Bin { low_ns, high_ns, count })
                .collect(),
            ..StageRow::default()
        }
    }

    #[test]
    fn bars_lie_on_the_canvas_and_the_highest_is_the_fullest() {
        let charts = charts(&[stage(&[(1e6, 1.06e6, 1), (1e9, 1.06e9, 1_000_000)])]);
        let bars = &charts[0].bars;
        assert!(bars.iter().all(|bar| bar.x >= 0.0 && bar.x + bar.width <= WIDTH));
        assert!(bars.iter().all(|bar| bar.height >= 1.5 && bar.y >= 0.0));
        assert!(bars[1].height > 100.0 * bars[0].height);
    }

    #[test]
    fn a_single_bin_is_a_bar_with_room_around_it() {
        let charts = charts(&[stage(&[(10e9, 10.6e9, 5)])]);
        assert!(charts[0].bars[0].width < WIDTH / 4.0);
        assert!(!charts[0].x_ticks.is_empty());
    }

    #[test]
    fn without_samples_there_are_no_charts() {
        assert!(charts(&[]).is_empty());
        assert!(charts(&[StageRow::default()]).is_empty());
    }
}
