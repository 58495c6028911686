//! A Postgres database.

use super::Server;

/// What a Postgres database tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresChannel {
    /// Where: `postgres://`, with TLS where `tls:` is given; the path is the database.
    pub server: Server,
    /// What is listened to.
    pub source: PostgresSource,
    /// The system's outbox, whose rows and oldest age are read while the run goes on.
    pub outbox: Option<Outbox>,
}

/// What is listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostgresSource {
    /// Channels of LISTEN; what is published to them goes by NOTIFY.
    Notify(Vec<String>),
    /// A table asked again and again for rows beyond the last one; a row is a JSON object. What is
    /// published is inserted, a JSON object being a row.
    Table(PostgresTable),
    /// A temporary logical replication slot on a publication; a change is a JSON object with
    /// `table`, `op` (`insert`, `update`, `delete`) and `row`.
    Publication(String),
}

impl PostgresSource {
    /// The channels, the table or the publication that it names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Notify(names) => names,
            Self::Table(PostgresTable { name, .. }) | Self::Publication(name) => {
                std::slice::from_ref(name)
            }
        }
    }
}

impl Default for PostgresSource {
    fn default() -> Self {
        Self::Notify(Vec::new())
    }
}

/// A table that is polled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresTable {
    /// Table, with its schema where needed.
    pub name: String,
    /// Column of whole numbers that only grows, such as an identity or a sequence.
    pub cursor: String,
    /// How often, nanoseconds: the reading error.
    pub every_ns: u64,
    /// How long a number that was left out is looked for at the least, nanoseconds; longer while
    /// a transaction runs that may have drawn it.
    pub gaps_ns: u64,
    /// Column that is the message's key.
    pub key: Option<String>,
    /// Column with a JSON object that is the message's headers.
    pub headers: Option<String>,
    /// Column that is the message's payload; `None`: the whole row, as a JSON object.
    pub payload: Option<String>,
}

/// A table of messages that wait for a relay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    /// Table, with its schema where needed.
    pub table: String,
    /// Condition, in SQL, that holds for rows that still wait; `None`: every row does.
    pub waiting: Option<String>,
    /// Column with the instant at which a row was written (`timestamptz`), for the oldest age.
    pub written: Option<String>,
}
