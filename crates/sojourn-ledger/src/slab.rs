//! Numbered places in fixed pages, and lists that run through them.
//!
//! Pages rather than one vector: growing copies nothing, so no fact waits for a reallocation, and
//! memory is what is used plus at most one page.

use std::ops::{Index, IndexMut};

/// No place.
pub(crate) const NONE: u32 = u32::MAX;

/// Places per page.
pub(crate) const PAGE: usize = 1024;

/// Values in numbered places; a freed place is taken again first.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    pages: Vec<Vec<Place<T>>>,
    vacant: u32,
    len: usize,
}

#[derive(Debug)]
enum Place<T> {
    /// The next vacant place.
    Vacant(u32),
    Taken(T),
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { pages: Vec::new(), vacant: NONE, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Size of one place.
    #[cfg(test)]
    pub(crate) fn place_bytes() -> usize {
        size_of::<Place<T>>()
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        self.len += 1;
        if self.vacant != NONE {
            let slot = self.vacant;
            let place = &mut self.pages[slot as usize / PAGE][slot as usize % PAGE];
            if let Place::Vacant(next) = *place {
                self.vacant = next;
            }
            *place = Place::Taken(value);
            return slot;
        }
        if self.pages.last().is_none_or(|page| page.len() == PAGE) {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        let full_pages = self.pages.len() - 1;
        let page = &mut self.pages[full_pages];
        page.push(Place::Taken(value));
        (full_pages * PAGE + page.len() - 1) as u32
    }

    /// What is at a place, if it is one and not empty.
    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        match self.pages.get(slot as usize / PAGE)?.get(slot as usize % PAGE)? {
            Place::Taken(value) => Some(value),
            Place::Vacant(_) => None,
        }
    }

    /// Empties a place; `None` when it is empty already.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<T> {
        let place = self.pages.get_mut(slot as usize / PAGE)?.get_mut(slot as usize % PAGE)?;
        if let Place::Vacant(_) = place {
            return None;
        }
        let old = std::mem::replace(place, Place::Vacant(self.vacant));
        self.vacant = slot;
        self.len -= 1;
        match old {
            Place::Taken(value) => Some(value),
            Place::Vacant(_) => None,
        }
    }
}

/// Slots come only from [`Slab::insert`] and leave every list and table before they are removed, so
/// an empty place met here is a defect of the ledger: better to stop than to count wrong.
impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, slot: u32) -> &T {
        match &self.pages[slot as usize / PAGE][slot as usize % PAGE] {
            Place::Taken(value) => value,
            Place::Vacant(_) => unreachable!("slot {slot} is in use"),
        }
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut T {
        match &mut self.pages[slot as usize / PAGE][slot as usize % PAGE] {
            Place::Taken(value) => value,
            Place::Vacant(_) => unreachable!("slot {slot} is in use"),
        }
    }
}

/// The neighbours of a value in the one list it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) previous: u32,
    pub(crate) next: u32,
}

impl Links {
    pub(crate) const NONE: Self = Self { previous: NONE, next: NONE };
}

/// A value that can be in a list.
pub(crate) trait Linked {
    fn links(&self) -> Links;
    fn links_mut(&mut self) -> &mut Links;
}

/// A doubly linked list through a slab: nothing is searched to take a value out of the middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) len: usize,
}

impl List {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE, len: 0 };

    pub(crate) fn push_back<T: Linked>(&mut self, slab: &mut Slab<T>, slot: u32) {
        self.insert_after(slab, self.tail, slot);
    }

    /// Inserts `slot` behind `previous`; in front of all when that is [`NONE`].
    pub(crate) fn insert_after<T: Linked>(&mut self, slab: &mut Slab<T>, previous: u32, slot: u32) {
        let next = if previous == NONE { self.head } else { slab[previous].links().next };
        *slab[slot].links_mut() = Links { previous, next };
        match previous {
            NONE => self.head = slot,
            _ => slab[previous].links_mut().next = slot,
        }
        match next {
            NONE => self.tail = slot,
            _ => slab[next].links_mut().previous = slot,
        }
        self.len += 1;
    }

    pub(crate) fn unlink<T: Linked>(&mut self, slab: &mut Slab<T>, slot: u32) {
        let Links { previous, next } = std::mem::replace(slab[slot].links_mut(), Links::NONE);
        match previous {
            NONE => self.head = next,
            _ => slab[previous].links_mut().next = next,
        }
        match next {
            NONE => self.tail = previous,
            _ => slab[next].links_mut().previous = previous,
        }
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bead(u64, Links);

    impl Linked for Bead {
        fn links(&self) -> Links {
            self.1
        }
        fn links_mut(&mut self) -> &mut Links {
            &mut self.1
        }
    }

    fn walk(list: &List, slab: &Slab<Bead>) -> Vec<u64> {
        let mut values = Vec::new();
        let mut slot = list.head;
        while slot != NONE {
            values.push(slab[slot].0);
            slot = slab[slot].links().next;
        }
        values
    }

    #[test]
    fn a_freed_place_is_taken_again() {
        let mut slab = Slab::new();
        let slots: Vec<u32> = (0..3000_u32).map(|value| slab.insert(value)).collect();
        assert_eq!(slab.remove(slots[1500]), Some(1500));
        assert_eq!(slab.remove(slots[1500]), None);
        assert_eq!(slab.remove(NONE), None);
        assert_eq!(slab.len(), 2999);
        assert_eq!(slab.insert(7), slots[1500]);
        assert_eq!((slab[slots[1500]], slab[slots[2999]]), (7, 2999));
    }

    #[test]
    fn a_list_keeps_its_order() {
        let (mut slab, mut list) = (Slab::new(), List::EMPTY);
        let [a, b, c] = [1, 2, 3].map(|value| slab.insert(Bead(value, Links::NONE)));
        list.push_back(&mut slab, b);
        list.insert_after(&mut slab, NONE, a);
        list.push_back(&mut slab, c);
        assert_eq!(walk(&list, &slab), [1, 2, 3]);
        list.unlink(&mut slab, b);
        assert_eq!(walk(&list, &slab), [1, 3]);
        list.unlink(&mut slab, c);
        list.unlink(&mut slab, a);
        assert_eq!((list.head, list.tail, list.len), (NONE, NONE, 0));
    }
}
