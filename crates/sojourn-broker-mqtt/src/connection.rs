//! One session with a broker: its socket, what has come, what is to be sent, and whether the broker
//! is still there.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use sojourn_broker::{BrokerError, Echo};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::MqttVersion;
use sojourn_socket::{Bell, Due, Liveness, Socket};

use crate::codec::{self, Malformed, Packet, kind};
use crate::config::Settings;
use crate::inbound::{CHUNK_BYTES, Inbound};

/// More than this to be sent, and nothing more is read until the broker takes it, bytes.
const OUTBOUND_BYTES_MAX: usize = 1 << 20;
/// Messages of QoS 2 in flight to a broker of 3.1.1, which can't say how many it takes: Mosquitto's
/// usual limit, beyond which it (2.0.11) stops answering.
const UNTOLD_IN_FLIGHT_MAX: u16 = 20;
/// The number of our only SUBSCRIBE.
const SUBSCRIBE_ID: u16 = 1;

/// Why a connection is no more, in stable words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) String);

impl From<Malformed> for Lost {
    fn from(Malformed(what): Malformed) -> Self {
        Self(format!("the broker sent {what}"))
    }
}

impl From<std::io::Error> for Lost {
    fn from(error: std::io::Error) -> Self {
        Self(match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                "the connection was reset".to_owned()
            }
            ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
            _ => format!("the connection broke: {error}"),
        })
    }
}

/// What the broker allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Messages of QoS 1 and 2 without an answer.
    pub(crate) in_flight_max: u16,
    pub(crate) packet_bytes_max: usize,
    pub(crate) qos_max: u8,
    pub(crate) has_shared: bool,
}

/// What a reading found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// More bytes, at this instant.
    More(u64),
    /// Nothing at once.
    Nothing,
}

/// A session that stands.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    pub(crate) version: MqttVersion,
    pub(crate) inbound: Inbound,
    /// The last reading took all that there was.
    pub(crate) is_drained: bool,
    pub(crate) outbound: Vec<u8>,
    /// How much of `outbound` is sent already.
    sent: usize,
    /// All that was ever sent.
    pub(crate) sent_bytes: u64,
    pub(crate) limits: Limits,
    liveness: Liveness,
    /// Of taps. Others take the answer to a ping for more than that.
    echo: Option<Echo>,
    keep_alive_ns: u64,
    wrote_ns: u64,
}

impl Connection {
    /// Connects and says hello, waiting until `deadline_ns` at most.
    pub(crate) fn open(settings: &Settings, deadline_ns: u64) -> Result<Self, BrokerError> {
        let connect = settings.connect();
        let now = now_ns();
        let mut this = Self {
            socket: settings.endpoint.connect(deadline_ns)?,
            version: connect.version,
            inbound: Inbound::default(),
            is_drained: false,
            outbound: Vec::new(),
            sent: 0,
            sent_bytes: 0,
            limits: Limits {
                in_flight_max: u16::MAX,
                packet_bytes_max: usize::MAX,
                qos_max: 2,
                has_shared: true,
            },
            liveness: Liveness::new(now),
            echo: None,
            keep_alive_ns: u64::from(connect.keep_alive_s) * SECOND_NS,
            wrote_ns: now,
        };
        codec::write_connect(&mut this.outbound, &connect)
            .map_err(|problem| settings.endpoint.error(&problem))?;
        let answer = this
            .answer(&[kind::CONNACK, kind::DISCONNECT], deadline_ns)
            .map_err(|Lost(why)| settings.endpoint.error(&format!("no session: {why}")))?;
        this.greeted(settings, &answer)?;
        Ok(this)
    }

