//! Which resource is used up where a search ends.
//!
//! That it is used up at the lowest rate that failed is not enough: what is always busy limits
//! nothing. So it must have been less busy at a rate well below, which held.

use serde::Serialize;

use crate::{
    resources::{Saturated, saturated_sentence},
    words,
};

/// What a step showed of a resource's processor time.
#[derive(Clone, Debug, PartialEq)]
pub struct StepUse {
    /// Arrivals per second, as asked.
    pub rate_per_s: f64,
    /// The step held.
    pub held: bool,
    /// The resource.
    pub name: String,
    /// Cores in use, on average.
    pub cores_mean: f64,
    /// That it was used up.
    pub saturated: Option<Saturated>,
}

/// The resource that limits the capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitingResource {
    /// The resource.
    pub name: String,
    /// The rate at which it was used up: the lowest that failed and had readings.
    pub failed_per_s: f64,
    /// How.
    pub saturated: Saturated,
    /// A rate that held, well below…
    pub held_per_s: f64,
    /// …and the cores in use there.
    pub held_cores: f64,
}

/// The greatest rate that counts as well below, as a share of the one that failed.
const WELL_BELOW: f64 = 0.8;
/// The greatest use there, as a share of that at the limit.
const LESS_BUSY: f64 = 0.9;

/// The resource that is used up at the lowest rate that failed and was not well below it; of
/// several the one that was for the greatest part of the time.
pub fn limiting_resource(steps: &[StepUse]) -> Option<LimitingResource> {
    let failed_per_s =
        steps.iter().filter(|it| !it.held).map(|it| it.rate_per_s).reduce(f64::min)?;
    let at_end = steps.iter().filter(|it| !it.held && it.rate_per_s == failed_per_s);
    let found = at_end.filter_map(|step| {
        let saturated = step.saturated.clone()?;
        let before = steps
            .iter()
            .filter(|it| it.held && it.name == step.name && it.saturated.is_none())
            .filter(|it| it.rate_per_s <= WELL_BELOW * failed_per_s)
            .filter(|it| it.cores_mean <= LESS_BUSY * saturated.cores)
            .max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s))?;
        Some(LimitingResource {
            name: step.name.clone(),
            failed_per_s,
            saturated,
            held_per_s: before.rate_per_s,
            held_cores: before.cores_mean,
        })
    });
    let share =
        |it: &LimitingResource| it.saturated.seconds as f64 / it.saturated.of_seconds.max(1) as f64;
    found.max_by(|a, b| share(a).total_cmp(&share(b)))
}

impl LimitingResource {
    /// One sentence, without a full stop.
    pub fn in_words(&self) -> String {
        format!(
            "at {}/s {}; at {}/s it used {}",
            words::number(self.failed_per_s),
            saturated_sentence(&self.name, &self.saturated),
            words::number(self.held_per_s),
            words::number(self.held_cores)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::SaturatedBy;

    fn step(rate_per_s: f64, held: bool, cores_mean: f64, is_saturated: bool) -> StepUse {
        let saturated = is_saturated.then_some(Saturated {
            by: SaturatedBy::Limit,
            cores: cores_mean,
            limit_cores: Some(2.0),
            seconds: 10,
            of_seconds: 10,
            throttled_share: None,
        });
        StepUse { rate_per_s, held, name: "api".to_owned(), cores_mean, saturated }
    }

    #[test]
    fn what_is_used_up_where_it_fails_and_was_not_before_is_the_limit() {
        let steps = [
            step(50.0, true, 0.5, false),
            step(100.0, true, 1.0, false),
            step(400.0, false, 2.0, true),
            step(205.0, false, 1.99, true),
            // Nearly there is used up, too.
            step(195.0, true, 1.95, true),
        ];
        let found = limiting_resource(&steps).expect("the processor");
        assert_eq!(
            found.in_words(),
            "at 205/s api used 1.99 of its 2 cores for 10 of 10 s: processor time is what limits \
             it; at 100/s it used 1"
        );
    }

    #[test]
    fn what_is_always_busy_or_never_used_up_limits_nothing() {
        let spins = [step(100.0, true, 2.0, true), step(200.0, false, 2.0, true)];
        assert_eq!(limiting_resource(&spins), None);
        let nearly = [step(100.0, true, 1.9, false), step(200.0, false, 2.0, true)];
        assert_eq!(limiting_resource(&nearly), None);
        let idle = [step(100.0, true, 0.2, false), step(200.0, false, 0.4, false)];
        assert_eq!(limiting_resource(&idle), None);
        // Nothing well below was tried.
        let near = [step(190.0, true, 1.7, false), step(200.0, false, 2.0, true)];
        assert_eq!(limiting_resource(&near), None);
        assert_eq!(limiting_resource(&[step(100.0, true, 2.0, true)]), None);
        assert_eq!(limiting_resource(&[]), None);
    }
}
