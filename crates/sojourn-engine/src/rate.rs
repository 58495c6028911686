//! Asking a run for another rate while it goes on.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Most requests that wait for the coordinator, which looks every ten milliseconds.
const REQUESTS_MAX: usize = 16;
/// Most times the plan's rate.
const FACTOR_MAX: f64 = 10_000.0;

/// Asks a run for another rate: for keys, a search, a control over the network. All clones ask the
/// same run, which takes requests from its start to its last arrival. Each becomes an amendment
/// from an instant half a second ahead, so that every generator knows of it in time; arrivals that
/// have been reached never move. The run file has every amendment, and the report shows it.
#[derive(Clone, Debug)]
pub struct RateControl(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    asked: Mutex<VecDeque<RateRequest>>,
    /// The factor in force, as bits.
    factor: AtomicU64,
}

/// A request for another rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RateRequest {
    pub(crate) rate_factor: f64,
    pub(crate) by: String,
}

impl Default for RateControl {
    fn default() -> Self {
        let factor = AtomicU64::new(1.0f64.to_bits());
        Self(Arc::new(Shared { asked: Mutex::default(), factor }))
    }
}

impl RateControl {
    /// Asks for `rate_factor` times the rate that the plan declares; zero is a pause. `by` says who
    /// asks, for the report. False, and nothing is asked, when the factor is not a number from 0 to
    /// 10,000 or when too many requests wait already.
    pub fn ask(&self, rate_factor: f64, by: &str) -> bool {
        let is_rate = (0.0..=FACTOR_MAX).contains(&rate_factor);
        let mut asked = self.asked();
        let fits = is_rate && asked.len() < REQUESTS_MAX;
        if fits {
            asked.push_back(RateRequest { rate_factor, by: by.to_owned() });
        }
        fits
    }

    /// Takes back what was asked for and has not been decided on; false when it is too late.
    pub fn withdraw(&self, rate_factor: f64, by: &str) -> bool {
        let mut asked = self.asked();
        let wanted = RateRequest { rate_factor, by: by.to_owned() };
        let place = asked.iter().rposition(|request| *request == wanted);
        place.is_some_and(|place| asked.remove(place).is_some())
    }

    /// How many times the plan's rate was last decided on; one at first.
    pub fn factor(&self) -> f64 {
        f64::from_bits(self.0.factor.load(Ordering::SeqCst))
    }

    pub(crate) fn take(&self) -> Option<RateRequest> {
        self.asked().pop_front()
    }

    pub(crate) fn decided(&self, rate_factor: f64) {
        self.0.factor.store(rate_factor.to_bits(), Ordering::SeqCst);
    }

    fn asked(&self) -> MutexGuard<'_, VecDeque<RateRequest>> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_bounded_and_taken_in_order() {
        let control = RateControl::default();
        assert_eq!(control.factor(), 1.0);
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(!control.ask(wrong, "keys"), "{wrong}");
        }
        let taken = (0..100).take_while(|n| control.clone().ask(f64::from(*n), "keys")).count();
        assert_eq!(taken, REQUESTS_MAX);
        let first = control.take().unwrap();
        assert_eq!((first.rate_factor, first.by.as_str()), (0.0, "keys"));
        assert!(control.withdraw(14.0, "keys") && !control.withdraw(14.0, "keys"));
        assert!(control.ask(2.0, "search"));
        control.decided(2.0);
        assert_eq!(control.clone().factor(), 2.0);
    }
}
