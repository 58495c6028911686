//! What a completion is about, in the 64 bits that the kernel hands back.

use crate::driver::ConnectionId;

/// Slots must stay below this; descriptors run out far earlier.
pub(super) const SLOTS_MAX: u32 = 1 << 24;

/// Kind, slot and generation: a completion that comes late, for a connection that is gone, never
/// reaches the next one in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(pub(super) u64);

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// To cancel another request; nothing depends on the result.
    Cancel = 0,
    /// To be told when there is room to send or connecting has ended.
    Poll = 1,
    /// To receive until the end.
    Receive = 2,
    /// To send; only failures complete.
    Send = 3,
    /// To be told of calls from other threads.
    Waker = 4,
    /// To be told that a deadline has come.
    Alarm = 5,
}

impl Tag {
    pub(super) fn new(kind: Kind, id: ConnectionId) -> Self {
        debug_assert!(id.slot < SLOTS_MAX);
        Self((kind as u64) << 56 | u64::from(id.slot) << 32 | u64::from(id.generation))
    }

    /// The tag of what concerns no connection.
    pub(super) fn alone(kind: Kind) -> Self {
        Self::new(kind, ConnectionId { slot: 0, generation: 0 })
    }

    pub(super) fn kind(self) -> Kind {
        match self.0 >> 56 {
            1 => Kind::Poll,
            2 => Kind::Receive,
            3 => Kind::Send,
            4 => Kind::Waker,
            5 => Kind::Alarm,
            _ => Kind::Cancel,
        }
    }

    pub(super) fn id(self) -> ConnectionId {
        ConnectionId { slot: (self.0 >> 32) as u32 & (SLOTS_MAX - 1), generation: self.0 as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_in_a_tag() {
        let kinds = [Kind::Cancel, Kind::Poll, Kind::Receive, Kind::Send, Kind::Waker, Kind::Alarm];
        for kind in kinds {
            for slot in [0, 1, 9_000, SLOTS_MAX - 1] {
                for generation in [0, 1, u32::MAX] {
                    let id = ConnectionId { slot, generation };
                    let tag = Tag::new(kind, id);
                    assert_eq!((tag.kind(), tag.id()), (kind, id));
                }
            }
        }
    }
}
