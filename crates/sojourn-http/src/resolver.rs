//! Names to addresses, on a thread of its own, since the system's look-up blocks.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::driver::Waker;

/// Most names asked for and not answered.
const QUERIES_MAX: usize = 256;

/// The client's end of the look-up thread. The thread ends with it, after its present look-up.
#[derive(Debug)]
pub(crate) struct Resolver {
    queries: SyncSender<String>,
    answers: Receiver<Answer>,
    /// Asked for and not answered.
    pending: Vec<String>,
}

/// A look-up's result.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) host: String,
    /// In the system's order of preference; never empty.
    pub(crate) addresses: Result<Vec<IpAddr>, String>,
}

impl Resolver {
    /// Starts the thread; `waker` calls the client when there is an answer.
    pub(crate) fn start(waker: Waker) -> io::Result<Self> {
        let (queries, asked) = sync_channel::<String>(QUERIES_MAX);
        let (answer, answers) = sync_channel(QUERIES_MAX);
        std::thread::Builder::new().name("sojourn-dns".to_owned()).spawn(move || {
            for host in asked {
                let addresses = look_up(&host);
                if answer.send(Answer { host, addresses }).is_err() {
                    return;
                }
                waker.call();
            }
        })?;
        Ok(Self { queries, answers, pending: Vec::new() })
    }

    /// Asks for a name once, however often it is called before the answer.
    pub(crate) fn ask(&mut self, host: &str) -> Result<(), String> {
        if self.pending.iter().any(|pending| pending == host) {
            return Ok(());
        }
        if self.queries.try_send(host.to_owned()).is_err() {
            return Err(format!("{QUERIES_MAX} names wait to be resolved already"));
        }
        self.pending.push(host.to_owned());
        Ok(())
    }

    /// The next answer, if there is one.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.pending.retain(|host| *host != answer.host);
        Some(answer)
    }
}

fn look_up(host: &str) -> Result<Vec<IpAddr>, String> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for socket in (host, 0).to_socket_addrs().map_err(|error| error.to_string())? {
        if !addresses.contains(&socket.ip()) {
            addresses.push(socket.ip());
        }
    }
    if addresses.is_empty() {
        return Err("it has no address".to_owned());
    }
    Ok(addresses)
}
