//! The members of a fan-out stage that have come.

use crate::{DuplicateKind, TOLD};

/// Distinct members and the message id each came with first.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Sorted by member.
    known: Vec<(u64, u32)>,
    /// Of the first and the last of those that count; none yet: zero.
    first_ns: u64,
    latest_ns: u64,
    /// How many the journey was told to expect, where it is told.
    told: Option<u32>,
    /// Stamps of the known ones while the number is not known.
    stamps_ns: Vec<u64>,
}

/// What a member turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// Seen before.
    Again(DuplicateKind),
    /// New; the stage was or stays as it is.
    Member,
    /// New, and the stage is reached with it, at this instant.
    Reaches(u64),
    /// New, and there is no room to remember it while its number is not known.
    NoRoom,
}

/// Most members of one stage remembered while their number is not known.
const UNTOLD_MAX: usize = 10_000;

impl Members {
    /// Notes a member. A stage is reached at the `expect`-th distinct one, or at the one of the
    /// number told; further distinct ones are members too, remembered up to four times as many
    /// (beyond that a repetition passes for new).
    pub(crate) fn note(
        &mut self,
        member: u64,
        message_id: u32,
        stamp_ns: u64,
        expect: u32,
    ) -> Noted {
        let expect = if expect == TOLD { self.told } else { Some(expect) };
        match self.known.binary_search_by_key(&member, |&(known, _)| known) {
            Ok(at) => Noted::Again(duplicate_kind(self.known[at].1, message_id)),
            Err(at) => {
                let Some(expect) = expect else {
                    if self.known.len() >= UNTOLD_MAX {
                        return Noted::NoRoom;
                    }
                    self.stamps_ns.push(stamp_ns);
                    self.insert(at, member, message_id, stamp_ns);
                    return Noted::Member;
                };
                if self.known.len() >= (expect.max(1) as usize).saturating_mul(4) {
                    return Noted::Member;
                }
                self.insert(at, member, message_id, stamp_ns);
                if self.known.len() == expect as usize {
                    Noted::Reaches(self.latest_ns)
                } else {
                    Noted::Member
                }
            }
        }
    }

    /// The number of members became known at this instant; the first time counts. When the stage
    /// is reached by that: since when.
    pub(crate) fn tell(&mut self, members: u32, now_ns: u64) -> Option<u64> {
        if self.told.is_some() {
            return None;
        }
        self.told = Some(members);
        let mut stamps_ns = std::mem::take(&mut self.stamps_ns);
        let Some(last) = (members as usize).checked_sub(1) else {
            return Some(now_ns);
        };
        stamps_ns.sort_unstable();
        stamps_ns.get(last).copied()
    }

    /// How many are remembered.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// The number told.
    pub(crate) fn told(&self) -> Option<u32> {
        self.told
    }

    /// When the first one came.
    pub(crate) fn first_ns(&self) -> Option<u64> {
        (!self.known.is_empty()).then_some(self.first_ns)
    }

    fn insert(&mut self, at: usize, member: u64, message_id: u32, stamp_ns: u64) {
        // Events of a second key may be matched back behind later ones: reached is the last.
        let is_first = self.known.is_empty();
        self.first_ns = if is_first { stamp_ns } else { self.first_ns.min(stamp_ns) };
        self.latest_ns = self.latest_ns.max(stamp_ns);
        self.known.insert(at, (member, message_id));
    }
}

/// Tells how a duplicate came to be from its folded message id and that of the first observation.
/// Only the first is kept, so of three different ids the last two count as republications each.
pub(crate) fn duplicate_kind(first: u32, again: u32) -> DuplicateKind {
    match (first, again) {
        (0, _) | (_, 0) => DuplicateKind::Unknown,
        (first, again) if first == again => DuplicateKind::Redelivery,
        _ => DuplicateKind::Republication,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_reached_at_the_last_expected_member() {
        let mut members = Members::default();
        let again = |kind| Noted::Again(kind);
        assert_eq!(members.note(10, 1, 100, 3), Noted::Member);
        assert_eq!(members.note(10, 1, 101, 3), again(DuplicateKind::Redelivery));
        assert_eq!(members.note(10, 2, 102, 3), again(DuplicateKind::Republication));
        assert_eq!(members.note(10, 0, 103, 3), again(DuplicateKind::Unknown));
        assert_eq!(members.note(5, 0, 300, 3), Noted::Member);
        assert_eq!(members.note(7, 1, 200, 3), Noted::Reaches(300));
        assert_eq!(members.note(8, 1, 400, 3), Noted::Member);
        assert_eq!(members.note(8, 1, 401, 3), again(DuplicateKind::Redelivery));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut members = Members::default();
        for member in 0..100 {
            members.note(member, 1, 0, 2);
        }
        assert_eq!(members.known.len(), 8);
    }

    #[test]
    fn a_number_told_late_reaches_at_the_member_that_made_it_full() {
        let mut members = Members::default();
        for (member, stamp_ns) in [(10, 100), (11, 300), (10, 310), (12, 200), (13, 400)] {
            assert!(!matches!(members.note(member, 1, stamp_ns, TOLD), Noted::Reaches(_)));
        }
        assert_eq!((members.told(), members.len(), members.first_ns()), (None, 4, Some(100)));
        assert_eq!(members.tell(3, 500), Some(300));
        assert_eq!(members.tell(9, 510), None);
        assert_eq!(members.note(14, 1, 600, TOLD), Noted::Member);
        // Too few so far: the last one reaches it.
        let mut members = Members::default();
        members.note(1, 1, 100, TOLD);
        assert_eq!(members.tell(2, 110), None);
        assert_eq!(members.note(2, 1, 120, TOLD), Noted::Reaches(120));
        // None at all: at once.
        assert_eq!(Members::default().tell(0, 70), Some(70));
    }

    #[test]
    fn members_of_an_unknown_number_are_bounded() {
        let mut members = Members::default();
        let noted = (0..=UNTOLD_MAX as u64).map(|member| members.note(member, 1, 0, TOLD)).last();
        assert_eq!((noted, members.len()), (Some(Noted::NoRoom), UNTOLD_MAX));
    }
}
