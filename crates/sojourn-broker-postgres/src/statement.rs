//! What a message becomes: the statement and its parameters.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use sojourn_plan::{PostgresSource, PostgresTable};

use crate::headers::Headers;
use crate::identifier::{TableName, quoted};
use crate::notify::check_channel;

/// How messages are published.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// As notifications.
    Notify,
    /// As rows; columns for key, headers and payload may be named. A key and headers for which
    /// there are no columns are left out.
    Table(Box<PostgresTable>),
}

/// A statement. Messages of one shape share its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) values: Vec<Vec<u8>>,
}

impl Destination {
    /// `None`: nothing can be published there.
    pub(crate) fn of(source: &PostgresSource) -> Option<Self> {
        match source {
            PostgresSource::Notify(_) => Some(Self::Notify),
            PostgresSource::Table(table) => Some(Self::Table(Box::new(table.clone()))),
            PostgresSource::Publication(_) => None,
        }
    }

    /// Errs, in stable words, when the message can't be published.
    pub(crate) fn statement(
        &self,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<Statement, String> {
        let table = match self {
            Self::Table(table) => table,
            Self::Notify => {
                check_channel(topic)?;
                let sql = "SELECT pg_notify($1::text, $2::text)".to_owned();
                return Ok(Statement { sql, values: vec![topic.into(), payload.into()] });
            }
        };
        let name = TableName::parse(topic).ok_or("the topic is not the name of a table")?;
        let mut extra = Vec::new();
        if let (Some(column), Some(key)) = (&table.key, key) {
            let key = std::str::from_utf8(key).map_err(|_| "a key that is not UTF-8")?;
            extra.push((column.as_str(), key.to_owned()));
        }
        if let Some(column) = table.headers.as_ref().filter(|_| !headers.is_empty()) {
            extra.push((column, Headers::write(headers)?));
        }
        match &table.payload {
            Some(column) => Ok(insert_values(&name, (column, payload), &extra)),
            None => insert_row(&name, payload, &extra),
        }
    }
}

/// The payload goes into its column; the server reads texts as what their columns hold.
fn insert_values(
    table: &TableName,
    (column, payload): (&str, &[u8]),
    extra: &[(&str, String)],
) -> Statement {
    let mut columns = vec![quoted(column)];
    let mut values = vec![payload.to_vec()];
    for (column, value) in extra {
        columns.push(quoted(column));
        values.push(value.as_bytes().to_vec());
    }
    let holes: Vec<_> = (1..=values.len()).map(|number| format!("${number}")).collect();
    let (columns, holes) = (columns.join(", "), holes.join(", "));
    let sql = format!("INSERT INTO {} ({columns}) VALUES ({holes})", table.sql());
    Statement { sql, values }
}

/// The payload is the row. Only the columns that it names are inserted: the others keep their
/// defaults.
fn insert_row(
    table: &TableName,
    payload: &[u8],
    extra: &[(&str, String)],
) -> Result<Statement, String> {
    let Columns(columns) = serde_json::from_slice(payload)
        .map_err(|_| "the payload is not a JSON object, as a row must be")?;
    let table = table.sql();
    let mut names: Vec<_> = columns.iter().map(|column| quoted(column)).collect();
    let mut selected = names.clone();
    let mut values = Vec::new();
    let source = match columns.is_empty() {
        true => String::new(),
        false => {
            values.push(payload.to_vec());
            format!(" FROM json_populate_record(NULL::{table}, $1::json)")
        }
    };
    for (column, value) in extra {
        names.push(quoted(column));
        values.push(value.as_bytes().to_vec());
        selected.push(format!("${}", values.len()));
    }
    if names.is_empty() {
        return Ok(Statement { sql: format!("INSERT INTO {table} DEFAULT VALUES"), values });
    }
    let (names, selected) = (names.join(", "), selected.join(", "));
    let sql = format!("INSERT INTO {table} ({names}) SELECT {selected}{source}");
    Ok(Statement { sql, values })
}

/// The names of a JSON object's fields.
struct Columns(Vec<String>);

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Columns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Columns, M::Error> {
                let mut names = Vec::new();
                while let Some(name) = map.next_key()? {
                    map.next_value::<IgnoredAny>()?;
                    names.push(name);
                }
                Ok(Columns(names))
            }
        }
        deserializer.deserialize_map(Names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(key: Option<&str>, headers: Option<&str>) -> Destination {
        Destination::Table(Box::new(PostgresTable {
            key: key.map(str::to_owned),
            headers: headers.map(str::to_owned),
            ..PostgresTable::default()
        }))
    }

    #[test]
    fn a_row_names_its_columns_quoted() {
        let made = table(None, None)
            .statement("s.T", None, &[("Sojourn-Run", b"r")], br#" {"a": 1.10, "b\" ; --": {}} "#)
            .unwrap();
        assert_eq!(
            made.sql,
            concat!(
                r#"INSERT INTO "s"."T" ("a", "b"" ; --") SELECT "a", "b"" ; --" "#,
                r#"FROM json_populate_record(NULL::"s"."T", $1::json)"#
            )
        );
        assert_eq!(made.values, [br#" {"a": 1.10, "b\" ; --": {}} "#.to_vec()]);
        let empty = table(None, None).statement("t", None, &[], b"{}").unwrap();
        assert_eq!(empty.sql, r#"INSERT INTO "t" DEFAULT VALUES"#);
    }

    #[test]
    fn key_headers_and_payload_become_columns_where_they_are_named() {
        let to = table(Some("k"), Some("h"));
        let send = |to: &Destination, payload: &[u8]| {
            let made = to.statement("t", Some(b"x\"y"), &[("type", b"T")], payload).unwrap();
            let values: Vec<_> =
                made.values.into_iter().map(|value| String::from_utf8(value).unwrap()).collect();
            (made.sql, values.join(" "))
        };
        let (sql, values) = send(&to, br#"{"a":1}"#);
        assert_eq!(
            sql,
            concat!(
                r#"INSERT INTO "t" ("a", "k", "h") SELECT "a", $2, $3 "#,
                r#"FROM json_populate_record(NULL::"t", $1::json)"#
            )
        );
        assert_eq!(values, r#"{"a":1} x"y {"type":"T"}"#);
        let (sql, values) = send(&to, b"{}");
        assert_eq!(sql, r#"INSERT INTO "t" ("k", "h") SELECT $1, $2"#);
        assert_eq!(values, r#"x"y {"type":"T"}"#);
        let Destination::Table(mut named) = to else { panic!("a table") };
        named.payload = Some("p".to_owned());
        let (sql, values) = send(&Destination::Table(named), b"any");
        assert_eq!(sql, r#"INSERT INTO "t" ("p", "k", "h") VALUES ($1, $2, $3)"#);
        assert_eq!(values, r#"any x"y {"type":"T"}"#);
    }

    #[test]
    fn what_can_not_be_published_is_said() {
        let none = table(None, None);
        for (topic, payload, said) in [
            ("t", b"[1]".as_slice(), "not a JSON object"),
            ("t", b"", "not a JSON object"),
            ("t", b"{\"a\":1", "not a JSON object"),
            ("a.b.c", b"{}", "not the name of a table"),
        ] {
            let error = none.statement(topic, None, &[], payload).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        let error = Destination::Notify.statement(&"x".repeat(64), None, &[], b"").unwrap_err();
        assert!(error.contains("63 bytes"), "{error}");
    }
}
