//! A run's seconds as frames, made once for all who show them.

use std::sync::Arc;

use sojourn_engine::{Progress, RateControl, Stretch};
use sojourn_live::frame::{Frame, FrameStretch, Frames, Second};
use sojourn_plan::Plan;
use sojourn_record::JourneyRecord;

use crate::watchers::Watcher;

/// Shows frames.
pub(crate) trait FrameSink {
    /// Shows one, without waiting: it is called on the coordinator's thread.
    fn show(&mut self, frame: &Arc<Frame>);

    /// The run has ended; lines about the showing itself.
    fn end(&mut self) -> Vec<String>;
}

/// Makes frames of a run's seconds and hands them on.
pub(crate) struct Framed {
    frames: Frames,
    rate: RateControl,
    sinks: Vec<Box<dyn FrameSink>>,
}

impl Framed {
    /// Of a run of this plan, whose rate is asked for here; `of` says which of several it is.
    pub(crate) fn new(plan: &Plan, of: &str, rate: &RateControl) -> Self {
        Self { frames: Frames::new(plan).one_of(of), rate: rate.clone(), sinks: Vec::new() }
    }

    /// Whether anybody is shown anything.
    pub(crate) fn is_seen(&self) -> bool {
        !self.sinks.is_empty()
    }

    /// Hands frames to one more.
    pub(crate) fn add(&mut self, sink: impl FrameSink + 'static) {
        self.sinks.push(Box::new(sink));
    }
}

/// A second of a run whose rate is so many times the plan's.
pub(crate) fn second<'a>(
    progress: &Progress<'a>,
    rate_factor: f64,
    journeys: &'a [JourneyRecord],
) -> Second<'a> {
    let stretch = match progress.stretch {
        Stretch::Preparing => FrameStretch::Preparing,
        Stretch::WarmUp => FrameStretch::WarmUp,
        Stretch::Steady => FrameStretch::Steady,
        Stretch::Drain => FrameStretch::Drain,
        Stretch::Over => FrameStretch::Over,
    };
    Second {
        stretch,
        elapsed_ns: progress.elapsed_ns,
        planned_ns: progress.planned_ns,
        in_flight: progress.in_flight,
        rate_factor,
        store: progress.store,
        interval: progress.interval,
        generators: progress.generators,
        defects: progress.defects,
        context: progress.context,
        journeys,
    }
}

impl Watcher for Framed {
    fn second(&mut self, progress: &Progress<'_>, journeys: &[JourneyRecord]) {
        let second = second(progress, self.rate.factor(), journeys);
        let frame = Arc::new(self.frames.second(&second));
        for sink in &mut self.sinks {
            sink.show(&frame);
        }
    }

    fn end(&mut self) -> Vec<String> {
        self.sinks.iter_mut().flat_map(|sink| sink.end()).collect()
    }
}
