//! The coordinator's side: it listens, lets generators in, and has a stream to each.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use aws_lc_rs::rand;
use crossbeam_channel::{Sender, TrySendError, bounded};
use rustix::event::{PollFd, PollFlags};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS};

use crate::bell::Bell;
use crate::channel::{Channel, wait_for};
use crate::frame::{Hello, Welcome, Wish};
use crate::greeting::{Door, refuse};
use crate::member::Watch;
use crate::pump::{Arrival, Fresh, Pump, Role};
use crate::{FleetError, JoinKey, MemberEnd, MemberState, Standing, tls};

/// Connections at once that have not proved the key; further ones are closed as they come.
const STRANGERS_MAX: usize = 32;
/// Connections on their way to a link: a new one is worth more than an old one.
const ARRIVALS_MAX: usize = 16;

/// What somebody hears who comes back too late.
const GIVEN_UP: &str = "it was given up before";
/// Between two tries to let somebody in, when the system does not allow it.
const PAUSE_NS: u64 = 100 * MILLISECOND_NS;

/// Where and for whom a coordinator listens.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Address and port; port 0: any that is free.
    pub address: SocketAddr,
    /// How many generators make up the run.
    pub generators: u32,
    /// What they must know.
    pub key: JoinKey,
    /// The program's version, which theirs must equal.
    pub version: String,
    /// How long a generator may be without a connection before it is lost, nanoseconds.
    pub reconnect_within_ns: u64,
}

