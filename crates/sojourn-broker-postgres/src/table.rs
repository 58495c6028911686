//! A table asked again and again for its new rows.

use std::time::Duration;

use postgres_protocol::IsNull;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend::{self, BindError};
use sojourn_broker::{BrokerError, Position, RawMessage, Sink, Span};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::PostgresTable;

use crate::catalog;
use crate::config::Target;
use crate::connection::{CONNECT_NS_MAX, Connection, Incoming, Purpose, Row, number, row};
use crate::failure::{Failure, Refusal};
use crate::headers::Headers;
use crate::holes::{HOLES_MAX, Holes, Reading};
use crate::identifier::{TableName, quoted};
use crate::source::{Progress, Source, is_attentive, is_silent};

/// Most new rows of one answer, and most rows of one hole.
const ROWS_MAX: u64 = 1_000;
/// So many of the last rows are looked at when the tap opens, for numbers left out.
const LOOKED_BACK: usize = 10_000;
/// What a connection that looks at tables is set to, as far as the server knows the settings.
///
/// A statement is planned once and then kept, often for a table that was small or empty: the server
/// would go on to read all of it, however it grows. And it would plan each look anew when it
/// thinks that this table's holes are many.
const SETTINGS: &str = "SELECT set_config(name, value, false) FROM pg_settings \
    JOIN (VALUES ('default_transaction_read_only', 'on'), ('enable_seqscan', 'off'), \
    ('plan_cache_mode', 'force_generic_plan')) AS wanted(name, value) USING (name)";
/// How often holes are looked into that have been there for long.
const OLD_HOLES_NS: u64 = SECOND_NS;

/// See the module.
#[derive(Debug)]
pub(crate) struct Table {
    settings: PostgresTable,
    table: TableName,
    topic: String,
    holes: Holes,
    /// The question that has not been answered completely.
    asked: Option<Question>,
    next_ns: u64,
    next_old_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    asked_ns: u64,
    /// Old holes were asked for too.
    all: bool,
    ahead: u64,
    snapshot: Option<(u64, u64)>,
}

impl Table {
    pub(crate) fn new(settings: &PostgresTable) -> Result<Self, BrokerError> {
        let name = &settings.name;
        let table = TableName::parse(name)
            .ok_or_else(|| BrokerError::new(format!("`{name}` is not the name of a table")))?;
        Ok(Self {
            settings: settings.clone(),
            topic: table.shown(),
            table,
            holes: Holes::new(&[], 0, settings.gaps_ns),
            asked: None,
            next_ns: 0,
            next_old_ns: 0,
        })
    }

    /// What is selected of a row: its cursor, its payload or itself, its key and headers. The alias
    /// is one that no column has.
    fn columns(&self) -> String {
        let optional = |column: &Option<String>| match column {
            Some(column) => format!("sojourn_row.{}::text", quoted(column)),
            None => "NULL::text".to_owned(),
        };
        let payload = match &self.settings.payload {
            Some(column) => format!("sojourn_row.{}::text", quoted(column)),
            None => "row_to_json(sojourn_row)::text".to_owned(),
        };
        let (key, headers) = (optional(&self.settings.key), optional(&self.settings.headers));
        format!(
            "sojourn_row.{}::int8 AS c, {payload} AS j, {key} AS k, {headers} AS h",
            quoted(&self.settings.cursor)
        )
    }

    /// The rows beyond `$1` and those between `$2` and `$3`, with the snapshot that they were seen
    /// in, which comes even if there are none.
    fn statement(&self) -> String {
        let (columns, table) = (self.columns(), self.table.sql());
        let cursor = format!("sojourn_row.{}", quoted(&self.settings.cursor));
        let from = format!("SELECT {columns} FROM {table} AS sojourn_row WHERE {cursor}");
        let order = format!("ORDER BY {cursor} LIMIT {ROWS_MAX}");
        format!(
            "SELECT r.c, r.j, r.k, r.h, txid_snapshot_xmin(s.v), txid_snapshot_xmax(s.v) \
             FROM (SELECT txid_current_snapshot() AS v) s LEFT JOIN (\
             ({from} > $1::int8 {order}) UNION ALL \
             (SELECT l.* FROM unnest($2::int8[], $3::int8[]) AS g(lo, hi), \
             LATERAL ({from} > g.lo AND {cursor} < g.hi {order}) l)) r ON true ORDER BY r.c"
        )
    }

