//! Short messages on their way to the kernel, which takes a batch of them in one call.

use rustix::fd::RawFd;

use crate::driver::ConnectionId;

/// Messages of one batch: the first one waits for the last one to be written by the client, and
/// the last one for the others to be sent by the kernel, a few microseconds each.
pub(super) const BATCH_MAX: usize = 16;

/// All messages of a batch together.
pub(super) const BATCH_BYTES: usize = 64 * 1024;

/// Longer messages gain nothing from a batch, and are not copied.
pub(in crate::driver) const MESSAGE_BYTES: usize = 16 * 1024;

/// A batch: copies of the messages, so that requests may end while theirs is on its way.
pub(super) struct Sends {
    bytes: Box<[u8]>,
    used: usize,
    /// In order; a connection has one message at most.
    messages: Vec<Posted>,
    /// Of `messages`, how many are requests to the kernel already.
    pub(super) queued: usize,
    /// The batch's number; see [`Message::batch`].
    batch: u32,
}

/// Where a message lies, as its connection remembers it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message {
    start: u32,
    length: u32,
    /// The batch it belongs to: a connection's last message is on its way while that is the
    /// present one. The first batch is number 1.
    batch: u32,
}

/// A message of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub(super) id: ConnectionId,
    pub(super) descriptor: RawFd,
    pub(super) message: Message,
}

impl Sends {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; BATCH_BYTES].into_boxed_slice(),
            used: 0,
            messages: Vec::with_capacity(BATCH_MAX),
            queued: 0,
            batch: 1,
        }
    }

    /// Whether a connection's last message is still in the batch.
    pub(super) fn has(&self, message: Message) -> bool {
        message.batch == self.batch
    }

    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= BATCH_MAX
    }

    /// Whether so many bytes find room.
    pub(super) fn has_room(&self, length: usize) -> bool {
        !self.is_full() && self.used + length <= self.bytes.len()
    }

    /// Adds a message; there is room.
    pub(super) fn add(&mut self, id: ConnectionId, descriptor: RawFd, bytes: &[u8]) -> Message {
        let message =
            Message { start: self.used as u32, length: bytes.len() as u32, batch: self.batch };
        self.copy(bytes);
        self.messages.push(Posted { id, descriptor, message });
        message
    }

    /// Makes the last message longer, if it is this one, not queued yet, and there is room.
    pub(super) fn extend(&mut self, message: Message, bytes: &[u8]) -> Option<Message> {
        let last = self.messages.len().checked_sub(1)?;
        let is_last = self.messages[last].message.start == message.start && self.queued <= last;
        if !is_last || self.used + bytes.len() > self.bytes.len() {
            return None;
        }
        self.copy(bytes);
        let last = &mut self.messages[last].message;
        last.length += bytes.len() as u32;
        Some(*last)
    }

    /// The first message that is no request yet.
    pub(super) fn next_to_queue(&self) -> Option<Posted> {
        self.messages.get(self.queued).copied()
    }

    /// Whether all messages are requests.
    pub(super) fn is_queued(&self) -> bool {
        self.queued == self.messages.len()
    }

    /// A message's bytes from `sent` on.
    pub(super) fn rest(&self, message: Message, sent: usize) -> &[u8] {
        let start = message.start as usize;
        let end = start + message.length as usize;
        &self.bytes[(start + sent).min(end)..end]
    }

    /// Begins the next batch; the kernel has taken all of this one.
    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.queued = 0;
        self.used = 0;
        self.batch = self.batch.wrapping_add(1).max(1);
    }

    fn copy(&mut self, bytes: &[u8]) {
        self.bytes[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }
}