    fn greeted(&mut self, settings: &Settings, answer: &[u8]) -> Result<(), BrokerError> {
        let strange = || {
            settings
                .endpoint
                .error("it does not answer as an MQTT broker does")
                .with_hint("is this the port of MQTT itself, not of MQTT over WebSocket or of TLS?")
        };
        let found = codec::frame(answer).ok().flatten().ok_or_else(strange)?;
        // A broker that does not speak 5 may answer in the form of 3.1.1.
        let packet = codec::packet(&found, self.version)
            .or_else(|_| codec::packet(&found, MqttVersion::V3))
            .map_err(|_| strange())?;
        match packet {
            Packet::ConnAck { reason, properties } => {
                if let Some(reason) = codec::connection_refused(reason, self.version) {
                    return Err(settings.refused(reason));
                }
                let limit = |id| properties.number(id);
                let limits = &mut self.limits;
                if let Some(most) = limit(codec::RECEIVE_MAXIMUM) {
                    limits.in_flight_max = u16::try_from(most).unwrap_or(u16::MAX).max(1);
                }
                if let Some(most) = limit(codec::MAXIMUM_PACKET_SIZE) {
                    limits.packet_bytes_max = most as usize;
                }
                if self.version == MqttVersion::V3 && settings.qos() == 2 {
                    limits.in_flight_max = UNTOLD_IN_FLIGHT_MAX;
                }
                limits.qos_max = limit(codec::MAXIMUM_QOS).map_or(2, |qos| qos.min(2) as u8);
                limits.has_shared = limit(codec::SHARED_SUBSCRIPTION_AVAILABLE) != Some(0);
                if let Some(seconds) = limit(codec::SERVER_KEEP_ALIVE) {
                    self.keep_alive_ns = u64::from(seconds.max(1)) * SECOND_NS;
                }
                Ok(())
            }
            Packet::Disconnect { reason } => Err(settings.refused(reason.max(0x80))),
            _ => Err(strange()),
        }
    }

    /// Subscribes and waits until `deadline_ns` at most for the broker's word that it is done.
    pub(crate) fn subscribe(
        &mut self,
        settings: &Settings,
        filters: &[String],
        deadline_ns: u64,
    ) -> Result<(), BrokerError> {
        let failed = |Lost(why)| settings.endpoint.error(&format!("cannot subscribe: {why}"));
        let texts = filters.iter().map(String::as_str);
        let (version, qos) = (self.version, settings.qos());
        codec::write_subscribe(&mut self.outbound, version, SUBSCRIBE_ID, texts, qos)
            .map_err(|why| failed(Lost(why)))?;
        let answer = self.answer(&[kind::SUBACK, kind::DISCONNECT], deadline_ns).map_err(failed)?;
        let found = codec::frame(&answer).ok().flatten();
        let packet = found.and_then(|found| codec::packet(&found, version).ok());
        let reasons = match packet {
            Some(Packet::SubAck { id: SUBSCRIBE_ID, reasons })
                if reasons.len() == filters.len() =>
            {
                reasons
            }
            Some(Packet::Disconnect { reason }) => {
                return Err(failed(Lost(codec::reason_name(reason).to_owned())));
            }
            _ => return Err(failed(Lost("the broker's answer makes no sense".to_owned()))),
        };
        for (filter, &reason) in filters.iter().zip(reasons) {
            if codec::is_failure(reason) {
                let why = codec::reason_name(reason);
                return Err(settings
                    .endpoint
                    .error(&format!("the subscription to `{filter}` is refused: {why}"))
                    .with_hint("may this user read these topics?"));
            }
            if reason < qos {
                return Err(settings
                    .endpoint
                    .error(&format!("`{filter}` is granted at QoS {reason} only"))
                    .with_hint(format!("write `qos: {reason}`")));
            }
        }
        Ok(())
    }

    /// Sends what is to be sent and waits for a packet of one of these types; all others stay.
    pub(crate) fn answer(&mut self, kinds: &[u8], deadline_ns: u64) -> Result<Vec<u8>, Lost> {
        loop {
            self.flush()?;
            if let Some(packet) = self.inbound.take_first(kinds)? {
                return Ok(packet);
            }
            if let Found::Nothing = self.read()? {
                let left_ns = deadline_ns.saturating_sub(now_ns());
                if left_ns == 0 {
                    return Err(Lost("no answer in time".to_owned()));
                }
                self.socket.wait(self.is_sending(), Duration::from_nanos(left_ns), None)?;
            }
        }
    }