    /// Prepares the statement of every poll.
    fn prepare(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let deadline_ns = now_ns() + CONNECT_NS_MAX;
        connection.query(SETTINGS, deadline_ns)?;
        frontend::parse("rows", &self.statement(), [], &mut connection.output)?;
        frontend::sync(&mut connection.output);
        connection.rows(deadline_ns)?;
        self.asked = None;
        self.next_ns = 0;
        Ok(())
    }

    fn start(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        self.prepare(connection)?;
        let cursor = quoted(&self.settings.cursor);
        let table = self.table.sql();
        let last = format!(
            "SELECT {cursor}::int8 FROM {table} WHERE {cursor} IS NOT NULL \
             ORDER BY {cursor} DESC LIMIT {LOOKED_BACK}"
        );
        let rows = connection.query(&last, now_ns() + CONNECT_NS_MAX)?;
        let mut known: Vec<i64> = rows.iter().filter_map(|row| number(row, 0)).collect();
        known.reverse();
        self.holes = Holes::new(&known, now_ns(), self.settings.gaps_ns);
        Ok(())
    }

    fn ask(&mut self, connection: &mut Connection, now: u64) -> Result<(), Failure> {
        let all = now >= self.next_old_ns;
        if all {
            self.next_old_ns = now + OLD_HOLES_NS;
        }
        let (below, above): (Vec<_>, Vec<_>) = self.holes.to_ask(now, all).unzip();
        let values = [self.holes.top().to_string(), array(&below), array(&above)];
        let bound = frontend::bind(
            "",
            "rows",
            [],
            values,
            |value, buffer| {
                buffer.extend_from_slice(value.as_bytes());
                Ok(IsNull::No)
            },
            [],
            &mut connection.output,
        );
        bound.map_err(|error| match error {
            BindError::Conversion(error) => Failure::protocol(&error.to_string()),
            BindError::Serialization(error) => Failure::Lost(error),
        })?;
        frontend::execute("", 0, &mut connection.output)?;
        frontend::sync(&mut connection.output);
        self.asked = Some(Question { asked_ns: now, all, ahead: 0, snapshot: None });
        connection.flush()
    }

    /// Hands a row over if it is new.
    fn take(&mut self, row: &Row, stamp_ns: u64, sink: &mut dyn Sink) -> bool {
        let Some(question) = &mut self.asked else { return false };
        question.snapshot = number(row, 4).zip(number(row, 5));
        // None: the snapshot alone.
        let Some(cursor) = number::<i64>(row, 0) else { return false };
        let reading = self.holes.read(cursor, stamp_ns);
        if reading == Reading::Ahead {
            question.ahead += 1;
        }
        if reading != Reading::Known {
            // Not of a late one: positions only grow.
            hand_over(&self.topic, row, stamp_ns, reading == Reading::Ahead, sink);
        }
        reading != Reading::Known
    }

    /// The answer is complete. Returns whether there is more to be asked for at once.
    fn answered(&mut self, now: u64) -> Result<bool, Failure> {
        let Some(question) = self.asked.take() else { return Ok(false) };
        if let Some(snapshot) = question.snapshot {
            self.holes.settle(now, question.all, snapshot);
        }
        if self.holes.len() > HOLES_MAX {
            let message = format!(
                "the numbers of `{}` leave out too much to tell which rows may still appear; \
                 `publication` needs no numbers",
                self.settings.cursor
            );
            return Err(Failure::Refused(Refusal { code: "54000".to_owned(), message }));
        }
        let more = question.ahead >= ROWS_MAX;
        self.next_ns = if more { now } else { question.asked_ns + self.settings.every_ns };
        Ok(more)
    }
}

impl Source for Table {
    fn purpose(&self) -> Purpose {
        Purpose::Statements
    }

    fn open(
        &mut self,
        target: &Target,
        connection: &mut Connection,
    ) -> Result<String, BrokerError> {
        self.table = catalog::check_table(target, connection, &self.table, &self.settings)?;
        self.start(connection).map_err(|failure| target.explain(&failure))?;
        Ok(format!(
            "table {} by {}, asked every {} ms: a row is stamped up to that much after its commit",
            self.topic,
            self.settings.cursor,
            self.settings.every_ns as f64 / 1e6
        ))
    }

