//! Events get their class, and stages are reached.

use crate::decision::Why;
use crate::event::{Event, Fit};
use crate::journey::{Flags, Journey};
use crate::members::{Noted, duplicate_kind};
use crate::{
    Again, Decision, DuplicateKind, EventClass, FinishClass, JourneyId, Ledger, Marker, Phase,
    Reason, TraceContext,
};

impl Ledger {
    /// A tap saw an event.
    pub(crate) fn see(&mut self, event: Event, undecodable: bool, out: &mut Vec<Decision>) {
        self.book.events.seen += 1;
        if undecodable {
            self.classify(&event, EventClass::Undecodable, None, out);
        } else if event.fits.is_empty() {
            self.give_up(&event, out);
        } else if let Some(slot) = self.journey_of(&event) {
            self.hand_to(slot, event, out);
        } else if event.marker == Marker::Foreign {
            self.classify(&event, EventClass::Foreign, None, out);
        } else {
            let due_ns = event.stamp_ns.saturating_add(self.bounds.early_wait_ns);
            match self.early.insert(event) {
                Ok(()) => self.due(due_ns),
                Err(event) => {
                    self.book.refusals.early_events += 1;
                    self.give_up(&event, out);
                }
            }
        }
    }

    /// Matches an event back whose key has become known.
    pub(crate) fn place(&mut self, event: Event, out: &mut Vec<Decision>) {
        match self.journey_of(&event) {
            Some(slot) => self.hand_to(slot, event, out),
            // Its journey failed and was evicted in the same instant.
            None => self.give_up(&event, out),
        }
    }

    /// No journey came for it: its marker decides.
    pub(crate) fn give_up(&mut self, event: &Event, out: &mut Vec<Decision>) {
        let class = match event.marker {
            Marker::Ours => EventClass::Orphan,
            Marker::Foreign => EventClass::Foreign,
            Marker::Absent => EventClass::Unattributed,
        };
        self.classify(event, class, None, out);
    }

    /// A polled stage's predicate held: like an event, but none was seen.
    pub(crate) fn poll(
        &mut self,
        id: JourneyId,
        stage: u8,
        stamp_ns: u64,
        out: &mut Vec<Decision>,
    ) {
        let Some(slot) = self.slot_that_matters(id) else { return };
        let journey = &self.journeys[slot];
        if !self.has_stage(journey.kind, stage) {
            self.book.refusals.contradictions += 1;
            return;
        }
        let goes_on = journey.is_open() || journey.has_completed();
        if goes_on && !journey.has_reached(stage) {
            let fails = self.kinds[usize::from(journey.kind)].fails_at(stage);
            let fails = fails.then_some(Reason::Stage(stage));
            self.reach(slot, stage, stamp_ns, out);
            self.settle(slot, fails, None, out);
        }
    }

    /// The journey that a key of the event names: one in flight before one that has finished.
    fn journey_of(&self, event: &Event) -> Option<u32> {
        let mut finished = None;
        for fit in &event.fits {
            match self.named(fit.hash) {
                Some(slot) if self.journeys[slot].is_open() => return Some(slot),
                Some(slot) if finished.is_none() => finished = Some(slot),
                _ => {}
            }
        }
        finished
    }

    /// The event is this journey's. Of common stages only those matter that its kind has chosen.
    #[inline]
    fn hand_to(&mut self, slot: u32, event: Event, out: &mut Vec<Decision>) {
        if self.common_stages.is_none() {
            return self.attribute(slot, &event, out);
        }
        let journey = &self.journeys[slot];
        let kind = &self.kinds[usize::from(journey.kind)];
        let event = event.seen_by(|fit| {
            let stage = kind.chosen(fit.stage)?;
            let is_own = self.named(fit.hash) == Some(slot);
            is_own.then_some(Fit { kind: journey.kind, stage, ..*fit })
        });
        if !event.fits.is_empty() {
            return self.attribute(slot, &event, out);
        }
        let class = match journey.is_open() || journey.has_completed() {
            true => EventClass::Matched,
            false => EventClass::AfterFailure,
        };
        self.classify(&event, class, None, out);
    }

