//! When iterations of arrival rates begin.
//!
//! Constant: iteration k begins at k periods, the period being the time unit over the rate in whole
//! nanoseconds, rounded down. Ramping: the rate goes linearly within a stage, and iteration k
//! begins when its integral passes the k-th whole number.

use sojourn_pace::{Arrivals, Profile, Schedule, Segment};

use crate::executors::{ConstantArrivals, Executor, RampingArrivals, Scenario};

const NS_PER_S: f64 = 1e9;

/// The instants at which a scenario's iterations are due.
#[derive(Clone, Debug)]
pub struct Starts {
    schedule: Schedule,
    /// Users made before the start.
    pub pre_allocated_vus: u64,
    /// Most users.
    pub max_vus: u64,
}

impl Starts {
    /// When iteration `k` is due, nanoseconds from the scenario's start; `None` past the end.
    pub fn at(&mut self, k: u64) -> Option<u64> {
        self.schedule.at(k)
    }

    /// How many iterations are due in all.
    pub fn count(&self) -> u64 {
        self.schedule.expected_count() as u64
    }

    /// The schedule itself.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }
}

impl ConstantArrivals {
    /// Time between two iterations, in whole nanoseconds; zero without a rate.
    pub fn period_ns(&self) -> u64 {
        self.time_unit_ns.checked_div(self.rate).unwrap_or(0)
    }

    fn schedule(&self) -> Schedule {
        let per_s = match self.period_ns() {
            0 => 0.0,
            period_ns => NS_PER_S / period_ns as f64,
        };
        let segment =
            Segment::Linear { from_per_s: per_s, to_per_s: per_s, duration_ns: self.duration_ns };
        Schedule::new(Profile { segments: vec![segment] }, Arrivals::Constant, 0, None)
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
        Schedule::new(Profile { segments }, Arrivals::Constant, 0, None)
    }
}

impl Scenario {
    /// When iterations are due, for arrival rates; `None` for executors whose users loop.
    pub fn starts(&self) -> Option<Starts> {
        let (schedule, pre_allocated_vus, max_vus) = match &self.executor {
            Executor::ConstantArrivalRate(arrivals) => {
                (arrivals.schedule(), arrivals.pre_allocated_vus, arrivals.max_vus)
            }
            Executor::RampingArrivalRate(arrivals) => {
                (arrivals.schedule(), arrivals.pre_allocated_vus, arrivals.max_vus)
            }
            _ => return None,
        };
        Some(Starts { schedule, pre_allocated_vus, max_vus })
    }
}
