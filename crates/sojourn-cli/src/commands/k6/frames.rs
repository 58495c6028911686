//! A script's seconds as frames: for the screen and for browsers.

use std::sync::{Arc, Mutex, PoisonError};

use sojourn_engine::{Onlooker, Stretch};
use sojourn_k6::metrics::{MetricId, Sink, Totals, builtin};
use sojourn_k6::summary::measured_words;
use sojourn_k6::thresholds::{MetricThresholds, Threshold, Thresholds};
use sojourn_live::frame::{
    CheckFrame, Counts, Frame, FrameStretch, Frames, JourneyFrame, Spread, StepFrame,
    ThresholdFrame, ThresholdState,
};
use sojourn_vu::{Seen, View};

use crate::framed;

/// What iterations of all scenarios together are called.
const ITERATIONS: &str = "iterations";
/// The same of requests.
const REQUESTS: &str = "http";
/// Most checks of a frame; a script may have very many.
const CHECKS_MAX: usize = 200;

/// The latest frame of the journeys that a script follows.
pub(super) type Latest = Arc<Mutex<Option<Frame>>>;

/// Looks on as journeys are followed; what there is to see is in the other.
pub(super) fn onlooker() -> (Onlooker, Latest) {
    let latest = Latest::default();
    let shown = Arc::clone(&latest);
    let mut frames: Option<Frames> = None;
    let onlooker: Onlooker = Box::new(move |plan, progress| {
        let frames = frames.get_or_insert_with(|| Frames::new(plan));
        // Its last words cover no second.
        if progress.stretch != Stretch::Over {
            let frame = frames.second(&framed::second(progress, 1.0, &[]));
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(frame);
        }
    });
    (onlooker, latest)
}

/// Makes frames of what is seen of a script's run.
pub(super) struct ScriptFrames {
    name: String,
    planned_ns: u64,
    journeys: Option<Latest>,
    /// The second before.
    last: View,
    requests: Requests,
    next: u64,
}

/// Requests as of when they were last accounted for, and how many a second came since before.
#[derive(Default)]
struct Requests {
    count: u64,
    at_ns: u64,
    per_s: f64,
}

impl ScriptFrames {
    /// Of a script of this name, planned for so long.
    pub(super) fn new(name: &str, planned_ns: u64, journeys: Option<Latest>) -> Self {
        Self {
            name: name.to_owned(),
            planned_ns,
            journeys,
            last: View::default(),
            requests: Requests::default(),
            next: 0,
        }
    }

    /// The frame of this second; `is_over`: nothing more comes.
    pub(super) fn frame(&mut self, seen: &Seen<'_>, is_over: bool) -> Frame {
        let Seen { view, totals, thresholds } = *seen;
        let span_s = view.elapsed_ns.saturating_sub(self.last.elapsed_ns) as f64 / 1e9;
        let per_s = |now: u64, before: u64| match span_s > 0.0 {
            true => now.saturating_sub(before) as f64 / span_s,
            false => 0.0,
        };
        let started_per_s = per_s(view.begun, self.last.begun);
        let mut frame = Frame {
            number: self.next,
            name: self.name.clone(),
            stretch: if is_over { FrameStretch::Over } else { FrameStretch::Steady },
            elapsed_ns: view.elapsed_ns,
            planned_ns: self.planned_ns,
            asked_per_s: started_per_s + per_s(view.dropped, self.last.dropped),
            delivered_per_s: started_per_s,
            rate_factor: 1.0,
            counts: counts(&view),
            in_flight: view.in_flight(),
            clients: Some(view.vus as f64),
            checks: checks(totals),
            thresholds: conditions(thresholds),
            ..Frame::default()
        };
        let completed = |view: &View| view.completed.saturating_sub(view.exceptions);
        frame.journeys.push(JourneyFrame {
            name: ITERATIONS.to_owned(),
            counts: frame.counts,
            started_per_s,
            completed_per_s: per_s(completed(&view), completed(&self.last)),
            in_flight: view.in_flight(),
            duration_so_far: spread(totals, builtin::ITERATION_DURATION),
            steps: self.requests.step(totals, view.elapsed_ns).into_iter().collect(),
            ..JourneyFrame::default()
        });
        if let Some(latest) = &self.journeys {
            add(&mut frame, latest.lock().unwrap_or_else(PoisonError::into_inner).as_ref());
        }
        self.last = view;
        self.next += 1;
        frame
    }
}

/// What is known of the journeys that the script follows.
fn add(frame: &mut Frame, journeys: Option<&Frame>) {
    let Some(of) = journeys else { return };
    frame.journeys.extend(of.journeys.iter().cloned());
    frame.channels.clone_from(&of.channels);
    frame.health.clone_from(&of.health);
    frame.news.clone_from(&of.news);
    frame.news_beyond = of.news_beyond;
}

