//! Time passes: deadlines, waits and tombstones expire, each in its turn.

use crate::journey::Flags;
use crate::ledger::split;
use crate::slab::{Linked, NONE};
use crate::{Decision, FinishClass, Ledger};

/// What expires next.
#[derive(Clone, Copy, Debug)]
enum Expiry {
    /// The deadline of this journey.
    Deadline(u32),
    /// The observation of this journey.
    Observation(u32),
    /// The wait of the oldest early event.
    EarlyEvent,
    /// The oldest tombstone.
    Tombstone,
}

impl Ledger {
    /// Time has reached `now_ns` and no older fact follows: deadlines, waits and tombstones expire.
    ///
    /// What is due at `now_ns` itself stays, since a fact of that instant may still come.
    pub fn advance(&mut self, now_ns: u64, decisions: &mut Vec<Decision>) {
        let until_ns = now_ns.min(self.cutoff_ns);
        while self.next_due_ns < until_ns {
            match self.next_expiry() {
                Some((at_ns, expiry)) if at_ns < until_ns => {
                    self.now_ns = self.now_ns.max(at_ns);
                    self.expire(expiry, decisions);
                }
                next => self.next_due_ns = next.map_or(u64::MAX, |(at_ns, _)| at_ns),
            }
        }
        self.now_ns = self.now_ns.max(now_ns);
        self.limits.advance(self.now_ns);
    }

    /// A source has ended, having seen everything before `at_ns`: from there on nothing expires,
    /// since what would have been in time can no longer be seen. Facts that other sources still
    /// have are applied all the same. The earliest instant counts.
    pub fn cut_off(&mut self, at_ns: u64) {
        self.cutoff_ns = self.cutoff_ns.min(at_ns);
    }

    /// A generator is lost: of its journeys in flight, those whose root has not completed, or that
    /// have further steps to come, were in flight at the cutoff, since nobody can say what became
    /// of them. The others need nothing more of it and go on.
    pub fn leave(&mut self, generator: usize, decisions: &mut Vec<Decision>) {
        for kind in 0..self.kinds.len() {
            let has_follow_ups = self.kinds[kind].spec.has_follow_ups;
            let (mut slot, mut left) = (self.kinds[kind].open().head, Vec::new());
            while slot != NONE {
                let journey = &self.journeys[slot];
                let needs_more = journey.t2_ns().is_none() || has_follow_ups;
                if needs_more && split(journey.id).0 == generator {
                    left.push(slot);
                }
                slot = journey.links().next;
            }
            for slot in left {
                self.finish(slot, FinishClass::InFlightAtCutoff, self.now_ns, decisions);
            }
        }
    }

    /// The run ends: early events get their class, overdue journeys are lost, the rest were in
    /// flight at the cutoff.
    pub fn close(&mut self, now_ns: u64, decisions: &mut Vec<Decision>) {
        self.advance(now_ns, decisions);
        while let Some(event) = self.early.take_oldest() {
            self.give_up(&event, decisions);
        }
        for kind in 0..self.kinds.len() {
            while self.kinds[kind].open().len > 0 {
                let slot = self.kinds[kind].open().head;
                let overdue = self.journeys[slot].flags.has(Flags::OVERDUE);
                let class = match overdue {
                    true => FinishClass::Lost,
                    false => FinishClass::InFlightAtCutoff,
                };
                self.finish(slot, class, self.now_ns, decisions);
            }
        }
        self.limits.advance(u64::MAX);
    }

    /// The earliest of all that will expire; a deadline before the end of an observation.
    fn next_expiry(&self) -> Option<(u64, Expiry)> {
        let mut next: Option<(u64, Expiry)> = None;
        let mut offer = |at_ns: u64, expiry: Expiry| {
            if next.is_none_or(|(earliest_ns, _)| at_ns < earliest_ns) {
                next = Some((at_ns, expiry));
            }
        };
        for kind in &self.kinds {
            if let Some(slot) = kind.next_overdue() {
                offer(kind.deadline_ns(&self.journeys[slot]), Expiry::Deadline(slot));
            }
        }
        for kind in &self.kinds {
            if kind.open().len > 0 {
                let slot = kind.open().head;
                offer(kind.observed_until_ns(&self.journeys[slot]), Expiry::Observation(slot));
            }
        }
        if let Some(seen_ns) = self.early.oldest_ns() {
            offer(seen_ns.saturating_add(self.bounds.early_wait_ns), Expiry::EarlyEvent);
        }
        if self.tombstones.len > 0 {
            offer(self.journeys[self.tombstones.head].t2_or_forget_ns, Expiry::Tombstone);
        }
        next
    }

    fn expire(&mut self, expiry: Expiry, decisions: &mut Vec<Decision>) {
        match expiry {
            Expiry::Deadline(slot) => {
                let (journey, kind) = (self.journeys[slot].id, self.journeys[slot].kind);
                self.kinds[usize::from(kind)].set_overdue(&mut self.journeys, slot);
                // A journey with a `never` stage may have waited only for this.
                let before = decisions.len();
                self.complete(slot, decisions);
                if decisions.len() == before {
                    decisions.push(Decision::Overdue { journey, kind });
                }
            }
            Expiry::Observation(slot) => {
                self.finish(slot, FinishClass::Lost, self.now_ns, decisions);
            }
            Expiry::EarlyEvent => {
                if let Some(event) = self.early.take_oldest() {
                    self.give_up(&event, decisions);
                }
            }
            Expiry::Tombstone => self.forget(self.tombstones.head),
        }
    }
}
