//! What events say of other events: members of a fan-out, how many there are, further keys.

use crate::event::{Event, Fit};
use crate::members::{Members, Noted};
use crate::{Decision, JourneyId, Ledger, Reading, Reason, TOLD, Where};

impl Ledger {
    /// A response said how many members a stage has.
    pub(crate) fn hear_of_members(
        &mut self,
        id: JourneyId,
        (stage, members): (u8, u32),
        stamp_ns: u64,
        out: &mut Vec<Decision>,
    ) {
        let Some(slot) = self.slot_of(id) else { return };
        if !self.has_stage(self.journeys[slot].kind, stage) {
            self.book.refusals.contradictions += 1;
            return;
        }
        let fails = self.tell(slot, (stage, members), stamp_ns, out);
        self.settle(slot, fails, None, out);
    }

    /// The event says how many members its own stage has: at least itself.
    #[cold]
    pub(crate) fn tell_itself(
        &mut self,
        slot: u32,
        fit: &Fit,
        event: &Event,
        out: &mut Vec<Decision>,
    ) -> Option<Reason> {
        let more = event.more(fit.kind, fit.stage)?;
        let &(stage, members) = more.tells.iter().find(|(stage, _)| *stage == fit.stage)?;
        self.tell(slot, (stage, members.max(1)), event.stamp_ns, out)
    }

    /// The event has reached its stage, or is a new member of it: what it says of others holds.
    #[cold]
    pub(crate) fn yields(
        &mut self,
        slot: u32,
        fit: &Fit,
        event: &Event,
        out: &mut Vec<Decision>,
    ) -> Option<Reason> {
        let more = event.more(fit.kind, fit.stage)?;
        if let Some(key) = &more.rekey {
            self.yielded.push_back((self.journeys[slot].id, key.clone()));
        }
        if let Some(shown) = more.shown {
            let at = Where::Event { stage: fit.stage };
            let reading =
                Reading { clock: shown.clock, at, read_ns: event.stamp_ns, unix_ms: shown.unix_ms };
            self.journeys[slot].read(reading);
        }
        let mut fails = None;
        for &told in more.tells.iter().filter(|(stage, _)| *stage != fit.stage) {
            let failed = self.tell(slot, told, event.stamp_ns, out);
            fails = fails.or(failed);
        }
        fails
    }

    /// What a member is to its stage.
    pub(crate) fn note_member(&mut self, slot: u32, fit: &Fit, event: &Event) -> Noted {
        let is_full = self.members_held >= self.bounds.members_max;
        let (kind, journey) = self.kind_of(slot);
        let expect = kind.spec.stages[usize::from(fit.stage)].expect;
        let reached = journey.has_reached(fit.stage);
        let members = journey.members_mut(fit.stage);
        let before = members.len();
        let noted = match is_full {
            true => Noted::NoRoom,
            false => members.note(fit.member, event.message_id, event.stamp_ns, expect),
        };
        self.members_held += members.len() - before;
        match noted {
            Noted::Reaches(_) if reached => Noted::Member,
            Noted::NoRoom => {
                self.book.refusals.members += 1;
                noted
            }
            noted => noted,
        }
    }

    /// A fan-out stage or an alternative has been reached: there is more to say of it.
    #[cold]
    pub(crate) fn tell_special(&mut self, slot: u32, stage: u8, out: &mut Vec<Decision>) {
        let (kind, journey) = self.kind_of(slot);
        let (of, phase) = (journey.kind, journey.phase());
        if let Some(first_ns) = journey.members(stage).and_then(Members::first_ns) {
            let since_start_ns = first_ns.saturating_sub(journey.t0_ns);
            out.push(Decision::FirstMember { kind: of, stage, phase, since_start_ns });
        }
        if kind.is_second_branch(journey, stage) {
            out.push(Decision::SecondBranch { kind: of, stage, phase });
            self.book.second_branches += 1;
        }
    }

    /// The number of a stage's members is known; says why the journey fails by it, if it does.
    fn tell(
        &mut self,
        slot: u32,
        (stage, members): (u8, u32),
        stamp_ns: u64,
        out: &mut Vec<Decision>,
    ) -> Option<Reason> {
        let (kind, journey) = self.kind_of(slot);
        if kind.spec.stages.get(usize::from(stage)).is_none_or(|spec| spec.expect != TOLD) {
            self.book.refusals.contradictions += 1;
            return None;
        }
        if !journey.is_open() && !journey.has_completed() {
            return None;
        }
        let reached = journey.has_reached(stage);
        let since_ns = journey.members_mut(stage).tell(members, stamp_ns)?;
        if reached {
            return None;
        }
        let fails = kind.fails_at(stage);
        self.reach(slot, stage, since_ns, out);
        fails.then_some(Reason::Stage(stage))
    }
}
