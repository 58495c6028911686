//! What all servers can do.

use std::io;
use std::path::PathBuf;

use crate::instance::Instance;
use crate::kind::Kind;
use crate::process::Process;

/// A way to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// What it is: `open`, `password`, `tls`, `management`.
    pub name: &'static str,
    /// The address, as a client is told it, with user and password where it asks for them.
    pub url: String,
}

/// What is left of a server that runs on without us.
#[derive(Debug, Clone)]
pub struct Detached {
    /// Its processes with their folders, in the order in which to end them.
    pub processes: Vec<(Process, PathBuf)>,
}

/// A server at work; dropped, it is ended and its folder removed.
pub trait Service {
    /// Which server it is.
    fn kind(&self) -> Kind;

    /// The port that answers without TLS, on 127.0.0.1.
    fn port(&self) -> u16;

    /// All ways to reach it.
    fn accesses(&self) -> Vec<Access>;

    /// The certificate of the authority that signed the server's, in PEM; none without TLS.
    fn ca_file(&self) -> Option<PathBuf>;

    /// The server's process.
    fn instance(&self) -> &Instance;

    /// The server's process.
    fn instance_mut(&mut self) -> &mut Instance;

    /// Leaves it running after our own end.
    fn detach(self: Box<Self>) -> Detached;

    /// Asks it to end and waits until it has.
    fn stop(&mut self) {
        self.instance_mut().stop();
    }

    /// Ends it at once, as a power cut would, and waits until it has.
    fn kill(&mut self) {
        self.instance_mut().kill();
    }

    /// Starts it again on the same ports with the same files, and waits until it answers.
    ///
    /// # Errors
    /// It ends, or does not answer in two minutes; the text shows the end of its log.
    fn restart(&mut self) -> io::Result<()> {
        self.instance_mut().restart()
    }

    /// Halts it as it is (SIGSTOP): connections stay, nothing is answered.
    fn pause(&self) {
        self.instance().pause();
    }

    /// Lets it go on after [`Service::pause`].
    fn resume(&self) {
        self.instance().resume();
    }
}

/// Starts with new ports when another process took one between our choice and the server's start.
pub(crate) fn with_free_ports<T>(start: impl Fn() -> io::Result<T>) -> io::Result<T> {
    const TRIES: u32 = 3;
    let mut tries = 1;
    loop {
        match start() {
            Err(error) if tries < TRIES && is_address_in_use(&error) => tries += 1,
            outcome => return outcome,
        }
    }
}

fn is_address_in_use(error: &io::Error) -> bool {
    let text = error.to_string().to_lowercase();
    text.contains("in use") || text.contains("eaddrinuse")
}
