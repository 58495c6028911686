//! Journeys enter the book and get their keys.

use smallvec::SmallVec;

use crate::hash::KeyHash;
use crate::journey::{Extra, Flags, Journey};
use crate::ledger::{Start, split};
use crate::slab::{Links, NONE};
use crate::{Decision, FinishClass, Finished, Followed, JourneyId, Key, Ledger, Reason, StepSpan};

/// Most keys of a journey beyond its first.
const ALIASES_MAX: usize = 15;
/// Most steps of a journey beyond its first.
const STEPS_MAX: usize = 63;

impl Ledger {
    pub(crate) fn miss(&mut self, kind: u16) {
        if self.kinds.get(usize::from(kind)).is_none() {
            self.book.refusals.contradictions += 1;
            return;
        }
        self.book.journeys.scheduled += 1;
        self.book.journeys.missed += 1;
    }

    pub(crate) fn start(&mut self, start: Start, key: Option<Key>, out: &mut Vec<Decision>) {
        let known = self.index.by_id(&self.journeys, start.journey).is_some();
        if known || self.kinds.get(usize::from(start.kind)).is_none() {
            self.book.refusals.contradictions += 1;
            return;
        }
        self.note_started(start.journey);
        let label = self.take_label(start.journey);
        self.book.journeys.scheduled += 1;
        self.book.journeys.started += 1;
        if self.in_flight() >= self.bounds.journeys_max {
            self.refuse(start, key, label, out);
            return;
        }
        let deadline_from_ns = start.deadline_from_ns;
        let has_extra = label.is_some() || deadline_from_ns.is_some();
        let extra =
            has_extra.then(|| Box::new(Extra { label, deadline_from_ns, ..Extra::default() }));
        let kind = &mut self.kinds[usize::from(start.kind)];
        let slot = self.journeys.insert(Journey {
            id: start.journey,
            t0_ns: start.t0_ns,
            t1_ns: start.t1_ns,
            t2_or_forget_ns: 0,
            hash: KeyHash::NONE,
            extra,
            links: Links::NONE,
            row: kind.rows.take(),
            key_or_took: NONE,
            reached: 0,
            kind: start.kind,
            class: None,
            flags: Flags::of_phase(start.phase),
        });
        kind.enter(&mut self.journeys, slot);
        let deadline_ns = kind.deadline_ns(&self.journeys[slot]);
        self.index.insert_id(&self.journeys, slot);
        self.due(deadline_ns);
        if let Some(key) = key {
            self.register(slot, key, FinishClass::RootFailed, out);
        }
    }

    /// A journey begins in hindsight: what has come of it already may complete it at once.
    pub(crate) fn follow_up_on(
        &mut self,
        followed: Followed,
        stamp_ns: u64,
        out: &mut Vec<Decision>,
    ) {
        let Followed { journey, kind, phase, t0_ns, t1_ns, deadline_from_ns, key, label } =
            followed;
        if let Some(label) = label {
            self.label(journey, label);
        }
        let t1_ns = t1_ns.min(stamp_ns);
        let known = self.index.by_id(&self.journeys, journey).is_some();
        let deadline_from_ns = (deadline_from_ns != t0_ns).then_some(deadline_from_ns);
        let start = Start { journey, kind, phase, t0_ns, t1_ns, deadline_from_ns };
        self.start(start, Some(key), out);
        let is_there = !known && self.index.by_id(&self.journeys, journey).is_some();
        if is_there {
            self.complete_root(journey, t1_ns, out);
        }
    }

    /// Makes a key name a journey, and matches the events back that waited for it.
    ///
    /// A key still in flight stays with its journey: the second one ends as `class`. A key of a
    /// finished journey passes to the new one. A journey that has finished itself (a root answered
    /// after the journey was given up) takes the key too, so that events under it are told for what
    /// they are.
    pub(crate) fn register(
        &mut self,
        slot: u32,
        key: Key,
        class: FinishClass,
        out: &mut Vec<Decision>,
    ) {
        let journey = &self.journeys[slot];
        let (id, kind, is_open) = (journey.id, journey.kind, journey.is_open());
        let phase = journey.phase();
        let hash = KeyHash::of(&key).of_kind(if self.common_stages.is_some() { 0 } else { kind });
        if is_open && journey.key_or_took == NONE {
            let place = self.keys.insert(key);
            self.journeys[slot].key_or_took = place;
        }
        match self.named(hash) {
            Some(same) if same == slot => return,
            Some(other) if self.journeys[other].is_open() => {
                self.book.key_reused += 1;
                if is_open {
                    out.push(Decision::KeyReused { journey: id, kind, phase });
                    let why = Some(Reason::KeyReused.into());
                    self.finish_because(slot, class, why, self.now_ns, out);
                }
                return;
            }
            _ => {}
        }
        let extra = self.journeys[slot].extra.as_ref();
        if extra.is_some_and(|extra| extra.aliases.len() >= ALIASES_MAX) {
            self.book.refusals.keys_or_steps += 1;
            return;
        }
        self.index.insert_key(&mut self.journeys, slot, hash);
        while let Some(event) = self.early.take(hash) {
            self.place(event, out);
        }
    }