/// A coordinator that listens. Dropped, it lets nobody in any more; links that have been taken go
/// on.
#[derive(Debug)]
pub struct Listening {
    shared: Arc<Shared>,
    address: SocketAddr,
    bell: Bell,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    listen: Listen,
    door: Door,
    members: Mutex<BTreeMap<u32, Member>>,
    strangers: AtomicUsize,
    turned_away: AtomicU64,
    refused: Mutex<Option<String>>,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Member {
    id: [u8; 16],
    arrivals: Sender<Arrival>,
    bell: Bell,
    watch: Watch,
    /// The stream, until it is taken.
    socket: Option<UnixStream>,
}

impl Listening {
    /// Listens; generators are let in from now on.
    pub fn start(listen: Listen) -> Result<Self, FleetError> {
        let tls = tls::server(&listen.key)?;
        let failed = |error| FleetError::Listen { address: listen.address.to_string(), error };
        let listener = TcpListener::bind(listen.address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let bell = Bell::new()?;
        let (key, version) = (listen.key.clone(), listen.version.clone());
        let door = Door { tls, key, version };
        let shared = Arc::new(Shared {
            listen,
            door,
            members: Mutex::default(),
            strangers: AtomicUsize::new(0),
            turned_away: AtomicU64::new(0),
            refused: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let (own, rung) = (Arc::clone(&shared), bell.clone());
        let acceptor = std::thread::Builder::new()
            .name("fleet".to_owned())
            .spawn(move || own.accept(&listener, &rung))?;
        Ok(Self { shared, address, bell, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What generators must know.
    pub fn key(&self) -> &JoinKey {
        &self.shared.door.key
    }

    /// Every generator that has come, by number.
    pub fn members(&self) -> Vec<MemberState> {
        self.shared.members().values().map(|member| member.watch.get()).collect()
    }

    /// Whether all have come and set their clocks, and none has gone.
    pub fn is_ready(&self) -> bool {
        let members = self.members();
        let is_ready = |it: &MemberState| it.clock.is_some() && it.standing == Standing::Connected;
        members.len() == self.shared.listen.generators as usize && members.iter().all(is_ready)
    }

    /// Connections that were closed as they came, since too many had not proved the key.
    pub fn turned_away(&self) -> u64 {
        self.shared.turned_away.load(Ordering::Relaxed)
    }

    /// Why the last one that was refused was, once.
    pub fn take_refusal(&self) -> Option<String> {
        self.shared.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The stream to a generator, once, and where its end shows. Nobody takes its place then.
    pub fn take(&self, number: u32) -> Option<(UnixStream, MemberEnd)> {
        let mut members = self.shared.members();
        let member = members.get_mut(&number)?;
        Some((member.socket.take()?, MemberEnd(member.watch.clone())))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.bell.ring();
        if let Some(acceptor) = self.acceptor.take() {
            let _ignored = acceptor.join();
        }
        // Links that nobody took end with their sockets; the others see that no connection comes.
        self.shared.members().retain(|_, member| member.socket.is_none());
    }
}

impl Shared {
    fn members(&self) -> MutexGuard<'_, BTreeMap<u32, Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener, bell: &Bell) {
        while !self.is_over.load(Ordering::SeqCst) {
            match listener.accept() {
                Ok((tcp, _)) => self.receive(tcp),
                Err(error) => {
                    let rung = PollFd::new(bell, PollFlags::IN);
                    let waited = match error.kind() {
                        ErrorKind::WouldBlock => {
                            let called = PollFd::new(listener, PollFlags::IN);
                            wait_for(&mut [called, rung], SECOND_NS)
                        }
                        // No descriptor left, for one: whoever called still does, so that a wait
                        // for calls would end at once.
                        _ => wait_for(&mut [rung], PAUSE_NS),
                    };
                    if waited.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Hears who it is, on a thread of its own.
    fn receive(self: &Arc<Self>, tcp: TcpStream) {
        if self.strangers.fetch_add(1, Ordering::SeqCst) >= STRANGERS_MAX {
            self.strangers.fetch_sub(1, Ordering::SeqCst);
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let own = Arc::clone(self);
        let thread = std::thread::Builder::new().name("greeting".to_owned()).spawn(move || {
            let greeted = own.door.greet(tcp);
            own.strangers.fetch_sub(1, Ordering::SeqCst);
            let admitted = greeted.and_then(|(channel, hello)| own.admit(channel, &hello));
            // A connection that merely ends is somebody's look whether anybody listens.
            if let Err(error) = admitted
                && !matches!(error, FleetError::Io(_))
            {
                let why = error.to_string();
                *own.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
            }
        });
        if thread.is_err() {
            self.strangers.fetch_sub(1, Ordering::SeqCst);
            self.turned_away.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn admit(self: &Arc<Self>, channel: Channel, hello: &Hello) -> Result<(), FleetError> {
        let mut members = self.members();
        let (number, peer_received) = match &hello.wish {
            Wish::Resume { id, received } => {
                let known = members.iter().find(|(_, member)| member.id == *id);
                match known.map(|(number, _)| *number) {
                    Some(number) => (number, *received),
                    None => {
                        drop(members);
                        return refuse(channel, GIVEN_UP.to_owned());
                    }
                }
            }
            Wish::Join(wish) => match self.place(&members, *wish) {
                Ok(number) => match self.member(number, hello) {
                    Ok(member) => {
                        members.insert(number, member);
                        (number, 0)
                    }
                    Err(error) => {
                        drop(members);
                        return refuse(channel, format!("the coordinator has no room: {error}"));
                    }
                },
                Err(why) => {
                    drop(members);
                    return refuse(channel, why);
                }
            },
        };
        // It is there: found, or just made.
        let Some(member) = members.get(&number) else { return Ok(()) };
        let welcome = Some(Welcome {
            number,
            of: self.listen.generators,
            id: member.id,
            received: 0,
            reconnect_within_ns: self.listen.reconnect_within_ns,
        });
        let fresh = Fresh { channel, peer_received, welcome };
        match member.arrivals.try_send(Arrival::Fresh(Box::new(fresh))) {
            Ok(()) => {
                member.bell.ring();
                Ok(())
            }
            // Its link has ended, and no further connection will change that.
            Err(TrySendError::Disconnected(Arrival::Fresh(fresh))) => {
                drop(members);
                refuse(fresh.channel, GIVEN_UP.to_owned())
            }
            // It may dial again.
            Err(_) => Err(FleetError::Refused("it dials too often".to_owned())),
        }
    }

    /// A number for a generator that comes: a free one, or that of one that has gone before the
    /// run began.
    fn place(&self, members: &BTreeMap<u32, Member>, wish: Option<u32>) -> Result<u32, String> {
        let of = self.listen.generators;
        let is_free = |number: u32| match members.get(&number) {
            None => true,
            Some(member) => {
                let standing = member.watch.get().standing;
                member.socket.is_some() && matches!(standing, Standing::Cut(_) | Standing::Lost(_))
            }
        };
        match wish {
            Some(number) if number >= of => {
                Err(format!("it wants to be number {number}, and the run has {of}, from 0"))
            }
            Some(number) if !is_free(number) => Err(format!("number {number} is there already")),
            Some(number) => Ok(number),
            None => (0..of)
                .find(|number| is_free(*number))
                .ok_or_else(|| format!("all {of} generators of the run are there already")),
        }
    }

    /// Makes the end of a link, and the thread that serves it.
    fn member(&self, number: u32, hello: &Hello) -> Result<Member, FleetError> {
        let mut id = [0; 16];
        rand::fill(&mut id)
            .map_err(|_unspecified| FleetError::Tls("the system has no random bytes".into()))?;
        let (near, far) = UnixStream::pair()?;
        let (arrivals, heard) = bounded(ARRIVALS_MAX);
        let (bell, watch) = (Bell::new()?, Watch::default());
        watch.change(|state| {
            state.number = number;
            state.host = hello.host.chars().filter(|it| !it.is_control()).take(100).collect();
        });
        let within_ns = self.listen.reconnect_within_ns;
        let pump = Pump::new(Role::Dialled, far, (heard, bell.clone()), watch.clone(), within_ns)?;
        std::thread::Builder::new().name(format!("member-{number}")).spawn(move || pump.run())?;
        Ok(Member { id, arrivals, bell, watch, socket: Some(near) })
    }
}

#[cfg(test)]
mod tests {
    use crate::dial::Dial;

    use super::*;

    #[test]
    fn who_comes_back_too_late_is_told_so_at_once() {
        let version = "1.0".to_owned();
        let listening = Listening::start(Listen {
            address: "127.0.0.1:0".parse().unwrap(),
            generators: 1,
            key: JoinKey::fresh().unwrap(),
            version: version.clone(),
            reconnect_within_ns: 100 * MILLISECOND_NS,
        })
        .unwrap();
        let address = listening.address().to_string();
        let dial = Dial::new(&address, listening.key().clone(), &version).unwrap();
        let (channel, welcome) = dial.until(&Wish::Join(None), SECOND_NS, &|| false).unwrap();
        let (_near, end) = listening.take(0).unwrap();
        drop(channel);
        assert!(matches!(end.wait().standing, Standing::Lost(_)));
        let again = Wish::Resume { id: welcome.id, received: 0 };
        let refused = dial.until(&again, 20 * SECOND_NS, &|| false).err();
        assert!(
            matches!(&refused, Some(FleetError::Refused(why)) if why == GIVEN_UP),
            "{refused:?}"
        );
    }
}
