//! Where a journey is found: by its number, and by its keys.

use std::hint::black_box;

use hashbrown::HashTable;

use crate::JourneyId;
use crate::hash::{KeyHash, spread_id};
use crate::journey::{Alias, Journey};
use crate::slab::Slab;

/// Tables of slots. What a slot is compared by stands in the journey itself.
#[derive(Debug)]
pub(crate) struct Index {
    ids: HashTable<u32>,
    keys: HashTable<u32>,
    aliases: Slab<Alias>,
}

/// In the table of keys, this bit tells a place among the aliases from one among the journeys.
const ALIAS: u32 = 1 << 31;

/// Room made at the start; more is made when needed.
const ROOM_MAX: usize = 1 << 12;

impl Index {
    pub(crate) fn new(journeys_max: usize) -> Self {
        let room = journeys_max.min(ROOM_MAX);
        Self {
            ids: HashTable::with_capacity(room),
            keys: HashTable::with_capacity(room),
            aliases: Slab::new(),
        }
    }

    /// Journeys in it.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn by_id(&self, journeys: &Slab<Journey>, id: JourneyId) -> Option<u32> {
        self.ids.find(spread_id(id.0), |&slot| journeys[slot].id == id).copied()
    }

    pub(crate) fn by_key(&self, journeys: &Slab<Journey>, hash: KeyHash) -> Option<u32> {
        let named = |&place: &u32| hash_of(journeys, &self.aliases, place) == hash;
        let place = *self.keys.find(hash.spread(), named)?;
        Some(if place & ALIAS == 0 { place } else { self.aliases[place & !ALIAS].journey })
    }

    /// Reads where a key's place would be listed, for [`Self::touch`] to find it near.
    pub(crate) fn approach(&self, hash: KeyHash) {
        black_box(self.keys.find(hash.spread(), |_| false));
    }

    /// Reads the place itself, for [`Self::by_key`] to find it near.
    pub(crate) fn touch(&self, hash: KeyHash) {
        black_box(self.keys.find(hash.spread(), |&place| {
            black_box(place);
            false
        }));
    }

    pub(crate) fn insert_id(&mut self, journeys: &Slab<Journey>, slot: u32) {
        let spread = spread_id(journeys[slot].id.0);
        self.ids.insert_unique(spread, slot, |&slot| spread_id(journeys[slot].id.0));
    }

    /// Makes `hash` name this journey, whichever it named before.
    pub(crate) fn insert_key(&mut self, journeys: &mut Slab<Journey>, slot: u32, hash: KeyHash) {
        let former = self
            .keys
            .find_entry(hash.spread(), |&place| hash_of(journeys, &self.aliases, place) == hash);
        if let Ok(entry) = former {
            entry.remove();
        }
        let place = if journeys[slot].hash == KeyHash::NONE {
            journeys[slot].hash = hash;
            slot
        } else {
            let alias = self.aliases.insert(Alias { hash, journey: slot });
            journeys[slot].extra_mut().aliases.push(alias);
            alias | ALIAS
        };
        let spread_of = |&place: &u32| hash_of(journeys, &self.aliases, place).spread();
        self.keys.insert_unique(hash.spread(), place, spread_of);
    }

    /// Forgets a journey. A key of it that names another one by now is left alone.
    pub(crate) fn remove(&mut self, journey: &Journey, slot: u32) {
        remove(&mut self.ids, spread_id(journey.id.0), slot);
        remove(&mut self.keys, journey.hash.spread(), slot);
        let aliases = journey.extra.as_ref().map_or(&[][..], |extra| &extra.aliases);
        for &place in aliases {
            if let Some(alias) = self.aliases.remove(place) {
                remove(&mut self.keys, alias.hash.spread(), place | ALIAS);
            }
        }
    }
}

#[inline]
fn hash_of(journeys: &Slab<Journey>, aliases: &Slab<Alias>, place: u32) -> KeyHash {
    if place & ALIAS == 0 { journeys[place].hash } else { aliases[place & !ALIAS].hash }
}

fn remove(table: &mut HashTable<u32>, spread: u64, place: u32) {
    if let Ok(entry) = table.find_entry(spread, |&other| other == place) {
        entry.remove();
    }
}