    /// The event is this journey's, and fits one of its stages at least.
    fn attribute(&mut self, slot: u32, event: &Event, out: &mut Vec<Decision>) {
        // Most events fit one stage, and then it is known that its key names this journey.
        let alone = event.fits.len() == 1;
        let mut own = event.fits.iter().filter(|fit| alone || self.named(fit.hash) == Some(slot));
        let journey = &self.journeys[slot];
        let phase = journey.phase();
        let Some(first) = own.next() else { return };
        if !journey.is_open() && !journey.has_completed() {
            let belongs = Some((journey.kind, first.stage, phase));
            self.classify(event, EventClass::AfterFailure, belongs, out);
            return;
        }
        let unreached = |fit: &&Fit| !journey.has_reached(fit.stage);
        let chosen = std::iter::once(first).chain(own).find(unreached).unwrap_or(first);
        let belongs = Some((journey.kind, chosen.stage, phase));
        let holds_more = !event.more.is_empty();
        let told = if holds_more { self.tell_itself(slot, chosen, event, out) } else { None };
        let noted = self.note(slot, chosen, event);
        let class = match noted {
            Noted::Again(kind) => EventClass::Duplicate(kind),
            Noted::Member | Noted::Reaches(_) | Noted::NoRoom => EventClass::Matched,
        };
        self.classify(event, class, belongs, out);
        match noted {
            Noted::Again(how) => self.tell_again(slot, (chosen.stage, how), event, out),
            _ => self.trace(slot, chosen, event, out),
        }
        let followed = self.follow(slot, chosen, (noted, event), out);
        let mut fails = told.or(followed);
        if !alone {
            for fit in event.fits.iter().filter(|fit| fit.stage != chosen.stage) {
                let kind = &self.kinds[usize::from(fit.kind)];
                let shared = kind.spec.stages[usize::from(fit.stage)].shared;
                if shared && self.named(fit.hash) == Some(slot) {
                    let told = self.tell_itself(slot, fit, event, out);
                    let noted = self.note(slot, fit, event);
                    let followed = self.follow(slot, fit, (noted, event), out);
                    fails = fails.or(told).or(followed);
                }
            }
        }
        self.settle(slot, fails, Some(event), out);
    }

    /// Whether a matched event carries its journey's trace, where that has one.
    fn trace(&self, slot: u32, fit: &Fit, event: &Event, out: &mut Vec<Decision>) {
        let journey = &self.journeys[slot];
        let Some(seed) = self.kinds[usize::from(journey.kind)].spec.trace else { return };
        let carried = event.more(fit.kind, fit.stage).map_or(&[][..], |more| &more.traces);
        let own = seed.id(journey.id);
        let context = match carried {
            [] => TraceContext::Absent,
            carried if carried.contains(&own) => TraceContext::Own,
            _ => TraceContext::Other,
        };
        let (kind, phase) = (journey.kind, journey.phase());
        out.push(Decision::Traced { kind, stage: fit.stage, phase, context });
    }

    /// Says whose duplicate an event is.
    #[cold]
    fn tell_again(
        &mut self,
        slot: u32,
        (stage, how): (u8, DuplicateKind),
        event: &Event,
        out: &mut Vec<Decision>,
    ) {
        let journey = &mut self.journeys[slot];
        let is_first = !journey.flags.has(Flags::DUPLICATED);
        journey.flags.set(Flags::DUPLICATED);
        out.push(Decision::Again(Box::new(Again {
            journey: journey.id,
            kind: journey.kind,
            stage,
            how,
            channel: event.channel,
            stamp_ns: event.stamp_ns,
            is_first,
            has_ended: !journey.is_open(),
            key: None,
        })));
    }

    /// What the event is to one stage of its journey.
    fn note(&mut self, slot: u32, fit: &Fit, event: &Event) -> Noted {
        let (kind, journey) = self.kind_of(slot);
        let expect = kind.spec.stages[usize::from(fit.stage)].expect;
        let reached = journey.has_reached(fit.stage);
        if expect != 1 {
            return self.note_member(slot, fit, event);
        }
        if reached {
            let first = kind.rows.message_id(journey.row, fit.stage);
            return Noted::Again(duplicate_kind(first, event.message_id));
        }
        kind.rows.set_message_id(journey.row, fit.stage, event.message_id);
        Noted::Reaches(event.stamp_ns)
    }

