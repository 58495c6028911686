//! Look-ups at DNS servers of the caller's own: UDP first, TCP when an answer does not fit. Blocks;
//! runs on the look-up threads.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};

use super::hosts_file::{HOSTS_FILE, addresses_in};
use super::message::{Kind, Name, Reply, question, refusal, reply};
use super::no_address::NoAddress;

/// How long one server has to answer.
const SERVER_NS_MAX: u64 = 2 * SECOND_NS;

/// How much longer than one family's addresses to wait for the other's.
const OTHER_FAMILY_NS_MAX: u64 = 250 * MILLISECOND_NS;

/// How many servers are asked before a look-up fails, the same one twice if there is one only.
const ATTEMPTS_MIN: usize = 2;
const ATTEMPTS_MAX: usize = 4;

/// Longer datagrams are no answers: without extensions a server sends 512 bytes at most.
const DATAGRAM_BYTES_MAX: usize = 4096;

/// The servers, in turn.
#[derive(Debug)]
pub(super) struct Stub {
    servers: Vec<SocketAddr>,
    next: AtomicUsize,
    /// Seeds the questions' numbers, so that nobody guesses them.
    random: RandomState,
    asked: AtomicUsize,
}

/// Why a server gave no addresses.
enum Refusal {
    /// Ask another one.
    Failed(String),
    /// All would say so.
    Final(String),
}

impl Stub {
    /// `None` without servers.
    pub(super) fn new(servers: &[SocketAddr]) -> Option<Self> {
        (!servers.is_empty()).then(|| Self {
            servers: servers.to_vec(),
            next: AtomicUsize::new(0),
            random: RandomState::new(),
            asked: AtomicUsize::new(0),
        })
    }

    /// The name's addresses; never empty.
    pub(super) fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, NoAddress> {
        let hosts = std::fs::read(HOSTS_FILE).unwrap_or_default();
        let known = addresses_in(&String::from_utf8_lossy(&hosts), host);
        if !known.is_empty() {
            return Ok(known);
        }
        let name = Name::new(host).ok_or_else(|| {
            NoAddress::known("it can't be a DNS name (a label is empty or too long)")
        })?;
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let attempts = self.servers.len().clamp(ATTEMPTS_MIN, ATTEMPTS_MAX);
        let mut failures: Vec<String> = Vec::new();
        for attempt in 0..attempts {
            let server = self.servers[first.wrapping_add(attempt) % self.servers.len()];
            match self.ask(server, &name) {
                Ok(addresses) => return Ok(addresses),
                Err(Refusal::Final(error)) => {
                    return Err(NoAddress::known(&format!("DNS server {server}: {error}")));
                }
                Err(Refusal::Failed(error)) => {
                    let failure = format!("DNS server {server}: {error}");
                    if !failures.contains(&failure) {
                        failures.push(failure);
                    }
                }
            }
        }
        Err(NoAddress::unknown(failures.join("; ")))
    }

    fn ask(&self, server: SocketAddr, name: &Name) -> Result<Vec<IpAddr>, Refusal> {
        let mut conversation = Conversation {
            server,
            name,
            deadline_ns: now_ns() + SERVER_NS_MAX,
            open: [(Kind::V6, self.number()), (Kind::V4, self.number())].to_vec(),
            addresses: Vec::new(),
            refusal: None,
        };
        match conversation.run() {
            // One family is enough.
            Ok(()) | Err(_) if !conversation.addresses.is_empty() => Ok(conversation.addresses),
            Err(error) if is_timeout(&error) => {
                let limit = SERVER_NS_MAX / SECOND_NS;
                Err(Refusal::Failed(format!("no answer within {limit} s")))
            }
            Err(error) => Err(Refusal::Failed(error.to_string())),
            Ok(()) => Err(conversation
                .refusal
                .unwrap_or_else(|| Refusal::Final("the name has no address".to_owned()))),
        }
    }

    fn number(&self) -> u16 {
        self.random.hash_one(self.asked.fetch_add(1, Ordering::Relaxed)) as u16
    }
}

/// Both questions to one server.
struct Conversation<'a> {
    server: SocketAddr,
    name: &'a Name,
    deadline_ns: u64,
    /// What is not answered yet: kind and number.
    open: Vec<(Kind, u16)>,
    addresses: Vec<IpAddr>,
    refusal: Option<Refusal>,
}

impl Conversation<'_> {
    /// Asks until both questions are answered, the name is known not to exist, or time is up.
    fn run(&mut self) -> io::Result<()> {
        let any: IpAddr = match self.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        // A port of the kernel's choice, and connected: only the server's datagrams come in.
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(self.server)?;
        for (kind, number) in &self.open {
            socket.send(&question(*number, self.name, *kind))?;
        }
        let mut buffer = [0; DATAGRAM_BYTES_MAX];
        while !self.open.is_empty() {
            socket.set_read_timeout(Some(self.left()?))?;
            let length = match socket.recv(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                received => received?,
            };
            // What answers no question of ours may be forged: the answer may still come.
            if let Some((kind, number, said)) = self.read(&buffer[..length]) {
                self.open.retain(|(open, _)| *open != kind);
                let said = match said {
                    Reply::Truncated => self.ask_over_tcp(kind, number)?,
                    said => said,
                };
                self.take(said);
            }
        }
        Ok(())
    }

    fn read(&self, message: &[u8]) -> Option<(Kind, u16, Reply)> {
        self.open.iter().find_map(|(kind, number)| {
            let said = reply(message, *number, self.name, *kind).ok()?;
            Some((*kind, *number, said))
        })
    }

    fn take(&mut self, said: Reply) {
        match said {
            Reply::Addresses(mut addresses) => {
                self.addresses.append(&mut addresses);
                if !self.addresses.is_empty() {
                    self.deadline_ns = self.deadline_ns.min(now_ns() + OTHER_FAMILY_NS_MAX);
                }
            }
            Reply::NoSuchName => {
                self.refusal = Some(Refusal::Final("no such name".to_owned()));
                self.open.clear();
            }
            Reply::Refused(code) => self.refusal = Some(Refusal::Failed(refusal(code))),
            // Over TCP nothing is.
            Reply::Truncated => {
                self.refusal = Some(Refusal::Failed("its answer does not fit TCP".to_owned()));
            }
        }
    }

    fn ask_over_tcp(&self, kind: Kind, number: u16) -> io::Result<Reply> {
        let mut stream = TcpStream::connect_timeout(&self.server, self.left()?)?;
        let question = question(number, self.name, kind);
        let mut message = (question.len() as u16).to_be_bytes().to_vec();
        message.extend(&question);
        stream.set_write_timeout(Some(self.left()?))?;
        stream.write_all(&message)?;
        let mut length = [0; 2];
        self.receive(&mut stream, &mut length)?;
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        self.receive(&mut stream, &mut answer)?;
        reply(&answer, number, self.name, kind).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidData, "its answer over TCP can't be read")
        })
    }

    /// Fills the buffer, before the time is up however slowly the bytes come.
    fn receive(&self, stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            stream.set_read_timeout(Some(self.left()?))?;
            match stream.read(&mut buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                received => filled += received?,
            }
        }
        Ok(())
    }

    fn left(&self) -> io::Result<Duration> {
        match self.deadline_ns.saturating_sub(now_ns()) {
            0 => Err(io::ErrorKind::TimedOut.into()),
            left_ns => Ok(Duration::from_nanos(left_ns)),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
