//! What one step of load showed.

use serde::Serialize;

/// A step's figures. Those of journeys are of its steady phase, as in every report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Length of the steady phase as it was, nanoseconds.
    pub steady_ns: u64,
    /// Journeys started in it.
    pub started: u64,
    /// Journeys in flight at its start and at the end of each of its seconds.
    pub levels: Vec<f64>,
    /// The same by stage: journeys that wait for it.
    pub stages: Vec<StageLevels>,
    /// Journeys lost, or still in flight when observation ended.
    pub lost: u64,
    /// Journeys that failed, at the root or later.
    pub failed: u64,
    /// Whether a threshold of the file speaks of failures: then that decides about them.
    pub failures_have_thresholds: bool,
    /// Thresholds that did not hold.
    pub broken: Vec<Broken>,
    /// Why the figures may not be believed.
    pub void: Option<Void>,
    /// Median duration of the journeys (of the slowest kind of them), nanoseconds.
    pub p50_ns: Option<u64>,
    /// Its 99th percentile.
    pub p99_ns: Option<u64>,
}

/// Journeys that wait for a stage, second by second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageLevels {
    /// The stage, with its journey where several have stages.
    pub name: String,
    /// As [`Observation::levels`].
    pub levels: Vec<f64>,
}

/// A threshold that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// As written.
    pub text: String,
    /// What was measured, in words.
    pub measured: String,
}

/// Why a step's figures may not be believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Void {
    /// It was this machine that could not keep up, not the system.
    pub by_generator: bool,
    /// What was measured, in words.
    pub cause: String,
}

impl Observation {
    /// Arrivals per second as they were.
    pub fn arrivals_per_s(&self) -> f64 {
        match self.steady_ns {
            0 => 0.0,
            ns => self.started as f64 * 1e9 / ns as f64,
        }
    }

    /// The stage at which more journeys came to wait than at any other, with how many each second;
    /// `None` where none waits for longer and longer.
    pub fn growing_stage(&self) -> Option<(&str, f64)> {
        let risen = |stage: &StageLevels| {
            let (first, last) = (stage.levels.first()?, stage.levels.last()?);
            let seconds = stage.levels.len().checked_sub(1).filter(|seconds| *seconds > 0)?;
            Some((last - first) / seconds as f64)
        };
        let all = self.stages.iter().filter_map(|stage| Some((stage.name.as_str(), risen(stage)?)));
        all.filter(|(_, per_s)| *per_s > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stage_that_grows_most_is_named() {
        let stage = |name: &str, levels: &[f64]| StageLevels {
            name: name.to_owned(),
            levels: levels.to_vec(),
        };
        let mut seen = Observation {
            stages: vec![stage("created", &[500.0, 500.0, 510.0]), stage("settled", &[0.0, 90.0])],
            ..Observation::default()
        };
        assert_eq!(seen.growing_stage(), Some(("settled", 90.0)));
        seen.stages = vec![stage("created", &[9.0, 9.0]), stage("settled", &[])];
        assert_eq!(seen.growing_stage(), None);
    }
}
