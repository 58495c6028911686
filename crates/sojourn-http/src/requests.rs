//! Requests taken up, in places that are used again.

use std::ops::{Index, IndexMut};

use crate::in_flight::{InFlight, NO_SERIAL};
use crate::prefetch::prefetch;
use crate::spares::Spares;
use crate::{Exchange, Response};

/// Most vacant places that keep their request's buffer.
const SPARE_BUFFERS_MAX: usize = 1_024;

/// Buffers above this size are given back to the allocator.
const SPARE_BYTES_MAX: usize = 64 * 1024;

/// The requests of a client by slot. A request is written where one has ended, over it: nothing is
/// moved and, once there have been as many at a time, nothing allocated.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    places: Vec<InFlight>,
    /// The last one to become vacant is used first: it is still in the cache.
    vacant: Vec<u32>,
    /// Vacant places that keep a buffer.
    spare_buffers: usize,
    /// For answers that are kept.
    spares: Spares,
}

impl Requests {
    /// Takes a request up; its slot.
    pub(crate) fn begin(&mut self, now_ns: u64, exchange: &Exchange<'_>, serial: u64) -> u32 {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(InFlight::vacant());
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[slot as usize];
        self.spare_buffers -= usize::from(place.bytes.capacity() > 0);
        place.begin(now_ns, exchange, serial);
        if exchange.body.keeps_head() {
            place.lend(self.spares.take(), self.spares.take());
        }
        slot
    }

    /// Keeps the buffers of an answer that was looked at.
    #[inline]
    pub(crate) fn recycle(&mut self, answer: &mut Response) {
        for buffer in [&mut answer.body, &mut answer.head] {
            if buffer.capacity() > 0 {
                self.spares.give(std::mem::take(buffer));
            }
        }
    }

    /// The request in this slot has been completed.
    pub(crate) fn end(&mut self, slot: u32) {
        let place = &mut self.places[slot as usize];
        debug_assert!(place.serial != NO_SERIAL, "ended twice");
        place.vacate();
        let capacity = place.bytes.capacity();
        if capacity > SPARE_BYTES_MAX || self.spare_buffers >= SPARE_BUFFERS_MAX {
            place.bytes = Vec::new();
        } else {
            self.spare_buffers += usize::from(capacity > 0);
        }
        self.vacant.push(slot);
    }

    /// Asks the processor for a request's memory, so that it is there when it is looked at.
    #[inline]
    pub(crate) fn prefetch(&self, slot: u32) {
        prefetch(&self.places, slot as usize);
    }

    /// For when a deadline of this slot is in the queue; zero for none.
    #[inline]
    pub(crate) fn watched_ns(&self, slot: u32) -> u64 {
        self.places.get(slot as usize).map_or(0, |place| place.watched_ns)
    }

    /// The slot's deadline is in the queue no more.
    pub(crate) fn unwatch(&mut self, slot: u32) {
        if let Some(place) = self.places.get_mut(slot as usize) {
            place.watched_ns = 0;
        }
    }

    /// How many there have been at a time.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.vacant.len()
    }

    /// Whether there is one in this slot.
    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.get(slot).is_some()
    }

    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<&InFlight> {
        self.places.get(slot).filter(|place| place.serial != NO_SERIAL)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut InFlight> {
        self.places.get_mut(slot).filter(|place| place.serial != NO_SERIAL)
    }
}

/// A request that is known to be under way.
impl Index<usize> for Requests {
    type Output = InFlight;

    #[inline]
    fn index(&self, slot: usize) -> &InFlight {
        let place = &self.places[slot];
        debug_assert!(place.serial != NO_SERIAL, "a request that has ended");
        place
    }
}

impl IndexMut<usize> for Requests {
    #[inline]
    fn index_mut(&mut self, slot: usize) -> &mut InFlight {
        let place = &mut self.places[slot];
        debug_assert!(place.serial != NO_SERIAL, "a request that has ended");
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BodyPolicy, OriginId};

    fn exchange(token: u64, bytes: &[u8]) -> Exchange<'_> {
        let (origin, body) = (OriginId(0), BodyPolicy::Count);
        Exchange { token, origin, bytes, head_only: false, timeout_ns: 9, body }
    }

    #[test]
    fn a_place_is_used_again_and_nothing_of_the_last_request_is_left() {
        let mut requests = Requests::default();
        let first = requests.begin(1, &exchange(7, b"GET /long"), 0);
        let known = &mut crate::codec::KnownHeads::default();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        let request = &mut requests[first as usize];
        (request.written, request.bytes_out, request.connection) = (9, 9, Some(3));
        (request.first_sent_ns, request.sent_ns, request.dialled.tls_ns) = (2, 2, 1);
        (request.retries, request.stream) = (1, 5);
        request.peer = crate::peer::Peers::new()
            .id(crate::Peer { address: Some(([127, 0, 0, 1], 9).into()), tls: None });
        (request.is_probe, request.probes_tls) = (true, true);
        assert!(request.absorb(answer, known, 5).is_ok_and(|left| left == Some(0)));
        let mut completions = Vec::new();
        request.complete(5, None, "", &mut completions);
        requests.end(first);
        assert_eq!((requests.len(), requests.contains(first as usize)), (0, false));
        let second = requests.begin(3, &exchange(8, b"GET /"), 1);
        let mut fresh = InFlight::vacant();
        fresh.begin(3, &exchange(8, b"GET /"), 1);
        assert_eq!((second, requests.len()), (first, 1));
        assert_eq!(format!("{:?}", requests[second as usize]), format!("{fresh:?}"));
        assert_eq!(requests.begin(3, &exchange(9, b""), 2), 1);
    }

    #[test]
    fn buffers_are_kept_up_to_a_bound() {
        let mut requests = Requests::default();
        let many = SPARE_BUFFERS_MAX as u32 + 10;
        for slot in 0..many {
            assert_eq!(requests.begin(1, &exchange(0, b"GET /"), slot.into()), slot);
        }
        (0..many).for_each(|slot| requests.end(slot));
        let kept = |requests: &Requests| {
            requests.places.iter().filter(|place| place.bytes.capacity() > 0).count()
        };
        assert_eq!((kept(&requests), requests.spare_buffers), (1_024, 1_024));
        // All at once again, the last of them too large to be kept.
        let large = vec![0; SPARE_BYTES_MAX + 1];
        let slots: Vec<u32> = (0..many)
            .map(|serial| requests.begin(1, &exchange(0, &large), serial.into()))
            .collect();
        assert_eq!(requests.spare_buffers, 0);
        slots.iter().for_each(|slot| requests.end(*slot));
        assert_eq!((kept(&requests), requests.spare_buffers, requests.len()), (0, 0, 0));
    }
}
