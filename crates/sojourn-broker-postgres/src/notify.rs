//! LISTEN: notifications as they are committed. Who is not connected misses them.

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use sojourn_broker::{BrokerError, RawMessage, Sink};
use sojourn_clock::{SECOND_NS, now_ns};

use crate::config::Target;
use crate::connection::{CONNECT_NS_MAX, Connection, Incoming, Purpose};
use crate::failure::{Failure, Refusal};
use crate::identifier::{NAME_BYTES_MAX, quoted};
use crate::source::{Progress, Source, is_attentive, is_silent};

/// How often the server is asked for a sign of life.
const PING_NS: u64 = SECOND_NS / 2;

/// See the module.
#[derive(Debug)]
pub(crate) struct Notifications {
    channels: Vec<String>,
    /// When the sign of life was asked for that has not come yet.
    asked_ns: Option<u64>,
    next_ping_ns: u64,
}

impl Notifications {
    /// Errs on a name that Postgres would cut off.
    pub(crate) fn new(channels: &[String]) -> Result<Self, BrokerError> {
        for name in channels {
            check_channel(name).map_err(BrokerError::new)?;
        }
        Ok(Self { channels: channels.to_vec(), asked_ns: None, next_ping_ns: 0 })
    }

    fn listen(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let listens: Vec<_> =
            self.channels.iter().map(|name| format!("LISTEN {}", quoted(name))).collect();
        // One transaction: its end is the answer.
        connection.query(&listens.join(";"), now_ns() + CONNECT_NS_MAX)?;
        self.asked_ns = None;
        self.next_ping_ns = now_ns() + PING_NS;
        Ok(())
    }

    /// Asks for a sign of life; errs when none has come for too long.
    fn check(&mut self, connection: &mut Connection, now_ns: u64) -> Result<(), Failure> {
        match self.asked_ns {
            Some(asked_ns) if is_silent(connection, asked_ns, now_ns) => {
                Err(Failure::timed_out("the server has fallen silent"))
            }
            None if now_ns >= self.next_ping_ns => {
                self.asked_ns = Some(now_ns);
                self.next_ping_ns = now_ns + PING_NS;
                frontend::query("", &mut connection.output)?;
                connection.flush()
            }
            _ => Ok(()),
        }
    }
}

impl Source for Notifications {
    fn purpose(&self) -> Purpose {
        Purpose::Statements
    }

    fn open(
        &mut self,
        target: &Target,
        connection: &mut Connection,
    ) -> Result<String, BrokerError> {
        self.listen(connection).map_err(|failure| target.explain(&failure))?;
        let s = if self.channels.len() == 1 { "" } else { "s" };
        Ok(format!("notifications of channel{s} {}", self.channels.join(" ")))
    }

    fn reopen(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        self.listen(connection)
    }

    fn keeps_the_past(&self) -> bool {
        false
    }

    fn poll(
        &mut self,
        connection: &mut Connection,
        deadline_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<Progress, Failure> {
        const BATCH_MAX: u64 = 4_096;
        let mut progress = Progress { caught_up: true, ..Progress::default() };
        while progress.messages < BATCH_MAX {
            let looked_ns = now_ns();
            match connection.try_next()? {
                Some(Incoming::Message(Message::NotificationResponse(body))) => {
                    let (Ok(channel), Ok(payload)) = (body.channel(), body.message()) else {
                        return Err(Failure::protocol("a notification that is not UTF-8"));
                    };
                    progress.messages += 1;
                    sink.message(&RawMessage {
                        stamp_ns: connection.stamp_ns(),
                        topic: channel,
                        key: None,
                        headers: Vec::new(),
                        payload: payload.as_bytes(),
                        position: None,
                    });
                }
                Some(Incoming::Message(Message::ReadyForQuery(_))) => self.asked_ns = None,
                Some(Incoming::Message(Message::ErrorResponse(body))) => {
                    return Err(Failure::Refused(Refusal::new(&body)));
                }
                Some(_) => {}
                None => {
                    let attentive = is_attentive(self.asked_ns, looked_ns);
                    progress.idle_at_ns = attentive.then_some(looked_ns);
                    self.check(connection, looked_ns)?;
                    if progress.messages > 0 || looked_ns >= deadline_ns {
                        break;
                    }
                    connection.wait(deadline_ns, None)?;
                }
            }
        }
        Ok(progress)
    }
}

/// Whether a channel of this name can be listened to and notified.
pub(crate) fn check_channel(name: &str) -> Result<(), String> {
    match name.len() {
        0 => Err("a channel of NOTIFY without a name".to_owned()),
        1..=NAME_BYTES_MAX if name.contains('\0') => Err("a zero byte in a name".to_owned()),
        1..=NAME_BYTES_MAX => Ok(()),
        _ => Err(format!("`{name}`: Postgres cuts names off after {NAME_BYTES_MAX} bytes")),
    }
}
