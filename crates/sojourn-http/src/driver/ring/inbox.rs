//! Completions, and what they mean for connections.

use std::collections::VecDeque;

use io_uring::cqueue;
use rustix::io::Errno;

use super::buffers::Buffers;
use super::queue::Queue;
use super::slots::{Slots, What};
use super::tag::{Kind, Tag};
use crate::driver::{ConnectionId, Socket};

/// How many completions ahead a connection's slot is asked for.
const SLOTS_AHEAD: usize = 4;

/// What has come and has not been handed on.
pub(super) struct Inbox {
    pub(super) slots: Slots,
    pub(super) buffers: Buffers,
    /// Receives under way: requests that may write to the buffers.
    pub(super) receives: usize,
    /// Connections whose receive has ended early, for want of buffers or of room for completions.
    pub(super) starved: VecDeque<ConnectionId>,
    /// Messages that did not go wholly, and how much of each did.
    pub(super) unsent: Vec<(ConnectionId, usize)>,
    /// Connections that have room to send again, or have connected.
    pub(super) roomy: Vec<ConnectionId>,
    /// The waker has called.
    pub(super) called: bool,
    /// The alarm has rung.
    pub(super) rang: bool,
    /// The waker is not listened to any more.
    pub(super) deaf: bool,
    /// The completions that are being taken; empty in between.
    batch: Vec<cqueue::Entry>,
}

impl Inbox {
    pub(super) fn new(buffers: Buffers) -> Self {
        Self {
            slots: Slots::new(),
            buffers,
            receives: 0,
            starved: VecDeque::new(),
            unsent: Vec::new(),
            roomy: Vec::new(),
            called: false,
            rang: false,
            deaf: false,
            batch: Vec::new(),
        }
    }

    /// Takes all completions.
    pub(super) fn take(&mut self, queue: &mut Queue) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.extend(queue.completions());
        for (place, completion) in batch.iter().enumerate() {
            if let Some(ahead) = batch.get(place + SLOTS_AHEAD) {
                self.slots.prefetch(Tag(ahead.user_data()).id());
            }
            let tag = Tag(completion.user_data());
            match tag.kind() {
                Kind::Cancel => {}
                Kind::Poll => self.polled(tag.id()),
                Kind::Receive => self.received(tag.id(), completion),
                Kind::Alarm => self.rang = true,
                Kind::Send => self.not_sent(tag.id(), completion.result()),
                Kind::Waker => {
                    self.called = true;
                    self.deaf |= !cqueue::more(completion.flags());
                }
            }
        }
        batch.clear();
        self.batch = batch;
    }

    /// Forgets a connection; says whether it was receiving and polling.
    pub(super) fn vacate(&mut self, socket: &Socket) -> (bool, bool) {
        let slot = self.slots.of(socket);
        while let Some(buffer) = slot.pop(&self.buffers) {
            self.buffers.give_back(buffer);
        }
        slot.generation = None;
        slot.backlog = None;
        (slot.receiving, slot.polling)
    }

    fn received(&mut self, id: ConnectionId, completion: &cqueue::Entry) {
        let has_more = cqueue::more(completion.flags());
        if !has_more {
            self.receives -= 1;
        }
        let buffer = cqueue::buffer_select(completion.flags());
        if buffer.is_some() {
            self.buffers.taken();
        }
        let Some(slot) = self.slots.current(id) else {
            // Too late: the connection is closed.
            if let Some(buffer) = buffer {
                self.buffers.give_back(buffer);
            }
            return;
        };
        slot.receiving = has_more;
        let result = completion.result();
        if result > 0
            && let Some(buffer) = buffer
        {
            self.buffers.set(buffer, result as u32);
            slot.push(buffer, &mut self.buffers);
            if !has_more {
                self.starved.push_back(id);
            }
            return self.slots.report(id, What::Bytes);
        }
        if let Some(buffer) = buffer {
            self.buffers.give_back(buffer);
        }
        let end = match outcome(result) {
            Ok(_) => Ok(()),
            Err(Errno::NOBUFS | Errno::AGAIN | Errno::INTR) => {
                if !has_more {
                    self.starved.push_back(id);
                }
                return;
            }
            Err(errno) => Err(errno),
        };
        slot.end = slot.end.or(Some(end));
        self.slots.report(id, What::End);
    }

    /// A message did not go wholly.
    fn not_sent(&mut self, id: ConnectionId, result: i32) {
        let Some(slot) = self.slots.current(id) else {
            return;
        };
        let sent = match outcome(result) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => {
                slot.end = slot.end.or(Some(Err(errno)));
                return self.slots.report(id, What::End);
            }
        };
        self.unsent.push((id, sent));
    }

    fn polled(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.current(id) {
            slot.polling = false;
            self.roomy.push(id);
        }
    }
}

/// A completion's result: a number, or an error as its negative.
fn outcome(result: i32) -> Result<usize, Errno> {
    match result {
        0.. => Ok(result as usize),
        _ => Err(Errno::from_raw_os_error(result.wrapping_neg())),
    }
}
