//! When a wait ends at the latest: one timer in the kernel, which stays set from wait to wait.
//!
//! A wait with a time limit of its own sets and takes back a timer each time; where an answer and
//! the next deadline come in turn that is twice the work, and under a hypervisor setting a timer is
//! the dearest part of a wait. One that has been set for an earlier instant than is asked for may
//! ring in vain: a wait that ends early is asked again.

#![expect(unsafe_code, reason = "requests hold an address; each has its proof")]

use io_uring::{opcode, squeue, types};
use rustix::io::Errno;
use sojourn_clock::{SECOND_NS, machine_ns_of};

use super::queue::Queue;
use super::tag::{Kind, Tag};

/// The timer.
pub(super) struct Alarm {
    /// What the request points to until the kernel has taken it.
    time: Box<types::Timespec>,
    /// For when it is set; `None` when it is not.
    set_ns: Option<u64>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self { time: Box::new(types::Timespec::new()), set_ns: None }
    }

    /// Sees to it that it rings at this instant or before; never for `u64::MAX`. In force once the
    /// queue is handed over.
    pub(super) fn set(&mut self, deadline_ns: u64, queue: &mut Queue) -> Result<(), Errno> {
        if deadline_ns == u64::MAX || self.set_ns.is_some_and(|set_ns| set_ns <= deadline_ns) {
            return Ok(());
        }
        // The kernel knows this machine's clock alone.
        let kernel_ns = machine_ns_of(deadline_ns);
        *self.time =
            types::Timespec::new().sec(kernel_ns / SECOND_NS).nsec((kernel_ns % SECOND_NS) as u32);
        let (time, own) = (std::ptr::from_ref(&*self.time), Tag::alone(Kind::Alarm).0);
        let request = match self.set_ns {
            None => {
                opcode::Timeout::new(time).flags(types::TimeoutFlags::ABS).build().user_data(own)
            }
            // Should it be ringing at this moment, this comes to nothing and the ring is heard.
            Some(_) => opcode::TimeoutUpdate::new(own, time)
                .flags(types::TimeoutFlags::ABS)
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(Tag::alone(Kind::Cancel).0),
        };
        // SAFETY: the kernel reads the time when it takes the request, which it does within the
        // call that hands the queue over; until then the box stays where it is, and it is written
        // only here, before another wait, which hands over what was queued here before.
        unsafe { queue.push(&request)? };
        self.set_ns = Some(deadline_ns);
        Ok(())
    }

    /// It has rung.
    pub(super) fn rang(&mut self) {
        self.set_ns = None;
    }
}
