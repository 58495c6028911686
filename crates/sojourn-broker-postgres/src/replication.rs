//! A publication's changes, through a temporary replication slot that is gone with its connection.

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use sojourn_broker::{BrokerError, Position, RawMessage, Sink};
use sojourn_clock::{Anchor, SECOND_NS, now_ns};

use crate::catalog;
use crate::config::Target;
use crate::connection::{CONNECT_NS_MAX, Connection, Incoming, Purpose};
use crate::failure::{Failure, Refusal};
use crate::identifier::{literal, quoted};
use crate::pgoutput::{Bytes, Decoder, Event, Malformed};
use crate::source::{Progress, Source, is_attentive, is_silent};

/// How often the server is told how far its log has been read, and asked for a sign of life.
const FEEDBACK_NS: u64 = SECOND_NS / 2;
/// Creating a slot waits for the transactions that are running.
const SLOT_NS_MAX: u64 = 30 * SECOND_NS;
/// From the Unix epoch to Postgres's, 1 January 2000, microseconds.
const EPOCH_US: u64 = 946_684_800_000_000;

/// See the module.
#[derive(Debug)]
pub(crate) struct Replication {
    publication: String,
    decoder: Decoder,
    /// Where the commit of the present transaction stands in the log.
    commit_lsn: u64,
    /// Up to where the log has been read.
    read_lsn: u64,
    /// The last message's place: the commit's, counted up for each further change.
    offset: u64,
    asked_ns: Option<u64>,
    next_feedback_ns: u64,
    transit: Transit,
}

/// How much longer than the fastest of them a message was under way, by when the server says that
/// it sent it. (The answers to our questions look like what the server says of its own accord.) A
/// server whose clock is set back amid a run makes the tap look behind.
#[derive(Debug, Default)]
struct Transit {
    /// Of the fastest, by two clocks, microseconds.
    least_us: Option<i64>,
    /// Of the last.
    late_us: i64,
}

impl Transit {
    fn message(&mut self, sent_us: u64, stamp_ns: u64) {
        let us = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let transit_us = us(stamp_ns / 1_000).saturating_sub(us(sent_us));
        let least_us = self.least_us.map_or(transit_us, |least_us| least_us.min(transit_us));
        self.least_us = Some(least_us);
        self.late_us = transit_us.saturating_sub(least_us);
    }
}

impl Replication {
    pub(crate) fn new(publication: &str) -> Self {
        Self {
            publication: publication.to_owned(),
            decoder: Decoder::default(),
            commit_lsn: 0,
            read_lsn: 0,
            offset: 0,
            asked_ns: None,
            next_feedback_ns: 0,
            transit: Transit::default(),
        }
    }

    /// Makes a slot and reads from it. All that is committed from now on comes.
    fn start(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        // Names are the server's, shared by all that use it: the clock makes ours its own.
        let slot = format!("sojourn_{}_{}", std::process::id(), now_ns());
        let create = format!(
            "CREATE_REPLICATION_SLOT {} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT",
            quoted(&slot)
        );
        let deadline_ns = now_ns() + SLOT_NS_MAX;
        match connection.query(&create, deadline_ns) {
            Err(Failure::Lost(error)) if error.kind() == std::io::ErrorKind::TimedOut => {
                return Err(Failure::timed_out(
                    "the slot waits for transactions that have been running for more than 30 s",
                ));
            }
            created => drop(created?),
        }
        let publication = literal(&quoted(&self.publication));
        let start = format!(
            "START_REPLICATION SLOT {} LOGICAL 0/0 (proto_version '1', publication_names {})",
            quoted(&slot),
            publication.trim_start()
        );
        frontend::query(&start, &mut connection.output)?;
        let deadline_ns = now_ns() + CONNECT_NS_MAX;
        loop {
            connection.flush()?;
            match connection.try_next()? {
                Some(Incoming::CopyBoth) => break,
                Some(Incoming::Message(Message::ErrorResponse(body))) => {
                    return Err(Failure::Refused(Refusal::new(&body)));
                }
                Some(Incoming::Message(_)) => {}
                None if now_ns() >= deadline_ns => {
                    return Err(Failure::timed_out("no answer in time"));
                }
                None => connection.wait(deadline_ns, None)?,
            }
        }
        self.decoder = Decoder::default();
        (self.commit_lsn, self.read_lsn, self.asked_ns, self.next_feedback_ns) = (0, 0, None, 0);
        Ok(())
    }