    fn reopen(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        self.next_old_ns = 0;
        self.prepare(connection)
    }

    fn keeps_the_past(&self) -> bool {
        true
    }

    fn poll(
        &mut self,
        connection: &mut Connection,
        deadline_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<Progress, Failure> {
        let mut progress = Progress::default();
        loop {
            let now = now_ns();
            if self.asked.is_none() && now >= self.next_ns {
                self.ask(connection, now)?;
            }
            match connection.try_next()? {
                Some(Incoming::Message(Message::DataRow(body))) => {
                    let taken = self.take(&row(&body)?, connection.stamp_ns(), sink);
                    progress.messages += u64::from(taken);
                }
                Some(Incoming::Message(Message::ReadyForQuery(_))) => {
                    progress.caught_up |= !self.answered(now)?;
                    if progress.messages > 0 {
                        return Ok(progress);
                    }
                }
                Some(Incoming::Message(Message::ErrorResponse(body))) => {
                    return Err(Failure::Refused(Refusal::new(&body)));
                }
                Some(_) => {}
                None => {
                    let asked_ns = self.asked.map(|question| question.asked_ns);
                    if asked_ns.is_some_and(|asked_ns| is_silent(connection, asked_ns, now)) {
                        return Err(Failure::timed_out("the server does not answer"));
                    }
                    // What is on its way is received when it is read, and stamped then.
                    progress.idle_at_ns = is_attentive(asked_ns, now).then_some(now);
                    if now >= deadline_ns {
                        return Ok(progress);
                    }
                    let due_ns = if self.asked.is_none() { self.next_ns } else { u64::MAX };
                    connection.wait(deadline_ns.min(due_ns), None)?;
                }
            }
        }
    }

    fn replay(
        &mut self,
        target: &Target,
        span: &Span,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<u64, BrokerError> {
        let Span::Positions(ranges) = span else {
            return Err(target.error("a table does not say when its rows were committed"));
        };
        let deadline_ns = now_ns() + u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 2);
        let mut connection = Connection::open(target, Purpose::Statements)
            .map_err(|failure| target.explain(&failure))?;
        let cursor = format!("sojourn_row.{}", quoted(&self.settings.cursor));
        let mut handed_over = 0;
        for range in ranges.iter().filter(|range| range.partition == 0) {
            let to = i64::try_from(range.to).unwrap_or(i64::MAX);
            let mut next = i64::try_from(range.from).unwrap_or(i64::MAX);
            while next < to {
                let sql = format!(
                    "SELECT {} FROM {} AS sojourn_row WHERE {cursor} >= {next} AND {cursor} < {to} \
                     ORDER BY {cursor} LIMIT {ROWS_MAX}",
                    self.columns(),
                    self.table.sql(),
                );
                let rows = connection
                    .query(&sql, deadline_ns)
                    .map_err(|failure| target.explain(&failure))?;
                let Some(last) = rows.last() else { break };
                for row in &rows {
                    hand_over(&self.topic, row, connection.stamp_ns(), true, sink);
                }
                handed_over += rows.len() as u64;
                next = number::<i64>(last, 0).unwrap_or(to).saturating_add(1);
            }
        }
        Ok(handed_over)
    }
}

fn hand_over(topic: &str, row: &Row, stamp_ns: u64, in_order: bool, sink: &mut dyn Sink) {
    let bytes = |column: usize| row.get(column).and_then(Option::as_deref);
    let headers = bytes(3).map(Headers::read).unwrap_or_default();
    let offset = number::<u64>(row, 0).filter(|_| in_order);
    sink.message(&RawMessage {
        stamp_ns,
        topic,
        key: bytes(2),
        headers: headers.pairs(),
        payload: bytes(1).unwrap_or_default(),
        position: offset.map(|offset| Position { partition: 0, offset }),
    });
}

fn array(numbers: &[i64]) -> String {
    let texts: Vec<_> = numbers.iter().map(i64::to_string).collect();
    format!("{{{}}}", texts.join(","))
}
