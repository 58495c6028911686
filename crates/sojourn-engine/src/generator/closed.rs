//! Closed loads: users who start their next journey after the last one's end and a think time.

use std::{cmp::Reverse, collections::BinaryHeap};

use sojourn_pace::{Share, random_unit};
use sojourn_plan::{Load, Model, Think, UserStage};

/// One load entry's users, as far as this generator's share goes.
#[derive(Debug)]
pub(crate) struct ClosedStream {
    /// Index of the load entry.
    pub(crate) entry: u16,
    stages: Vec<UserStage>,
    think: Think,
    seed: u64,
    start_ns: u64,
    end_ns: u64,
    /// Journeys this generator may still start, where the load is counted.
    remaining: Option<u64>,
    /// Journeys started, which randomness is drawn by.
    started: u64,
    share: Share,
    /// Users ready to go: (instant, user).
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    /// The first user not yet brought in.
    next_user: u32,
}

impl ClosedStream {
    /// The users of a load entry; `None` for an open one.
    pub(crate) fn new(
        entry: u16,
        load: &Load,
        seed: u64,
        share: Share,
        start_ns: u64,
    ) -> Option<Self> {
        let Model::Closed { stages, think, iterations, .. } = &load.model else {
            return None;
        };
        let end_ns = start_ns.saturating_add(load.warmup_ns).saturating_add(load.steady_ns);
        let mut stream = Self {
            entry,
            stages: stages.clone(),
            think: *think,
            seed: sojourn_pace::random_u64(seed, 0xC105ED, u64::from(entry)),
            start_ns,
            end_ns,
            remaining: iterations.map(|n| iterations_of(n, stages, share)),
            started: 0,
            share,
            ready: BinaryHeap::new(),
            next_user: 0,
        };
        stream.bring_in();
        Some(stream)
    }

    /// The next journey: (user, scheduled instant in nanoseconds). `None` when every user is under
    /// way or the load is over.
    pub(crate) fn peek(&self) -> Option<(u32, u64)> {
        if self.remaining == Some(0) {
            return None;
        }
        self.ready
            .peek()
            .map(|Reverse((at_ns, user))| (*user, *at_ns))
            .filter(|(_, at_ns)| *at_ns < self.end_ns)
    }

    /// Takes the next journey; returns its number, which randomness is drawn by.
    pub(crate) fn take(&mut self) -> u64 {
        if let Some(Reverse((_, user))) = self.ready.pop()
            && user + 1 == self.next_user
        {
            self.bring_in();
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining -= 1;
        }
        let k = self.next_k();
        self.started += 1;
        k
    }

    /// The number of the next journey, whoever starts it.
    pub(crate) fn next_k(&self) -> u64 {
        let (index, of) = match self.share {
            Share::Stripe { index, of } => (u64::from(index), u64::from(of)),
            Share::Segment { .. } => (0, 1),
        };
        self.started * of + index
    }

    /// A user's journey ended: it thinks, then is ready again, if it is still wanted then.
    pub(crate) fn ended(&mut self, user: u32, now_ns: u64, k: u64) {
        let at_ns = now_ns.saturating_add(self.think_ns(k));
        if self.is_wanted(user, at_ns) {
            self.ready.push(Reverse((at_ns, user)));
        } else if let Some(at_ns) = self.wanted_from(user, at_ns) {
            self.ready.push(Reverse((at_ns, user)));
        }
    }

