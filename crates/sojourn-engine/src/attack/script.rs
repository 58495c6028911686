//! Requests that a script makes: the seam between a generator and whatever language it is in.
//!
//! A generator thread has a script of its own and asks it between requests, never about one that it
//! has sent. Where a load needs no script (each request is the same), there is none to ask.

use std::{
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use sojourn_http::Response;
use sojourn_plan::Target;

/// Makes requests on one generator thread. Every error ends the attack; its text is for people,
/// with file and line.
pub trait Script: Send {
    /// What the generator has to ask for; asked once, before the load.
    fn wants(&self) -> Wants;

    /// Appends the next message to `message`, which is empty.
    fn request(&mut self, message: &mut Vec<u8>) -> Result<Framing, String>;

    /// How long to wait before the next request, nanoseconds.
    fn delay_ns(&mut self) -> Result<u64, String>;

    /// Looks at an answer.
    fn response(&mut self, response: &Response) -> Result<(), String>;

    /// It wants no further requests; asked after each of the others.
    fn is_stopped(&self) -> bool;
}

/// What a script has a say in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// It makes the messages; else each is [`ScriptedThread::message`].
    pub request: bool,
    /// It says how long to wait before each request, in a closed loop.
    pub delay: bool,
    /// It looks at answers.
    pub response: Option<Look>,
}

/// How much of an answer a script looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The status.
    Status,
    /// Status and headers.
    Head,
    /// All, with a body of at most so many bytes; a longer one is a failure.
    Whole {
        /// Most bytes.
        body_bytes_max: usize,
    },
}

/// What a message consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Requests one after the other, at least one: sent at once on one connection, answered in
    /// order. Under a rate they are that many arrivals, all due with the first.
    pub requests: u32,
    /// They are HEAD requests.
    pub head_only: bool,
}

/// One target, with every generator thread's own way of making requests to it.
#[derive(Clone)]
pub struct Scripted {
    /// Where requests go, and what reports call them; its headers and body are not used.
    pub target: Target,
    threads: Arc<Mutex<Vec<Option<ScriptedThread>>>>,
}

/// How one generator thread makes its requests.
pub struct ScriptedThread {
    /// Where its connections go instead of the target's host and port.
    pub address: Option<SocketAddr>,
    /// The message of every hit, unless the script makes them.
    pub message: Vec<u8>,
    /// What that message consists of.
    pub framing: Framing,
    /// The script, if the load needs one.
    pub script: Option<Box<dyn Script>>,
}

impl Scripted {
    /// `threads`: one for each generator thread, in order.
    pub fn new(target: Target, threads: Vec<ScriptedThread>) -> Self {
        let threads = threads.into_iter().map(Some).collect();
        Self { target, threads: Arc::new(Mutex::new(threads)) }
    }

    /// Takes what belongs to a generator thread; `None` the second time.
    pub(crate) fn take(&self, thread: u32) -> Option<ScriptedThread> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.get_mut(thread as usize)?.take()
    }

    /// Where a generator thread's connections go, if not to the target itself.
    pub(crate) fn address(&self, thread: u32) -> Option<SocketAddr> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.get(thread as usize)?.as_ref()?.address
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Scripted").field("target", &self.target).finish_non_exhaustive()
    }
}

impl fmt::Debug for ScriptedThread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedThread")
            .field("address", &self.address)
            .field("framing", &self.framing)
            .field("script", &self.script.as_ref().map(|script| script.wants()))
            .finish_non_exhaustive()
    }
}
