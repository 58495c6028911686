//! Limits held against what journeys reach: how many are between two stages, how fast they come.
//!
//! All by the stamps of the facts, in their order. A journey counts by its first observation of a
//! stage; further deliveries are duplicates and count for nothing here.

use std::collections::VecDeque;

use crate::gcra::Gcra;

/// Instants of one period that are remembered, 8 bytes each: a greater figure is given as this.
const WINDOW_MAX: usize = 100_000;
/// Entries above a limit that wait for their tolerance, 16 bytes each: of more, the oldest counts
/// as a violation at once.
const DOUBTFUL_MAX: usize = 100_000;

/// A limit to verify. Kinds and stages by index.
#[derive(Clone, Debug)]
pub enum LimitSpec {
    /// So many journeys in flight that have reached one stage and not another.
    AtOnce {
        /// (kind, first stage, last stage) of each kind that counts.
        between: Vec<(u16, u8, u8)>,
        /// Most at once.
        most: u64,
        /// How much later than an entry a departure that came before it may be seen, nanoseconds.
        tolerance_ns: u64,
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
    AtOnce { between: Vec<(u16, u8, u8)>, stays: Stays },
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
        for State { figures, rule } in &mut self.limits {
            match rule {
                Rule::AtOnce { between, stays } if open => {
                    let after = before | 1 << stage;
                    match (is_between(between, kind, before), is_between(between, kind, after)) {
                        (false, true) => stays.enter(at_ns, figures),
                        (true, false) => stays.leave(at_ns, figures),
                        _ => {}
                    }
                }
                Rule::Rate { at, gcra, per_ns, window } if at.contains(&(kind, stage)) => {
                    let (early_ns, violates) = gcra.take(at_ns);
                    figures.counted += 1;
                    figures.early_ns_max = figures.early_ns_max.max(early_ns);
                    if violates {
                        figures.violate(at_ns);
                    }
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
    pub(crate) fn leave(&mut self, kind: u16, reached: u32, at_ns: u64) {
        for State { figures, rule } in &mut self.limits {
            if let Rule::AtOnce { between, stays } = rule
                && is_between(between, kind, reached)
            {
                stays.leave(at_ns, figures);
                figures.unfinished += 1;
            }
        }
    }

    /// No fact older than this follows.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        for State { figures, rule } in &mut self.limits {
            if let Rule::AtOnce { stays, .. } = rule {
                stays.judge(now_ns, figures);
            }
        }
    }
}

/// Journeys between two stages. The number at once is those that entered less those that left.
///
/// What the system did first may be seen last, by a tap that is a little behind another. So an
/// entry above the limit is in doubt until its tolerance has passed: the n-th entry is none too
/// many if n − most have left by then.
#[derive(Debug)]
struct Stays {
    most: u64,
    tolerance_ns: u64,
    entered: u64,
    left: u64,
    /// Instants of the entries in doubt, and which they were. Both ascend.
    doubtful: VecDeque<(u64, u64)>,
}

impl Stays {
    fn enter(&mut self, at_ns: u64, figures: &mut LimitFigures) {
        self.judge(at_ns, figures);
        self.entered += 1;
        let now = self.entered - self.left;
        figures.counted += 1;
        figures.most = figures.most.max(now);
        if now > self.most {
            self.doubtful.push_back((at_ns, self.entered));
        }
        if self.doubtful.len() > DOUBTFUL_MAX
            && let Some((at_ns, _)) = self.doubtful.pop_front()
        {
            figures.violate(at_ns);
        }
    }

    fn leave(&mut self, at_ns: u64, figures: &mut LimitFigures) {
        self.judge(at_ns, figures);
        self.left += 1;
    }

    /// Entries whose tolerance was over before this instant, and those that have proved right.
    fn judge(&mut self, now_ns: u64, figures: &mut LimitFigures) {
        while let Some(&(at_ns, number)) = self.doubtful.front() {
            let is_kept = self.left.saturating_add(self.most) >= number;
            if !is_kept && at_ns.saturating_add(self.tolerance_ns) >= now_ns {
                return;
            }
            if !is_kept {
                figures.violate(at_ns);
            }
            self.doubtful.pop_front();
        }
    }
}

impl LimitFigures {
    fn violate(&mut self, at_ns: u64) {
        self.violations += 1;
        self.first_ns.get_or_insert(at_ns);
    }
}

impl Rule {
    fn new(spec: LimitSpec) -> Self {
        match spec {
            LimitSpec::AtOnce { between, most, tolerance_ns } => {
                let doubtful = VecDeque::new();
                let stays = Stays { most, tolerance_ns, entered: 0, left: 0, doubtful };
                Self::AtOnce { between, stays }
            }
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