    /// Takes a message of the stream; returns how many changes it had.
    fn take(&mut self, data: &[u8], stamp_ns: u64, sink: &mut dyn Sink) -> Result<u64, Malformed> {
        let mut bytes = Bytes(data);
        match bytes.u8()? {
            b'w' => {
                self.read_lsn = self.read_lsn.max(bytes.u64()?);
                bytes.u64()?;
                self.transit.message(bytes.u64()?, stamp_ns);
                self.change(bytes.0, stamp_ns, sink)
            }
            b'k' => {
                self.read_lsn = self.read_lsn.max(bytes.u64()?);
                self.transit.message(bytes.u64()?, stamp_ns);
                self.asked_ns = None;
                if bytes.u8()? == 1 {
                    self.next_feedback_ns = 0;
                }
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    fn change(
        &mut self,
        message: &[u8],
        stamp_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<u64, Malformed> {
        let (commit_lsn, offset) = (self.commit_lsn, &mut self.offset);
        let mut hand_over = |topic: &str, json: &str| {
            *offset = commit_lsn.max(offset.saturating_add(1));
            sink.message(&RawMessage {
                stamp_ns,
                topic,
                key: None,
                headers: Vec::new(),
                payload: json.as_bytes(),
                position: Some(Position { partition: 0, offset: *offset }),
            });
        };
        match self.decoder.read(message)? {
            Event::Begin { commit_lsn } => self.commit_lsn = commit_lsn,
            Event::Change { table, json } => {
                hand_over(table, json);
                return Ok(1);
            }
            Event::Other => {
                let tables = self.decoder.truncated(message)?;
                for table in &tables {
                    let json = serde_json::json!({"table": table, "op": "truncate"});
                    hand_over(table, &json.to_string());
                }
                return Ok(tables.len() as u64);
            }
            Event::Commit => {}
        }
        Ok(0)
    }

    /// Tells the server how far its log may be thrown away, and asks for a sign of life.
    fn feed_back(&mut self, connection: &mut Connection, now_ns: u64) -> Result<(), Failure> {
        match self.asked_ns {
            Some(asked_ns) if is_silent(connection, asked_ns, now_ns) => {
                return Err(Failure::timed_out("the server has fallen silent"));
            }
            _ if now_ns < self.next_feedback_ns => return Ok(()),
            _ => {}
        }
        self.next_feedback_ns = now_ns + FEEDBACK_NS;
        self.asked_ns = self.asked_ns.or(Some(now_ns));
        let mut status = vec![b'r'];
        for _written_flushed_applied in 0..3 {
            status.extend(self.read_lsn.to_be_bytes());
        }
        let unix_us = Anchor::now().unix_ns / 1_000;
        status.extend(unix_us.saturating_sub(EPOCH_US).to_be_bytes());
        status.push(1);
        frontend::CopyData::new(status.as_slice())?.write(&mut connection.output);
        connection.flush()
    }
}

impl Source for Replication {
    fn purpose(&self) -> Purpose {
        Purpose::Replication
    }

    fn open(
        &mut self,
        target: &Target,
        connection: &mut Connection,
    ) -> Result<String, BrokerError> {
        catalog::check_publication(target, connection, &self.publication)?;
        self.start(connection).map_err(|failure| target.explain(&failure))?;
        Ok(format!("publication {}, from a temporary slot", self.publication))
    }

    fn reopen(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        self.start(connection)
    }

    fn keeps_the_past(&self) -> bool {
        false
    }

    fn behind_ns(&self) -> u64 {
        u64::try_from(self.transit.late_us).unwrap_or(0).saturating_mul(1_000)
    }

    fn poll(
        &mut self,
        connection: &mut Connection,
        deadline_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<Progress, Failure> {
        const BATCH_MAX: u64 = 4_096;
        let mut progress = Progress { caught_up: true, ..Progress::default() };
        let mut seen = 0;
        while seen < BATCH_MAX {
            seen += 1;
            let looked_ns = now_ns();
            match connection.try_next()? {
                Some(Incoming::Message(Message::CopyData(body))) => {
                    let stamp_ns = connection.stamp_ns();
                    progress.messages += self
                        .take(body.data(), stamp_ns, sink)
                        .map_err(|Malformed(what)| Failure::protocol(what))?;
                }
                Some(Incoming::Message(Message::ErrorResponse(body))) => {
                    return Err(Failure::Refused(Refusal::new(&body)));
                }
                Some(Incoming::Message(Message::CopyDone)) => {
                    return Err(Failure::protocol("the server ended the replication"));
                }
                Some(_) => {}
                None => {
                    let attentive = is_attentive(self.asked_ns, looked_ns);
                    progress.idle_at_ns = attentive.then_some(looked_ns);
                    self.feed_back(connection, looked_ns)?;
                    if progress.messages > 0 || looked_ns >= deadline_ns {
                        break;
                    }
                    connection.wait(deadline_ns.min(self.next_feedback_ns), None)?;
                }
            }
        }
        // Also while there is no pause: the server ends connections that say nothing.
        self.feed_back(connection, now_ns())?;
        Ok(progress)
    }
}
