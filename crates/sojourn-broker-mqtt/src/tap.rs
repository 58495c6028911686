//! The tap: a session of its own.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Gap, Recovery, Sink, Tap, TapInfo};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{MqttChannel, MqttVersion};
use sojourn_socket::Reconnecting;

use crate::config::{Role, Settings};
use crate::connection::{Connection, Lost};
use crate::reader::Reader;

/// How long opening may take, and one attempt to connect again.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;

/// A passive subscription. Its session is its own and ends with it.
#[derive(Debug)]
pub struct MqttTap {
    settings: Settings,
    state: State,
    gaps: Vec<Gap>,
    watermark_ns: u64,
    /// How late what comes may be, nanoseconds.
    behind_ns: u64,
    give_up_after: Duration,
    /// Refused and retained messages of connections that are gone.
    counts: (u64, u64),
}

#[derive(Debug)]
enum State {
    Closed,
    Open(Reader),
    /// Since the broker's last sign of life.
    Away {
        reconnecting: Reconnecting<Connection>,
        from_ns: u64,
        why: String,
    },
}

impl MqttTap {
    /// A tap that does not listen yet.
    ///
    /// # Errors
    /// A topic filter or a TLS file is of no use.
    pub fn new(mqtt: &MqttChannel) -> Result<Self, BrokerError> {
        Ok(Self {
            settings: Settings::new(mqtt, Role::Tap)?,
            state: State::Closed,
            gaps: Vec::new(),
            watermark_ns: 0,
            behind_ns: 0,
            give_up_after: Backoff::GIVE_UP_AFTER,
            counts: (0, 0),
        })
    }

    /// Messages left out because the broker had kept them: they are older than the subscription.
    pub fn retained(&self) -> u64 {
        self.all_counts().1
    }

    fn all_counts(&self) -> (u64, u64) {
        let (refused, retained) = match &self.state {
            State::Open(reader) => reader.counts(),
            _ => (0, 0),
        };
        (self.counts.0 + refused, self.counts.1 + retained)
    }

    /// It was lost when the broker was last heard of. Attempts to connect again count from now: we
    /// may have been away ourselves.
    fn lost(&mut self, Lost(why): Lost, from_ns: u64) {
        self.counts = self.all_counts();
        let settings = self.settings.clone();
        let reconnecting =
            Reconnecting::start(now_ns(), self.give_up_after, move || open(&settings));
        self.state = State::Away { reconnecting, from_ns, why };
    }

    fn start(&self, connection: Connection) -> Result<State, BrokerError> {
        let started = Reader::start(connection);
        started.map(State::Open).map_err(|error| self.settings.endpoint.error(&error.to_string()))
    }
}

fn open(settings: &Settings) -> Result<Connection, BrokerError> {
    let deadline_ns = now_ns() + OPEN_NS_MAX;
    let mut connection = Connection::open(settings, deadline_ns)?;
    connection.subscribe(settings, settings.filters(), deadline_ns)?;
    Ok(connection)
}

impl Tap for MqttTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        let settings = &self.settings;
        if !matches!(self.state, State::Closed) {
            return Err(settings.endpoint.error("the tap is open already"));
        }
        self.state = self.start(open(settings)?)?;
        self.watermark_ns = now_ns();
        let version = match settings.version() {
            MqttVersion::V3 => "3.1.1",
            MqttVersion::V5 => "5",
        };
        let filters = settings.filters();
        let topics = if filters.len() == 1 { "topic filter" } else { "topic filters" };
        Ok(TapInfo {
            listens_to: format!(
                "mqtt {version} at {}, {topics} {}, QoS {}",
                settings.endpoint.address(),
                filters.join(", "),
                settings.qos()
            ),
            address: None,
        })
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        match &mut self.state {
            State::Closed => return Err(self.settings.endpoint.error("the tap is not open")),
            State::Open(reader) => {
                let fetched = reader.fetch(timeout);
                for chunk in &fetched.chunks {
                    chunk.hand_over(self.settings.version(), sink);
                }
                self.behind_ns = fetched.behind_ns;
                if !reader.has_more() {
                    self.watermark_ns = self.watermark_ns.max(fetched.read_up_to_ns);
                }
                if let Some(lost) = fetched.lost {
                    self.lost(lost, fetched.heard_ns);
                }
            }
            State::Away { reconnecting, from_ns, why } => match reconnecting.wait(timeout) {
                None => {}
                Some(Ok(connection)) => {
                    let (from_ns, to_ns) = (*from_ns, now_ns());
                    self.gaps.push(Gap { from_ns, to_ns, recovery: Recovery::Missed });
                    self.state = self.start(connection)?;
                }
                Some(Err(error)) => {
                    let message = format!("{} (lost because {why})", error.message);
                    self.state = State::Closed;
                    return Err(BrokerError { message, hint: error.hint });
                }
            },
        }
        Ok(())
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.give_up_after = patience;
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn behind_ns(&self) -> Option<u64> {
        Some(self.behind_ns)
    }

    fn refused(&self) -> u64 {
        self.all_counts().0
    }
}
