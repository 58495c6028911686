//! Bytes on their way to a client: sent at once where the socket takes them, kept where it does
//! not.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use crate::message::Message;

/// Most bytes that one connection sends in one turn, so that others are not kept waiting.
const TURN_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of a body that are copied behind their head, to leave in one call.
pub(crate) const COPIED_MAX: u64 = 32 * 1024;

/// What a socket did not take yet.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    /// A body that follows, and how much of it is still to go.
    body: Option<(Rc<Message>, u64, u64)>,
    /// Replies that have left when all of this has.
    pub(crate) tags: Vec<u64>,
}

/// How sending went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    All,
    /// The rest waits for room.
    Blocked,
    /// The connection is broken.
    Failed,
    /// It has had its share of the thread; the rest waits for its next turn.
    Yield,
}

/// What a thread assembles for the connection it is at; empty between connections.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tags: Vec<u64>,
    /// Bytes that sockets took since the caller last looked.
    pub(crate) taken: u64,
}

impl Assembly {
    /// Tells a client that waits for it to send its body.
    pub(crate) fn interim(&mut self, is_wanted: bool) {
        if is_wanted {
            self.bytes.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }

    /// Puts a part of a body behind what is assembled. A large one is sent in pieces, without
    /// copying it.
    pub(crate) fn body(
        &mut self,
        socket: &OwnedFd,
        message: &Rc<Message>,
        from: u64,
        to: u64,
        blocked: &mut Option<Box<Outgoing>>,
    ) -> Sent {
        let to = to.min(message.body().length());
        let from = from.min(to);
        if to - from <= COPIED_MAX {
            self.copy(message, from, to);
            return Sent::All;
        }
        let mut outgoing = Outgoing {
            bytes: std::mem::take(&mut self.bytes),
            body: Some((message.clone(), from, to)),
            ..Outgoing::default()
        };
        let sent = outgoing.resume(socket, &mut self.taken);
        if matches!(sent, Sent::Blocked | Sent::Yield) {
            *blocked = Some(Box::new(outgoing));
        } else {
            // Its memory is used again.
            self.bytes = outgoing.bytes;
            self.bytes.clear();
        }
        sent
    }

    /// Copies a part of a body behind what is assembled.
    pub(crate) fn copy(&mut self, message: &Message, mut from: u64, to: u64) {
        while from < to {
            let piece = message.body().piece(from);
            let piece = &piece[..piece.len().min((to - from) as usize)];
            if piece.is_empty() {
                return;
            }
            self.bytes.extend_from_slice(piece);
            from += piece.len() as u64;
        }
    }

    /// Sends what is assembled; what the socket does not take waits in `blocked`.
    pub(crate) fn flush(&mut self, socket: &OwnedFd, blocked: &mut Option<Box<Outgoing>>) -> Sent {
        if let Some(waiting) = blocked {
            waiting.bytes.append(&mut self.bytes);
            waiting.tags.append(&mut self.tags);
            return Sent::Blocked;
        }
        let mut sent = 0;
        while sent < self.bytes.len() {
            match send(socket, &self.bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(length) => sent += length,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.taken += sent as u64;
                    *blocked = Some(Box::new(Outgoing {
                        bytes: self.bytes[sent..].to_vec(),
                        tags: std::mem::take(&mut self.tags),
                        ..Outgoing::default()
                    }));
                    self.bytes.clear();
                    return Sent::Blocked;
                }
                Err(_) => return Sent::Failed,
            }
        }
        self.taken += sent as u64;
        self.bytes.clear();
        Sent::All
    }
}

impl Outgoing {
    /// Goes on where the socket stopped.
    pub(crate) fn resume(&mut self, socket: &OwnedFd, taken: &mut u64) -> Sent {
        let until = *taken + TURN_BYTES_MAX;
        loop {
            if *taken >= until {
                return Sent::Yield;
            }
            let (rest, is_body) = match (&self.bytes[self.sent..], &self.body) {
                ([], None) => return Sent::All,
                ([], Some((message, from, to))) => {
                    let piece = message.body().piece(*from);
                    (&piece[..piece.len().min((to - from) as usize)], true)
                }
                (rest, _) => (rest, false),
            };
            if rest.is_empty() {
                self.body = None;
                continue;
            }
            // More follows a head at once, and a full packet is cheaper than two.
            let flags = match (is_body, &self.body) {
                (false, Some(_)) => SendFlags::NOSIGNAL | SendFlags::MORE,
                _ => SendFlags::NOSIGNAL,
            };
            match send(socket, rest, flags) {
                Ok(length) => {
                    *taken += length as u64;
                    match &mut self.body {
                        Some((_, from, _)) if is_body => *from += length as u64,
                        _ => self.sent += length,
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Sent::Blocked,
                Err(_) => return Sent::Failed,
            }
        }
    }
}
