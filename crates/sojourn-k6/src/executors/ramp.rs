//! Ramps of virtual users: when a slot is wanted, in closed form.
//!
//! A ramp is a row of stages, each from a level A to a level B within T. Between them the level
//! goes in |B − A| steps of one: step k (1 … |B − A|) at T·k / |B − A| from the stage's start, so
//! that the last step falls on its end; a stage of no length jumps. Slot i is wanted while the
//! level is above i. So slot i begins, in a rising stage with A ≤ i < B, at T·(i + 1 − A)/(B − A),
//! and ends, in a falling one with B ≤ i < A, at T·(A − i)/(A − B).

use crate::executors::span::Span;

/// One stage, with where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RampStage {
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl RampStage {
    /// The instant of step `k` of the stage.
    fn step_ns(&self, k: u64) -> u64 {
        let steps = u128::from(self.from.abs_diff(self.to).max(1));
        let after_ns = u128::from(self.duration_ns) * u128::from(k) / steps;
        // k ≤ steps: not above the duration.
        self.start_ns.saturating_add(u64::try_from(after_ns).unwrap_or(self.duration_ns))
    }

    fn level(&self, at_ns: u64) -> u64 {
        let steps = u128::from(self.from.abs_diff(self.to));
        let after_ns = u128::from(at_ns.saturating_sub(self.start_ns));
        let done = match u128::from(self.duration_ns) {
            0 => steps,
            // The k-th step has happened when ⌊T·k/n⌋ ≤ t, that is k·T < (t + 1)·n.
            duration_ns => ((after_ns + 1) * steps).div_ceil(duration_ns).saturating_sub(1),
        };
        let done = u64::try_from(done.min(steps)).unwrap_or(u64::MAX);
        if self.to >= self.from { self.from + done } else { self.from - done }
    }
}

/// A whole ramp: levels over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ramp {
    stages: Vec<RampStage>,
    start_level: u64,
    duration_ns: u64,
}

impl Ramp {
    /// From a level through stages (duration, level at the end).
    pub(crate) fn new(start_level: u64, stages: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut ramp = Self { start_level, ..Self::default() };
        let mut from = start_level;
        for (duration_ns, to) in stages {
            let start_ns = ramp.duration_ns;
            ramp.stages.push(RampStage { start_ns, duration_ns, from, to });
            ramp.duration_ns = start_ns.saturating_add(duration_ns);
            from = to;
        }
        ramp
    }

    pub(crate) fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// How many stages there are.
    pub(crate) fn stages(&self) -> usize {
        self.stages.len()
    }

    /// The greatest level.
    pub(crate) fn peak(&self) -> u64 {
        self.stages.iter().map(|stage| stage.to).fold(self.start_level, u64::max)
    }

    /// How many steps the level makes in all.
    pub(crate) fn steps(&self) -> u64 {
        let steps = self.stages.iter().map(|stage| stage.from.abs_diff(stage.to));
        steps.fold(self.start_level, u64::saturating_add)
    }

    /// The level at an instant; that of the last stage from its end on.
    pub(crate) fn level(&self, at_ns: u64) -> u64 {
        let begun = self.stages.partition_point(|stage| stage.start_ns <= at_ns);
        let stage = begun.checked_sub(1).and_then(|last| self.stages.get(last));
        stage.map_or(self.start_level, |stage| stage.level(at_ns))
    }

    /// The spans in which slot `slot` (from 0) is wanted, in order. An iteration begun in one is
    /// cut `ramp_down_ns` after its end, at the latest `stop_ns` after the ramp's; where the slot
    /// is wanted again by then, it may go on as long as one begun then. Spans of no length are
    /// those of slots that are held and not run: a peak that falls on the ramp's end.
    pub(crate) fn spans(&self, slot: u64, ramp_down_ns: u64, stop_ns: u64) -> Vec<Span> {
        let cut_last_ns = self.duration_ns.saturating_add(stop_ns);
        let mut spans = Vec::new();
        let mut begun = (slot < self.start_level).then_some(0);
        for stage in &self.stages {
            if stage.from <= slot && slot < stage.to {
                begun = begun.or_else(|| Some(stage.step_ns(slot + 1 - stage.from)));
            } else if stage.to <= slot && slot < stage.from {
                let end_ns = stage.step_ns(stage.from - slot);
                let cut_ns = end_ns.saturating_add(ramp_down_ns).min(cut_last_ns);
                if let Some(start_ns) = begun.take() {
                    spans.push(Span { start_ns, end_ns, cut_ns });
                }
            }
        }
        if let Some(start_ns) = begun {
            spans.push(Span { start_ns, end_ns: self.duration_ns, cut_ns: cut_last_ns });
        }
        // What is wanted again before it would be cut is not cut.
        for at in (1..spans.len()).rev() {
            let next = spans[at];
            let span = &mut spans[at - 1];
            if span.cut_ns >= next.start_ns {
                span.cut_ns = next.cut_ns;
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ramps() -> impl Strategy<Value = Ramp> {
        let stage = (prop_oneof![Just(0_u64), 1..500_u64], 0..12_u64);
        (0..12_u64, prop::collection::vec(stage, 0..7))
            .prop_map(|(start, stages)| Ramp::new(start, stages))
    }

    #[test]
    fn ten_users_in_ten_seconds_and_back() {
        let ramp = Ramp::new(0, [(10_000, 10), (5_000, 0)]);
        let spans = ramp.spans(0, 100, 300);
        assert_eq!(spans, [Span { start_ns: 1_000, end_ns: 15_000, cut_ns: 15_100 }]);
        let spans = ramp.spans(9, 1_000_000, 300);
        assert_eq!(spans, [Span { start_ns: 10_000, end_ns: 10_500, cut_ns: 15_300 }]);
        assert_eq!(ramp.spans(10, 0, 0), []);
        assert_eq!((ramp.level(999), ramp.level(1_000), ramp.level(10_499)), (0, 1, 10));
        assert_eq!(ramp.peak(), 10);
    }

    #[test]
    fn what_is_wanted_again_is_not_cut() {
        let ramp = Ramp::new(1, [(0, 1), (10, 0), (10, 1), (10, 1)]);
        let spans = ramp.spans(0, 15, 7);
        assert_eq!(spans.len(), 2);
        assert_eq!((spans[0].end_ns, spans[0].cut_ns), (10, 37));
        assert_eq!((spans[1].start_ns, spans[1].end_ns, spans[1].cut_ns), (20, 30, 37));
    }

    proptest! {
        #[test]
        fn as_many_slots_are_wanted_as_the_level_says(ramp in ramps(), at in any::<u64>()) {
            prop_assume!(ramp.duration_ns() > 0);
            let at = at % ramp.duration_ns();
            let wanted = (0..12).filter(|&slot| {
                let spans = ramp.spans(slot, 0, 0);
                spans.iter().any(|span| span.start_ns <= at && at < span.end_ns)
            });
            prop_assert_eq!(wanted.count() as u64, ramp.level(at));
        }
    }
}