fn counts(view: &View) -> Counts {
    Counts {
        scheduled: view.begun + view.dropped,
        missed: view.dropped,
        started: view.begun,
        completed: view.completed.saturating_sub(view.exceptions),
        failed: view.exceptions,
        in_flight_at_cutoff: view.interrupted,
        ..Counts::default()
    }
}

/// A trend of times so far; scripts' are in milliseconds.
fn spread(totals: &Totals, metric: MetricId) -> Spread {
    let Some(Sink::Trend(trend)) = totals.sink(metric) else { return Spread::default() };
    if trend.count() == 0 {
        return Spread::default();
    }
    let percentiles = trend.percentiles();
    let at_ns = |percent| Some(percentiles.at(percent) * 1e6);
    Spread { count: trend.count(), p50_ns: at_ns(50.0), p99_ns: at_ns(99.0), ..Spread::default() }
}

impl Requests {
    /// All requests as one step; none where there are none yet.
    fn step(&mut self, totals: &Totals, elapsed_ns: u64) -> Option<StepFrame> {
        let count = match totals.sink(builtin::HTTP_REQS) {
            Some(Sink::Counter(counter)) => counter.sum as u64,
            _ => return None,
        };
        // Accounts come every other second: what came is of the time since the last ones.
        let since_ns = elapsed_ns.saturating_sub(self.at_ns);
        if count != self.count || since_ns > 3_000_000_000 {
            let came = count.saturating_sub(self.count);
            let per_s = if since_ns > 0 { came as f64 * 1e9 / since_ns as f64 } else { 0.0 };
            *self = Self { count, at_ns: elapsed_ns, per_s };
        }
        let failed = match totals.sink(builtin::HTTP_REQ_FAILED) {
            Some(Sink::Rate(rate)) => rate.trues,
            _ => 0,
        };
        Some(StepFrame {
            name: REQUESTS.to_owned(),
            requests: count,
            requests_per_s: self.per_s,
            response_so_far: spread(totals, builtin::HTTP_REQ_DURATION),
            failed,
            ..StepFrame::default()
        })
    }
}

fn checks(totals: &Totals) -> Vec<CheckFrame> {
    let named = totals.checks().by_name();
    let named = named.into_iter().take(CHECKS_MAX);
    named.map(|(name, held, failed)| CheckFrame { name: name.to_owned(), held, failed }).collect()
}

/// What the threshold was held against when it was last looked at, as the summary will write it.
fn measured(own: &MetricThresholds, threshold: &Threshold) -> String {
    let words = |value| {
        let (kind, aggregation) = (own.metric.kind(), threshold.expression.aggregation);
        measured_words(value, kind, own.contains, aggregation, None)
    };
    threshold.measured.map_or_else(|| "nothing yet".to_owned(), words)
}

fn conditions(thresholds: &Thresholds) -> Vec<ThresholdFrame> {
    let of_metric = |own: &MetricThresholds| -> Vec<ThresholdFrame> {
        let each = own.thresholds.iter().map(|threshold| ThresholdFrame {
            text: format!("{}: {}", own.key, threshold.text),
            state: match (threshold.measured, threshold.ok) {
                (None, _) => ThresholdState::NoneYet,
                (Some(_), true) => ThresholdState::Holds,
                (Some(_), false) => ThresholdState::Fails,
            },
            measured: threshold.measured.filter(|value| value.is_finite()),
            measured_text: measured(own, threshold),
        });
        each.collect()
    };
    thresholds.iter().flat_map(of_metric).collect()
}

#[cfg(test)]
mod tests {
    use sojourn_k6::metrics::Registry;

    use super::*;

    #[test]
    fn idle_users_are_no_iterations_that_have_begun() {
        let mut registry = Registry::new();
        let thresholds = Thresholds::new(&mut registry, []).unwrap();
        let totals = Totals::default();
        let mut frames = ScriptFrames::new("script", 0, None);
        // Fifty users of an arrival rate, two of whom are at an iteration.
        let view = View {
            elapsed_ns: 1_000_000_000,
            vus: 50,
            begun: 13,
            completed: 10,
            interrupted: 1,
            ..View::default()
        };
        let seen = Seen { view, totals: &totals, thresholds: &thresholds };
        let frame = frames.frame(&seen, false);
        assert_eq!((frame.counts.started, frame.in_flight), (13, 2));
        assert_eq!((frame.journeys[0].in_flight, frame.delivered_per_s), (2, 13.0));
        assert_eq!(frame.clients, Some(50.0));
    }
}
