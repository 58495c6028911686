//! Journeys end, and are remembered for a while.

use smallvec::SmallVec;

use crate::decision::Why;
use crate::journey::{Flags, Journey};
use crate::kind::{Kind, stages_of};
use crate::members::Members;
use crate::remembered::RootTook;
use crate::{
    Decision, FinishClass, Finished, JourneyId, Ledger, MembersSeen, Predecessor, Reason, Refusal,
    StepSpan, TOLD,
};

impl Ledger {
    pub(crate) fn complete_root(&mut self, id: JourneyId, t2_ns: u64, out: &mut Vec<Decision>) {
        let Some(slot) = self.slot_of(id) else { return };
        let journey = &mut self.journeys[slot];
        if journey.is_open() && journey.t2_ns().is_none() {
            journey.t2_or_forget_ns = t2_ns;
            journey.flags.set(Flags::ROOT_COMPLETED);
            self.complete(slot, out);
        }
    }

    pub(crate) fn complete_follow_ups(
        &mut self,
        id: JourneyId,
        end_ns: u64,
        out: &mut Vec<Decision>,
    ) {
        let Some(slot) = self.slot_of(id) else { return };
        let (kind, journey) = self.kind_of(slot);
        if !kind.spec.has_follow_ups {
            self.book.refusals.contradictions += 1;
        } else if journey.is_open() && journey.extra_mut().follow_ups_ns.is_none() {
            journey.extra_mut().follow_ups_ns = Some(end_ns);
            self.complete(slot, out);
        }
    }

    /// The generator gave the journey up.
    pub(crate) fn fail(
        &mut self,
        id: JourneyId,
        class: FinishClass,
        refusal: Option<Box<Refusal>>,
        out: &mut Vec<Decision>,
    ) {
        let Some(slot) = self.slot_of(id) else { return };
        if self.journeys[slot].is_open() {
            let reason = match class {
                FinishClass::RootFailed => Reason::Root,
                _ => Reason::FollowUp,
            };
            let why = Why { refusal, ..reason.into() };
            self.finish_because(slot, class, Some(why), self.now_ns, out);
        }
    }

    /// Finishes a journey for which everything required has happened. One with a `never` stage
    /// waits for its deadline all the same.
    pub(crate) fn complete(&mut self, slot: u32, out: &mut Vec<Decision>) {
        let journey = &self.journeys[slot];
        let kind = &self.kinds[usize::from(journey.kind)];
        if kind.has_never() && !journey.flags.has(Flags::OVERDUE) {
            return;
        }
        let completed_ns = journey.t2_ns().and_then(|t2_ns| kind.completed_ns(journey, t2_ns));
        let Some(end_ns) = completed_ns else {
            return;
        };
        let in_time = end_ns <= kind.deadline_ns(journey);
        let class = if in_time { FinishClass::Completed } else { FinishClass::Late };
        self.finish(slot, class, end_ns, out);
    }

    /// Ends a journey that is in flight and has not failed.
    pub(crate) fn finish(
        &mut self,
        slot: u32,
        class: FinishClass,
        end_ns: u64,
        out: &mut Vec<Decision>,
    ) {
        self.finish_because(slot, class, None, end_ns, out);
    }

    /// Ends a journey that is in flight. It may be gone after this, when there is no room for
    /// tombstones.
    pub(crate) fn finish_because(
        &mut self,
        slot: u32,
        class: FinishClass,
        why: Option<Why>,
        end_ns: u64,
        out: &mut Vec<Decision>,
    ) {
        let kind = &mut self.kinds[usize::from(self.journeys[slot].kind)];
        kind.leave(&mut self.journeys, slot);
        let journey = &mut self.journeys[slot];
        if !self.limits.is_empty() {
            self.limits.leave(journey.kind, journey.reached, self.now_ns);
        }
        let t2_ns = journey.t2_ns();
        let took = RootTook::of(journey.t1_ns, t2_ns).packed();
        let key = self.keys.remove(std::mem::replace(&mut journey.key_or_took, took));
        let (reason, said, refusal) =
            why.map_or((None, None, None), |why| (Some(why.reason), why.said, why.refusal));
        // Made where it stays: it is large, and there is one for each journey.
        let mut finished =
            Box::write(Box::new_uninit(), known(kind, journey, class, (t2_ns, end_ns)));
        finished.key = key;
        finished.reason = reason;
        finished.said = said;
        finished.refusal = refusal;
        finished.readings = journey.take_readings();
        finished.label = journey.take_label();
        out.push(Decision::Finished(finished));
        journey.class = Some(class);
        journey.t2_or_forget_ns = self.now_ns.saturating_add(self.bounds.tombstone_ttl_ns);
        let forget_ns = journey.t2_or_forget_ns;
        self.tombstones.push_back(&mut self.journeys, slot);
        self.due(forget_ns);
        self.count(class);
        if self.tombstones.len > self.bounds.tombstones_max {
            self.book.tombstones_evicted += 1;
            self.forget(self.tombstones.head);
        }
    }

