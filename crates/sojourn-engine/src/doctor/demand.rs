//! What a plan's load may need at worst, by Little's law: in flight = rate × time.

use sojourn_clock::SECOND_NS;
use sojourn_http::Origin;
use sojourn_pace::{Arrivals, Schedule};
use sojourn_plan::{Action, Journey, Load, Model, Plan, Step};

use crate::{
    RunOptions,
    generator::origin_of,
    peak::{most_within, peak_per_s},
};

/// What a journey in flight takes of the ledger, bytes, with room to spare.
pub(crate) const JOURNEY_BYTES: u64 = 200;

/// A plan's needs at worst: nothing completes before its deadline, nothing answers before its
/// time-out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Demand {
    /// Journeys in flight.
    pub(crate) in_flight: u64,
    /// Connections, by target, in the order of the plan.
    pub(crate) connections: Vec<TargetDemand>,
}

/// Connections to one target.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetDemand {
    pub(crate) origin: Origin,
    /// Requests per second of open loads, at their peaks.
    pub(crate) requests_per_s: f64,
    /// Users, each of whom may hold one.
    pub(crate) users: u64,
    /// At worst, all together; never more than the client may open.
    pub(crate) connections: u64,
}

impl Demand {
    /// What the plan needs.
    pub(crate) fn of(plan: &Plan, options: &RunOptions) -> Self {
        let most = match options.client.connections_max {
            0 => u64::MAX,
            most => (most as u64).saturating_mul(options.threads.into()),
        };
        let mut targets: Vec<(TargetDemand, f64)> = Vec::new();
        let mut in_flight = 0.0;
        for load in &plan.load {
            let whole: f64 = load.journeys.iter().map(|(_, weight)| weight).sum();
            for (index, weight) in &load.journeys {
                let Some(journey) = plan.journeys.get(*index) else { continue };
                let share = weight / whole;
                in_flight += share * journeys_in_flight(load, journey);
                for step in &journey.steps {
                    add(&mut targets, load, share, step);
                }
            }
            add_users(&mut targets, plan, load);
        }
        let connections = targets.into_iter().map(|(target, by_rate)| {
            let worst = (by_rate.ceil() as u64).saturating_add(target.users);
            TargetDemand { connections: worst.min(most), ..target }
        });
        Self { in_flight: in_flight.ceil() as u64, connections: connections.collect() }
    }
}

/// The requests of an open load's step, to its target.
fn add(targets: &mut Vec<(TargetDemand, f64)>, load: &Load, share: f64, step: &Step) {
    let Action::Http(action) = &step.action else { return };
    let at = place(targets, origin_of(action));
    let (target, by_rate) = &mut targets[at];
    target.requests_per_s += share * arrivals_within(load, SECOND_NS);
    *by_rate += share * arrivals_within(load, step.time_max_ns());
}

/// The users of a closed load, at each target that some journey of theirs goes to.
fn add_users(targets: &mut Vec<(TargetDemand, f64)>, plan: &Plan, load: &Load) {
    let Model::Closed { stages, .. } = &load.model else { return };
    let users = stages.iter().map(|stage| u64::from(stage.to)).max().unwrap_or(0);
    let mut origins: Vec<Origin> = Vec::new();
    let journeys = load.journeys.iter().filter_map(|(index, _)| plan.journeys.get(*index));
    for action in journeys.flat_map(|journey| &journey.steps).filter_map(|s| s.action.http()) {
        let origin = origin_of(action);
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    for origin in origins {
        let at = place(targets, origin);
        targets[at].0.users += users;
    }
}

fn place(targets: &mut Vec<(TargetDemand, f64)>, origin: Origin) -> usize {
    let known = targets.iter().position(|(target, _)| target.origin == origin);
    known.unwrap_or_else(|| {
        let target = TargetDemand { origin, requests_per_s: 0.0, users: 0, connections: 0 };
        targets.push((target, 0.0));
        targets.len() - 1
    })
}

/// Journeys of a load in flight at worst, were all of them of this kind.
fn journeys_in_flight(load: &Load, journey: &Journey) -> f64 {
    let observed_ns = journey.within_ns.saturating_add(journey.linger_ns);
    let per_arrival = f64::from(journey.per_arrival());
    per_arrival
        * match &load.model {
            Model::Open { .. } => arrivals_within(load, observed_ns),
            // Users who wait for no more than the root have more in flight, by what it takes.
            Model::Closed { stages, .. } => {
                stages.iter().map(|stage| f64::from(stage.to)).fold(0.0, f64::max)
            }
        }
}

/// Most arrivals of an open load within a stretch of this length; none of a closed one.
fn arrivals_within(load: &Load, stretch_ns: u64) -> f64 {
    match &load.model {
        Model::Closed { .. } => 0.0,
        Model::Open { arrivals: Arrivals::Replay(instants), limit, .. } => {
            most_within(instants, stretch_ns).min(limit.unwrap_or(u64::MAX)) as f64
        }
        Model::Open { profile, arrivals, limit } => {
            let all = Schedule::new(profile.clone(), arrivals.clone(), 0, *limit).expected_count();
            (peak_per_s(profile) * stretch_ns as f64 / SECOND_NS as f64).min(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;

    fn demand(load: &str, threads: u32, connections_max: usize) -> Demand {
        let text = format!(
            "name: x\nchannels: {{ events: {{ webhook: {{}} }} }}\njourneys:\n  a:\n    root: {{ \
             http: {{ method: GET, url: /a, timeout: 4s }}, key: \"{{{{ uuid() }}}}\" }}\n    \
             stages: [{{ name: s, on: events, key: $.id }}]\n    within: 30s\n  b: {{ root: {{ \
             http: {{ method: GET, url: \"http://127.0.0.1:2/\", timeout: 2s }} }} }}\nload:\n  - \
             {load}\n"
        );
        let mut options = RunOptions::new(None, "test".to_owned());
        options.threads = threads;
        options.client.connections_max = connections_max;
        Demand::of(&plan(&text, "http://127.0.0.1:1"), &options)
    }

    fn connections(demand: &Demand) -> Vec<(u16, u64)> {
        demand.connections.iter().map(|of| (of.origin.port, of.connections)).collect()
    }

    #[test]
    fn a_rate_times_its_times_is_the_need() {
        let one = demand("{ journey: a, rate: 100/s, steady: 60s }", 1, 10_000);
        // Observed for its deadline and as long as it lingers after it.
        assert!(one.in_flight >= 3_000 && one.in_flight <= 6_000, "{one:?}");
        assert_eq!(connections(&one), [(1, 400)]);
        assert_eq!(one.connections[0].requests_per_s, 100.0);
        let mix = demand("{ rate: 100/s, steady: 60s }", 1, 10_000);
        assert_eq!(connections(&mix), [(1, 200), (2, 100)]);
        // A short load never has more arrivals than it has.
        let short = demand("{ journey: a, rate: 100/s, steady: 2s }", 1, 10_000);
        assert_eq!((short.in_flight, connections(&short)), (200, vec![(1, 200)]));
    }

    #[test]
    fn users_hold_one_each_and_the_client_has_a_bound() {
        let users = demand("{ users: 50, steady: 10s }", 1, 10_000);
        assert_eq!(users.in_flight, 50);
        assert_eq!(connections(&users), [(1, 50), (2, 50)]);
        let bounded = demand("{ journey: a, rate: 1000/s, steady: 60s }", 2, 300);
        assert_eq!(connections(&bounded), [(1, 600)]);
    }
}
