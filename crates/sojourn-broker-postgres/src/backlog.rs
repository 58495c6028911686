//! What waits: the rows of the system's outbox, the log that replication slots hold back.

use std::time::Duration;

use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::now_ns;
use sojourn_plan::{Outbox, PostgresChannel};

use crate::catalog;
use crate::config::Target;
use crate::connection::{Connection, Purpose, names, number, text};
use crate::failure::Failure;
use crate::identifier::{TableName, literal, quoted};

/// Reads the backlog in read-only transactions, on a connection of its own that is made when it is
/// needed.
pub struct PostgresBacklog {
    target: Target,
    outbox: Option<(TableName, Outbox)>,
    slots: Vec<String>,
    connection: Option<Box<Connection>>,
}

impl PostgresBacklog {
    /// Reads the channel's outbox and these replication slots. Errs on a table's name that is none.
    pub fn new(postgres: &PostgresChannel, slots: &[String]) -> Result<Self, BrokerError> {
        let outbox = match &postgres.outbox {
            None => None,
            Some(outbox) => {
                let name = TableName::parse(&outbox.table).ok_or_else(|| {
                    let what = format!("`{}` is not the name of a table", outbox.table);
                    BrokerError::new(what)
                })?;
                Some((name, outbox.clone()))
            }
        };
        let target = Target::new(&postgres.server)?;
        Ok(Self { target, outbox, slots: slots.to_vec(), connection: None })
    }

    /// The connection, made if need be, with a limit for what the server spends on a question.
    fn connected(&mut self, deadline_ns: u64) -> Result<&mut Connection, BrokerError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connect = || {
                    let mut connection = Connection::open(&self.target, Purpose::Statements)?;
                    let only_read = "SET default_transaction_read_only TO on";
                    connection.query(only_read, deadline_ns)?;
                    Ok(Box::new(connection))
                };
                connect().map_err(|failure| self.target.explain(&failure))?
            }
        };
        Ok(self.connection.insert(connection))
    }

    fn ask(&mut self, deadline_ns: u64, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let target = self.target.clone();
        let (outbox, slots) = (self.outbox.clone(), self.slots.clone());
        let connection = self.connected(deadline_ns)?;
        let explain = |failure: Failure| target.explain(&failure);
        let left_ms = (deadline_ns.saturating_sub(now_ns()) / 1_000_000).max(1);
        let limit = format!("SET statement_timeout TO {left_ms}");
        connection.query(&limit, deadline_ns).map_err(explain)?;
        if let Some((name, outbox)) = &outbox {
            read_outbox(connection, (name, outbox), deadline_ns, readings).map_err(|failure| {
                match failure.code() {
                    // Says what there is instead.
                    Some("42P01") => match catalog::find_table(&target, connection, name) {
                        Err(missing) => missing,
                        Ok(_) => target.explain(&failure),
                    },
                    _ => target.explain(&failure),
                }
            })?;
        }
        for slot in &slots {
            let bytes = read_slot(connection, slot, deadline_ns).map_err(explain)?;
            let Some(value) = bytes else {
                let known =
                    connection.query("SELECT slot_name FROM pg_replication_slots", deadline_ns);
                let known = names(&known.map_err(explain)?);
                return Err(catalog::missing(&target, "replication slot", slot, &known));
            };
            readings.push(Reading { of: slot.clone(), figure: Figure::WaitingBytes, value });
        }
        Ok(())
    }
}

impl Backlog for PostgresBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let asked = self.ask(now_ns().saturating_add(timeout_ns), readings);
        if asked.is_err() {
            // What is left of an answer must not be taken for the next one's.
            self.connection = None;
        }
        asked
    }
}

impl std::fmt::Debug for PostgresBacklog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresBacklog").field("target", &self.target).finish_non_exhaustive()
    }
}

fn read_outbox(
    connection: &mut Connection,
    (name, outbox): (&TableName, &Outbox),
    deadline_ns: u64,
    readings: &mut Vec<Reading>,
) -> Result<(), Failure> {
    let age = match &outbox.written {
        Some(column) => {
            let column = quoted(column);
            format!("extract(epoch FROM clock_timestamp() - min({column})) * 1000")
        }
        None => "NULL".to_owned(),
    };
    // The plan's own SQL; the line end keeps a comment in it from swallowing the parenthesis.
    let waiting = outbox.waiting.as_deref().unwrap_or("true");
    let sql = format!("SELECT count(*), {age} FROM {} WHERE ({waiting}\n)", name.sql());
    let rows = connection.query(&sql, deadline_ns)?;
    let Some(row) = rows.first() else { return Ok(()) };
    let mut push = |figure, value| {
        readings.push(Reading { of: outbox.table.clone(), figure, value });
    };
    push(Figure::Waiting, number(row, 0).unwrap_or(0.0));
    if outbox.written.is_some() {
        // The oldest of none has no age.
        push(Figure::OldestAgeMs, number::<f64>(row, 1).unwrap_or(0.0).max(0.0));
    }
    Ok(())
}

/// Bytes of log from what the slot's reader has confirmed (or, of a physical slot, still needs) to
/// the end; `None`: there is no such slot.
fn read_slot(
    connection: &mut Connection,
    slot: &str,
    deadline_ns: u64,
) -> Result<Option<f64>, Failure> {
    let sql = format!(
        "SELECT coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() \
         THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, \
         coalesce(confirmed_flush_lsn, restart_lsn)), 0) \
         FROM pg_replication_slots WHERE slot_name = {}",
        literal(slot)
    );
    let rows = connection.query(&sql, deadline_ns)?;
    Ok(rows.first().map(|row| text(row, 0).parse().unwrap_or(0.0)))
}
