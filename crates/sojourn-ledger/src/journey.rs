//! One journey in the book, in flight or remembered.

use smallvec::SmallVec;

use crate::hash::KeyHash;
use crate::members::Members;
use crate::slab::{Linked, Links};
use crate::{FinishClass, JourneyId, Key, Phase, Reading, StepSpan};

/// A journey: 80 bytes, beside its row of stages and (while in flight) its key.
///
/// A finished one stays in the same place as its own tombstone, so that a duplicate is told by the
/// message id and an optional stage reached late still has its hop.
#[derive(Debug)]
pub(crate) struct Journey {
    pub(crate) id: JourneyId,
    pub(crate) t0_ns: u64,
    pub(crate) t1_ns: u64,
    /// In flight: t2, once the root is completed. Finished: when it is forgotten.
    pub(crate) t2_or_forget_ns: u64,
    /// Of its first key; [`KeyHash::NONE`] while it has none.
    pub(crate) hash: KeyHash,
    /// What few journeys have.
    pub(crate) extra: Option<Box<Extra>>,
    /// In flight: among those of its kind by deadline. Finished: among tombstones by age.
    pub(crate) links: Links,
    /// Its row in the kind's [`crate::rows::Rows`].
    pub(crate) row: u32,
    /// In flight: its first key's place among the keys. Finished: how long its root took
    /// ([`RootTook`]).
    pub(crate) key_or_took: u32,
    /// One bit per stage reached.
    pub(crate) reached: u32,
    pub(crate) kind: u16,
    /// `None` while in flight.
    pub(crate) class: Option<FinishClass>,
    pub(crate) flags: Flags,
}

/// Rarer parts of a journey.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Places of its further keys.
    pub(crate) aliases: SmallVec<[u32; 2]>,
    /// When its first step ended, where that was told.
    pub(crate) first_step_ended_ns: Option<u64>,
    /// Its steps after the first.
    pub(crate) later_steps: SmallVec<[StepSpan; 1]>,
    pub(crate) follow_ups_ns: Option<u64>,
    /// Of its fan-out stages.
    pub(crate) members: Vec<(u8, Members)>,
    /// Of foreign clocks.
    pub(crate) readings: Vec<Reading>,
    pub(crate) label: Option<Key>,
    /// What its deadline counts from, where that is not t0.
    pub(crate) deadline_from_ns: Option<u64>,
}

/// A key beyond a journey's first.
#[derive(Debug)]
pub(crate) struct Alias {
    pub(crate) hash: KeyHash,
    pub(crate) journey: u32,
}

/// Four facts in a byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const ROOT_COMPLETED: u8 = 1;
    pub(crate) const OVERDUE: u8 = 2;
    pub(crate) const STEADY: u8 = 4;
    pub(crate) const DUPLICATED: u8 = 8;

    pub(crate) fn of_phase(phase: Phase) -> Self {
        Self(match phase {
            Phase::WarmUp => 0,
            Phase::Steady => Self::STEADY,
        })
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    pub(crate) fn set(&mut self, flag: u8) {
        self.0 |= flag;
    }
}

impl Journey {
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.class.is_none()
    }

    /// Finished with everything required done, so that further events are duplicates.
    pub(crate) fn has_completed(&self) -> bool {
        matches!(self.class, Some(FinishClass::Completed | FinishClass::Late))
    }

    pub(crate) fn phase(&self) -> Phase {
        if self.flags.has(Flags::STEADY) { Phase::Steady } else { Phase::WarmUp }
    }

    #[inline]
    pub(crate) fn has_reached(&self, stage: u8) -> bool {
        self.reached.checked_shr(stage.into()).is_some_and(|bits| bits & 1 == 1)
    }

    /// What its deadline counts from.
    #[inline]
    pub(crate) fn deadline_from_ns(&self) -> u64 {
        let own = self.extra.as_ref().and_then(|extra| extra.deadline_from_ns);
        own.unwrap_or(self.t0_ns)
    }

    /// When the root was completed, while in flight.
    pub(crate) fn t2_ns(&self) -> Option<u64> {
        (self.is_open() && self.flags.has(Flags::ROOT_COMPLETED)).then_some(self.t2_or_forget_ns)
    }

    /// Hands the label over at its end.
    pub(crate) fn take_label(&mut self) -> Option<Key> {
        self.extra.as_mut().and_then(|extra| extra.label.take())
    }

    pub(crate) fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    pub(crate) fn members_mut(&mut self, stage: u8) -> &mut Members {
        let members = &mut self.extra_mut().members;
        let at = members.iter().position(|&(of, _)| of == stage).unwrap_or_else(|| {
            members.push((stage, Members::default()));
            members.len() - 1
        });
        &mut members[at].1
    }

    /// Of a fan-out stage, where one has come.
    pub(crate) fn members(&self, stage: u8) -> Option<&Members> {
        let members = &self.extra.as_ref()?.members;
        members.iter().find(|(of, _)| *of == stage).map(|(_, members)| members)
    }

    /// Members remembered, of all its stages.
    pub(crate) fn members_held(&self) -> usize {
        let members = self.extra.as_ref().map_or(&[][..], |extra| &extra.members);
        members.iter().map(|(_, members)| members.len()).sum()
    }

    /// t1 of the latest step begun at or before an instant; of the first one, if none was.
    pub(crate) fn step_before_ns(&self, stamp_ns: u64) -> u64 {
        let later = self.extra.as_ref().map_or(&[][..], |extra| &extra.later_steps);
        let begun = later.iter().rev().find(|step| step.began_ns <= stamp_ns);
        begun.map_or(self.t1_ns, |step| step.began_ns)
    }
}

impl Linked for Journey {
    fn links(&self) -> Links {
        self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::slab::Slab;

    /// The bound of the design page: 160 bytes per journey of four stages, beyond its key.
    #[test]
    fn a_journey_in_flight_fits_its_bound() {
        let place = size_of::<Journey>();
        let row = 4 * (size_of::<u64>() + size_of::<u32>());
        // Two tables of four-byte slots with one control byte each; the worst load is 7/16.
        let tables = 2 * 5 * 16 / 7;
        assert_eq!(place, 80);
        assert!(place + row + tables <= 160, "{place} + {row} + {tables}");
        assert_eq!(size_of::<Key>(), 48);
    }

    #[test]
    fn a_vacant_place_costs_nothing_more() {
        assert_eq!(Slab::<Journey>::place_bytes(), size_of::<Journey>());
        assert_eq!(Slab::<Key>::place_bytes(), size_of::<Key>());
    }

    #[test]
    fn a_hop_counts_from_the_step_begun_last() {
        let begun = |began_ns| StepSpan { step: 0, began_ns, ended_ns: None };
        let journey = Journey {
            id: JourneyId(1),
            t0_ns: 0,
            t1_ns: 10,
            t2_or_forget_ns: 0,
            hash: KeyHash::NONE,
            extra: Some(Box::new(Extra {
                later_steps: SmallVec::from_slice(&[begun(20), begun(30)]),
                ..Extra::default()
            })),
            links: Links::NONE,
            row: 0,
            key_or_took: 0,
            reached: 0,
            kind: 0,
            class: None,
            flags: Flags::default(),
        };
        let bases = [5, 10, 19, 20, 29, 30, 99].map(|stamp_ns| journey.step_before_ns(stamp_ns));
        assert_eq!(bases, [10, 10, 10, 20, 20, 30, 30]);
    }
}
