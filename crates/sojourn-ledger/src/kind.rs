//! One kind of journey: its rules as bit masks, its journeys by deadline, who waits where.

use crate::journey::{Flags, Journey};
use crate::rows::Rows;
use crate::slab::{Linked, List, NONE, Slab};
use crate::{JourneySpec, Predecessor, StageKind, StageSpec};

/// Most stages of a journey: one bit each.
pub(crate) const STAGES_MAX: usize = 32;

/// A kind of journey and those of it that are in flight.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) spec: JourneySpec,
    pub(crate) rows: Rows,
    /// In flight, by what their deadlines count from, mostly t0: deadlines in order, as they are a
    /// constant away from it.
    open: List,
    /// The first of `open` whose deadline has not been told.
    next_overdue: u32,
    required: u32,
    never: u32,
    /// Alternatives, one of which is required.
    groups: Vec<u32>,
    /// For each stage, the other ones of its group.
    alternatives: Vec<u32>,
    /// Stages with several members.
    fan_out: u32,
    /// Those and alternatives.
    special: u32,
    /// Stages whose hop counts from a step.
    after_step: u32,
    /// For each stage, those whose hop counts from it.
    successors: Vec<u32>,
    waiting: Vec<Waiting>,
    /// Of each stage, which of the common ones it is; empty where there are none.
    chosen: Vec<u8>,
}

/// Journeys that wait for a stage.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    now: u64,
    max: u64,
}

impl Kind {
    pub(crate) fn new(mut spec: JourneySpec) -> Self {
        // A plan has no more; an event for a stage beyond is refused like one for an unknown stage.
        spec.stages.truncate(STAGES_MAX);
        let stages = spec.stages.len();
        let mask = |holds: &dyn Fn(&StageSpec) -> bool| {
            let bits = spec.stages.iter().enumerate();
            bits.fold(0, |mask, (at, stage)| mask | (u32::from(holds(stage)) << at))
        };
        let successors = (0..stages).map(|of| {
            let follows = |stage: &StageSpec| stage.after == Predecessor::Stage(of as u8);
            mask(&follows) & !(1 << of)
        });
        let is_branch = |group: u8| mask(&move |stage| stage.kind == StageKind::Branch(group));
        let groups: Vec<u32> = (0..=u8::MAX).map(is_branch).filter(|&group| group != 0).collect();
        let alternatives = (0..stages).map(|of| {
            let own = groups.iter().find(|&group| group & (1 << of) != 0);
            own.map_or(0, |group| group & !(1 << of))
        });
        Self {
            alternatives: alternatives.collect(),
            special: mask(&|stage| stage.expect != 1 || matches!(stage.kind, StageKind::Branch(_))),
            fan_out: mask(&|stage| stage.expect != 1),
            rows: Rows::new(stages),
            open: List::EMPTY,
            next_overdue: NONE,
            required: mask(&|stage| stage.kind == StageKind::Required),
            never: mask(&|stage| stage.kind == StageKind::Never),
            after_step: mask(&|stage| stage.after == Predecessor::Step),
            successors: successors.collect(),
            waiting: vec![Waiting::default(); stages],
            groups,
            spec,
            chosen: Vec::new(),
        }
    }

    /// The same with stages chosen from common ones.
    pub(crate) fn choosing(self, chosen: &[u8]) -> Self {
        Self { chosen: chosen.to_vec(), ..self }
    }

    /// Which of its stages a common one is; `None` where it has not chosen that.
    pub(crate) fn chosen(&self, common: u8) -> Option<u8> {
        let at = self.chosen.iter().position(|&chosen| chosen == common)?;
        u8::try_from(at).ok()
    }

    pub(crate) fn open(&self) -> &List {
        &self.open
    }

    pub(crate) fn has_never(&self) -> bool {
        self.never != 0
    }

    /// Whether reaching the stage fails the journey.
    pub(crate) fn fails_at(&self, stage: u8) -> bool {
        let kind = self.spec.stages[usize::from(stage)].kind;
        matches!(kind, StageKind::Never | StageKind::Failure)
    }

    /// Whether the stage has members or alternatives.
    pub(crate) fn is_special(&self, stage: u8) -> bool {
        self.special & (1 << stage) != 0
    }

    /// Whether another alternative to the stage has been reached.
    pub(crate) fn is_second_branch(&self, journey: &Journey, stage: u8) -> bool {
        self.alternatives[usize::from(stage)] & journey.reached != 0
    }

    /// Stages with several members that the journey has not reached.
    pub(crate) fn unreached_fan_out(&self, journey: &Journey) -> impl Iterator<Item = u8> + use<> {
        stages_of(self.fan_out & !journey.reached)
    }

    pub(crate) fn deadline_ns(&self, journey: &Journey) -> u64 {
        journey.deadline_from_ns().saturating_add(self.spec.within_ns)
    }

    pub(crate) fn observed_until_ns(&self, journey: &Journey) -> u64 {
        self.deadline_ns(journey).saturating_add(self.spec.linger_ns)
    }

