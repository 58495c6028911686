//! How the generators of a run stand, each by its number.

use std::collections::BTreeMap;

use sojourn_clock::now_ns;

use crate::{link::Loss, remote::OnLoss};

/// How the generators of a run stand, as the coordinator has heard.
#[derive(Debug)]
pub(super) struct Generators {
    start_ns: u64,
    /// How many there are.
    of: usize,
    on_loss: OnLoss,
    each: BTreeMap<u32, Generator>,
    /// Threads that panicked: they are never heard of again.
    panicked: usize,
    /// When the last of them was heard to be idle: no fact of theirs is later.
    idle_ns: u64,
    losses: Vec<Loss>,
}

/// One of them.
#[derive(Debug, Default)]
struct Generator {
    /// When it began.
    began_ns: Option<u64>,
    done: Option<ArrivalsDone>,
    is_idle: bool,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Ended,
    Lost,
}

/// What a generator said when it had reached its last arrival.
#[derive(Debug)]
pub(super) struct ArrivalsDone {
    pub(super) last_t0_ns: u64,
    pub(super) load_end_ns: u64,
    pub(super) at_ns: u64,
}

impl Generators {
    pub(super) fn new(start_ns: u64, of: usize, on_loss: OnLoss) -> Self {
        let (each, losses) = (BTreeMap::new(), Vec::new());
        Self { start_ns, of, on_loss, each, panicked: 0, idle_ns: start_ns, losses }
    }

    pub(super) fn began(&mut self, index: u32, at_ns: u64) {
        self.each.entry(index).or_default().began_ns = Some(at_ns);
    }

    pub(super) fn done(&mut self, index: u32, done: ArrivalsDone) {
        self.each.entry(index).or_default().done = Some(done);
    }

    pub(super) fn idle(&mut self, index: u32) {
        self.each.entry(index).or_default().is_idle = true;
        self.idle_ns = self.idle_ns.max(now_ns());
    }

    pub(super) fn ended(&mut self, index: u32) {
        self.each.entry(index).or_default().end = Some(End::Ended);
    }

    pub(super) fn panicked(&mut self) {
        self.panicked += 1;
    }

    /// Nothing more comes of a process.
    pub(super) fn lost(&mut self, loss: Loss) {
        for index in loss.generators.clone() {
            self.each.entry(index).or_default().end.get_or_insert(End::Lost);
        }
        self.idle_ns = self.idle_ns.max(now_ns());
        self.losses.push(loss);
    }

    /// Whether every one has reached the last of its arrivals, or never will.
    pub(super) fn arrivals_done(&self) -> bool {
        let is_done = |it: &&Generator| it.done.is_some() || it.end.is_some();
        self.each.values().filter(is_done).count() + self.panicked >= self.of
    }

    /// Since when nothing is under way any more where generators keep the book themselves; `None`
    /// while something is.
    pub(super) fn idle_ns(&self) -> Option<u64> {
        let is_idle = |it: &&Generator| it.is_idle || it.end.is_some();
        let idle = self.each.values().filter(is_idle).count() + self.panicked;
        (idle >= self.of).then_some(self.idle_ns)
    }

    /// How many say nothing more.
    pub(super) fn ends(&self) -> usize {
        self.each.values().filter(|it| it.end.is_some()).count() + self.panicked
    }

    /// One that was not lost has ended, all are lost, or a loss is to end the run: there is no
    /// point in going on.
    pub(super) fn is_void_early(&self) -> bool {
        let has_ended = self.each.values().any(|it| it.end == Some(End::Ended));
        let is_aborted = self.on_loss == OnLoss::Abort && !self.losses.is_empty();
        has_ended || self.panicked > 0 || self.are_all_lost() || is_aborted
    }

    /// Whether what is lost is more than the run may lose: anything, or all that it has.
    fn makes_void(&self) -> bool {
        let is_any = !self.losses.is_empty();
        is_any && (self.on_loss != OnLoss::Continue || self.are_all_lost())
    }

    fn are_all_lost(&self) -> bool {
        let lost = self.each.values().filter(|it| it.end == Some(End::Lost)).count();
        lost > 0 && lost >= self.of
    }

    /// The latest of what they said at their last arrivals.
    pub(super) fn latest(&self, instant_ns: fn(&ArrivalsDone) -> u64) -> Option<u64> {
        self.each.values().filter_map(|it| it.done.as_ref()).map(instant_ns).max()
    }

