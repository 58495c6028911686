//! The members of a fan-out stage that have come.

use crate::DuplicateKind;

/// Distinct members and the message id each came with first.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Sorted by member.
    known: Vec<(u64, u32)>,
    latest_ns: u64,
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
}

impl Members {
    /// Notes a member. A stage is reached at the `expect`-th distinct one; further distinct ones
    /// are members too, remembered up to four times as many (beyond that a repetition passes for
    /// new).
    pub(crate) fn note(
        &mut self,
        member: u64,
        message_id: u32,
        stamp_ns: u64,
        expect: u32,
    ) -> Noted {
        match self.known.binary_search_by_key(&member, |&(known, _)| known) {
            Ok(at) => Noted::Again(duplicate_kind(self.known[at].1, message_id)),
            Err(at) => {
                let expect = expect as usize;
                if self.known.len() < expect.saturating_mul(4) {
                    self.known.insert(at, (member, message_id));
                }
                // Events of a second key may be matched back behind later ones: reached is the
                // last.
                self.latest_ns = self.latest_ns.max(stamp_ns);
                if self.known.len() == expect {
                    Noted::Reaches(self.latest_ns)
                } else {
                    Noted::Member
                }
            }
        }
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
}
