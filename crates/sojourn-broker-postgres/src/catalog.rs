//! Looking for tables, columns and publications, and what to offer instead.

use sojourn_broker::BrokerError;
use sojourn_clock::now_ns;
use sojourn_plan::PostgresTable;

use crate::config::{Target, similar};
use crate::connection::{CONNECT_NS_MAX, Connection, Row, names, text};
use crate::identifier::{TableName, literal, shown};

/// Tables and views that are not the server's own.
const OURS: &str = "c.relkind IN ('r','p','v','m','f') AND n.nspname NOT LIKE 'pg\\_%' \
                    AND n.nspname <> 'information_schema'";

/// Whether a table can be polled by its cursor; returns its full name. Errs when the table or a
/// column is missing, can't be read, or does not grow in a way that can be followed.
pub(crate) fn check_table(
    target: &Target,
    connection: &mut Connection,
    table: &TableName,
    settings: &PostgresTable,
) -> Result<TableName, BrokerError> {
    let (oid, found, kind) = find_table(target, connection, table)?;
    let columns = ask(
        target,
        connection,
        &format!(
            "SELECT attname, format_type(atttypid, NULL), attidentity <> '' OR coalesce(\
             pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) FROM pg_attribute a \
             LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
             WHERE attrelid = {oid} AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        ),
    )?;
    let known = names(&columns);
    let optional = [&settings.key, &settings.headers, &settings.payload];
    for name in std::iter::once(&settings.cursor).chain(optional.into_iter().flatten()) {
        if !known.contains(name) {
            return Err(target
                .error(format!("table {} has no column `{name}`", table.shown()))
                .with_hint(format!("it has {}", similar(name, &known))));
        }
    }
    let cursor = columns.iter().find(|row| text(row, 0) == settings.cursor);
    let (kind_of_number, counts) =
        cursor.map(|row| (text(row, 1), text(row, 2) == "t")).unwrap_or_default();
    if !["smallint", "integer", "bigint"].contains(&kind_of_number.as_str()) {
        let what = format!("column `{}` is of type {kind_of_number}", settings.cursor);
        return Err(target.error(what).with_hint(
            "a cursor is a whole number (smallint, integer, bigint); \
             `publication` needs no such column",
        ));
    }
    // A view's indexes are its tables' business.
    if matches!(kind.as_str(), "r" | "p" | "m") {
        check_index(target, connection, &oid, settings, counts)?;
    }
    Ok(found)
}

/// An index led by the cursor, which must be the only such row unless the server counts it itself.
fn check_index(
    target: &Target,
    connection: &mut Connection,
    oid: &str,
    settings: &PostgresTable,
    counts: bool,
) -> Result<(), BrokerError> {
    let column = literal(&settings.cursor);
    let indexes = ask(
        target,
        connection,
        &format!(
            "SELECT i.indisunique AND i.indnkeyatts = 1 FROM pg_index i JOIN pg_attribute a \
             ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indrelid = {oid} \
             AND i.indisvalid AND i.indpred IS NULL AND a.attname = {column}"
        ),
    )?;
    let unique = names(&indexes).iter().any(|unique| unique == "t");
    let cursor = &settings.cursor;
    if indexes.is_empty() {
        let what = format!("no index begins with `{cursor}`: each look would read the whole table");
        return Err(target.error(what).with_hint("CREATE UNIQUE INDEX, or use `publication`"));
    }
    if !unique && !counts {
        let what = format!("`{cursor}` is not unique: of two rows with one number, one is missed");
        return Err(target.error(what).with_hint("CREATE UNIQUE INDEX, or use `publication`"));
    }
    Ok(())
}

/// A table's oid, full name and kind.
pub(crate) fn find_table(
    target: &Target,
    connection: &mut Connection,
    table: &TableName,
) -> Result<(String, TableName, String), BrokerError> {
    let of_schema = match &table.schema {
        Some(schema) => format!("n.nspname = {}", literal(schema)),
        None => "pg_table_is_visible(c.oid)".to_owned(),
    };
    let name = literal(&table.name);
    let rows = ask(
        target,
        connection,
        &format!(
            "SELECT c.oid, n.nspname, c.relname, c.relkind FROM pg_class c \
             JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relname = {name} AND {of_schema} AND {OURS}"
        ),
    )?;
    let Some(row) = rows.first() else {
        let all = format!(
            "SELECT n.nspname, c.relname FROM pg_class c \
             JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {OURS} LIMIT 1000"
        );
        let rows = ask(target, connection, &all)?;
        let known: Vec<_> = rows.iter().map(|row| shown(&text(row, 0), &text(row, 1))).collect();
        return Err(missing(target, "table", &table.shown(), &known));
    };
    let found = TableName { schema: Some(text(row, 1)), name: text(row, 2) };
    Ok((text(row, 0), found, text(row, 3)))
}

/// Errs when the server writes no log that changes could be read from, or has no such publication.
pub(crate) fn check_publication(
    target: &Target,
    connection: &mut Connection,
    publication: &str,
) -> Result<(), BrokerError> {
    let level = names(&ask(target, connection, "SHOW wal_level")?).concat();
    if level != "logical" {
        let what = format!("wal_level is `{level}`: it writes no log of rows that changed");
        let hint = "set wal_level = logical in postgresql.conf and restart the server";
        return Err(target.error(what).with_hint(hint));
    }
    let known = names(&ask(target, connection, "SELECT pubname FROM pg_publication")?);
    match known.iter().any(|name| name == publication) {
        true => Ok(()),
        false => Err(missing(target, "publication", publication, &known)),
    }
}

pub(crate) fn missing(target: &Target, what: &str, name: &str, known: &[String]) -> BrokerError {
    let error = target.error(format!("there is no {what} `{name}`"));
    match known.is_empty() {
        true => error.with_hint("create it first: nothing is created here"),
        false => error.with_hint(format!("there is {}", similar(name, known))),
    }
}

fn ask(target: &Target, connection: &mut Connection, sql: &str) -> Result<Vec<Row>, BrokerError> {
    connection.query(sql, now_ns() + CONNECT_NS_MAX).map_err(|failure| target.explain(&failure))
}