    /// When the first and the last of them began, relative to the run's start, nanoseconds.
    pub(super) fn began_ns(&self) -> Option<(u64, u64)> {
        let began = self.each.values().filter_map(|it| it.began_ns);
        let (first, last) = began.fold((u64::MAX, 0), |(first, last), began_ns| {
            (first.min(began_ns), last.max(began_ns))
        });
        let of_start = |at_ns: u64| at_ns.saturating_sub(self.start_ns);
        (first <= last).then(|| (of_start(first), of_start(last)))
    }

    /// What makes the run void: losses, unless it was to go on without.
    pub(super) fn causes(&self) -> Vec<String> {
        if self.makes_void() { self.losses_in_words().collect() } else { Vec::new() }
    }

    /// Losses without which the run was to go on.
    pub(super) fn notes(&self) -> Vec<String> {
        if self.makes_void() {
            return Vec::new();
        }
        self.losses_in_words().map(|loss| format!("lost: {loss}")).collect()
    }

    /// Why a process was lost, and what it had delivered; `None` where it was not.
    pub(super) fn loss_of(&self, process: u32) -> Option<String> {
        let loss = self.losses.iter().find(|loss| loss.process == process)?;
        Some(self.in_words(loss))
    }

    fn losses_in_words(&self) -> impl Iterator<Item = String> {
        self.losses.iter().map(|loss| format!("{}: {}", loss.who, self.in_words(loss)))
    }

    fn in_words(&self, loss: &Loss) -> String {
        let Loss { why, started, until_ns, .. } = loss;
        let until_s = until_ns.saturating_sub(self.start_ns) as f64 / 1e9;
        let told = match started {
            0 => "it had delivered nothing".to_owned(),
            _ => format!(
                "it had delivered {started} journeys started, and figures up to second \
                 {until_s:.1}"
            ),
        };
        format!("{why}; {told}; its share of the load is missing since")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(generators: std::ops::Range<u32>) -> Loss {
        let missing = sojourn_metrics::Snapshot::default();
        let (who, why) = ("process 1".to_owned(), "gone".to_owned());
        Loss { process: 1, generators, who, why, started: 7, until_ns: 3_000_000_000, missing }
    }

    fn done() -> ArrivalsDone {
        ArrivalsDone { last_t0_ns: 1, load_end_ns: 2, at_ns: 3 }
    }

    #[test]
    fn whoever_is_lost_is_waited_for_no_longer() {
        let mut all = Generators::new(1_000_000_000, 3, OnLoss::Void);
        all.done(0, done());
        all.idle(0);
        assert!(!all.arrivals_done() && all.idle_ns().is_none());
        all.lost(loss(1..3));
        assert!(all.arrivals_done() && all.idle_ns().is_some());
        assert_eq!(all.ends(), 2);
        assert!(!all.is_void_early());
        let causes = all.causes();
        let says = "process 1: gone; it had delivered 7 journeys started, and figures up to second \
                    2.0";
        assert!(causes[0].starts_with(says), "{causes:?}");
        assert!(all.notes().is_empty());
    }

    #[test]
    fn one_that_says_a_thing_twice_is_one() {
        let mut all = Generators::new(0, 2, OnLoss::Void);
        all.done(0, done());
        all.done(0, done());
        assert!(!all.arrivals_done());
    }

    #[test]
    fn what_a_loss_means_is_the_users_choice() {
        let lost = |on_loss| {
            let mut all = Generators::new(0, 3, on_loss);
            all.lost(loss(1..2));
            (all.is_void_early(), all.causes().len(), all.notes().len())
        };
        assert_eq!(lost(OnLoss::Void), (false, 1, 0));
        assert_eq!(lost(OnLoss::Continue), (false, 0, 1));
        assert_eq!(lost(OnLoss::Abort), (true, 1, 0));
    }

    #[test]
    fn the_regular_end_of_the_others_is_no_loss() {
        let mut all = Generators::new(0, 3, OnLoss::Continue);
        all.lost(loss(1..2));
        all.ended(0);
        all.ended(2);
        assert_eq!((all.ends(), all.causes().len(), all.notes().len()), (3, 0, 1));
    }

    #[test]
    fn without_any_generator_there_is_no_point_in_going_on() {
        let mut all = Generators::new(0, 3, OnLoss::Continue);
        all.lost(loss(0..3));
        assert!(all.is_void_early());
        assert_eq!((all.causes().len(), all.notes().len()), (1, 0));
    }

    #[test]
    fn how_far_apart_they_began_is_first_to_last() {
        let mut all = Generators::new(1_000, 3, OnLoss::Void);
        assert_eq!(all.began_ns(), None);
        all.began(0, 1_050);
        all.began(2, 1_400);
        all.began(1, 1_100);
        assert_eq!(all.began_ns(), Some((50, 400)));
    }
}