    /// Whether no journey will ever start again, given how many users are under way.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.end_ns || self.remaining == Some(0)
    }

    /// When the load ends; `None` when its last journey says so, because journeys are counted out.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        (self.remaining != Some(0)).then_some(self.end_ns)
    }

    /// Brings the next user of the share in, at the instant the load first wants it.
    fn bring_in(&mut self) {
        let Some(user) = self.share.next_from(u64::from(self.next_user)) else {
            return;
        };
        let Ok(user) = u32::try_from(user) else {
            return;
        };
        self.next_user = user + 1;
        if let Some(at_ns) = self.wanted_from(user, self.start_ns) {
            self.ready.push(Reverse((at_ns, user)));
        }
    }

    fn think_ns(&self, k: u64) -> u64 {
        let unit = || random_unit(self.seed, 0x714, k);
        match self.think {
            Think::None => 0,
            Think::Fixed(ns) => ns,
            Think::Uniform(low, high) => low + ((high.saturating_sub(low)) as f64 * unit()) as u64,
            Think::Exponential(mean) => (-(1.0 - unit()).ln() * mean as f64) as u64,
        }
    }

    /// Whether the load wants user number `user` (from 0) at this instant: more than `user` users.
    fn is_wanted(&self, user: u32, at_ns: u64) -> bool {
        users_at(&self.stages, at_ns.saturating_sub(self.start_ns)) > f64::from(user)
    }

    /// The first instant from `from_ns` on when the load wants this user.
    fn wanted_from(&self, user: u32, from_ns: u64) -> Option<u64> {
        if self.is_wanted(user, from_ns) {
            return Some(from_ns);
        }
        let mut at_ns = self.start_ns;
        let mut previous = 0.0;
        for stage in &self.stages {
            let end_ns = at_ns.saturating_add(stage.over_ns);
            let (from, to) = (previous, f64::from(stage.to));
            let wanted = f64::from(user);
            if to > wanted && end_ns >= from_ns {
                // The line crosses `user` here: just past that point there is one more user.
                let fraction =
                    if to > from { ((wanted - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
                let crossing_ns = at_ns + (fraction * stage.over_ns as f64).ceil() as u64 + 1;
                let crossing_ns = if stage.over_ns == 0 { at_ns } else { crossing_ns };
                return Some(crossing_ns.max(from_ns));
            }
            previous = to;
            at_ns = end_ns;
        }
        None
    }
}

/// How many of `n` journeys this share starts: none where it has no users to start them.
fn iterations_of(n: u64, stages: &[UserStage], share: Share) -> u64 {
    let users_max = stages.iter().map(|stage| stage.to).max().unwrap_or(0);
    let (index, of) = match share {
        Share::Stripe { index, of } => (u64::from(index), u64::from(of.min(users_max).max(1))),
        Share::Segment { .. } => (0, 1),
    };
    if index < of { n / of + u64::from(index < n % of) } else { 0 }
}

/// How many users a closed load has at an offset from its start.
fn users_at(stages: &[UserStage], offset_ns: u64) -> f64 {
    let mut at_ns = 0u64;
    let mut previous = 0.0;
    for stage in stages {
        let to = f64::from(stage.to);
        let end_ns = at_ns.saturating_add(stage.over_ns);
        if offset_ns < end_ns {
            let fraction = (offset_ns - at_ns) as f64 / stage.over_ns as f64;
            return previous + (to - previous) * fraction;
        }
        previous = to;
        at_ns = end_ns;
    }
    previous
}

#[cfg(test)]
mod tests {
    use sojourn_plan::Until;

    use super::*;

    fn load(stages: Vec<UserStage>, steady_ns: u64, iterations: Option<u64>) -> Load {
        Load {
            journeys: vec![(0, 1.0)],
            model: Model::Closed {
                stages,
                think: Think::Fixed(10),
                until: Until::Journey,
                iterations,
            },
            warmup_ns: 0,
            steady_ns,
            drain_ns: 0,
            declared: String::new(),
        }
    }

    #[test]
    fn constant_users_all_start_at_once_and_come_again_after_thinking() {
        let load = load(vec![UserStage { to: 3, over_ns: 0 }], 1000, None);
        let mut users = ClosedStream::new(0, &load, 1, Share::WHOLE, 100).unwrap();
        for user in 0..3 {
            assert_eq!(users.peek(), Some((user, 100)));
            users.take();
        }
        assert_eq!(users.peek(), None);
        users.ended(1, 150, 1);
        assert_eq!(users.peek(), Some((1, 160)));
    }

    #[test]
    fn users_ramp_in_a_straight_line() {
        let load = load(vec![UserStage { to: 10, over_ns: 1000 }], 1000, None);
        let mut users = ClosedStream::new(0, &load, 1, Share::WHOLE, 0).unwrap();
        let mut instants = Vec::new();
        while let Some((_, at_ns)) = users.peek() {
            instants.push(at_ns);
            users.take();
        }
        assert_eq!(instants.len(), 10);
        assert_eq!(instants[0], 1);
        assert_eq!(instants[9], 901);
    }

    #[test]
    fn a_user_no_longer_wanted_stops() {
        let stages = vec![UserStage { to: 2, over_ns: 0 }, UserStage { to: 1, over_ns: 500 }];
        let load = load(stages, 1000, None);
        let mut users = ClosedStream::new(0, &load, 1, Share::WHOLE, 0).unwrap();
        users.take();
        users.take();
        users.ended(1, 600, 1);
        assert_eq!(users.peek(), None);
        users.ended(0, 600, 0);
        assert_eq!(users.peek(), Some((0, 610)));
    }

    #[test]
    fn iterations_are_divided_exactly_over_generators() {
        let load = load(vec![UserStage { to: 4, over_ns: 0 }], 1000, Some(7));
        let mut total = 0;
        for index in 0..3 {
            let share = Share::Stripe { index, of: 3 };
            let mut users = ClosedStream::new(0, &load, 1, share, 0).unwrap();
            while let Some((user, at_ns)) = users.peek() {
                let k = users.take();
                users.ended(user, at_ns, k);
                total += 1;
            }
        }
        assert_eq!(total, 7);
    }

    #[test]
    fn iterations_go_to_generators_that_have_users() {
        let load = load(vec![UserStage { to: 2, over_ns: 0 }], 1000, Some(7));
        let of_share = |index| {
            let share = Share::Stripe { index, of: 3 };
            ClosedStream::new(0, &load, 1, share, 0).unwrap().remaining
        };
        assert_eq!([0, 1, 2].map(of_share), [Some(4), Some(3), Some(0)]);
    }

    #[test]
    fn nothing_starts_past_the_end() {
        let load = load(vec![UserStage { to: 1, over_ns: 0 }], 1000, None);
        let mut users = ClosedStream::new(0, &load, 1, Share::WHOLE, 0).unwrap();
        users.take();
        users.ended(0, 995, 0);
        assert_eq!(users.peek(), None);
        assert!(users.is_over(1000));
    }
}
