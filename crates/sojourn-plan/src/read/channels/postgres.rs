//! A Postgres database.

use crate::{Outbox, PostgresChannel, PostgresSource, PostgresTable, Server};

use super::server::{Schemes, TLS};
use crate::read::Reader;
use crate::read::fields::{Fields, given_or};
use crate::read::node::Node;
use crate::read::shape::Kind::{Duration, Either, List, Map, Text};
use crate::read::shape::{Field, Shape};

const SCHEMES: Schemes =
    &[("postgres", false, 5432), ("postgresql", false, 5432), ("postgres+tls", true, 5432)];
const EVERY_NS: u64 = 50_000_000;
const GAPS_NS: u64 = 10_000_000_000;

pub(crate) static POSTGRES: Shape = Shape {
    name: "a postgres channel",
    doc: "Notifications, a table's new rows, or a publication's changes.",
    fields: &[
        Field::new("url", Text, "`postgres://` or `postgres+tls://`; the path is the database.")
            .required(),
        Field::new("notify", Either(&[Text, List(&Text)]), "Channels of LISTEN."),
        Field::new("table", Map(&TABLE), "A table asked for new rows."),
        Field::new("publication", Text, "Publication read by a temporary replication slot."),
        Field::new("outbox", Map(&OUTBOX), "The system's outbox: its rows and oldest age."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
    ],
};

pub(crate) static TABLE: Shape = Shape {
    name: "a polled table",
    doc: "A table asked again and again for rows beyond the last one.",
    fields: &[
        Field::new("name", Text, "Table, with its schema where needed.").required(),
        Field::new("cursor", Text, "Column of numbers that only grow, such as an identity.")
            .required(),
        Field::new("every", Duration, "How often; 50ms by default."),
        Field::new("gaps", Duration, "How long left-out numbers are awaited; 10s by default."),
        Field::new("key", Text, "Column that is the message's key."),
        Field::new("headers", Text, "Column of a JSON object that is the message's headers."),
        Field::new("payload", Text, "Column that is the message's payload; by default the row."),
    ],
};

pub(crate) static OUTBOX: Shape = Shape {
    name: "an outbox",
    doc: "A table of messages that wait for a relay.",
    fields: &[
        Field::new("table", Text, "Table, with its schema where needed.").required(),
        Field::new("waiting", Text, "SQL condition of rows that wait; by default every row."),
        Field::new("written", Text, "Column with the instant of writing, for the oldest age."),
    ],
};

impl Reader<'_> {
    pub(super) fn postgres(&mut self, node: &Node) -> Option<PostgresChannel> {
        let fields = Fields::of(node, &POSTGRES, &mut self.problems)?;
        let server = self.server(&fields, SCHEMES);
        let server = server.filter(|server| self.has_no_query(&fields, server));
        let (word, source) = self.only(node, &fields, &["notify", "table", "publication"])?;
        let source = match word {
            "notify" => self.texts(source).map(PostgresSource::Notify),
            "table" => self.table(source),
            _ => {
                self.problems.text(source).map(|name| PostgresSource::Publication(name.to_owned()))
            }
        };
        let outbox = match fields.get("outbox") {
            Some(node) => Some(self.outbox(node)?),
            None => None,
        };
        Some(PostgresChannel { server: server?, source: source?, outbox })
    }

    /// The URL's parameters are libpq's; here the scheme says whether to speak TLS.
    fn has_no_query(&mut self, fields: &Fields<'_>, server: &Server) -> bool {
        let (Some(node), true) = (fields.get("url"), server.path.contains('?')) else {
            return true;
        };
        let hint = "for TLS begin it with `postgres+tls://`; its trust is `tls:` beside it";
        self.problems.at(node, "a URL with parameters", Some(hint.to_owned()));
        false
    }

    fn table(&mut self, node: &Node) -> Option<PostgresSource> {
        let fields = Fields::of(node, &TABLE, &mut self.problems)?;
        let (table, cursor) = (self.text_of(&fields, "name")?, self.text_of(&fields, "cursor")?);
        let every_ns =
            given_or(fields.get("every"), EVERY_NS, |node| self.problems.duration_above_zero(node));
        let gaps_ns =
            given_or(fields.get("gaps"), GAPS_NS, |node| self.problems.duration_above_zero(node));
        let (key, headers) = (self.text_of(&fields, "key")?, self.text_of(&fields, "headers")?);
        let payload = self.text_of(&fields, "payload")?;
        Some(PostgresSource::Table(PostgresTable {
            name: table?,
            cursor: cursor?,
            every_ns: every_ns?,
            gaps_ns: gaps_ns?,
            key,
            headers,
            payload,
        }))
    }

    fn outbox(&mut self, node: &Node) -> Option<Outbox> {
        let fields = Fields::of(node, &OUTBOX, &mut self.problems)?;
        let table = self.text_of(&fields, "table")?;
        let (waiting, written) =
            (self.text_of(&fields, "waiting")?, self.text_of(&fields, "written")?);
        Some(Outbox { table: table?, waiting, written })
    }
}
