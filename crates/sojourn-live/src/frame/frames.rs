//! Makes frames of a run's seconds.

use sojourn_metrics::{SeriesPhase, Snapshot, Store, Threshold, ThresholdContext, names};
use sojourn_plan::{HealthLimits, Plan};
use sojourn_record::JourneyRecord;

use super::{
    Frame, FrameStretch, channels,
    health::HealthSeconds,
    journeys::{self, Shape},
    lookup::{Lookup, generators_span_ns},
    news::Ring,
    thresholds,
};

/// A run that is planned for so long ends when somebody ends it.
const UNENDING_NS: u64 = 300 * 86_400 * 1_000_000_000;

/// A second of the run as the coordinator tells it.
#[derive(Clone, Copy, Debug)]
pub struct Second<'a> {
    /// Where the run stands.
    pub stretch: FrameStretch,
    /// Since the run's start, nanoseconds.
    pub elapsed_ns: u64,
    /// Planned length without drain, nanoseconds.
    pub planned_ns: u64,
    /// Journeys in flight now.
    pub in_flight: u64,
    /// Times the plan's rate that is in force.
    pub rate_factor: f64,
    /// Every figure so far.
    pub store: &'a Store,
    /// What has come since the last second: what added up to `store`.
    pub interval: &'a [Snapshot],
    /// How many generators there are: the sources of the first numbers.
    pub generators: u32,
    /// What has made the run void so far, all of it each time.
    pub defects: &'a [String],
    /// What thresholds are held against.
    pub context: ThresholdContext,
    /// Journeys kept since the last second.
    pub journeys: &'a [JourneyRecord],
}

/// Holds between seconds what frames need: the plan's shape, the interval's figures, the ring of
/// news. It must be told every second of a run, from the first.
#[derive(Debug)]
pub struct Frames {
    name: String,
    of: String,
    warmup_ns: u64,
    limits: HealthLimits,
    thresholds: Vec<Threshold>,
    shapes: Vec<Shape>,
    window: Store,
    health: HealthSeconds,
    ring: Ring,
    last_ns: u64,
    next: u64,
}

impl Frames {
    /// Frames of a run of this plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            name: plan.name.clone(),
            of: String::new(),
            warmup_ns: plan.load.iter().map(|load| load.warmup_ns).max().unwrap_or(0),
            limits: plan.health.clone(),
            thresholds: plan.thresholds.clone(),
            shapes: journeys::shapes(plan),
            window: Store::new(),
            health: HealthSeconds::default(),
            ring: Ring::default(),
            last_ns: 0,
            next: 0,
        }
    }

    /// The same, which say which of several runs it is.
    #[must_use]
    pub fn one_of(mut self, of: &str) -> Self {
        of.clone_into(&mut self.of);
        self
    }

    /// The frame of this second.
    pub fn second(&mut self, second: &Second<'_>) -> Frame {
        self.window.reset();
        for snapshot in second.interval {
            // A gap in a source's numbers makes the run void, and the coordinator has said so;
            // what is there is added all the same.
            let _ignored = self.window.apply(snapshot);
        }
        let span_ns = match generators_span_ns(second.interval, second.generators) {
            0 => second.elapsed_ns.saturating_sub(self.last_ns),
            span_ns => span_ns,
        };
        let is_warm_up = second.elapsed_ns < self.warmup_ns;
        let lookup = Lookup {
            store: second.store,
            window: &self.window,
            phase: if is_warm_up { SeriesPhase::WarmUp } else { SeriesPhase::Steady },
            interval_s: span_ns as f64 / 1e9,
        };
        if self.shapes.len() < Frame::JOURNEYS_MAX {
            let further = journeys::unknown(&lookup, &self.shapes);
            self.shapes.extend(further);
        }
        let journeys = journeys::journeys(&lookup, &self.shapes);
        let at_ns = second.elapsed_ns;
        self.ring.second(at_ns, &lookup, &journeys, second.journeys, second.defects);
        let (news, news_beyond) = self.ring.told();
        let within_ns = |name: &str| {
            self.shapes.iter().find(|shape| shape.name == name).and_then(|shape| shape.within_ns)
        };
        let (asked_per_s, delivered_per_s) = match second.stretch {
            // The sources' last words cover no second.
            FrameStretch::Over => (0.0, 0.0),
            _ => lookup.arrivals_per_s(),
        };
        let frame = Frame {
            number: self.next,
            name: self.name.clone(),
            of: self.of.clone(),
            stretch: second.stretch,
            elapsed_ns: second.elapsed_ns,
            planned_ns: if second.planned_ns < UNENDING_NS { second.planned_ns } else { 0 },
            warmup_ns: self.warmup_ns,
            asked_per_s,
            delivered_per_s,
            rate_factor: second.rate_factor,
            counts: journeys::totals(second.store),
            in_flight: second.in_flight,
            clients: lookup.level(names::CLIENTS, &[]),
            health: self.health.health(&lookup, &self.limits, second.defects),
            channels: channels::channels(&lookup),
            checks: channels::checks(&lookup),
            thresholds: thresholds::thresholds(
                &self.thresholds,
                second.store,
                &second.context,
                within_ns,
            ),
            journeys,
            news,
            news_beyond,
        };
        self.last_ns = second.elapsed_ns;
        self.next += 1;
        frame
    }
}
