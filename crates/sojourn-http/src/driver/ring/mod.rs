//! The driver on io_uring.
//!
//! One system call hands a batch of sends over, waits, and brings everything that has come. Each
//! connection has one multishot receive for all its life, which takes a buffer from a common ring
//! only when bytes are there. Short messages are copied into a batch; long ones are sent directly.
//!
//! A message counts as sent when it is in the batch. Up to [`sends::BATCH_MAX`] messages go out
//! together, at the latest with the next wait, so the last byte leaves some tens of microseconds
//! after its stamp at worst.

#![expect(unsafe_code, reason = "requests hold addresses; each has its proof")]

mod alarm;
mod buffers;
mod inbox;
mod queue;
mod sends;
mod slots;
mod tag;
#[cfg(test)]
mod tests;
mod trial;

use std::io;

use io_uring::{opcode, squeue, types};
use rustix::event::PollFlags;
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::timing::{is_past, set_timer_slack, wait_ns};
use super::{ConnectionId, OurEnd, Ready, Received, Remote, Socket, Waited, Waker};
use alarm::Alarm;
use buffers::{Buffers, Shape};
use inbox::Inbox;
use queue::Queue;
pub(super) use sends::MESSAGE_BYTES;
use sends::Sends;
use slots::What;
use tag::{Kind, SLOTS_MAX, Tag};

/// How long dropping waits for the kernel to let go of the receive buffers.
const FAREWELL_NS: u64 = sojourn_clock::SECOND_NS;

/// The driver; see the [contract](super).
///
/// A ring belongs to the thread that first uses it; on another one every call fails.
pub(crate) struct Driver {
    queue: Queue,
    inbox: Inbox,
    sends: Sends,
    alarm: Alarm,
    /// The buffer whose bytes the client has.
    lent: Option<u16>,
    waker: Waker,
}

impl Driver {
    /// A ring, if the kernel allows it and everything used here works.
    pub(super) fn new() -> io::Result<Self> {
        trial::run()?;
        Self::with(buffers::USUAL, queue::COMPLETIONS)
    }

    fn with(shape: Shape, completions: u32) -> io::Result<Self> {
        let queue = Queue::new(completions)?;
        let buffers =
            Buffers::register(queue.ring(), shape).map_err(|error| queue::refused(&error))?;
        Ok(Self {
            queue,
            inbox: Inbox::new(buffers),
            sends: Sends::new(),
            alarm: Alarm::new(),
            lent: None,
            waker: Waker::new()?,
        })
    }

    pub(super) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Opens a socket and begins to connect it.
    pub(super) fn open(
        &mut self,
        id: ConnectionId,
        remote: &Remote,
        our_end: OurEnd,
    ) -> Result<Socket, Errno> {
        self.begin()?;
        if id.slot >= SLOTS_MAX {
            return Err(Errno::MFILE);
        }
        let socket = Socket::new(id, remote.connect(our_end)?);
        self.inbox.slots.occupy(id, socket.descriptor.as_raw_fd());
        if let Err(errno) = self.poll(id) {
            self.inbox.vacate(&socket);
            return Err(errno);
        }
        Ok(socket)
    }

    /// How connecting went, once the socket is writable.
    pub(super) fn connected(&mut self, socket: &Socket) -> Result<(), Errno> {
        socket.error()?;
        let id = self.inbox.slots.id(socket)?;
        self.start_receive(id)
    }

