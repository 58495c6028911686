//! A scenario on one thread.

use super::Place;
use super::arrivals::Arrivals;
use super::looping::Looping;
use super::seats::Seats;
use super::steered::{Steer, Steered};
use crate::host::UserIndex;
use crate::settings::{Role, Settings};
use sojourn_k6::executors::{ExecutorKind, Part, Scenario, requirements_of};

/// Runs the part of a scenario that is this thread's.
pub(super) enum Player {
    /// Users that loop.
    Looping(Looping),
    /// Iterations at instants.
    Arrivals(Box<Arrivals>),
    /// Users that somebody outside decides on.
    Steered(Steered),
}

impl Player {
    /// One for each scenario.
    pub(super) fn all(settings: &Settings, place: Place) -> Vec<Self> {
        if settings.role == Role::Conducts {
            return Vec::new();
        }
        let mut players = Vec::with_capacity(settings.scenarios.len());
        let places = places(&settings.scenarios, place);
        for ((number, scenario), shifted) in settings.scenarios.iter().enumerate().zip(places) {
            players.push(match scenario.starts() {
                None if scenario.kind() == ExecutorKind::ExternallyControlled => {
                    Self::Steered(Steered::new(number, scenario, shifted))
                }
                Some(starts) => {
                    Self::Arrivals(Box::new(Arrivals::new(number, scenario, starts, shifted)))
                }
                None => Self::Looping(Looping::new(number, scenario, shifted)),
            });
        }
        players
    }

    /// The scenarios have been started, at this instant.
    pub(super) fn start(&mut self, start_ns: u64) {
        match self {
            Self::Looping(looping) => looping.start(start_ns),
            Self::Arrivals(arrivals) => arrivals.start(start_ns),
            Self::Steered(steered) => steered.start(start_ns),
        }
    }

    /// Somebody outside decides on users.
    pub(super) fn steer(&mut self, steer: Steer, now_ns: u64) {
        if let Self::Steered(steered) = self {
            steered.steer(steer, now_ns);
        }
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now_ns: u64, seats: &mut Seats) {
        match self {
            Self::Looping(looping) => looping.tick(now_ns, seats),
            Self::Arrivals(arrivals) => arrivals.tick(now_ns, seats),
            Self::Steered(steered) => steered.tick(now_ns, seats),
        }
    }

    /// Whether the user belongs to it just now.
    pub(super) fn is_of(&self, user: UserIndex) -> bool {
        match self {
            Self::Looping(looping) => looping.is_of(user),
            Self::Arrivals(arrivals) => arrivals.is_of(user),
            Self::Steered(steered) => steered.is_of(user),
        }
    }

    /// One of its users has ended its iteration.
    pub(super) fn on_idle(&mut self, user: UserIndex, now_ns: u64, seats: &mut Seats) {
        match self {
            Self::Looping(looping) => looping.on_idle(user, now_ns, seats),
            Self::Arrivals(arrivals) => arrivals.on_idle(user, seats),
            Self::Steered(steered) => steered.on_idle(user, now_ns, seats),
        }
    }

    /// When something is due next, ns.
    pub(super) fn next_ns(&self) -> Option<u64> {
        match self {
            Self::Looping(looping) => looping.next_ns(),
            Self::Arrivals(arrivals) => arrivals.next_ns(),
            Self::Steered(steered) => steered.next_ns(),
        }
    }

    /// Ends now.
    pub(super) fn stop(&mut self, now_ns: u64, seats: &mut Seats) {
        match self {
            Self::Looping(looping) => looping.stop(now_ns, seats),
            Self::Arrivals(arrivals) => arrivals.stop(seats),
            Self::Steered(steered) => steered.stop(seats),
        }
    }

    /// Whether nothing of it is left.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Looping(looping) => looping.is_done(),
            Self::Arrivals(arrivals) => arrivals.is_done(),
            Self::Steered(steered) => steered.is_done(),
        }
    }
}

/// This thread's place in each scenario.
fn places(scenarios: &[Scenario], place: Place) -> Vec<Place> {
    let mut offset = 0;
    let mut next = |scenario: &Scenario| {
        let shifted = shift(place, offset);
        offset += scenario.planned_vus();
        shifted
    };
    scenarios.iter().map(&mut next).collect()
}

/// Where a scenario's numbers begin, so that small scenarios do not all meet on the first thread.
fn shift(place: Place, offset: u64) -> Place {
    Place { thread: (place.thread + place.of - offset % place.of) % place.of, of: place.of }
}

/// How many of `total` numbers are this thread's.
pub(super) fn share(total: u64, place: Place) -> u64 {
    total / place.of + u64::from(place.thread < total % place.of)
}

/// Users that this thread makes before the start: as many as its scenarios need of it, which may be
/// one more than its share of all, as each scenario is divided by itself.
pub(super) fn planned(scenarios: &[Scenario], place: Place) -> u64 {
    let places = places(scenarios, place);
    let part = |scenario: usize| Part { first: places[scenario].thread, of: place.of };
    requirements_of(scenarios, part).planned_vus
}

#[cfg(test)]
mod tests {
    use sojourn_k6::options::{Options, Tier, Tiers, consolidate};

    use super::*;

    #[test]
    fn a_thread_has_the_users_of_its_scenarios_before_they_begin() {
        let scenario = |start: &str| {
            serde_json::json!({ "executor": "constant-vus", "vus": 201, "duration": "10s",
                                "startTime": start, "gracefulStop": "0s" })
        };
        let options =
            serde_json::json!({ "scenarios": { "a": scenario("0s"), "b": scenario("20s") } });
        let (script, _) = Options::from_json(Tier::Script, &options).expect("options");
        let scenarios = consolidate(Tiers { script, ..Tiers::default() }).expect("fine").scenarios;
        for thread in 0..2 {
            let place = Place { thread, of: 2 };
            let mine = places(&scenarios, place);
            let most = mine.iter().map(|place| share(201, *place)).max();
            assert_eq!(Some(planned(&scenarios, place)), most, "thread {thread}: {mine:?}");
        }
    }
}
