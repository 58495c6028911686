//! Look-up threads: each look-up blocks one, so a slow name holds up no other.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::names::NameId;
use super::no_address::NoAddress;
use super::stub::Stub;
use crate::driver::Waker;

/// Most names asked for and not answered.
const QUERIES_MAX: usize = 256;

/// Most threads, each begun when the others are busy.
const THREADS_MAX: usize = 8;

/// The client's end of the look-up threads. They end with it, each after its present look-up.
#[derive(Debug)]
pub(super) struct Threads {
    queries: Sender<Query>,
    asked: Receiver<Query>,
    answer: Sender<Answer>,
    answers: Receiver<Answer>,
    count: usize,
    /// Look-ups asked for whose answers were not taken.
    pending: usize,
    stub: Option<Arc<Stub>>,
    waker: Waker,
}

#[derive(Debug)]
struct Query {
    name: NameId,
    host: String,
}

/// A look-up's result.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) name: NameId,
    /// In the resolver's order; never empty.
    pub(super) addresses: Result<Vec<IpAddr>, NoAddress>,
}

impl Threads {
    /// None runs yet; `waker` calls the client when there is an answer.
    pub(super) fn new(stub: Option<Stub>, waker: Waker) -> Self {
        let (queries, asked) = bounded(QUERIES_MAX);
        // Each query has room for its answer: no thread ever blocks on it.
        let (answer, answers) = bounded(QUERIES_MAX);
        Self {
            queries,
            asked,
            answer,
            answers,
            count: 0,
            pending: 0,
            stub: stub.map(Arc::new),
            waker,
        }
    }

    /// Asks for a name.
    pub(super) fn ask(&mut self, name: NameId, host: &str) -> Result<(), NoAddress> {
        if self.pending == QUERIES_MAX {
            let why = format!("{QUERIES_MAX} names wait to be looked up already");
            return Err(NoAddress::unknown(why));
        }
        if self.pending >= self.count && self.count < THREADS_MAX {
            match self.start_thread() {
                Ok(()) => self.count += 1,
                Err(error) if self.count == 0 => {
                    let why = format!("no thread to look it up: {error}");
                    return Err(NoAddress::unknown(why));
                }
                // The others do it, later.
                Err(_) => {}
            }
        }
        self.queries
            .try_send(Query { name, host: host.to_owned() })
            .map_err(|_| NoAddress::unknown("the look-up threads have no room".to_owned()))?;
        self.pending += 1;
        Ok(())
    }

    /// The next answer, if there is one.
    pub(super) fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.pending -= 1;
        Some(answer)
    }

    fn start_thread(&self) -> io::Result<()> {
        let (asked, answer) = (self.asked.clone(), self.answer.clone());
        let (stub, waker) = (self.stub.clone(), self.waker.clone());
        let look_up = move || {
            for Query { name, host } in asked {
                let addresses = match &stub {
                    Some(stub) => stub.look_up(&host),
                    None => look_up_by_system(&host),
                };
                if answer.send(Answer { name, addresses }).is_err() {
                    return;
                }
                waker.call();
            }
        };
        std::thread::Builder::new().name("sojourn-dns".to_owned()).spawn(look_up)?;
        Ok(())
    }
}

/// How system libraries (glibc, musl) say that a name has no address; they give no other sign.
const NO_ADDRESS: [&str; 4] = [
    "Name or service not known",
    "No address associated with hostname",
    "Name does not resolve",
    "Name has no usable address",
];

fn look_up_by_system(host: &str) -> Result<Vec<IpAddr>, NoAddress> {
    let found = (host, 0).to_socket_addrs().map_err(|error| {
        let why = error.to_string();
        let is_known = NO_ADDRESS.iter().any(|words| why.ends_with(words));
        NoAddress { why, is_known }
    })?;
    let addresses: Vec<IpAddr> = found.map(|socket| socket.ip()).collect();
    if addresses.is_empty() {
        return Err(NoAddress::known("it has no address"));
    }
    Ok(addresses)
}
