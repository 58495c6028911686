//! What `sojourn rate` asks of a run that goes on, as the run answers it.

use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_engine::RateControl;
use sojourn_live::control::{ControlServer, RateWish};
use sojourn_pace::Segment;
use sojourn_plan::{Load, Model, Plan};

use crate::display::fixed_rate;

/// Who asks, for the report.
const BY: &str = "sojourn rate";
/// How long a decision is waited for; the coordinator looks every ten milliseconds.
const DECISION_NS: u64 = SECOND_NS;

/// Listens for another rate until dropped. `None`, and a warning, where that is not possible.
pub(crate) fn listen(plan: &Plan, run_id: &str, rate: &RateControl) -> Option<ControlServer> {
    let fixed = fixed_rate(plan);
    let declared_per_s = constant_per_s(plan);
    let rate = rate.clone();
    let on_wish = move |wish| {
        if let Some(why) = &fixed {
            return Err(why.clone());
        }
        let factor = factor(wish, declared_per_s)?;
        decided(&rate, factor)
    };
    match ControlServer::listen(run_id, &plan.name, Box::new(on_wish)) {
        Ok(server) => Some(server),
        Err(error) => {
            eprintln!("warning: `sojourn rate` can't reach this run: {error}");
            None
        }
    }
}

/// Times the plan's rate that a wish comes to.
fn factor(wish: RateWish, declared_per_s: Option<f64>) -> Result<f64, String> {
    match (wish, declared_per_s) {
        (RateWish::Factor(factor), _) => Ok(factor),
        (RateWish::PerS(per_s), Some(declared_per_s)) => Ok(per_s / declared_per_s),
        (RateWish::PerS(_), None) => {
            Err("its plan has no single rate that stays the same: ask for a multiple, as 2x".into())
        }
    }
}

/// Asks for a rate and waits until it is decided on.
fn decided(rate: &RateControl, factor: f64) -> Result<String, String> {
    if !rate.ask(factor, BY) {
        return Err("a rate is 0 to 10,000 times the plan's, and not many a second".to_owned());
    }
    let until_ns = now_ns() + DECISION_NS;
    while rate.factor() != factor {
        if now_ns() >= until_ns {
            return Err(match rate.withdraw(factor, BY) {
                true => "it takes no rates yet, or no more: it is being made ready, or drains",
                false => "it was refused; the run's report will say why",
            }
            .to_owned());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(format!("{factor} × the plan's rate, from half a second on"))
}

/// Arrivals per second of a plan with one load whose rate stays the same.
fn constant_per_s(plan: &Plan) -> Option<f64> {
    let [Load { model: Model::Open { profile, .. }, .. }] = plan.load.as_slice() else {
        return None;
    };
    let [Segment::Linear { from_per_s, to_per_s, .. }] = profile.segments.as_slice() else {
        return None;
    };
    (from_per_s == to_per_s && *from_per_s > 0.0).then_some(*from_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_per_second_needs_one_that_stays_the_same() {
        assert_eq!(factor(RateWish::PerS(30.0), Some(20.0)), Ok(1.5));
        assert!(factor(RateWish::PerS(30.0), None).is_err());
        assert_eq!(factor(RateWish::Factor(0.0), None), Ok(0.0));
        assert_eq!(constant_per_s(&Plan::default()), None);
    }
}
