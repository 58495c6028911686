//! How many journeys of each class were kept, and how many there was no room for.

use sojourn_record::{KeptAs, KeptCount, KeptRecord};

/// Duplicates that come after their journey's end are listed up to this many times the journeys of
/// a class.
const LATER_PER_JOURNEY: u64 = 10;

/// The books of the audit.
#[derive(Debug)]
pub(super) struct Counts {
    each_max: u64,
    classes: [Class; KeptAs::ALL.len()],
    duplicates: u64,
    duplicates_beyond: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    kept: u64,
    not_kept: u64,
    /// Places taken: of poisoned journeys, which mostly fail, apart from the others.
    taken: [u64; 2],
}

impl Counts {
    pub(super) fn new(each_max: u64) -> Self {
        Self {
            each_max,
            classes: [Class::default(); KeptAs::ALL.len()],
            duplicates: 0,
            duplicates_beyond: 0,
        }
    }

    /// Counts a journey in all its classes, as kept if any of them has room; says which.
    pub(super) fn take(&mut self, roles: &[KeptAs], is_poisoned: bool) -> bool {
        let place = usize::from(is_poisoned);
        let has_room =
            roles.iter().any(|role| self.classes[*role as usize].taken[place] < self.each_max);
        for role in roles {
            let class = &mut self.classes[*role as usize];
            match has_room {
                true => {
                    class.kept += 1;
                    class.taken[place] += 1;
                }
                false => class.not_kept += 1,
            }
        }
        has_room
    }

    /// Counts a journey as kept that is in the file whatever its class.
    pub(super) fn keep(&mut self, roles: &[KeptAs]) {
        for role in roles {
            self.classes[*role as usize].kept += 1;
        }
    }

    /// A journey that had been counted as not kept is kept after all, for something else.
    pub(super) fn recover(&mut self, roles: &[KeptAs]) {
        for role in roles {
            let class = &mut self.classes[*role as usize];
            class.kept += 1;
            class.not_kept = class.not_kept.saturating_sub(1);
        }
    }

    /// Counts journeys handed out at the end.
    pub(super) fn hand_out(&mut self, role: KeptAs, journeys: usize) {
        self.classes[role as usize].kept += journeys as u64;
    }

    /// Counts a duplicate of a journey that was handed out; says whether there is room for it.
    pub(super) fn take_duplicate(&mut self) -> bool {
        let has_room = self.duplicates < self.each_max.saturating_mul(LATER_PER_JOURNEY);
        match has_room {
            true => self.duplicates += 1,
            false => self.duplicates_beyond += 1,
        }
        has_room
    }

    pub(super) fn record(&self) -> KeptRecord {
        let count = |role: KeptAs| {
            let Class { kept, not_kept, .. } = self.classes[role as usize];
            KeptCount { class: role.name().to_owned(), kept, not_kept }
        };
        KeptRecord {
            classes: KeptAs::ALL.map(count).to_vec(),
            each_max: self.each_max,
            duplicates_beyond: self.duplicates_beyond,
        }
    }
}
