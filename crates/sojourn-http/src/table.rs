//! Values in places that are used again, by number.
//!
//! What the crate `slab` does, and one thing more: a place can be asked for ahead of its use
//! ([`Table::prefetch`]), which needs its address without a look at it.

use std::ops::{Index, IndexMut};

use crate::prefetch::prefetch;

/// Values by the number of their place.
#[derive(Debug)]
pub struct Table<T> {
    places: Vec<Option<T>>,
    /// The last one to become vacant is used first: it is still in the cache.
    vacant: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Table<T> {
    /// Puts a value into a vacant place; the place's number. At most 2³² values.
    #[inline]
    pub fn insert(&mut self, value: T) -> usize {
        if let Some(place) = self.vacant.pop() {
            self.places[place as usize] = Some(value);
            return place as usize;
        }
        self.places.push(Some(value));
        self.places.len() - 1
    }

    /// Takes the value out of a place.
    ///
    /// # Panics
    ///
    /// Where there is none, as an index does.
    #[inline]
    #[track_caller]
    pub fn remove(&mut self, place: usize) -> T {
        let Some(value) = self.places.get_mut(place).and_then(Option::take) else {
            vacant(place);
        };
        self.vacant.push(place as u32);
        value
    }

    /// The value in a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.places.get(place)?.as_ref()
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.places.get_mut(place)?.as_mut()
    }

    /// All values, by place.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }

    /// How many values there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len() - self.vacant.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Asks the processor for a place's memory, so that it is there when the place is looked at.
    #[inline]
    pub fn prefetch(&self, place: usize) {
        prefetch(&self.places, place);
    }
}

/// A place that is known to have a value.
impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, place: usize) -> &T {
        match self.get(place) {
            Some(value) => value,
            None => vacant(place),
        }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, place: usize) -> &mut T {
        match self.get_mut(place) {
            Some(value) => value,
            None => vacant(place),
        }
    }
}

#[cold]
#[track_caller]
fn vacant(place: usize) -> ! {
    panic!("place {place} is vacant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "place 1 is vacant")]
    fn a_vacant_place_has_nothing_to_take_out() {
        let mut table = Table::default();
        table.insert("a");
        table.remove(1);
    }

    #[test]
    fn places_are_used_again_the_last_one_first() {
        let mut table = Table::default();
        assert_eq!(["a", "b", "c"].map(|value| table.insert(value)), [0, 1, 2]);
        assert_eq!((table.remove(0), table.remove(2)), ("a", "c"));
        assert_eq!((table.len(), table.is_empty()), (1, false));
        assert_eq!((table.insert("d"), table.insert("e"), table.insert("f")), (2, 0, 3));
        assert_eq!(table.iter().copied().collect::<String>(), "ebdf");
        table[3] = "g";
        assert_eq!((table[3], table.get(0), table.get(4)), ("g", Some(&"e"), None));
        table.prefetch(3);
        table.prefetch(99);
    }
}
