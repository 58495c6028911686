//! A scenario's part that one of several processes makes.

use crate::executors::{Executor, Scenario, Segments};

impl Scenario {
    /// What this process makes of it. Users are dealt out by the segments' lengths; iterations of a
    /// common counter, and arrivals, by how many users each segment has, so that nobody gets work
    /// without a user.
    pub(crate) fn striped(mut self, segments: &Segments) -> Self {
        let own = segments.own();
        self.stripes = own.clone();
        self.share = own.share();
        match &mut self.executor {
            Executor::ConstantVus { vus, .. } | Executor::PerVuIterations { vus, .. } => {
                *vus = own.scale(*vus);
            }
            Executor::RampingVus(ramping) => ramping.stripes = own.clone(),
            Executor::SharedIterations { vus, iterations, .. } => {
                self.stripes = segments.by_users(*vus);
                *iterations = self.stripes.scale(*iterations);
                *vus = own.scale(*vus);
            }
            Executor::ConstantArrivalRate(arrivals) => {
                self.stripes = segments.by_users(arrivals.max_vus);
                arrivals.pre_allocated_vus = own.scale(arrivals.pre_allocated_vus);
                arrivals.max_vus = own.scale(arrivals.max_vus);
            }
            Executor::RampingArrivalRate(arrivals) => {
                self.stripes = segments.by_users(arrivals.max_vus);
                arrivals.pre_allocated_vus = own.scale(arrivals.pre_allocated_vus);
                arrivals.max_vus = own.scale(arrivals.max_vus);
            }
            Executor::ExternallyControlled { vus, max_vus, .. } => {
                *vus = own.scale(*vus);
                *max_vus = own.scale(*max_vus);
            }
        }
        self
    }
}