    /// Removes a finished journey: what comes for it from now on has no journey.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.tombstones.unlink(&mut self.journeys, slot);
        self.index.remove(&self.journeys[slot], slot);
        if let Some(journey) = self.journeys.remove(slot) {
            self.members_held -= journey.members_held();
            self.kinds[usize::from(journey.kind)].rows.free(journey.row);
        }
    }

    fn count(&mut self, class: FinishClass) {
        let lines = &mut self.book.journeys;
        let line = match class {
            FinishClass::Completed => &mut lines.completed,
            FinishClass::Late => &mut lines.late,
            FinishClass::Lost => &mut lines.lost,
            FinishClass::Failed => &mut lines.failed,
            FinishClass::RootFailed => &mut lines.root_failed,
            FinishClass::InFlightAtCutoff => &mut lines.in_flight,
        };
        *line += 1;
    }
}

/// What the book has of a journey that has ended so, at `end_ns`: everything but what it hands over
/// with the end itself.
pub(crate) fn known(
    kind: &Kind,
    journey: &Journey,
    class: FinishClass,
    (t2_ns, end_ns): (Option<u64>, u64),
) -> Finished {
    let (hops_without_predecessor, negative_hops) = irregular_hops(kind, journey);
    let (first_step_ended_ns, later_steps) = steps(journey, class, (t2_ns, end_ns));
    Finished {
        journey: journey.id,
        kind: journey.kind,
        phase: journey.phase(),
        class,
        key: None,
        t0_ns: journey.t0_ns,
        t1_ns: journey.t1_ns,
        t2_ns,
        first_step_ended_ns,
        later_steps,
        stage_ns: SmallVec::from_slice(kind.rows.stamps_ns(journey.row)),
        end_ns,
        hops_without_predecessor,
        negative_hops,
        is_duplicated: journey.flags.has(Flags::DUPLICATED),
        refusal: None,
        reason: None,
        said: None,
        members: members_seen(kind, journey),
        readings: Vec::new(),
        label: None,
    }
}

/// When the first step ended, and the steps after it. A root of a single step, whose end nobody
/// told, ended with the root.
fn steps(
    journey: &Journey,
    class: FinishClass,
    (t2_ns, end_ns): (Option<u64>, u64),
) -> (Option<u64>, SmallVec<[StepSpan; 1]>) {
    let root_ended_ns = match class {
        FinishClass::RootFailed => Some(end_ns),
        _ => t2_ns,
    };
    match &journey.extra {
        Some(extra) if !extra.later_steps.is_empty() || extra.first_step_ended_ns.is_some() => {
            (extra.first_step_ended_ns, extra.later_steps.clone())
        }
        _ => (root_ended_ns, SmallVec::new()),
    }
}

/// How far the fan-out stages came that were not reached.
fn members_seen(kind: &Kind, journey: &Journey) -> Vec<MembersSeen> {
    let seen = |stage: u8| {
        let members = journey.members(stage);
        let expect = kind.spec.stages[usize::from(stage)].expect;
        let told = members.and_then(Members::told);
        MembersSeen {
            stage,
            seen: members.map_or(0, Members::len) as u32,
            expected: if expect == TOLD { told } else { Some(expect) },
        }
    };
    kind.unreached_fan_out(journey).map(seen).collect()
}

/// How many reached stages have no hop, and how many a negative one.
fn irregular_hops(kind: &Kind, journey: &Journey) -> (u32, u32) {
    let mut missing = 0;
    let mut negative = 0;
    for stage in stages_of(journey.reached) {
        match kind.hop_ns(journey, stage) {
            Some(hop_ns) => negative += u32::from(hop_ns < 0),
            None => {
                let after = kind.spec.stages[usize::from(stage)].after;
                missing += u32::from(matches!(after, Predecessor::Stage(_)));
            }
        }
    }
    (missing, negative)
}
