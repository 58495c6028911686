//! Creating a table of messages, for demos and tests.

use sojourn_broker::BrokerError;
use sojourn_clock::now_ns;
use sojourn_plan::{PostgresChannel, PostgresSource};

use crate::config::Target;
use crate::connection::{CONNECT_NS_MAX, Connection, Purpose};
use crate::identifier::{TableName, quoted};

/// Creates the channel's table where it is missing: an identity, and the columns that the channel
/// names. LISTEN needs nothing. Errs on a publication and on a table without a column of payloads:
/// what tables are made of is not for this to guess.
pub(crate) fn provision(postgres: &PostgresChannel) -> Result<(), BrokerError> {
    let target = Target::new(&postgres.server)?;
    let table = match &postgres.source {
        PostgresSource::Notify(_) => return Ok(()),
        PostgresSource::Publication(_) => {
            return Err(target.error("publications are not created"));
        }
        PostgresSource::Table(table) => table,
    };
    let Some(payload) = &table.payload else {
        return Err(target
            .error(format!("table `{}`: no column of payloads", table.name))
            .with_hint("a table that is to be created needs `payload: COLUMN`"));
    };
    let name = TableName::parse(&table.name)
        .ok_or_else(|| target.error(format!("`{}` is not the name of a table", table.name)))?;
    let mut columns = format!(
        "{} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {} text NOT NULL",
        quoted(&table.cursor),
        quoted(payload)
    );
    for (column, kind) in [(&table.key, "text"), (&table.headers, "jsonb")] {
        if let Some(column) = column {
            columns += &format!(", {} {kind}", quoted(column));
        }
    }
    let sql = format!("CREATE TABLE IF NOT EXISTS {} ({columns})", name.sql());
    let explain = |failure| target.explain(&failure);
    let mut connection = Connection::open(&target, Purpose::Statements).map_err(explain)?;
    connection.query(&sql, now_ns() + CONNECT_NS_MAX).map(drop).map_err(explain)
}
