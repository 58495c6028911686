//! What the ring knows of each connection.

use rustix::fd::RawFd;
use rustix::io::Errno;

use super::buffers::{Buffers, NONE};
use super::sends::Message;
use crate::driver::{ConnectionId, Ready, Socket};
use crate::prefetch::prefetch;

/// A connection's slot. Small: ten thousand of them idle.
#[derive(Debug)]
pub(super) struct Slot {
    /// None once it is closed.
    pub(super) generation: Option<u32>,
    pub(super) descriptor: RawFd,
    /// First and last buffer of what has come and is not yet lent; [`NONE`] when there is none.
    head: u16,
    tail: u16,
    /// A receive is under way.
    pub(super) receiving: bool,
    /// A poll is under way: the driver will say `writable`.
    pub(super) polling: bool,
    /// How receiving has ended, once it has: `Ok` when the other end has closed its direction.
    pub(super) end: Option<Result<(), Errno>>,
    /// Where in the batch of events it stands, and in which batch.
    place: u32,
    batch: u32,
    /// Its last message.
    pub(super) message: Message,
    /// What of a message did not go.
    pub(super) backlog: Option<Box<[u8]>>,
}

impl Slot {
    pub(super) fn vacant() -> Self {
        Self {
            generation: None,
            descriptor: -1,
            head: NONE,
            tail: NONE,
            receiving: false,
            polling: false,
            end: None,
            place: 0,
            batch: 0,
            message: Message::default(),
            backlog: None,
        }
    }

    /// Nothing more has come.
    pub(super) fn is_drained(&self) -> bool {
        self.head == NONE && self.end.is_none()
    }

    /// Appends a received buffer.
    pub(super) fn push(&mut self, buffer: u16, buffers: &mut Buffers) {
        match self.tail {
            NONE => self.head = buffer,
            tail => buffers.link(tail, buffer),
        }
        self.tail = buffer;
    }

    /// Takes the first received buffer.
    pub(super) fn pop(&mut self, buffers: &Buffers) -> Option<u16> {
        let buffer = self.head;
        if buffer == NONE {
            return None;
        }
        self.head = buffers.next(buffer);
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(buffer)
    }
}

/// All slots, and the events of the present batch.
pub(super) struct Slots {
    slots: Vec<Slot>,
    events: Vec<Ready>,
    /// The batch's number; the first is 1.
    batch: u32,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), events: Vec::new(), batch: 1 }
    }

    /// Gives a connection its slot.
    pub(super) fn occupy(&mut self, id: ConnectionId, descriptor: RawFd) {
        let place = id.slot as usize;
        while self.slots.len() <= place {
            self.slots.push(Slot::vacant());
        }
        self.slots[place] = Slot { generation: Some(id.generation), descriptor, ..Slot::vacant() };
    }

    /// The slot of an open socket.
    pub(super) fn of(&mut self, socket: &Socket) -> &mut Slot {
        &mut self.slots[socket.slot as usize]
    }

    /// The connection of an open socket.
    pub(super) fn id(&mut self, socket: &Socket) -> Result<ConnectionId, Errno> {
        let generation = self.of(socket).generation.ok_or(Errno::NOTCONN)?;
        Ok(ConnectionId { slot: socket.slot, generation })
    }

    /// The slot, if the connection is still the same.
    pub(super) fn current(&mut self, id: ConnectionId) -> Option<&mut Slot> {
        self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == Some(id.generation))
    }

    /// Asks the processor for a slot's memory.
    pub(super) fn prefetch(&self, id: ConnectionId) {
        prefetch(&self.slots, id.slot as usize);
    }

    /// Adds to what the next wait reports of a connection: one event for all that has come.
    pub(super) fn report(&mut self, id: ConnectionId, what: What) {
        let Some(slot) = self.slots.get_mut(id.slot as usize) else {
            return;
        };
        let is_known = slot.batch == self.batch
            && self.events.get(slot.place as usize).is_some_and(|event| event.id == id);
        if !is_known {
            slot.batch = self.batch;
            slot.place = self.events.len() as u32;
            self.events.push(Ready { id, readable: false, writable: false, hangup: false });
        }
        let event = &mut self.events[slot.place as usize];
        match what {
            What::Bytes => event.readable = true,
            What::End => (event.readable, event.hangup) = (true, true),
            What::Room => event.writable = true,
        }
    }

    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Hands over the batch.
    pub(super) fn take_events(&mut self, events: &mut Vec<Ready>) {
        if events.is_empty() {
            std::mem::swap(events, &mut self.events);
        } else {
            events.append(&mut self.events);
        }
        self.batch = self.batch.wrapping_add(1).max(1);
    }
}

/// What there is to report of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Bytes,
    End,
    Room,
}
