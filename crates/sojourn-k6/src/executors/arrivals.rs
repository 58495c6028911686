//! When iterations of arrival rates begin.
//!
//! Constant: iteration k begins at k periods, the period being the time unit over the rate in whole
//! nanoseconds, rounded down. Ramping: the rate goes linearly within a stage, and iteration k
//! begins when its integral reaches k + 1. Both as long as that is not after the end: what falls
//! on the end itself begins too (with k6 it usually does; there the two are a race).

use sojourn_pace::{Arrivals, Profile, Schedule, Segment};

use crate::executors::{ConstantArrivals, Executor, RampingArrivals, Scenario};

const NS_PER_S: f64 = 1e9;

/// The instants at which a scenario's iterations are due.
#[derive(Clone, Debug)]
pub struct Starts {
    schedule: Schedule,
    /// The level of the schedule's integral at which the first iteration is due.
    first: u64,
    duration_ns: u64,
    /// Users made before the start.
    pub pre_allocated_vus: u64,
    /// Most users.
    pub max_vus: u64,
}

impl Starts {
    /// When iteration `k` is due, nanoseconds from the scenario's start; `None` past the end.
    /// Cheapest when `k` does not go back.
    pub fn at(&mut self, k: u64) -> Option<u64> {
        let at_ns = self.schedule.at(k.checked_add(self.first)?)?;
        Some(at_ns.min(self.duration_ns))
    }

    /// How many iterations are due in all.
    pub fn count(&self) -> u64 {
        (self.schedule.expected_count() as u64).saturating_sub(self.first)
    }
}

/// A schedule of these segments that has what falls on its end.
fn closed(mut segments: Vec<Segment>) -> Schedule {
    let whole = Schedule::new(
        Profile { segments: segments.clone() },
        Arrivals::Poisson, // Its count is the integral itself.
        0,
        None,
    );
    // One nanosecond more, in which the integral grows by more than rounding takes from it, and by
    // far less than one.
    let beyond = (whole.expected_count() * 1e-11).max(1e-6);
    let per_s = beyond * NS_PER_S;
    segments.push(Segment::Linear { from_per_s: per_s, to_per_s: per_s, duration_ns: 1 });
    Schedule::new(Profile { segments }, Arrivals::Constant, 0, None)
}

impl ConstantArrivals {
    /// Time between two iterations, in whole nanoseconds; at least one.
    pub fn period_ns(&self) -> u64 {
        self.time_unit_ns.checked_div(self.rate).unwrap_or(u64::MAX).max(1)
    }

    fn schedule(&self) -> Schedule {
        let per_s = NS_PER_S / self.period_ns() as f64;
        let segment =
            Segment::Linear { from_per_s: per_s, to_per_s: per_s, duration_ns: self.duration_ns };
        closed(vec![segment])
    }
}

impl RampingArrivals {
    /// Length of all stages, nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.stages.iter().fold(0, |sum, (duration_ns, _)| sum.saturating_add(*duration_ns))
    }

    /// The greatest rate.
    pub fn peak_rate(&self) -> u64 {
        self.stages.iter().map(|(_, rate)| *rate).fold(self.start_rate, u64::max)
    }

    fn schedule(&self) -> Schedule {
        let per_s = |rate: u64| match self.time_unit_ns {
            0 => 0.0,
            unit_ns => rate as f64 * NS_PER_S / unit_ns as f64,
        };
        let mut from_per_s = per_s(self.start_rate);
        let mut segments = Vec::with_capacity(self.stages.len());
        for &(duration_ns, rate) in &self.stages {
            let to_per_s = per_s(rate);
            segments.push(Segment::Linear { from_per_s, to_per_s, duration_ns });
            from_per_s = to_per_s;
        }
        closed(segments)
    }
}

impl Scenario {
    /// When iterations are due, for arrival rates; `None` for executors whose users loop.
    pub fn starts(&self) -> Option<Starts> {
        let (schedule, first, pre_allocated_vus, max_vus) = match &self.executor {
            Executor::ConstantArrivalRate(arrivals) => {
                (arrivals.schedule(), 0, arrivals.pre_allocated_vus, arrivals.max_vus)
            }
            Executor::RampingArrivalRate(arrivals) => {
                (arrivals.schedule(), 1, arrivals.pre_allocated_vus, arrivals.max_vus)
            }
            _ => return None,
        };
        let duration_ns = self.duration_ns();
        Some(Starts { schedule, first, duration_ns, pre_allocated_vus, max_vus })
    }
}
