//! How k6 tells of scenarios before a run.

use crate::{
    duration::Nanos,
    executors::{Executor, Requirements, Scenario},
    options::Segment,
};

fn go(ns: u64) -> String {
    Nanos(i64::try_from(ns).unwrap_or(i64::MAX)).to_string()
}

impl Requirements {
    /// `scenarios: (100.00%) 1 scenario, 10 max VUs, 1m0s max duration (incl. graceful stop):`
    pub fn line(&self, scenarios: usize, segment: &Segment) -> String {
        let plural = if scenarios == 1 { "" } else { "s" };
        let duration = match self.max_duration_ns {
            Some(ns) => format!("{} max duration (incl. graceful stop)", go(rounded(ns))),
            None => "infinite max duration".to_owned(),
        };
        let percent = segment.length() * 100.0;
        let vus = self.max_vus;
        format!(
            "scenarios: ({percent:.2}%) {scenarios} scenario{plural}, {vus} max VUs, {duration}:"
        )
    }
}

/// To tenths of a second.
fn rounded(ns: u64) -> u64 {
    const STEP_NS: u64 = 100_000_000;
    (ns.saturating_add(STEP_NS / 2)) / STEP_NS * STEP_NS
}

impl Scenario {
    /// `default: 10 looping VUs for 30s (gracefulStop: 30s)`
    pub fn line(&self) -> String {
        format!("{}: {}", self.name, self.description())
    }

    /// What it does, as k6 says it: `10 looping VUs for 30s (gracefulStop: 30s)`.
    pub fn description(&self) -> String {
        let mut details = Vec::new();
        let what = match &self.executor {
            Executor::ConstantVus { vus, duration_ns } => {
                format!("{vus} looping VUs for {}", go(*duration_ns))
            }
            Executor::RampingVus(ramping) => {
                details.push(("gracefulRampDown", go(ramping.graceful_ramp_down_ns)));
                let (peak, length) = (ramping.peak(), go(ramping.ramp.duration_ns()));
                let stages = ramping.ramp.stages();
                format!("Up to {peak} looping VUs for {length} over {stages} stages")
            }
            Executor::SharedIterations { vus, iterations, max_duration_ns } => {
                details.push(("maxDuration", go(*max_duration_ns)));
                format!("{iterations} iterations shared among {vus} VUs")
            }
            Executor::PerVuIterations { vus, iterations, max_duration_ns } => {
                details.push(("maxDuration", go(*max_duration_ns)));
                format!("{iterations} iterations for each of {vus} VUs")
            }
            Executor::ConstantArrivalRate(arrivals) => {
                details.push(("maxVUs", range(arrivals.pre_allocated_vus, arrivals.max_vus)));
                // Without users there are no iterations either.
                let rate = if arrivals.max_vus == 0 { 0 } else { arrivals.rate };
                let rate = per_s(rate, arrivals.time_unit_ns) * self.stripes.share();
                format!("{rate:.2} iterations/s for {}", go(arrivals.duration_ns))
            }
            Executor::RampingArrivalRate(arrivals) => {
                details.push(("maxVUs", range(arrivals.pre_allocated_vus, arrivals.max_vus)));
                let rate = per_s(arrivals.peak_rate(), arrivals.time_unit_ns) * self.share;
                let (length, stages) = (go(arrivals.duration_ns()), arrivals.stages.len());
                format!("Up to {rate:.2} iterations/s for {length} over {stages} stages")
            }
            Executor::ExternallyControlled { vus, max_vus, duration_ns } => {
                let length = duration_ns.map_or("infinite".to_owned(), go);
                let users = format!("{vus} VUs, {max_vus} max VUs");
                format!("Externally controlled execution with {users}, {length} duration")
            }
        };
        self.with_common(&what, details)
    }

    fn with_common(&self, what: &str, mut details: Vec<(&str, String)>) -> String {
        if self.is_exec_written {
            details.push(("exec", self.exec.clone()));
        }
        if self.start_time_ns > 0 {
            details.push(("startTime", go(self.start_time_ns)));
        }
        if self.graceful_stop_ns > 0 {
            details.push(("gracefulStop", go(self.graceful_stop_ns)));
        }
        if details.is_empty() {
            return what.to_owned();
        }
        let details: Vec<_> =
            details.iter().map(|(name, text)| format!("{name}: {text}")).collect();
        format!("{what} ({})", details.join(", "))
    }
}

fn range(least: u64, most: u64) -> String {
    if least == most { least.to_string() } else { format!("{least}-{most}") }
}

fn per_s(rate: u64, unit_ns: u64) -> f64 {
    rate as f64 * 1e9 / (unit_ns.max(1)) as f64
}