    /// Takes a message into the batch; sends a long one directly.
    pub(super) fn send(&mut self, socket: &Socket, bytes: &[u8]) -> Result<usize, Errno> {
        let id = self.inbox.slots.id(socket)?;
        if self.sends.has(self.inbox.slots.of(socket).message) {
            let slot = self.inbox.slots.of(socket);
            if let Some(longer) = self.sends.extend(slot.message, bytes) {
                slot.message = longer;
                return Ok(bytes.len());
            }
            // What is on its way goes first; whether it went decides.
            self.flush()?;
        } else if !self.sends.has_room(bytes.len()) {
            self.flush()?;
        }
        let slot = self.inbox.slots.of(socket);
        if let Some(Err(errno)) = slot.end {
            return Err(errno);
        }
        if slot.polling {
            return Err(Errno::AGAIN);
        }
        let is_long = bytes.len() > MESSAGE_BYTES;
        if self.sends.has(slot.message) || !(is_long || self.sends.has_room(bytes.len())) {
            // The kernel takes nothing now, or an earlier message's rest has just joined the batch
            // and goes first.
            self.inbox.slots.report(id, What::Room);
            return Err(Errno::AGAIN);
        }
        if is_long {
            return self.send_directly(id, socket, bytes);
        }
        slot.message = self.sends.add(id, slot.descriptor, bytes);
        if self.sends.is_full() {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn send_directly(
        &mut self,
        id: ConnectionId,
        socket: &Socket,
        bytes: &[u8],
    ) -> Result<usize, Errno> {
        let sent = socket.send(bytes);
        if matches!(sent, Err(Errno::AGAIN)) || sent.is_ok_and(|sent| sent < bytes.len()) {
            self.poll(id)?;
        }
        sent
    }

    /// Receives once.
    pub(super) fn receive(&mut self, socket: &Socket) -> Result<Received<'_>, Errno> {
        self.take_back_lent();
        let slot = self.inbox.slots.of(socket);
        if let Some(buffer) = slot.pop(&self.inbox.buffers) {
            self.lent = Some(buffer);
            let drained = slot.is_drained();
            return Ok(Received::Bytes { bytes: self.inbox.buffers.bytes(buffer), drained });
        }
        match slot.end {
            None => Ok(Received::Nothing),
            Some(Ok(())) => Ok(Received::End),
            Some(Err(errno)) => Err(errno),
        }
    }

    /// Ends a connection, at once: a caller that has what it wants may not wait again for long.
    pub(super) fn close(&mut self, socket: Socket) {
        let Ok(id) = self.inbox.slots.id(&socket) else {
            return;
        };
        let (receiving, polling) = self.inbox.vacate(&socket);
        let is_on_its_way = self.sends.has(self.inbox.slots.of(&socket).message);
        if !(receiving || polling || is_on_its_way) {
            return;
        }
        // Its message goes before the socket closes.
        let mut queued = self.queue_sends();
        for kind in [receiving.then_some(Kind::Receive), polling.then_some(Kind::Poll)] {
            let Some(kind) = kind else { continue };
            let cancel = opcode::AsyncCancel::new(Tag::new(kind, id).0)
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(Tag::alone(Kind::Cancel).0);
            // SAFETY: names no memory.
            let cancelled = unsafe { self.queue.push(&cancel) };
            queued = queued.and(cancelled);
        }
        // What is cancelled holds the socket open until its end is taken. Should the ring be out
        // of order, the next wait says so.
        queued.and_then(|()| self.queue.wait(0)).and_then(|()| self.after_entering()).ok();
    }

    /// Waits until something is ready or the instant has come, and appends what is ready. Returns
    /// early when interrupted by a signal.
    pub(super) fn wait_until(
        &mut self,
        deadline_ns: u64,
        ready: &mut Vec<Ready>,
    ) -> io::Result<Waited> {
        self.begin().map_err(explained)?;
        self.take_back_lent();
        self.feed_starved().map_err(explained)?;
        self.queue_sends().map_err(explained)?;
        let has_something = self.inbox.slots.has_events() || self.inbox.called;
        let sleeps = !(has_something || is_past(deadline_ns));
        if !sleeps {
            self.queue.wait(0).map_err(explained)?;
        } else {
            self.alarm.set(deadline_ns, &mut self.queue).map_err(explained)?;
            self.queue.wait(u64::MAX).map_err(explained)?;
        }
        let now_ns = sojourn_clock::now_ns();
        self.after_entering().map_err(explained)?;
        self.inbox.slots.take_events(ready);
        let called = std::mem::take(&mut self.inbox.called);
        let woken = called && self.waker.take();
        Ok(Waited { now_ns, slept: sleeps, woken, called })
    }

    /// Makes the ring the calling thread's, the first time.
    fn begin(&mut self) -> Result<(), Errno> {
        if self.queue.is_enabled() {
            return Ok(());
        }
        self.queue.enable()?;
        set_timer_slack();
        self.listen_to_waker()
    }

    fn listen_to_waker(&mut self) -> Result<(), Errno> {
        let descriptor = types::Fd(self.waker.descriptor().as_raw_fd());
        let poll = opcode::PollAdd::new(descriptor, u32::from(PollFlags::IN.bits()))
            .multi(true)
            .build()
            .user_data(Tag::alone(Kind::Waker).0);
        // SAFETY: names no memory.
        unsafe { self.queue.push(&poll) }
    }

    /// Asks to be told when there is room to send, or connecting has ended.
    fn poll(&mut self, id: ConnectionId) -> Result<(), Errno> {
        let Some(slot) = self.inbox.slots.current(id) else {
            return Ok(());
        };
        let descriptor = types::Fd(slot.descriptor);
        let poll = opcode::PollAdd::new(descriptor, u32::from(PollFlags::OUT.bits()))
            .build()
            .user_data(Tag::new(Kind::Poll, id).0);
        slot.polling = true;
        // SAFETY: names no memory.
        unsafe { self.queue.push(&poll) }
    }

    fn start_receive(&mut self, id: ConnectionId) -> Result<(), Errno> {
        let Some(slot) = self.inbox.slots.current(id) else {
            return Ok(());
        };
        if slot.receiving || slot.end.is_some() {
            return Ok(());
        }
        let receive = opcode::RecvMulti::new(types::Fd(slot.descriptor), buffers::GROUP)
            .build()
            .user_data(Tag::new(Kind::Receive, id).0);
        slot.receiving = true;
        self.inbox.receives += 1;
        // SAFETY: names no memory but the registered buffers, which outlive every receive that is
        // counted: see `drop`.
        unsafe { self.queue.push(&receive) }
    }

    fn take_back_lent(&mut self) {
        if let Some(buffer) = self.lent.take() {
            self.inbox.buffers.give_back(buffer);
        }
    }

    /// Lets connections receive again that could not for want of buffers, in their order: as many
    /// as there are buffers. If all were let, all others would fail again each time, and the kernel
    /// would do nothing else.
    fn feed_starved(&mut self) -> Result<(), Errno> {
        for _ in 0..self.inbox.buffers.left() {
            let Some(id) = self.inbox.starved.pop_front() else {
                break;
            };
            self.start_receive(id)?;
        }
        Ok(())
    }

    /// Makes requests of the batch's messages.
    fn queue_sends(&mut self) -> Result<(), Errno> {
        // With these a message goes now and wholly, in silence, or its failure says how much of it
        // went.
        let flags = (SendFlags::DONTWAIT | SendFlags::NOSIGNAL).bits() as i32 | MSG_WAITALL;
        while let Some(posted) = self.sends.next_to_queue() {
            let bytes = self.sends.rest(posted.message, 0);
            let descriptor = types::Fd(posted.descriptor);
            let send = opcode::Send::new(descriptor, bytes.as_ptr(), bytes.len() as u32)
                .flags(flags)
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(Tag::new(Kind::Send, posted.id).0);
            // SAFETY: with MSG_DONTWAIT the kernel is done with the bytes when it has taken the
            // request. Until then they stay where they are: the batch is cleared only when all
            // requests are handed over, and none is handed over after `drop`.
            unsafe { self.queue.push(&send)? };
            self.sends.queued += 1;
        }
        Ok(())
    }

    /// Hands everything over without waiting.
    fn flush(&mut self) -> Result<(), Errno> {
        self.queue_sends()?;
        self.queue.submit()?;
        self.after_entering()
    }

    /// Takes what has completed, clears up what the kernel has taken, and asks anew for what has
    /// ended before its time.
    fn after_entering(&mut self) -> Result<(), Errno> {
        self.inbox.take(&mut self.queue);
        while self.queue.is_overflown() {
            self.queue.wait(0)?;
            self.inbox.take(&mut self.queue);
        }
        // Before what follows asks the kernel for more: that is no part of the batch.
        let is_sent = self.queue.is_handed_over() && self.sends.is_queued();
        while let Some((id, sent)) = self.inbox.unsent.pop() {
            if let Some(slot) = self.inbox.slots.current(id) {
                // A message's failure completes within the call that hands it over.
                debug_assert!(self.sends.has(slot.message));
                slot.backlog = Some(Box::from(self.sends.rest(slot.message, sent)));
                self.poll(id)?;
            }
        }
        if is_sent {
            self.sends.clear();
        }
        while let Some(id) = self.inbox.roomy.pop() {
            self.send_backlog(id)?;
        }
        if std::mem::take(&mut self.inbox.rang) {
            self.alarm.rang();
        }
        if std::mem::take(&mut self.inbox.deaf) {
            self.listen_to_waker()?;
        }
        Ok(())
    }

    /// There is room again: what did not go before goes first.
    fn send_backlog(&mut self, id: ConnectionId) -> Result<(), Errno> {
        let Some(slot) = self.inbox.slots.current(id) else {
            return Ok(());
        };
        if let Some(backlog) = slot.backlog.take() {
            if !self.sends.has_room(backlog.len()) {
                slot.backlog = Some(backlog);
                return self.poll(id);
            }
            slot.message = self.sends.add(id, slot.descriptor, &backlog);
        }
        self.inbox.slots.report(id, What::Room);
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.take_back_lent();
        if self.queue.is_enabled() {
            // On a thread that the ring does not belong to nothing of this works; then the buffers
            // stay the kernel's for good.
            self.flush().ok();
            self.cancel_receives().ok();
        }
        if self.inbox.receives == 0 {
            self.inbox.buffers.unregister(self.queue.ring());
        }
    }
}

impl Driver {
    fn cancel_receives(&mut self) -> Result<(), Errno> {
        let give_up_ns = sojourn_clock::now_ns() + FAREWELL_NS;
        if self.inbox.receives > 0 {
            let all = opcode::AsyncCancel2::new(types::CancelBuilder::any())
                .build()
                .user_data(Tag::alone(Kind::Cancel).0);
            // SAFETY: names no memory.
            unsafe { self.queue.push(&all)? };
        }
        while self.inbox.receives > 0 && sojourn_clock::now_ns() < give_up_ns {
            self.queue.wait(wait_ns(give_up_ns))?;
            self.inbox.take(&mut self.queue);
        }
        Ok(())
    }
}

/// `MSG_WAITALL`, which rustix knows for receiving only.
const MSG_WAITALL: i32 = 0x100;

/// The kernel's error, in words where it has one cause only.
fn explained(errno: Errno) -> io::Error {
    match errno {
        Errno::EXIST => io::Error::other(
            "a client on io_uring belongs to the thread that used it first; this is another one",
        ),
        errno => errno.into(),
    }
}