    /// Draws the consequence; says why the journey fails by it, if it does. A duplicate has none: a
    /// stage is judged by its first observation.
    #[inline]
    fn follow(
        &mut self,
        slot: u32,
        fit: &Fit,
        (noted, event): (Noted, &Event),
        out: &mut Vec<Decision>,
    ) -> Option<Reason> {
        let check = fit.check_failed.then_some(Reason::Check(fit.stage));
        match noted {
            Noted::Again(_) => None,
            Noted::Member | Noted::NoRoom => {
                let told =
                    if event.more.is_empty() { None } else { self.yields(slot, fit, event, out) };
                check.or(told)
            }
            Noted::Reaches(stamp_ns) => {
                self.reach(slot, fit.stage, stamp_ns, out);
                let told =
                    if event.more.is_empty() { None } else { self.yields(slot, fit, event, out) };
                let fails = self.kinds[usize::from(fit.kind)].fails_at(fit.stage);
                check.or_else(|| fails.then_some(Reason::Stage(fit.stage))).or(told)
            }
        }
    }

    /// The stage is reached, in a journey in flight or after its completion.
    pub(crate) fn reach(&mut self, slot: u32, stage: u8, stamp_ns: u64, out: &mut Vec<Decision>) {
        let journey = &mut self.journeys[slot];
        let kind = &mut self.kinds[usize::from(journey.kind)];
        let (before, is_open) = (journey.reached, journey.is_open());
        kind.reach(journey, stage, stamp_ns);
        if !self.limits.is_empty() {
            self.limits.reach((journey.kind, stage), before, is_open, stamp_ns);
        }
        self.book.reached_before_t0 += u64::from(stamp_ns < journey.t0_ns);
        out.push(Decision::Reached {
            journey: journey.id,
            kind: journey.kind,
            stage,
            phase: journey.phase(),
            stamp_ns,
            since_start_ns: stamp_ns.saturating_sub(journey.t0_ns),
            resume: is_open && kind.spec.stages[usize::from(stage)].resumes,
        });
        if kind.is_special(stage) {
            self.tell_special(slot, stage, out);
        }
        let journey = &self.journeys[slot];
        let kind = &self.kinds[usize::from(journey.kind)];
        let hop = |journey: &Journey, stage: u8| {
            let (kind_index, phase) = (journey.kind, journey.phase());
            let hop_ns = kind.hop_ns(journey, stage)?;
            Some(Decision::Hop { kind: kind_index, stage, phase, hop_ns })
        };
        let own = hop(journey, stage);
        self.book.late_hops_without_predecessor += u64::from(own.is_none() && !is_open);
        out.extend(own);
        // Those that overtook it. Once finished, theirs have been counted as without predecessor.
        if is_open {
            out.extend(kind.reached_successors(journey, stage).filter_map(|of| hop(journey, of)));
        }
    }

    /// After a stage: the journey may have failed, or be complete. The event that failed it may say
    /// why.
    pub(crate) fn settle(
        &mut self,
        slot: u32,
        fails: Option<Reason>,
        event: Option<&Event>,
        out: &mut Vec<Decision>,
    ) {
        let journey = &self.journeys[slot];
        match fails {
            _ if !journey.is_open() => {
                self.book.failure_after_completion += u64::from(fails.is_some());
            }
            Some(reason) => {
                let said = match reason {
                    Reason::Stage(stage) => event.and_then(|event| event.more(journey.kind, stage)),
                    _ => None,
                };
                let said = said.and_then(|more| more.reason.clone());
                let why = Some(Why { reason, said, refusal: None });
                self.finish_because(slot, FinishClass::Failed, why, self.now_ns, out);
            }
            None => self.complete(slot, out),
        }
    }

    fn classify(
        &mut self,
        event: &Event,
        class: EventClass,
        belongs: Option<(u16, u8, Phase)>,
        out: &mut Vec<Decision>,
    ) {
        let lines = &mut self.book.events;
        let line = match class {
            EventClass::Matched => &mut lines.matched,
            EventClass::Duplicate(DuplicateKind::Redelivery) => &mut lines.duplicate_redelivery,
            EventClass::Duplicate(DuplicateKind::Republication) => {
                &mut lines.duplicate_republication
            }
            EventClass::Duplicate(DuplicateKind::Unknown) => &mut lines.duplicate_unknown,
            EventClass::AfterFailure => &mut lines.after_failure,
            EventClass::Orphan => &mut lines.orphan,
            EventClass::Foreign => &mut lines.foreign,
            EventClass::Unattributed => &mut lines.unattributed,
            EventClass::Undecodable => &mut lines.undecodable,
        };
        *line += 1;
        out.push(Decision::Event {
            channel: event.channel,
            class,
            belongs,
            stamp_ns: event.stamp_ns,
        });
    }
}
