//! The publisher's thread: sends what is queued, and tells what became of it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use sojourn_broker::{Backoff, FirstAttempt, Outcome};
use sojourn_clock::{SECOND_NS, now_ns};

use crate::codec::{self, Ack, Packet, is_failure, reason_name};
use crate::config::Settings;
use crate::connection::{Connection, Found, Lost};
use crate::publish::{Queued, Signals};

/// How long one attempt to connect may take.
const CONNECT_NS_MAX: u64 = 5 * SECOND_NS;
/// The pause between attempts that [`Backoff`] has given up, which a publisher does not.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// So much lies in our own buffer at most before more is taken from the queue, bytes.
const BUFFERED_BYTES: usize = 256 << 10;
const WAIT_MAX: Duration = Duration::from_millis(500);

const NO_CONNECTION: &str = "no connection to the broker";
const CONNECTION_LOST: &str = "the connection was lost before the broker answered";

/// The thread's own.
pub(crate) struct Sending {
    pub(crate) settings: Settings,
    pub(crate) queued: Receiver<Queued>,
    pub(crate) done: Sender<Outcome>,
    pub(crate) wake: Arc<dyn Fn() + Send + Sync>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) first: FirstAttempt,
}

impl Sending {
    /// Until the publisher is dropped.
    pub(crate) fn run(self) {
        let mut backoff = Backoff::new(now_ns());
        while !self.is_over() {
            match Connection::open(&self.settings, now_ns() + CONNECT_NS_MAX) {
                Ok(connection) if connection.limits.qos_max >= self.settings.qos() => {
                    self.first.tell(Ok(()));
                    self.serve(connection);
                    backoff = Backoff::new(now_ns());
                }
                // Reports count by the words: no address in them.
                Ok(connection) => {
                    let most = connection.limits.qos_max;
                    let why = format!("the broker takes QoS {most} at most");
                    let error = self.settings.endpoint.error(&why);
                    self.first
                        .tell(Err(error.with_hint(format!("set the channel's `qos: {most}`"))));
                    self.refuse(&mut backoff, &why);
                }
                Err(error) => {
                    self.first.tell(Err(error));
                    self.refuse(&mut backoff, NO_CONNECTION);
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.signals.is_over.load(Ordering::SeqCst)
    }

    /// Answers what is queued with an error until it is time for another attempt.
    fn refuse(&self, backoff: &mut Backoff, why: &str) {
        let pause = backoff.pause(now_ns()).unwrap_or(PAUSE_MAX);
        let until_ns = now_ns() + u64::try_from(pause.as_nanos()).unwrap_or(SECOND_NS);
        loop {
            let left = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
            match self.queued.recv_timeout(left) {
                Ok(queued) => self.tell(queued.token, Some(why.to_owned())),
                // In time, or the publisher is gone.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn tell(&self, token: u64, error: Option<String>) {
        // Room for every message; it only fails when the publisher is gone.
        let _gone = self.done.try_send(Outcome { token, acked_ns: now_ns(), error });
        (self.wake)();
    }

    fn serve(&self, mut connection: Connection) {
        let mut flights = Flights::new(connection.limits.in_flight_max);
        while self.step(&mut connection, &mut flights).is_ok() {
            if self.is_over() {
                return connection.close();
            }
        }
        for token in flights.tokens() {
            self.tell(token, Some(CONNECTION_LOST.to_owned()));
        }
    }

    fn step(&self, connection: &mut Connection, flights: &mut Flights) -> Result<(), Lost> {
        self.take(connection, flights);
        connection.flush()?;
        flights.sent(connection.sent_bytes, |token| self.tell(token, None));
        let now = now_ns();
        if let Found::More(_) = connection.read()? {
            self.hear(connection, flights)?;
            return connection.tend(now, false);
        }
        connection.tend(now, true)?;
        self.signals.bell.hush();
        self.signals.is_waiting.store(true, Ordering::SeqCst);
        // Looked at after the flag is up: whoever queues from now on rings.
        let is_idle = self.queued.is_empty() || !flights.has_room(connection);
        if is_idle && !self.is_over() {
            connection.wait(WAIT_MAX, Some(&self.signals.bell))?;
        }
        self.signals.is_waiting.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Moves messages from the queue to the connection, as many as may be under way.
    fn take(&self, connection: &mut Connection, flights: &mut Flights) {
        while flights.has_room(connection) {
            let mut queued = match self.queued.try_recv() {
                Ok(queued) => queued,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            };
            if queued.packet.len() > connection.limits.packet_bytes_max {
                let why = "the message is larger than the broker takes";
                self.tell(queued.token, Some(why.to_owned()));
                continue;
            }
            if let Some(place) = queued.id_place {
                let id = flights.begin(queued.token);
                codec::patch_packet_id(&mut queued.packet, place, id);
                connection.outbound.extend(&queued.packet);
            } else {
                connection.outbound.extend(&queued.packet);
                flights.write(queued.token, connection);
            }
        }
    }

    fn hear(&self, connection: &mut Connection, flights: &mut Flights) -> Result<(), Lost> {
        let mut consumed = 0;
        while let Some(found) = codec::frame(&connection.inbound.bytes()[consumed..])? {
            consumed += found.length;
            match codec::packet(&found, connection.version)? {
                Packet::Ack { ack, id, reason } => {
                    let refused = is_failure(reason)
                        .then(|| format!("the broker refuses: {}", reason_name(reason)));
                    if ack == Ack::Received && refused.is_none() {
                        codec::write_ack(&mut connection.outbound, Ack::Released, id);
                    } else if let Some(token) = flights.end(id) {
                        self.tell(token, refused);
                    }
                }
                Packet::Disconnect { reason } => return Err(Lost(reason_name(reason).to_owned())),
                _ => {}
            }
        }
        connection.inbound.consume(consumed);
        Ok(())
    }
}

/// Messages under way.
struct Flights {
    /// Tokens by packet number, less one; grown as far as the broker lets us go.
    tokens: Vec<Option<u64>>,
    free: Vec<u16>,
    in_flight_max: usize,
    /// Of QoS 0, in order: token, and how many bytes of the connection have been sent when it is.
    written: VecDeque<(u64, u64)>,
}

impl Flights {
    fn new(in_flight_max: u16) -> Self {
        Self {
            tokens: Vec::new(),
            free: Vec::new(),
            in_flight_max: in_flight_max.into(),
            written: VecDeque::new(),
        }
    }

    fn has_room(&self, connection: &Connection) -> bool {
        connection.unsent() < BUFFERED_BYTES
            && (!self.free.is_empty() || self.tokens.len() < self.in_flight_max)
    }

    /// A number for a message; there must be room.
    fn begin(&mut self, token: u64) -> u16 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.tokens.push(None);
            // At most 65,535, as many as the numbers from 1.
            u16::try_from(self.tokens.len()).unwrap_or(u16::MAX)
        });
        self.tokens[usize::from(id) - 1] = Some(token);
        id
    }

    /// The message of this number is done.
    fn end(&mut self, id: u16) -> Option<u64> {
        let token = self.tokens.get_mut(usize::from(id).checked_sub(1)?)?.take()?;
        self.free.push(id);
        Some(token)
    }

    /// A message of QoS 0 has just been put into the connection's buffer, at its end.
    fn write(&mut self, token: u64, connection: &Connection) {
        self.written.push_back((token, connection.sent_bytes + connection.unsent() as u64));
    }

    /// So many bytes have been sent: messages of QoS 0 that end before are done.
    fn sent(&mut self, sent_bytes: u64, mut each: impl FnMut(u64)) {
        while let Some((token, end)) = self.written.front()
            && *end <= sent_bytes
        {
            each(*token);
            self.written.pop_front();
        }
    }

    fn tokens(self) -> impl Iterator<Item = u64> {
        let written = self.written.into_iter().map(|(token, _)| token);
        self.tokens.into_iter().flatten().chain(written)
    }
}
