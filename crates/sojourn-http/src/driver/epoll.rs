//! The driver on epoll: edge-triggered, each socket registered once, optimistic sends.
//!
//! A request costs one send, one receive and its share of a wait. Waits use `epoll_pwait2` (Linux
//! 5.11) with the thread's timer slack at 1 ns.

use std::io;
use std::mem::MaybeUninit;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::{ConnectionId, OurEnd, Ready, Received, Remote, Socket, Waited, Waker};
use crate::driver::timing::{set_timer_slack, timeout, wait_ns};

/// Most events of one wait.
const EVENTS_MAX: usize = 256;

/// The shared receive buffer.
const RECEIVE_BYTES: usize = 64 * 1024;

/// The event data of the waker; no connection has this id (slots are far fewer).
const WAKER: u64 = u64::MAX;

/// The driver; see the [contract](super).
pub(crate) struct Driver {
    epoll: OwnedFd,
    buffer: Box<[u8]>,
    waker: Waker,
    slack_set: bool,
}

impl Driver {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let waker = Waker::new()?;
        epoll::add(&epoll, waker.descriptor(), EventData::new_u64(WAKER), EventFlags::IN)?;
        let driver = Self {
            epoll,
            buffer: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            waker,
            slack_set: false,
        };
        let mut events = [const { MaybeUninit::uninit() }; 1];
        driver.poll(0, &mut events).map_err(|errno| {
            if errno == Errno::NOSYS || errno == Errno::PERM {
                io::Error::new(
                    io::ErrorKind::Unsupported,
                    "this kernel or sandbox lacks epoll_pwait2 (Linux 5.11 or later is needed)",
                )
            } else {
                errno.into()
            }
        })?;
        Ok(driver)
    }

    pub(super) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Opens a socket and begins to connect it.
    pub(super) fn open(
        &self,
        id: ConnectionId,
        remote: &Remote,
        our_end: OurEnd,
    ) -> Result<Socket, Errno> {
        let socket = Socket::new(id, remote.connect(our_end)?);
        // After connect: a socket that isn't connecting yet would report a hang-up at once.
        let data = (u64::from(id.generation) << 32) | u64::from(id.slot);
        epoll::add(
            &self.epoll,
            &socket.descriptor,
            EventData::new_u64(data),
            EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET,
        )?;
        Ok(socket)
    }

    /// Receives once.
    pub(super) fn receive(&mut self, socket: &Socket) -> Result<Received<'_>, Errno> {
        let length = loop {
            match rustix::net::recv(&socket.descriptor, &mut *self.buffer, RecvFlags::empty()) {
                Ok((length, _)) => break length,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(errno) => return Err(errno),
            }
        };
        if length == 0 {
            return Ok(Received::End);
        }
        Ok(Received::Bytes { bytes: &self.buffer[..length], drained: length < RECEIVE_BYTES })
    }

    /// Waits until something is ready or the instant has come, and appends what is ready. Returns
    /// early when interrupted by a signal.
    pub(super) fn wait_until(
        &mut self,
        deadline_ns: u64,
        ready: &mut Vec<Ready>,
    ) -> io::Result<Waited> {
        if !self.slack_set {
            set_timer_slack();
            self.slack_set = true;
        }
        let wait_ns = wait_ns(deadline_ns);
        // On the stack and never initialised: it costs nothing, and a client can change threads.
        let mut events = [const { MaybeUninit::uninit() }; EVENTS_MAX];
        let events = match self.poll(wait_ns, &mut events) {
            Ok(events) => events,
            Err(Errno::INTR) => &[],
            Err(errno) => return Err(errno.into()),
        };
        let now_ns = sojourn_clock::now_ns();
        let slept = wait_ns > 0;
        let mut waited = Waited { now_ns, slept, woken: false, called: false };
        for event in events {
            let data = event.data.u64();
            if data == WAKER {
                waited.called = true;
                waited.woken = self.waker.take();
                continue;
            }
            let flags = event.flags;
            let hangup = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            ready.push(Ready {
                id: ConnectionId { slot: data as u32, generation: (data >> 32) as u32 },
                readable: hangup || flags.contains(EventFlags::IN),
                writable: flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR),
                hangup,
            });
        }
        Ok(waited)
    }

    fn poll<'a>(
        &self,
        wait_ns: u64,
        events: &'a mut [MaybeUninit<epoll::Event>],
    ) -> Result<&'a [epoll::Event], Errno> {
        let timeout = timeout(wait_ns);
        let (events, _) = epoll::wait(&self.epoll, events, Some(&timeout))?;
        Ok(events)
    }
}
