//! The ways of a connector, round after round, and their figures.

use std::time::Duration;

use sojourn_broker::Connect;
use sojourn_plan::Plan;

use crate::behind::Behind;
use crate::sink::{Booked, Counting, Dropped, Routed};
use crate::{Publisher, Used, measured};

const ROUNDS: usize = 5;
/// As in a run.
const POLL: Duration = Duration::from_millis(2);

/// One round of one way: so many messages are to be taken.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// How many.
    pub messages: u64,
}

/// One way to take messages: takes so many, and says what that used.
struct Way<'a> {
    name: &'static str,
    take: Box<dyn FnMut(Round) -> Used + 'a>,
    used: Vec<Used>,
}

/// What a message costs one connector, in several ways.
#[expect(missing_debug_implementations, reason = "it is made of closures")]
pub struct Cost<'a> {
    name: &'static str,
    messages: u64,
    rounds: usize,
    baseline: &'static str,
    told_apart: bool,
    ways: Vec<Way<'a>>,
}

impl<'a> Cost<'a> {
    /// For so many messages each round. `SOJOURN_BENCH_MESSAGES` and `SOJOURN_BENCH_ROUNDS` ask for
    /// fewer.
    pub fn new(name: &'static str, messages: u64) -> Self {
        let messages = asked("SOJOURN_BENCH_MESSAGES").map_or(messages, |most| messages.min(most));
        let rounds = asked_rounds(ROUNDS);
        Self { name, messages, rounds, baseline: "tap", told_apart: false, ways: Vec::new() }
    }

    /// Tells what is behind the tap apart from the tap, and compares that: where a tap's own work
    /// differs by more from one round to the next than what is behind it takes. Only for a tap that
    /// hands over all of a poll in a row.
    pub fn told_apart(self) -> Self {
        Self { told_apart: true, ..self }
    }

    /// Goes so many rounds: where what a message costs differs by more from one round to the next
    /// than the ways differ, many short ones tell more than a few long ones.
    pub fn rounds(self, rounds: usize) -> Self {
        Self { rounds: asked_rounds(rounds), ..self }
    }

    /// How many messages a round takes.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// A way of the benchmark's own.
    pub fn way(&mut self, name: &'static str, take: impl FnMut(Round) -> Used + 'a) {
        self.ways.push(Way { name, take: Box::new(take), used: Vec::new() });
    }

    /// Likewise, and what the others are compared with, instead of the tap that does nothing.
    pub fn baseline(&mut self, name: &'static str, take: impl FnMut(Round) -> Used + 'a) {
        self.baseline = name;
        self.way(name, take);
    }

    /// The ways of a tap of the plan's only channel: `tap`, `router` and `ledger`.
    pub fn taps(&mut self, connector: &'a dyn Connect, plan: &'a Plan, publisher: &'a Publisher) {
        let told_apart = self.told_apart;
        let take = move |round: Round, sink: &mut dyn Counting| {
            if !told_apart {
                return take(connector, plan, publisher, round, sink);
            }
            let mut behind = Behind::new(sink);
            let used = take(connector, plan, publisher, round, &mut behind);
            Used { behind_ns: Some(behind.took_ns), ..used }
        };
        self.way("tap", move |round| take(round, &mut Dropped::default()));
        self.way("router", move |round| take(round, &mut Routed::new(plan)));
        self.way("ledger", move |round| take(round, &mut Booked::new(plan, round.messages)));
    }

    /// Goes all ways in turn, round after round, and prints the figures.
    pub fn run(mut self) {
        for _ in 0..self.rounds {
            for way in &mut self.ways {
                let used = (way.take)(Round { messages: self.messages });
                way.used.push(used);
            }
            // Nobody always comes after the same.
            self.ways.rotate_left(1);
        }
        let baseline = self.ways.iter().find(|way| way.name == self.baseline).unwrap();
        let turns = self.rounds % self.ways.len();
        let in_order = self.ways.iter().cycle().skip(self.ways.len() - turns);
        for way in in_order.take(self.ways.len()) {
            self.print(way, baseline);
        }
    }

    fn print(&self, way: &Way<'_>, baseline: &Way<'_>) {
        let messages = self.messages as f64;
        let cpu_us = sorted(way.used.iter().map(|used| used.cpu_ns as f64 / 1e3 / messages));
        let rate = sorted(way.used.iter().map(|used| messages * 1e9 / used.passed_ns as f64));
        let name = format!("{}.{}", self.name, way.name);
        let middle = self.rounds / 2;
        println!("{name}.cpu {:.3} µs/message", cpu_us[middle]);
        println!("{name}.cpu_min {:.3} µs/message", cpu_us[0]);
        println!("{name}.cpu_max {:.3} µs/message", cpu_us[self.rounds - 1]);
        println!("{name}.per_core {:.0} messages/s", 1e6 / cpu_us[middle]);
        println!("{name}.rate {:.0} messages/s", rate[middle]);
        if way.name == baseline.name {
            return;
        }
        let added_us = |more_ns: fn(&Used, &Used) -> f64| {
            let pairs = way.used.iter().zip(&baseline.used);
            sorted(pairs.map(|(own, base)| more_ns(own, base) / 1e3 / messages))[middle]
        };
        let added_to = format!("{name}.added_to_{}", baseline.name);
        println!("{added_to} {:.3} µs/message", added_us(Used::more_ns));
        if way.used.iter().chain(&baseline.used).all(|used| used.behind_ns.is_some()) {
            println!("{name}.cpu_added {:.3} µs/message", added_us(Used::more_in_all_ns));
        }
    }
}

/// By a tap that is opened first and polled as in a run.
fn take(
    connector: &dyn Connect,
    plan: &Plan,
    publisher: &Publisher,
    round: Round,
    sink: &mut dyn Counting,
) -> Used {
    let mut tap = connector.tap(&plan.channels[0]).unwrap();
    tap.open().unwrap();
    let used = measured(
        || publisher.start(round.messages),
        || {
            while sink.count() < round.messages {
                tap.poll(POLL, sink.as_sink()).unwrap();
                sink.polled();
            }
        },
    );
    assert_eq!((sink.count(), tap.refused(), tap.take_gaps().len()), (round.messages, 0, 0));
    sink.finish();
    used
}

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn asked_rounds(usual: usize) -> usize {
    asked("SOJOURN_BENCH_ROUNDS").map_or(usual, |rounds| rounds.max(1) as usize)
}

fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}