    /// Takes in what has come.
    pub(crate) fn read(&mut self) -> Result<Found, Lost> {
        self.is_drained = false;
        if self.outbound.len() - self.sent > OUTBOUND_BYTES_MAX {
            return Ok(Found::Nothing);
        }
        loop {
            match self.inbound.fill(&mut self.socket) {
                Ok(0) => return Err(Lost("the connection was closed".to_owned())),
                Ok(count) => {
                    self.is_drained = count < CHUNK_BYTES && !self.socket.is_secured();
                    let now = now_ns();
                    self.liveness.heard(now);
                    return Ok(Found::More(now));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_drained = true;
                    return Ok(Found::Nothing);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends what can be sent at once.
    pub(crate) fn flush(&mut self) -> Result<(), Lost> {
        while self.sent < self.outbound.len() {
            match self.socket.write(&self.outbound[self.sent..]) {
                Ok(0) => return Err(Lost("the connection was closed".to_owned())),
                Ok(count) => {
                    self.sent += count;
                    self.sent_bytes += count as u64;
                    self.wrote_ns = now_ns();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.outbound.clear();
        self.sent = 0;
        match self.socket.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The broker's last sign of life.
    pub(crate) fn heard_ns(&self) -> u64 {
        self.liveness.heard_ns()
    }

    /// From now on it is known how late what comes may be.
    pub(crate) fn listen_for_echo(&mut self) {
        self.echo = Some(Echo::new(now_ns()));
    }

    /// The broker has answered a ping.
    pub(crate) fn answered_ping(&mut self) {
        if let Some(echo) = &mut self.echo {
            echo.answered(self.liveness.heard_ns());
        }
    }

    /// How late what comes may be, nanoseconds.
    pub(crate) fn behind_ns(&self, now: u64) -> u64 {
        self.echo.map_or(0, |echo| echo.behind_ns(now))
    }

    /// Bytes that the socket has not taken yet.
    pub(crate) fn unsent(&self) -> usize {
        self.outbound.len() - self.sent
    }

    fn is_sending(&self) -> bool {
        self.unsent() > 0
    }

    /// Pings when it is time. To be called now and then while much comes, and whenever nothing is
    /// there to be read (`idle`): only then can the broker's silence be judged.
    pub(crate) fn tend(&mut self, now: u64, idle: bool) -> Result<(), Lost> {
        let quiet = now.saturating_sub(self.wrote_ns) > self.keep_alive_ns / 2;
        let due = if idle { self.liveness.due(now) } else { Due::Nothing };
        match due {
            Due::Lost => return Err(Lost("the broker does not answer a ping".to_owned())),
            Due::Ping => codec::write_ping(&mut self.outbound),
            Due::Nothing if quiet && !self.is_sending() => codec::write_ping(&mut self.outbound),
            Due::Nothing => match &mut self.echo {
                Some(echo) if echo.is_due(now) => {
                    codec::write_ping(&mut self.outbound);
                    echo.asked(now);
                }
                _ => return Ok(()),
            },
        }
        self.flush()
    }

    /// Waits for bytes, for room to write, for the bell, at most `timeout` and never beyond what is
    /// due.
    pub(crate) fn wait(&self, timeout: Duration, bell: Option<&Bell>) -> Result<(), Lost> {
        let echo_ns = self.echo.and_then(|echo| echo.next_ns()).unwrap_or(u64::MAX);
        let due_ns = self.liveness.next_ns().min(echo_ns).saturating_sub(now_ns());
        let timeout = timeout.min(Duration::from_nanos(due_ns));
        Ok(self.socket.wait(self.is_sending(), timeout, bell)?)
    }

    /// Says goodbye, as far as that can be said at once.
    pub(crate) fn close(&mut self) {
        codec::write_disconnect(&mut self.outbound);
        let _said = self.flush();
    }
}
