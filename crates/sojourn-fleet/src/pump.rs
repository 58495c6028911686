//! One end of a link: between a socket of this process and connections that come and go.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use rustix::event::{PollFd, PollFlags};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, machine_ns, now_ns};

use crate::bell::Bell;
use crate::channel::{Channel, wait_for};
use crate::clock::Sample;
use crate::frame::{DATA_MAX, Welcome};
use crate::member::Watch;
use crate::{Chunk, ClockFigures, FleetError, Frame, Incoming, Outgoing, Standing};

/// How often each end says that it is there.
const BEAT_NS: u64 = 250 * MILLISECOND_NS;
/// Not heard of for so long: suspect.
const SUSPECT_NS: u64 = 2 * SECOND_NS;
/// Not heard of for so long: cut off.
const SILENT_NS: u64 = 5 * SECOND_NS;
/// How long the last words are waited for once both streams have ended.
const LINGER_NS: u64 = 10 * SECOND_NS;

/// A connection that has been greeted.
pub(crate) struct Fresh {
    pub(crate) channel: Channel,
    /// How far the other side has the stream to it.
    pub(crate) peer_received: u64,
    /// What it is to be told first, but for how far this side has its stream.
    pub(crate) welcome: Option<Welcome>,
}

/// What comes to an end of a link.
pub(crate) enum Arrival {
    Fresh(Box<Fresh>),
    /// There will be no further connection.
    Never(String),
}

/// What an end is to do that the other does not.
pub(crate) enum Role {
    /// The coordinator's: it waits to be dialled.
    Dialled,
    /// A generator's: it asks for a new connection, saying how far it has come, and looks after its
    /// clock.
    Dials { requests: Sender<u64>, clock: ClockFigures },
}

/// One end of a link.
pub(crate) struct Pump {
    role: Role,
    local: UnixStream,
    /// Nobody reads what is handed on any more.
    is_deaf: bool,
    /// That nothing more is handed on has been passed on.
    is_shut: bool,
    outgoing: Outgoing,
    incoming: Incoming,
    acked: u64,
    channel: Option<Channel>,
    arrivals: Receiver<Arrival>,
    bell: Bell,
    watch: Watch,
    reconnect_within_ns: u64,
    heard_ns: u64,
    beat_ns: u64,
    cut_ns: u64,
    over_ns: Option<u64>,
    was_full: bool,
    said_bye: bool,
}

/// How an end's turn went.
enum Turn {
    On,
    Ended(Standing),
}

impl Pump {
    /// An end without a connection.
    pub(crate) fn new(
        role: Role,
        local: UnixStream,
        (arrivals, bell): (Receiver<Arrival>, Bell),
        watch: Watch,
        reconnect_within_ns: u64,
    ) -> io::Result<Self> {
        local.set_nonblocking(true)?;
        let now = machine_ns();
        Ok(Self {
            role,
            local,
            is_deaf: false,
            is_shut: false,
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            acked: 0,
            channel: None,
            arrivals,
            bell,
            watch,
            reconnect_within_ns,
            heard_ns: now,
            beat_ns: now,
            cut_ns: now,
            over_ns: None,
            was_full: false,
            said_bye: false,
        })
    }

    /// The thread's body: until both streams have been delivered, or there is no connection for too
    /// long. The socket of this process is closed then.
    pub(crate) fn run(mut self) -> Standing {
        let ended = loop {
            match self.turn() {
                Ok(Turn::On) => {}
                Ok(Turn::Ended(standing)) => break standing,
                Err(FleetError::Protocol(why)) => break Standing::Lost(why),
                Err(error) => self.cut(&error),
            }
        };
        let _ignored = self.local.shutdown(Shutdown::Both);
        self.watch.change(|state| state.standing = ended.clone());
        ended
    }

    fn turn(&mut self) -> Result<Turn, FleetError> {
        if let Some(ended) = self.take_arrivals() {
            return Ok(Turn::Ended(ended));
        }
        self.hand_on();
        self.collect();
        let now = machine_ns();
        if let Some(ended) = self.look_after(now) {
            return Ok(Turn::Ended(ended));
        }
        self.speak(now)?;
        self.wait(now)?;
        self.listen()
    }

