//! Limits held against what journeys reach: how many are between two stages, how fast they come.
//!
//! All by the stamps of the facts, in their order. A journey counts by its first observation of a
//! stage; further deliveries are duplicates and count for nothing here.

use std::collections::VecDeque;

use crate::gcra::Gcra;

/// Instants of one period that are remembered, 8 bytes each: a greater figure is given as this.
const WINDOW_MAX: usize = 100_000;

/// A limit to verify. Kinds and stages by index.
#[derive(Clone, Debug)]
pub enum LimitSpec {
    /// So many journeys in flight that have reached one stage and not another.
    AtOnce {
        /// (kind, first stage, last stage) of each kind that counts.
        between: Vec<(u16, u8, u8)>,
        /// Most at once.
        most: u64,
    },
    /// So many journeys per time at a stage, by the generic cell rate algorithm.
    Rate {
        /// (kind, stage) of each kind that counts.
        at: Vec<(u16, u8)>,
        /// Most in a period.
        most: u64,
        /// The period, nanoseconds.
        per_ns: u64,
        /// How many may come at once.
        burst: u64,
        /// How much too early one may come, nanoseconds.
        tolerance_ns: u64,
    },
}

/// What came of a limit so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitFigures {
    /// Journeys that it was held against.
    pub counted: u64,
    /// Most at once, or in any period (half open, ending at a journey's instant); 100,000 stands
    /// for that and more.
    pub most: u64,
    /// Journeys that were one too many, or too early.
    pub violations: u64,
    /// When the first of these was, CLOCK_MONOTONIC nanoseconds.
    pub first_ns: Option<u64>,
    /// How much earlier than the rate allows a journey came at most, nanoseconds.
    pub early_ns_max: u64,
    /// Journeys that ended between the two stages: they counted until then.
    pub unfinished: u64,
}

/// All limits of a plan.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    limits: Vec<State>,
}

#[derive(Debug)]
struct State {
    figures: LimitFigures,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    AtOnce { between: Vec<(u16, u8, u8)>, most: u64, now: u64 },
    Rate { at: Vec<(u16, u8)>, gcra: Gcra, per_ns: u64, window: VecDeque<u64> },
}

impl Limits {
    pub(crate) fn new(specs: Vec<LimitSpec>) -> Self {
        let state = |spec| State { figures: LimitFigures::default(), rule: Rule::new(spec) };
        Self { limits: specs.into_iter().map(state).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    pub(crate) fn figures(&self) -> impl Iterator<Item = LimitFigures> {
        self.limits.iter().map(|state| state.figures)
    }

    /// A journey has reached a stage; `before` are those it had reached already, by bit.
    pub(crate) fn reach(&mut self, (kind, stage): (u16, u8), before: u32, open: bool, at_ns: u64) {
        for state in &mut self.limits {
            match &mut state.rule {
                Rule::AtOnce { between, most, now } if open => {
                    let after = before | 1 << stage;
                    match (is_between(between, kind, before), is_between(between, kind, after)) {
                        (false, true) => {
                            *now += 1;
                            state.figures.counted += 1;
                            state.figures.most = state.figures.most.max(*now);
                            let violates = *now > *most;
                            state.figures.judge(violates, at_ns);
                        }
                        (true, false) => *now -= 1,
                        _ => {}
                    }
                }
                Rule::Rate { at, gcra, per_ns, window } if at.contains(&(kind, stage)) => {
                    let (early_ns, violates) = gcra.take(at_ns);
                    let figures = &mut state.figures;
                    figures.counted += 1;
                    figures.early_ns_max = figures.early_ns_max.max(early_ns);
                    figures.judge(violates, at_ns);
                    let is_over = |&first: &u64| first.saturating_add(*per_ns) <= at_ns;
                    while window.front().is_some_and(is_over) || window.len() >= WINDOW_MAX {
                        window.pop_front();
                    }
                    window.push_back(at_ns);
                    figures.most = figures.most.max(window.len() as u64);
                }
                _ => {}
            }
        }
    }

    /// A journey that had reached these stages has ended.
    pub(crate) fn leave(&mut self, kind: u16, reached: u32) {
        for state in &mut self.limits {
            if let Rule::AtOnce { between, now, .. } = &mut state.rule
                && is_between(between, kind, reached)
            {
                *now -= 1;
                state.figures.unfinished += 1;
            }
        }
    }
}

impl LimitFigures {
    fn judge(&mut self, violates: bool, at_ns: u64) {
        if violates {
            self.violations += 1;
            self.first_ns.get_or_insert(at_ns);
        }
    }
}

impl Rule {
    fn new(spec: LimitSpec) -> Self {
        match spec {
            LimitSpec::AtOnce { between, most } => Self::AtOnce { between, most, now: 0 },
            LimitSpec::Rate { at, most, per_ns, burst, tolerance_ns } => {
                let gcra = Gcra::new(most, per_ns, burst, tolerance_ns);
                Self::Rate { at, gcra, per_ns, window: VecDeque::new() }
            }
        }
    }
}

/// Whether a journey with these stages reached is between the two of its kind.
fn is_between(between: &[(u16, u8, u8)], kind: u16, reached: u32) -> bool {
    let own = between.iter().find(|&&(of, ..)| of == kind);
    own.is_some_and(|&(_, from, to)| reached & (1 << from) != 0 && reached & (1 << to) == 0)
}