    /// When everything required had happened, the root at `t2_ns`; `None` while it has not.
    pub(crate) fn completed_ns(&self, journey: &Journey, t2_ns: u64) -> Option<u64> {
        if journey.reached & self.required != self.required {
            return None;
        }
        let follow_ups_ns = match self.spec.has_follow_ups {
            true => journey.extra.as_ref()?.follow_ups_ns?,
            false => 0,
        };
        let stamps_ns = self.rows.stamps_ns(journey.row);
        let mut done_ns = t2_ns.max(follow_ups_ns);
        for &group in &self.groups {
            let branches = stages_of(group & journey.reached);
            let first_ns = branches.map(|stage| stamps_ns[usize::from(stage)]).min()?;
            done_ns = done_ns.max(first_ns);
        }
        let required = stages_of(self.required).map(|stage| stamps_ns[usize::from(stage)]);
        required.max().max(Some(done_ns))
    }

    /// The duration of the hop that ends at a reached stage; `None` without its predecessor.
    pub(crate) fn hop_ns(&self, journey: &Journey, stage: u8) -> Option<i64> {
        let stamps_ns = self.rows.stamps_ns(journey.row);
        let stamp_ns = stamps_ns[usize::from(stage)];
        let from_ns = match self.spec.stages[usize::from(stage)].after {
            Predecessor::Step => journey.step_before_ns(stamp_ns),
            Predecessor::Stage(of) if of == stage || !journey.has_reached(of) => return None,
            Predecessor::Stage(of) => stamps_ns[usize::from(of)],
        };
        // Two's complement gives the signed difference of any two instants less than 2⁶³ ns apart.
        Some(stamp_ns.wrapping_sub(from_ns) as i64)
    }

    /// Reached stages whose hop counts from this one.
    pub(crate) fn reached_successors(
        &self,
        journey: &Journey,
        stage: u8,
    ) -> impl Iterator<Item = u8> + use<> {
        stages_of(self.successors[usize::from(stage)] & journey.reached)
    }

    /// Puts a journey among those in flight.
    pub(crate) fn enter(&mut self, journeys: &mut Slab<Journey>, slot: u32) {
        let from_ns = journeys[slot].deadline_from_ns();
        // Generators start in order of t0 but for their lag: the place is near the end.
        let mut previous = self.open.tail;
        while previous != NONE && journeys[previous].deadline_from_ns() > from_ns {
            previous = journeys[previous].links().previous;
        }
        self.open.insert_after(journeys, previous, slot);
        if self.next_overdue == NONE || from_ns < journeys[self.next_overdue].deadline_from_ns() {
            self.next_overdue = slot;
        }
        self.wait_differently(0, self.waits_for(0));
    }

    /// Takes a journey out of those in flight.
    pub(crate) fn leave(&mut self, journeys: &mut Slab<Journey>, slot: u32) {
        if self.next_overdue == slot {
            self.next_overdue = self.next_in_time(journeys, slot);
        }
        self.open.unlink(journeys, slot);
        self.wait_differently(self.waits_for(journeys[slot].reached), 0);
    }

    /// The journey whose deadline comes next.
    pub(crate) fn next_overdue(&self) -> Option<u32> {
        (self.next_overdue != NONE).then_some(self.next_overdue)
    }

    /// Its deadline has been told.
    pub(crate) fn set_overdue(&mut self, journeys: &mut Slab<Journey>, slot: u32) {
        journeys[slot].flags.set(Flags::OVERDUE);
        if self.next_overdue == slot {
            self.next_overdue = self.next_in_time(journeys, slot);
        }
    }

    /// Notes a stage as reached.
    pub(crate) fn reach(&mut self, journey: &mut Journey, stage: u8, stamp_ns: u64) {
        let before = self.waits_for(journey.reached);
        journey.reached |= 1 << stage;
        self.rows.set_stamp(journey.row, stage, stamp_ns);
        if journey.is_open() {
            self.wait_differently(before, self.waits_for(journey.reached));
        }
    }

    pub(crate) fn waiting(&self, stage: u8) -> u64 {
        self.waiting.get(usize::from(stage)).map_or(0, |waiting| waiting.now)
    }

    pub(crate) fn take_waiting_max(&mut self, stage: u8) -> u64 {
        let Some(waiting) = self.waiting.get_mut(usize::from(stage)) else {
            return 0;
        };
        std::mem::replace(&mut waiting.max, waiting.now)
    }

    /// Stages that a journey with these stages reached waits for.
    fn waits_for(&self, reached: u32) -> u32 {
        let after_stages = stages_of(reached).map(|stage| self.successors[usize::from(stage)]);
        let begun = after_stages.fold(self.after_step, |mask, successors| mask | successors);
        // With one alternative reached, no other is waited for.
        let decided = self.groups.iter().filter(|&group| group & reached != 0);
        begun & !decided.fold(reached, |mask, group| mask | group)
    }

    fn wait_differently(&mut self, before: u32, after: u32) {
        for stage in stages_of(before & !after) {
            self.waiting[usize::from(stage)].now -= 1;
        }
        for stage in stages_of(after & !before) {
            let waiting = &mut self.waiting[usize::from(stage)];
            waiting.now += 1;
            waiting.max = waiting.max.max(waiting.now);
        }
    }

    /// The next journey by t0 whose deadline has not been told. One that started after its deadline
    /// can stand before others that are overdue already, so these are stepped over.
    fn next_in_time(&self, journeys: &Slab<Journey>, slot: u32) -> u32 {
        let mut next = journeys[slot].links().next;
        while next != NONE && journeys[next].flags.has(Flags::OVERDUE) {
            next = journeys[next].links().next;
        }
        next
    }
}

/// The stages in a mask, in declared order.
pub(crate) fn stages_of(mut mask: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let stage = (mask != 0).then(|| mask.trailing_zeros() as u8)?;
        mask &= mask - 1;
        Some(stage)
    })
}