    /// Keys that events yielded become names of their journeys. Events that are matched back by
    /// that may yield further ones, which wait their turn here.
    pub(crate) fn register_yielded(&mut self, out: &mut Vec<Decision>) {
        while let Some((id, key)) = self.yielded.pop_front() {
            // Gone already when there is no room for tombstones.
            if let Some(slot) = self.index.by_id(&self.journeys, id) {
                self.register(slot, key, FinishClass::Failed, out);
            }
        }
    }

    pub(crate) fn begin_step(&mut self, id: JourneyId, step: u8, began_ns: u64) {
        let Some(slot) = self.slot_of(id) else { return };
        let journey = &mut self.journeys[slot];
        if !journey.is_open() {
            return;
        }
        let later_steps = &mut journey.extra_mut().later_steps;
        if later_steps.len() >= STEPS_MAX {
            self.book.refusals.keys_or_steps += 1;
            return;
        }
        later_steps.push(StepSpan { step, began_ns, ended_ns: None });
    }

    /// The step begun last has ended; said again, the first time counts.
    pub(crate) fn end_step(&mut self, id: JourneyId, ended_ns: u64) {
        let Some(slot) = self.slot_of(id) else { return };
        let journey = &mut self.journeys[slot];
        if !journey.is_open() {
            return;
        }
        let extra = journey.extra_mut();
        let ended = match extra.later_steps.last_mut() {
            Some(step) => &mut step.ended_ns,
            None => &mut extra.first_step_ended_ns,
        };
        ended.get_or_insert(ended_ns);
    }

    /// Remembers whose the journey is that starts next: one at a time for each generator.
    pub(crate) fn label(&mut self, id: JourneyId, label: Key) {
        let (generator, _) = split(id);
        match self.labelled.iter_mut().find(|(known, _)| split(*known).0 == generator) {
            Some(place) => *place = (id, label),
            None => self.labelled.push((id, label)),
        }
    }

    fn take_label(&mut self, id: JourneyId) -> Option<Key> {
        let at = self.labelled.iter().position(|(known, _)| *known == id)?;
        Some(self.labelled.swap_remove(at).1)
    }

    /// There is no room for it: it ends where it began, and the run is void.
    fn refuse(
        &mut self,
        start: Start,
        key: Option<Key>,
        label: Option<Key>,
        out: &mut Vec<Decision>,
    ) {
        self.book.refusals.journeys += 1;
        self.book.journeys.root_failed += 1;
        let stages = self.kinds[usize::from(start.kind)].spec.stages.len();
        out.push(Decision::Finished(Box::new(Finished {
            journey: start.journey,
            kind: start.kind,
            phase: start.phase,
            class: FinishClass::RootFailed,
            key,
            t0_ns: start.t0_ns,
            t1_ns: start.t1_ns,
            t2_ns: None,
            first_step_ended_ns: None,
            later_steps: SmallVec::new(),
            stage_ns: SmallVec::from_elem(0, stages),
            end_ns: self.now_ns,
            hops_without_predecessor: 0,
            negative_hops: 0,
            is_duplicated: false,
            refusal: None,
            reason: Some(Reason::NoRoom),
            said: None,
            members: Vec::new(),
            readings: Vec::new(),
            label,
        })));
    }

    fn note_started(&mut self, id: JourneyId) {
        let (generator, number) = split(id);
        if self.started_below.len() <= generator {
            self.started_below.resize(generator + 1, 0);
        }
        let below = &mut self.started_below[generator];
        *below = (*below).max(number + 1);
    }
}
