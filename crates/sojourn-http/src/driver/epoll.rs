//! The driver on epoll: edge-triggered, each socket registered once, optimistic sends.
//!
//! A request costs one send, one receive and its share of a wait. Waits use `epoll_pwait2` (Linux
//! 5.11) with the thread's timer slack at 1 ns.

use std::io;
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::num::NonZeroU64;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use rustix::time::Timespec;
use sojourn_clock::SECOND_NS;

use super::{ConnectionId, Ready, Received, Remote, Waited, Waker};

/// Most events of one wait.
const EVENTS_MAX: usize = 256;

/// The shared receive buffer.
const RECEIVE_BYTES: usize = 64 * 1024;

/// The event data of the waker; no connection has this id (slots are far fewer).
const WAKER: u64 = u64::MAX;

/// An open socket; closing it is dropping it.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

/// The driver; see the [contract](super).
pub(crate) struct Driver {
    epoll: OwnedFd,
    buffer: Box<[u8]>,
    waker: Waker,
    slack_set: bool,
}

impl Driver {
    pub(crate) fn new() -> io::Result<Self> {
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

    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Opens a socket and begins to connect it, from a local address if one is given.
    pub(crate) fn open(
        &self,
        id: ConnectionId,
        remote: &Remote,
        local: Option<IpAddr>,
    ) -> Result<Socket, Errno> {
        let socket = remote.connect(local)?;
        // After connect: a socket that isn't connecting yet would report a hang-up at once.
        let data = (u64::from(id.generation) << 32) | u64::from(id.slot);
        epoll::add(
            &self.epoll,
            &socket,
            EventData::new_u64(data),
            EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET,
        )?;
        Ok(Socket(socket))
    }

    /// How connecting went, once the socket is writable.
    pub(crate) fn connected(&self, socket: &Socket) -> Result<(), Errno> {
        sockopt::socket_error(&socket.0)?
    }

    /// Sends as much as goes now.
    pub(crate) fn send(&self, socket: &Socket, bytes: &[u8]) -> Result<usize, Errno> {
        loop {
            match rustix::net::send(&socket.0, bytes, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                sent => return sent,
            }
        }
    }

    /// Receives once.
    pub(crate) fn receive(&mut self, socket: &Socket) -> Result<Received<'_>, Errno> {
        let length = loop {
            match rustix::net::recv(&socket.0, &mut *self.buffer, RecvFlags::empty()) {
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
    pub(crate) fn wait_until(
        &mut self,
        deadline_ns: u64,
        ready: &mut Vec<Ready>,
    ) -> io::Result<Waited> {
        if !self.slack_set {
            // Default slack lets the kernel end waits 50 µs late. Where a sandbox forbids to set
            // it, lag shows it.
            rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
            self.slack_set = true;
        }
        let wait_ns = match deadline_ns {
            0 => 0,
            _ => deadline_ns.saturating_sub(sojourn_clock::now_ns()),
        };
        // On the stack and never initialised: it costs nothing, and a client can change threads.
        let mut events = [const { MaybeUninit::uninit() }; EVENTS_MAX];
        let events = match self.poll(wait_ns, &mut events) {
            Ok(events) => events,
            Err(Errno::INTR) => &[],
            Err(errno) => return Err(errno.into()),
        };
        let now_ns = sojourn_clock::now_ns();
        let mut waited = Waited { now_ns, woken: false, called: false };
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
        // A year is for ever, and never overflows.
        let seconds = (wait_ns / SECOND_NS).min(31_536_000);
        let timeout = Timespec { tv_sec: seconds as i64, tv_nsec: (wait_ns % SECOND_NS) as i64 };
        let (events, _) = epoll::wait(&self.epoll, events, Some(&timeout))?;
        Ok(events)
    }
}
