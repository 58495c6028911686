//! The two queues that are shared with the kernel.

#![expect(unsafe_code, reason = "entries hold addresses; each use has its proof")]

use std::io;

use io_uring::{IoUring, cqueue, squeue};
use rustix::io::Errno;

use crate::driver::timing::timeout;

/// Places for requests that are not handed over yet; beyond it they are handed over at once.
const REQUESTS: u32 = 256;

/// Places for completions, usually. What does not fit waits in the kernel.
pub(super) const COMPLETIONS: u32 = 4_096;

/// `io_uring_enter` also takes what has completed.
const ENTER_GETEVENTS: u32 = 1;

/// Its argument is a [`GetEvents`].
const ENTER_EXT_ARG: u32 = 1 << 3;

/// Submission and completion queue of one ring.
pub(super) struct Queue {
    ring: IoUring,
    enabled: bool,
}

/// `struct io_uring_getevents_arg` of the kernel.
#[repr(C)]
struct GetEvents {
    signal_mask: u64,
    signal_mask_bytes: u32,
    wait_min_us: u32,
    timeout: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

impl Queue {
    /// Asks the kernel for a ring. It belongs to no thread until [`Self::enable`].
    pub(super) fn new(completions: u32) -> io::Result<Self> {
        let basic = |builder: &mut io_uring::Builder| {
            builder
                .setup_r_disabled()
                .setup_clamp()
                .setup_submit_all()
                .setup_single_issuer()
                .setup_cqsize(completions)
                .build(REQUESTS.min(completions))
        };
        // Linux 6.1: what has come is taken when we ask, not whenever we are interrupted. 6.0 has
        // multishot receive and the single issuer, but not this.
        let ring = match basic(IoUring::builder().setup_defer_taskrun()) {
            Err(error) if is_invalid(&error) => basic(IoUring::builder().setup_coop_taskrun()),
            ring => ring,
        };
        let ring = ring.map_err(|error| refused(&error))?;
        let parameters = ring.params();
        let has_all = parameters.is_feature_ext_arg()
            && parameters.is_feature_nodrop()
            && parameters.is_feature_skip_cqe_on_success();
        if !has_all {
            return Err(io::Error::new(io::ErrorKind::Unsupported, REFUSED));
        }
        Ok(Self { ring, enabled: false })
    }

    /// Makes the ring the calling thread's.
    pub(super) fn enable(&mut self) -> Result<(), Errno> {
        let enabled = self.ring.submitter().register_enable_rings();
        enabled.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        self.enabled = true;
        Ok(())
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Queues a request; hands the queue over first when it is full.
    ///
    /// # Safety
    ///
    /// The memory that the request names is valid until it has completed.
    pub(super) unsafe fn push(&mut self, request: &squeue::Entry) -> Result<(), Errno> {
        // SAFETY: the caller's.
        if unsafe { self.ring.submission().push(request) }.is_ok() {
            return Ok(());
        }
        self.submit()?;
        // SAFETY: the caller's.
        unsafe { self.ring.submission().push(request) }.map_err(|_full| Errno::BUSY)
    }

    /// Hands queued requests over.
    pub(super) fn submit(&mut self) -> Result<(), Errno> {
        self.enter(0, 0, None)
    }

    /// Hands queued requests over and waits for a completion, for so long at most (`u64::MAX`: for
    /// ever); takes what has come in any case.
    pub(super) fn wait(&mut self, wait_ns: u64) -> Result<(), Errno> {
        if wait_ns == 0 {
            return self.enter(0, ENTER_GETEVENTS, None);
        }
        if wait_ns == u64::MAX {
            return self.enter(1, ENTER_GETEVENTS, None);
        }
        let timeout = timeout(wait_ns);
        let timeout = Timespec { seconds: timeout.tv_sec, nanoseconds: timeout.tv_nsec };
        self.enter(1, ENTER_GETEVENTS | ENTER_EXT_ARG, Some(&timeout))
    }

    /// Whether the kernel has taken every request.
    pub(super) fn is_handed_over(&mut self) -> bool {
        self.ring.submission().is_empty()
    }

    /// Whether completions wait in the kernel for room.
    pub(super) fn is_overflown(&mut self) -> bool {
        self.ring.submission().cq_overflow()
    }

    /// Completions, in order.
    pub(super) fn completions(&mut self) -> cqueue::CompletionQueue<'_> {
        self.ring.completion()
    }

    /// The ring, to register with.
    pub(super) fn ring(&self) -> &IoUring {
        &self.ring
    }

    fn enter(
        &mut self,
        completions_min: u32,
        flags: u32,
        timeout: Option<&Timespec>,
    ) -> Result<(), Errno> {
        let requests = self.ring.submission().len() as u32;
        let argument = timeout.map(|timeout| GetEvents {
            signal_mask: 0,
            signal_mask_bytes: 0,
            wait_min_us: 0,
            timeout: std::ptr::from_ref(timeout) as u64,
        });
        // SAFETY: the argument is the structure that `ENTER_EXT_ARG` announces, with its size, and
        // lives on the stack until the call is over, as does the time it points to; without the
        // flag there is none.
        let entered = unsafe {
            self.ring.submitter().enter(requests, completions_min, flags, argument.as_ref())
        };
        match entered {
            Ok(_) => Ok(()),
            Err(error) => match Errno::from_io_error(&error) {
                // Time is up; a signal; or the kernel is short of something and is asked again.
                Some(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
                errno => Err(errno.unwrap_or(Errno::IO)),
            },
        }
    }
}

/// What to say when there is no ring.
const REFUSED: &str = "this kernel or sandbox allows no io_uring with multishot receive (Linux 6.0 \
                       or later, and not forbidden by seccomp or kernel.io_uring_disabled)";

fn is_invalid(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::INVAL)
}

/// The kernel's refusal in words; a lack of descriptors or memory stays what it is.
pub(super) fn refused(error: &io::Error) -> io::Error {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => io::Error::new(
            error.kind(),
            format!("no io_uring: {error} (see `ulimit -n` and `ulimit -l`)"),
        ),
        _ => io::Error::new(io::ErrorKind::Unsupported, format!("{REFUSED}: {error}")),
    }
}
