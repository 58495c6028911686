//! Dialling the coordinator, and dialling again.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use rustls::{ClientConfig, ClientConnection, Connection};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, machine_ns, sleep_until};

use crate::bell::Bell;
use crate::channel::Channel;
use crate::frame::{Hello, PROTOCOL, Welcome, Wish};
use crate::greeting::GREETING_NS;
use crate::pump::{Arrival, Fresh};
use crate::{FleetError, Frame, JoinKey, tls};

/// How long one of the coordinator's addresses may take: it may have others.
const CONNECT_NS: u64 = 2 * SECOND_NS;
/// The first pause between two tries; each further one is twice as long…
const PAUSE_NS: u64 = 100 * MILLISECOND_NS;
/// …up to this.
const PAUSE_NS_MAX: u64 = 2 * SECOND_NS;

/// How often it is looked whether to go on.
const LOOK_NS: u64 = 50 * MILLISECOND_NS;

/// Who is dialled, and how.
pub(crate) struct Dial {
    address: String,
    key: JoinKey,
    version: String,
    host: String,
    tls: Arc<ClientConfig>,
    /// Who knows names.
    resolve: fn(&str) -> io::Result<Vec<SocketAddr>>,
}

impl Dial {
    pub(crate) fn new(address: &str, key: JoinKey, version: &str) -> Result<Self, FleetError> {
        let tls = tls::client(&key)?;
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let (address, version) = (address.to_owned(), version.to_owned());
        Ok(Self { address, key, version, host, tls, resolve })
    }

    /// Tries until there is a connection, a reason why there will be none, or no wish for one.
    pub(crate) fn until(
        &self,
        wish: &Wish,
        within_ns: u64,
        is_to_end: &dyn Fn() -> bool,
    ) -> Result<(Channel, Welcome), FleetError> {
        let from_ns = machine_ns();
        let mut pause_ns = PAUSE_NS;
        loop {
            match self.once(wish) {
                Ok(greeted) => return Ok(greeted),
                Err(error @ (FleetError::Refused(_) | FleetError::Stranger(_))) => {
                    return Err(error);
                }
                Err(error) => {
                    let next_ns = machine_ns() + pause_ns;
                    if next_ns > from_ns + within_ns {
                        return Err(FleetError::Unreachable {
                            address: self.address.clone(),
                            seconds: within_ns as f64 / SECOND_NS as f64,
                            last: error.to_string(),
                        });
                    }
                    self.pause(pause_ns, is_to_end)?;
                    pause_ns = (pause_ns * 2).min(PAUSE_NS_MAX);
                }
            }
        }
    }

    /// Waits, unless there is no point any more.
    pub(crate) fn pause(
        &self,
        wait_ns: u64,
        is_to_end: &dyn Fn() -> bool,
    ) -> Result<(), FleetError> {
        let until_ns = machine_ns() + wait_ns;
        while machine_ns() < until_ns {
            if is_to_end() {
                return Err(FleetError::Interrupted(self.address.clone()));
            }
            let left_ns = until_ns.saturating_sub(machine_ns());
            std::thread::sleep(Duration::from_nanos(left_ns.min(LOOK_NS)));
        }
        Ok(())
    }

    fn once(&self, wish: &Wish) -> Result<(Channel, Welcome), FleetError> {
        let tcp = self.connect()?;
        // Counted from here, as the coordinator does: what names and dead addresses take is not
        // its delay.
        let until_ns = machine_ns() + GREETING_NS;
        let tls = ClientConnection::new(Arc::clone(&self.tls), tls::name()?)
            .map_err(|error| FleetError::Tls(error.to_string()))?;
        let mut channel = Channel::new(tcp, Connection::Client(tls))?;
        channel.send(&Frame::Hello(Box::new(Hello {
            protocol: PROTOCOL,
            version: self.version.clone(),
            token: self.key.token(),
            host: self.host.clone(),
            wish: wish.clone(),
        })));
        match channel.frame_until(until_ns)? {
            Frame::Welcome(welcome) => Ok((channel, welcome)),
            Frame::Refused(why) => Err(FleetError::Refused(why)),
            _ => Err(FleetError::Protocol("no greeting".to_owned())),
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let addresses = (self.resolve)(&self.address)?;
        let mut last = io::Error::other(format!("{} has no address", self.address));
        for address in addresses {
            match TcpStream::connect_timeout(&address, Duration::from_nanos(CONNECT_NS)) {
                Ok(tcp) => return Ok(tcp),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The body of a thread that makes a new connection whenever one is asked for.
    pub(crate) fn serve(
        &self,
        id: [u8; 16],
        within_ns: u64,
        requests: &Receiver<u64>,
        (arrivals, bell): (&Sender<Arrival>, &Bell),
    ) {
        for received in requests {
            let arrival = match self.until(&Wish::Resume { id, received }, within_ns, &|| false) {
                Ok((channel, welcome)) => {
                    let peer_received = welcome.received;
                    Arrival::Fresh(Box::new(Fresh { channel, peer_received, welcome: None }))
                }
                Err(error) => Arrival::Never(error.to_string()),
            };
            let is_last = matches!(arrival, Arrival::Never(_));
            if arrivals.send(arrival).is_err() {
                return;
            }
            bell.ring();
            if is_last {
                return;
            }
        }
    }
}

/// Asks the system for a name's addresses.
fn resolve(address: &str) -> io::Result<Vec<SocketAddr>> {
    Ok(address.to_socket_addrs()?.collect())
}

/// Waits a moment before a further question of the clock.
pub(crate) fn breathe() {
    sleep_until(sojourn_clock::now_ns() + MILLISECOND_NS);
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use crate::{Listen, Listening};

    use super::*;

    /// An address where nobody answers: a listener whose queue is full.
    fn dead() -> (TcpListener, Vec<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        let most = Duration::from_millis(200);
        let callers = std::iter::from_fn(|| TcpStream::connect_timeout(&address, most).ok());
        let callers = callers.collect();
        (listener, callers)
    }

    /// Two dead addresses before the one that answers, and a name server that takes its time: all
    /// that together is longer than a greeting may be.
    #[test]
    fn slow_names_and_dead_addresses_do_not_count_as_the_coordinators_silence() {
        let version = "1.0".to_owned();
        let listening = Listening::start(Listen {
            address: "127.0.0.1:0".parse().unwrap(),
            generators: 1,
            key: JoinKey::fresh().unwrap(),
            version: version.clone(),
            reconnect_within_ns: SECOND_NS,
        })
        .unwrap();
        let (dead, callers) = dead();
        let (dead_address, address) = (dead.local_addr().unwrap(), listening.address());
        let addresses = format!("{dead_address} {dead_address} {address}");
        let mut dial = Dial::new(&addresses, listening.key().clone(), &version).unwrap();
        dial.resolve = |addresses| {
            std::thread::sleep(Duration::from_secs(2));
            let all = addresses.split(' ').map(|it| it.parse().map_err(io::Error::other));
            all.collect()
        };
        let (_, welcome) = dial.until(&Wish::Join(None), SECOND_NS, &|| false).unwrap();
        assert_eq!(welcome.number, 0);
        drop(callers);
    }
}
