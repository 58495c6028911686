//! Whether a ring does here what the driver needs: some kernels and sandboxes have only part of it.

use std::io;

use rustix::fd::AsRawFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use sojourn_clock::{SECOND_NS, now_ns};

use super::Driver;
use super::buffers::Shape;
use crate::driver::{ConnectionId, Received, Socket};

/// A moment is enough; a machine that stands still for this long is no place for a ring.
const PATIENCE_NS: u64 = SECOND_NS;

/// What is sent to and fro.
const WORDS: &[u8] = b"a ring that rings";

/// Sends over a pair of sockets with a ring of its own and sees whether it arrives.
pub(super) fn run() -> io::Result<()> {
    let mut driver = Driver::with(Shape { count: 2, bytes: 4_096 }, 8)?;
    let (near, far) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let [near, far] = [(0, near), (1, far)].map(|(slot, descriptor)| Socket { descriptor, slot });
    let did = exchange(&mut driver, &near, &far);
    driver.close(near);
    driver.close(far);
    match did {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "io_uring is here, but what is sent through it does not arrive",
        )),
        Err(error) => Err(super::queue::refused(&error)),
    }
}

fn exchange(driver: &mut Driver, near: &Socket, far: &Socket) -> io::Result<bool> {
    driver.begin()?;
    for socket in [near, far] {
        let id = ConnectionId { slot: socket.slot, generation: 0 };
        driver.inbox.slots.occupy(id, socket.descriptor.as_raw_fd());
        driver.start_receive(id)?;
    }
    let give_up_ns = now_ns() + PATIENCE_NS;
    for (from, to) in [(near, far), (far, near)] {
        driver.send(from, WORDS)?;
        let mut ready = Vec::new();
        while ready.is_empty() && now_ns() < give_up_ns {
            driver.wait_until(give_up_ns, &mut ready)?;
        }
        match driver.receive(to)? {
            Received::Bytes { bytes, .. } if bytes == WORDS => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}