    /// Takes a new connection instead of the present one.
    fn take_arrivals(&mut self) -> Option<Standing> {
        self.bell.hush();
        loop {
            match self.arrivals.try_recv() {
                Ok(Arrival::Fresh(fresh)) => {
                    if let Err(why) = self.connect(*fresh) {
                        return Some(Standing::Lost(why.to_string()));
                    }
                }
                Ok(Arrival::Never(why)) => return Some(self.given_up(why)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return None,
            }
        }
    }

    fn connect(&mut self, fresh: Fresh) -> Result<(), crate::ResumeError> {
        let Fresh { mut channel, peer_received, welcome } = fresh;
        if self.channel.is_some() {
            // The other side has noticed first that it was dead.
            self.cut(&io::Error::from(ErrorKind::ConnectionReset).into());
        }
        self.outgoing.rewind(peer_received)?;
        if let Some(welcome) = welcome {
            let received = self.incoming.received();
            channel.send(&Frame::Welcome(Welcome { received, ..welcome }));
        }
        // What was acknowledged over the last connection may not have come.
        self.acked = 0;
        let now = machine_ns();
        (self.heard_ns, self.beat_ns) = (now, now);
        let (resent, address) = (self.outgoing.resent(), channel.peer());
        let without_ns = now.saturating_sub(self.cut_ns);
        self.watch.change(|state| {
            if state.cuts > 0 {
                state.cut_ns_max = state.cut_ns_max.max(without_ns);
            }
            state.resent_bytes = resent;
            state.address = address.or(state.address);
            state.standing = Standing::Connected;
        });
        self.channel = Some(channel);
        Ok(())
    }

    /// The connection is no good any more.
    fn cut(&mut self, why: &FleetError) {
        if self.channel.take().is_none() {
            return;
        }
        // Whoever wonders is told by the count of cuts.
        let _unused = why;
        self.cut_ns = machine_ns();
        if let Role::Dials { requests, .. } = &self.role {
            // One request is enough; the dialler has room for one.
            let _ignored = requests.try_send(self.incoming.received());
        }
        let cut_ns = self.cut_ns;
        self.watch.change(|state| {
            state.cuts += 1;
            state.standing = Standing::Cut(cut_ns);
        });
    }

    /// Hands on what has come.
    fn hand_on(&mut self) {
        while !self.incoming.pending().is_empty() {
            if self.is_deaf {
                self.incoming.consume(usize::MAX);
                break;
            }
            match self.local.write(self.incoming.pending()) {
                Ok(count) => self.incoming.consume(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_gone) => self.is_deaf = true,
            }
        }
        if self.incoming.is_over() && !self.is_shut {
            self.is_shut = true;
            let _ignored = self.local.shutdown(Shutdown::Write);
        }
    }

    /// Takes what this process says.
    fn collect(&mut self) {
        let mut bytes = [0; DATA_MAX];
        while !self.outgoing.is_closed() {
            let room = self.outgoing.room().min(DATA_MAX);
            let is_full = room == 0;
            if is_full && !self.was_full {
                self.watch.change(|state| state.held_up += 1);
            }
            self.was_full = is_full;
            if is_full {
                return;
            }
            match self.local.read(&mut bytes[..room]) {
                Ok(0) => self.outgoing.close(),
                Ok(count) => self.outgoing.push(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_gone) => self.outgoing.close(),
            }
        }
    }

    /// Everything has been delivered both ways; only the last words may be missing.
    fn is_over(&self) -> bool {
        self.outgoing.is_delivered() && self.incoming.is_over()
    }

    /// How the link stands when there will be no further connection.
    fn given_up(&self, why: String) -> Standing {
        if self.is_over() { Standing::Over } else { Standing::Lost(why) }
    }

    /// Whether the link has ended, or its connection.
    fn look_after(&mut self, now: u64) -> Option<Standing> {
        if self.is_over() {
            let since_ns = *self.over_ns.get_or_insert(now);
            if self.said_bye || now > since_ns + LINGER_NS {
                return Some(Standing::Over);
            }
        }
        if self.channel.is_none() {
            let without_ns = now.saturating_sub(self.cut_ns);
            return (without_ns > self.reconnect_within_ns).then(|| {
                let seconds = self.reconnect_within_ns as f64 / SECOND_NS as f64;
                self.given_up(format!("there was no connection for {seconds} s"))
            });
        }
        let silent_ns = now.saturating_sub(self.heard_ns);
        if silent_ns > SILENT_NS {
            self.cut(&io::Error::from(ErrorKind::TimedOut).into());
        } else if silent_ns > SUSPECT_NS {
            self.watch.change(|state| state.standing = Standing::Suspect);
        }
        None
    }

    /// Says what there is to say.
    fn speak(&mut self, now: u64) -> Result<(), FleetError> {
        let Some(channel) = &mut self.channel else { return Ok(()) };
        if now >= self.beat_ns {
            self.beat_ns = now + BEAT_NS;
            let clock = match &self.role {
                Role::Dials { clock, .. } => Some(*clock),
                Role::Dialled => None,
            };
            channel.send(&Frame::Ping { sent_ns: now_ns(), clock });
        }
        let delivered = self.incoming.delivered();
        if delivered > self.acked {
            self.acked = delivered;
            channel.send(&Frame::Ack { offset: delivered });
        }
        while channel.has_room() {
            match self.outgoing.next_chunk() {
                Some(Chunk::Data(offset, bytes)) => channel.send(&Frame::Data { offset, bytes }),
                Some(Chunk::Fin(offset)) => channel.send(&Frame::Fin { offset }),
                None => break,
            }
        }
        let is_generators = matches!(self.role, Role::Dials { .. });
        if is_generators && self.over_ns.is_some() && !self.said_bye {
            // The coordinator has acknowledged everything, and its last is acknowledged with this.
            channel.send(&Frame::Bye);
            channel.flush_until(now + SECOND_NS)?;
            self.said_bye = true;
            // Whatever becomes of the rest: the word is out.
            let _ignored = channel.finish(now + 2 * SECOND_NS);
            return Ok(());
        }
        Ok(channel.write()?)
    }

    fn wait(&self, now: u64) -> io::Result<()> {
        if self.said_bye {
            return Ok(());
        }
        let mut local = PollFlags::empty();
        if !self.outgoing.is_closed() && self.outgoing.room() > 0 {
            local |= PollFlags::IN;
        }
        if !self.incoming.pending().is_empty() {
            local |= PollFlags::OUT;
        }
        let mut fds = vec![PollFd::new(&self.bell, PollFlags::IN)];
        if !local.is_empty() {
            // Not asked at all otherwise: a closed one would be ready for ever.
            fds.push(PollFd::new(&self.local, local));
        }
        let mut until_ns = now + BEAT_NS;
        if let Some(channel) = &self.channel {
            let more = if channel.has_more() { PollFlags::OUT } else { PollFlags::empty() };
            fds.push(PollFd::new(channel, PollFlags::IN | more));
            until_ns = until_ns.min(self.beat_ns);
        }
        wait_for(&mut fds, until_ns.saturating_sub(now))
    }

    /// Takes what the other side says.
    fn listen(&mut self) -> Result<Turn, FleetError> {
        let Some(channel) = &mut self.channel else { return Ok(Turn::On) };
        let goes_on = channel.read()?;
        while let Some(frame) = self.channel.as_mut().map_or(Ok(None), Channel::next_frame)? {
            self.heard_ns = machine_ns();
            self.hear(frame)?;
        }
        let is_suspect = |state: &crate::MemberState| state.standing == Standing::Suspect;
        if machine_ns().saturating_sub(self.heard_ns) < SUSPECT_NS && is_suspect(&self.watch.get())
        {
            self.watch.change(|state| state.standing = Standing::Connected);
        }
        if !goes_on && !self.said_bye {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        Ok(Turn::On)
    }

    fn hear(&mut self, frame: Frame) -> Result<(), FleetError> {
        let wrong = |error: crate::ResumeError| FleetError::Protocol(error.to_string());
        match frame {
            Frame::Data { offset, bytes } => self.incoming.data(offset, &bytes).map_err(wrong)?,
            Frame::Fin { offset } => self.incoming.fin(offset).map_err(wrong)?,
            Frame::Ack { offset } => self.outgoing.ack(offset).map_err(wrong)?,
            Frame::Ping { sent_ns, clock } => {
                if let Some(channel) = &mut self.channel {
                    channel.send(&Frame::Pong { sent_ns, here_ns: now_ns() });
                }
                if clock.is_some() {
                    self.watch.change(|state| state.clock = clock);
                }
            }
            Frame::Pong { sent_ns, here_ns } => {
                if let Role::Dials { clock, .. } = &mut self.role {
                    let sample = Sample { sent_ns, here_ns, heard_ns: now_ns() };
                    clock.departure_ns = clock.departure_ns.max(sample.departure_ns());
                }
            }
            Frame::Ready(clock) => self.watch.change(|state| state.clock = Some(clock)),
            Frame::Bye => self.said_bye = true,
            Frame::Hello(_) | Frame::Welcome(_) | Frame::Refused(_) => {
                return Err(FleetError::Protocol("a greeting in the middle".to_owned()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::bounded;

    use super::*;

    /// A connection that ends before the last word of all, and does not come back.
    #[test]
    fn a_link_that_delivered_everything_is_over_whoever_has_gone() {
        let (_near, far) = UnixStream::pair().unwrap();
        let (sender, arrivals) = bounded(1);
        let bell = Bell::new().unwrap();
        let end = (arrivals, bell);
        let mut pump = Pump::new(Role::Dialled, far, end, Watch::default(), SECOND_NS).unwrap();
        let late_ns = machine_ns() + 2 * SECOND_NS;
        assert!(matches!(pump.look_after(late_ns), Some(Standing::Lost(_))));
        pump.outgoing.close();
        assert_eq!(pump.outgoing.next_chunk(), Some(Chunk::Fin(0)));
        pump.outgoing.ack(1).unwrap();
        pump.incoming.fin(0).unwrap();
        assert_eq!(pump.look_after(late_ns), Some(Standing::Over));
        assert!(sender.try_send(Arrival::Never("nobody answers".to_owned())).is_ok());
        assert_eq!(pump.take_arrivals(), Some(Standing::Over));
    }
}
