//! A generator's side: it dials, takes over the coordinator's clock, and has a stream.

use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use crossbeam_channel::bounded;
use sojourn_clock::{SECOND_NS, machine_ns, now_ns, shift_to};

use crate::bell::Bell;
use crate::channel::Channel;
use crate::clock::{self, Sample};
use crate::dial::{Dial, breathe};
use crate::frame::{Welcome, Wish};
use crate::member::Watch;
use crate::pump::{Arrival, Fresh, Pump, Role};
use crate::{ClockFigures, FleetError, Frame, JoinKey, Standing};

/// Questions by which the clock is set.
const QUESTIONS: usize = 16;
/// How long they may take.
const QUESTIONS_NS: u64 = 5 * SECOND_NS;
/// From a cut among them to the next try.
const PAUSE_NS: u64 = SECOND_NS;

/// Where and how a generator joins.
#[derive(Clone, Debug)]
pub struct JoinAt {
    /// Host and port.
    pub address: String,
    /// The run's key.
    pub key: JoinKey,
    /// The program's version.
    pub version: String,
    /// The number that it wants to have.
    pub number: Option<u32>,
    /// How long a coordinator is waited for that is not there yet, nanoseconds.
    pub within_ns: u64,
}

/// How a link was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// Everything was delivered.
    Delivered,
    /// The coordinator was lost: why. What it had not acknowledged by then did not reach it.
    Lost(String),
}

/// A generator that has joined.
#[derive(Debug)]
pub struct Joining {
    /// Its number.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// What is known of its clock.
    pub clock: ClockFigures,
    pump: JoinHandle<Standing>,
}

impl Joining {
    /// Joins; the stream to the coordinator. `takes_clock`: this process's clock is the
    /// coordinator's from now on, so that nothing may have been measured yet.
    pub fn join(at: &JoinAt, takes_clock: bool) -> Result<(Self, UnixStream), FleetError> {
        Self::join_unless(at, takes_clock, &|| false)
    }

    /// The same, given up as soon as `is_to_end` says so.
    pub fn join_unless(
        at: &JoinAt,
        takes_clock: bool,
        is_to_end: &dyn Fn() -> bool,
    ) -> Result<(Self, UnixStream), FleetError> {
        let dial = Dial::new(&at.address, at.key.clone(), &at.version)?;
        let (mut channel, welcome, clock) = meet(&dial, at, is_to_end)?;
        if takes_clock {
            shift_to(clock.offset_ns);
        }
        channel.send(&Frame::Ready(clock));
        let Welcome { number, of, id, received, reconnect_within_ns } = welcome;
        let (near, far) = UnixStream::pair()?;
        let (requests, asked) = bounded(1);
        let (arrivals, heard) = bounded(1);
        let bell = Bell::new()?;
        let fresh = Fresh { channel, peer_received: received, welcome: None };
        // There is room for one.
        let _sent = arrivals.try_send(Arrival::Fresh(Box::new(fresh)));
        let role = Role::Dials { requests, clock };
        let watch = Watch::default();
        let pump = Pump::new(role, far, (heard, bell.clone()), watch, reconnect_within_ns)?;
        std::thread::Builder::new().name("dial".to_owned()).spawn(move || {
            dial.serve(id, reconnect_within_ns, &asked, (&arrivals, &bell));
        })?;
        let pump = std::thread::Builder::new().name("link".to_owned()).spawn(|| pump.run())?;
        Ok((Self { number, of, clock, pump }, near))
    }

    /// Waits until the link has ended, which needs the stream's end to be closed first.
    pub fn leave(self) -> Left {
        match self.pump.join() {
            Ok(Standing::Over) => Left::Delivered,
            Ok(Standing::Lost(why)) => Left::Lost(why),
            Ok(other) => Left::Lost(format!("{other:?}")),
            Err(_panic) => Left::Lost("a defect of the link".to_owned()),
        }
    }
}

/// Dials until there is a connection that lasts for all questions about the clock.
fn meet(
    dial: &Dial,
    at: &JoinAt,
    is_to_end: &dyn Fn() -> bool,
) -> Result<(Channel, Welcome, ClockFigures), FleetError> {
    let until_ns = machine_ns().saturating_add(at.within_ns);
    let mut left_ns = at.within_ns;
    loop {
        let (mut channel, welcome) = dial.until(&Wish::Join(at.number), left_ns, is_to_end)?;
        match ask(&mut channel) {
            Ok(clock) => return Ok((channel, welcome, clock)),
            Err(error @ (FleetError::Refused(_) | FleetError::Stranger(_))) => return Err(error),
            Err(error) if machine_ns() >= until_ns => return Err(error),
            // A cut. The coordinator has to notice it before the same number is free again.
            Err(_) => {
                drop(channel);
                dial.pause(PAUSE_NS, is_to_end)?;
                left_ns = until_ns.saturating_sub(machine_ns());
            }
        }
    }
}

/// Asks for the coordinator's clock.
fn ask(channel: &mut Channel) -> Result<ClockFigures, FleetError> {
    let until_ns = machine_ns() + QUESTIONS_NS;
    let mut samples = Vec::new();
    while samples.len() < QUESTIONS {
        let asked_ns = now_ns();
        channel.send(&Frame::Ping { sent_ns: asked_ns, clock: None });
        loop {
            match channel.frame_until(until_ns)? {
                Frame::Pong { sent_ns, here_ns } if sent_ns == asked_ns => {
                    samples.push(Sample { sent_ns, here_ns, heard_ns: now_ns() });
                    break;
                }
                // It says that it is there meanwhile.
                Frame::Ping { sent_ns, .. } => {
                    channel.send(&Frame::Pong { sent_ns, here_ns: now_ns() });
                }
                Frame::Refused(why) => return Err(FleetError::Refused(why)),
                Frame::Pong { .. } => {}
                _ => return Err(FleetError::Protocol("data before the clock".to_owned())),
            }
        }
        breathe();
    }
    clock::best(&samples)
        .ok_or_else(|| FleetError::Protocol("no answer about the clock".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use crate::greeting::{Door, GREETING_NS};
    use crate::tls;

    use super::*;

    /// Lets a generator in, answers so many questions, and ends the connection.
    fn coordinate(door: &Door, tcp: TcpStream, questions: usize) {
        let (mut channel, _) = door.greet(tcp).unwrap();
        let id = [7; 16];
        let welcome = Welcome { number: 0, of: 1, id, received: 0, reconnect_within_ns: SECOND_NS };
        channel.send(&Frame::Welcome(welcome));
        let until_ns = machine_ns() + GREETING_NS;
        for _ in 0..questions {
            if let Frame::Ping { sent_ns, .. } = channel.frame_until(until_ns).unwrap() {
                channel.send(&Frame::Pong { sent_ns, here_ns: now_ns() });
            }
        }
        channel.flush_until(until_ns).unwrap();
    }

    #[test]
    fn a_cut_among_the_questions_about_the_clock_is_no_end() {
        let key = JoinKey::fresh().unwrap();
        let version = "1.0".to_owned();
        let tls = tls::server(&key).unwrap();
        let door = Door { tls, key: key.clone(), version: version.clone() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let coordinator = std::thread::spawn(move || {
            for questions in [0, 3, QUESTIONS] {
                coordinate(&door, listener.accept().unwrap().0, questions);
            }
        });
        let within_ns = 20 * SECOND_NS;
        let at = JoinAt { address, key, version, number: Some(0), within_ns };
        let (joining, _socket) = Joining::join(&at, false).unwrap();
        assert_eq!(joining.number, 0);
        coordinator.join().unwrap();
    }
}
