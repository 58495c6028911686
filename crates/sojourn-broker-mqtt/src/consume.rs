//! A member of a shared subscription (section 4.8.2 of MQTT 5).

use std::time::Duration;

use sojourn_broker::{BrokerError, Consumer, Sink};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{MqttChannel, MqttVersion};

use crate::codec::{self, kind};
use crate::config::{Role, Settings};
use crate::connection::{Connection, Found, Lost};
use crate::subscription::{Subscription, hand_over};

/// How long joining, a commit or leaving may take.
const ANSWER_NS_MAX: u64 = 5 * SECOND_NS;
/// The number of our only UNSUBSCRIBE.
const UNSUBSCRIBE_ID: u16 = 2;
/// Bytes that are read while nobody asks for messages.
const AHEAD_BYTES_MAX: usize = 1 << 20;

/// Takes messages as a member of `$share/GROUP/FILTER`, and acknowledges them when asked.
#[derive(Debug)]
pub struct MqttConsumer {
    settings: Settings,
    filters: Vec<String>,
    connection: Option<Connection>,
    subscription: Subscription,
    stamp_ns: u64,
    is_left: bool,
}

impl MqttConsumer {
    /// A member that has not joined yet; the first call does it.
    ///
    /// # Errors
    /// The group's name can't be one, or the channel speaks MQTT 3.1.1, which has no groups.
    pub fn new(mqtt: &MqttChannel, group: &str) -> Result<Self, BrokerError> {
        let settings = Settings::new(mqtt, Role::Consumer)?;
        if mqtt.version == MqttVersion::V3 {
            return Err(settings
                .endpoint
                .error("MQTT 3.1.1 has no shared subscriptions")
                .with_hint("write `version: \"5\"`"));
        }
        if group.is_empty() || group.contains(['/', '+', '#', '\0']) {
            let problem = format!("`{group}` is no name of a group");
            return Err(settings
                .endpoint
                .error(&problem)
                .with_hint("a name without `/`, `+` and `#`, such as `workers`"));
        }
        let shared = |filter: &String| format!("$share/{group}/{filter}");
        let filters = settings.filters().iter().map(shared).collect();
        Ok(Self {
            settings,
            filters,
            connection: None,
            subscription: Subscription::new(true),
            stamp_ns: 0,
            is_left: false,
        })
    }

    fn error(&self, Lost(why): &Lost) -> BrokerError {
        self.settings.endpoint.error(why)
    }

    fn join(&mut self) -> Result<(), BrokerError> {
        let deadline_ns = now_ns() + ANSWER_NS_MAX;
        let mut connection = Connection::open(&self.settings, deadline_ns)?;
        if !connection.limits.has_shared {
            return Err(self.settings.endpoint.error("it has no shared subscriptions"));
        }
        connection.subscribe(&self.settings, &self.filters, deadline_ns)?;
        self.subscription = Subscription::new(true);
        self.stamp_ns = now_ns();
        self.connection = Some(connection);
        Ok(())
    }

    fn take(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, Lost> {
        let Some(connection) = &mut self.connection else { return Ok(0) };
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = now_ns().saturating_add(timeout_ns);
        let mut count = 0;
        loop {
            // What had come before, and was more than was wanted then.
            let room = messages_max - count;
            let stamp_ns = self.stamp_ns;
            count += self.subscription.receive(connection, room, &mut |publish, _| {
                hand_over(publish, stamp_ns, sink);
            })?;
            if count == messages_max {
                connection.flush()?;
                return Ok(count);
            }
            let now = now_ns();
            match connection.read()? {
                Found::More(stamp_ns) => self.stamp_ns = stamp_ns,
                Found::Nothing => {
                    connection.flush()?;
                    connection.tend(now, true)?;
                    if count > 0 || now >= until_ns {
                        return Ok(count);
                    }
                    connection.wait(Duration::from_nanos(until_ns - now), None)?;
                }
            }
        }
    }

    /// Pings when it is time, and reads a little ahead, since what was read may be an answer.
    fn keep_up(&mut self) -> Result<(), Lost> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let has_room = connection.inbound.bytes().len() < AHEAD_BYTES_MAX;
        if has_room && let Found::More(stamp_ns) = connection.read()? {
            self.stamp_ns = stamp_ns;
            return Ok(());
        }
        // With no room left its silence is ours.
        connection.tend(now_ns(), has_room)
    }

    fn settle(&mut self) -> Result<(), Lost> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if self.subscription.acknowledge(&mut connection.outbound) == 0 {
            return Ok(());
        }
        // The broker reads in order: its answer to a ping says that it has read the others.
        codec::write_ping(&mut connection.outbound);
        connection.answer(&[kind::PINGRESP], now_ns() + ANSWER_NS_MAX).map(drop)
    }
}

impl Consumer for MqttConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        if self.is_left {
            return Err(self.settings.endpoint.error("the group was left"));
        }
        if self.connection.is_none() {
            self.join()?;
        }
        self.take(messages_max, timeout, sink).map_err(|lost| {
            self.connection = None;
            self.error(&lost)
        })
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        if self.is_left {
            return Err(self.settings.endpoint.error("the group was left"));
        }
        self.settle().map_err(|lost| {
            self.connection = None;
            self.error(&lost)
        })
    }

    fn idle(&mut self) {
        if self.keep_up().is_err() {
            self.connection = None;
        }
    }

    fn assigned(&self) -> usize {
        // There are no partitions: a member is one of those that each filter's messages go to.
        if self.connection.is_some() { self.filters.len() } else { 0 }
    }

    fn leave(&mut self) {
        self.is_left = true;
        let Some(mut connection) = self.connection.take() else { return };
        let filters = self.filters.iter().map(String::as_str);
        let (version, id) = (connection.version, UNSUBSCRIBE_ID);
        let written =
            codec::write_unsubscribe(&mut connection.outbound, version, id, filters).is_ok();
        if written {
            // Without an answer the end of the session does the same.
            let _answer = connection.answer(&[kind::UNSUBACK], now_ns() + ANSWER_NS_MAX);
        }
        connection.close();
    }
}
