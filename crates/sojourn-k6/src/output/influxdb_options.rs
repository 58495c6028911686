//! What `--out influxdb=…` and `K6_INFLUXDB_*` say of the output to InfluxDB 1.

use super::receiver_options::{Reader, ReceiverOptionError, without_password};
use crate::options::Environment;

const OUTPUT: &str = "influxdb";
const SECOND_NS: u64 = 1_000_000_000;

/// The output to InfluxDB as it was asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct InfluxDbOptions {
    /// The server, with what stands before `/write` of its paths; it may hold user and password.
    pub url: String,
    /// The database.
    pub database: String,
    /// Whom the server knows, if not by the URL.
    pub username: Option<String>,
    /// With which password.
    pub password: Option<String>,
    /// Whether any certificate will do.
    pub is_unverified: bool,
    /// How often lines are sent.
    pub push_interval_ns: u64,
    /// The unit of instants, ns, and its name in the query.
    pub precision: (u64, &'static str),
    /// The retention policy, if not the database's own.
    pub retention: Option<String>,
    /// How many servers of a cluster must have the lines.
    pub consistency: Option<String>,
    /// Tags and metadata that are written as fields.
    pub fields: Vec<(String, FieldKind)>,
}

/// Without secrets.
impl std::fmt::Debug for InfluxDbOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InfluxDbOptions({})", self.shown())
    }
}

/// What a tag's value is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// Yes or no.
    Boolean,
}

impl InfluxDbOptions {
    /// From what stands behind `influxdb=`, a URL whose last segment is the database, and from the
    /// environment, which the argument goes before.
    ///
    /// # Errors
    ///
    /// A value is wrong.
    pub fn read(argument: &str, environment: &Environment) -> Result<Self, ReceiverOptionError> {
        let reader = Reader { output: OUTPUT, prefix: "K6_INFLUXDB_", environment };
        let mut url = reader.text_or("ADDR", "http://localhost:8086");
        let mut database = reader.text_or("DB", "k6");
        if !argument.is_empty() {
            let (address, named) = split(argument);
            url = address;
            database = named.unwrap_or(database);
        }
        let url = reader.url(url, "http://localhost:8086/k6")?;
        let fields = reader.text_or("TAGS_AS_FIELDS", "vu:int,iter:int,url");
        let parts = fields.split(',').map(str::trim).filter(|part| !part.is_empty());
        let fields = parts.map(|part| field(part, &reader)).collect::<Result<_, _>>()?;
        Ok(Self {
            url,
            database,
            username: reader.text("USERNAME").map(str::to_owned),
            password: reader.text("PASSWORD").map(str::to_owned),
            is_unverified: reader.boolean("INSECURE", false)?,
            push_interval_ns: reader.duration_ns("PUSH_INTERVAL", SECOND_NS)?,
            precision: precision(&reader)?,
            retention: reader.text("RETENTION").map(str::to_owned),
            consistency: reader.text("CONSISTENCY").map(str::to_owned),
            fields,
        })
    }

    /// The output as texts have it, without secrets.
    pub fn shown(&self) -> String {
        format!("influxdb={}/{}", without_password(&self.url), self.database)
    }
}

/// Address and database of a URL; none where the path ends with a slash.
fn split(argument: &str) -> (String, Option<String>) {
    let argument = argument.split(['?', '#']).next().unwrap_or_default();
    let host_at = argument.find("://").map_or(0, |at| at + 3);
    let (before, rest) = argument.split_at(host_at);
    match rest.rsplit_once('/') {
        Some((address, "")) => (format!("{before}{address}"), None),
        Some((address, name)) => (format!("{before}{address}"), Some(name.to_owned())),
        None => (argument.to_owned(), None),
    }
}

fn field(part: &str, reader: &Reader<'_>) -> Result<(String, FieldKind), ReceiverOptionError> {
    let (name, kind) = part.split_once(':').unwrap_or((part, "string"));
    let kind = match kind {
        "string" => FieldKind::Text,
        "int" => FieldKind::Integer,
        "float" => FieldKind::Float,
        "bool" => FieldKind::Boolean,
        other => {
            return Err(reader.wrong(format!(
                "K6_INFLUXDB_TAGS_AS_FIELDS: `{other}` is no kind of a field; there are string, \
                 int, float and bool"
            )));
        }
    };
    Ok((name.to_owned(), kind))
}

fn precision(reader: &Reader<'_>) -> Result<(u64, &'static str), ReceiverOptionError> {
    let Some(text) = reader.text("PRECISION") else { return Ok((1, "ns")) };
    Ok(match text {
        "1ns" | "ns" | "n" => (1, "ns"),
        "1us" | "1µs" | "us" | "u" => (1_000, "u"),
        "1ms" | "ms" => (1_000_000, "ms"),
        "1s" | "s" => (SECOND_NS, "s"),
        "1m" | "m" => (60 * SECOND_NS, "m"),
        "1h" | "h" => (3_600 * SECOND_NS, "h"),
        other => {
            let told = "is none of 1ns, 1us, 1ms, 1s, 1m and 1h";
            return Err(reader.wrong(format!("K6_INFLUXDB_PRECISION={other} {told}")));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str, variables: &[(&str, &str)]) -> Result<InfluxDbOptions, String> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = variables.iter().map(own).collect();
        InfluxDbOptions::read(argument, &environment).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_segment_is_the_database() {
        for (argument, url, database) in [
            ("", "http://localhost:8086", "k6"),
            ("http://me:s3cret@host:8086/load", "http://me:s3cret@host:8086", "load"),
            ("https://host/influxdb/load", "https://host/influxdb", "load"),
            ("https://host/influxdb/", "https://host/influxdb", "k6"),
            ("http://host:8086", "http://host:8086", "k6"),
        ] {
            let options = read(argument, &[]).unwrap();
            assert_eq!((options.url.as_str(), options.database.as_str()), (url, database));
            assert!(!format!("{options:?}").contains("s3cret"));
        }
    }

    #[test]
    fn variables_say_the_rest() {
        let options = read(
            "",
            &[
                ("K6_INFLUXDB_ADDR", "http://other:1"),
                ("K6_INFLUXDB_DB", "mine"),
                ("K6_INFLUXDB_TAGS_AS_FIELDS", "vu:int, share:float,ok:bool,url"),
                ("K6_INFLUXDB_PUSH_INTERVAL", "250ms"),
                ("K6_INFLUXDB_PRECISION", "1ms"),
            ],
        )
        .unwrap();
        assert_eq!(options.shown(), "influxdb=http://other:1/mine");
        let kinds = [FieldKind::Integer, FieldKind::Float, FieldKind::Boolean, FieldKind::Text];
        assert!(options.fields.iter().map(|(_, kind)| *kind).eq(kinds));
        assert_eq!(options.push_interval_ns, 250_000_000);
        assert_eq!(options.precision, (1_000_000, "ms"));
    }

    #[test]
    fn what_is_wrong_is_named_without_the_secret() {
        for (argument, variable, value, part) in [
            ("me:s3cret@host/db", "K6_INFLUXDB_DB", "x", "must begin with http://"),
            ("", "K6_INFLUXDB_TAGS_AS_FIELDS", "vu:whole", "`whole` is no kind"),
            ("", "K6_INFLUXDB_PUSH_INTERVAL", "soon", "=soon is no duration"),
            ("", "K6_INFLUXDB_PUSH_INTERVAL", "0", "=0 is no duration"),
            ("", "K6_INFLUXDB_PRECISION", "1d", "=1d is none of"),
            ("", "K6_INFLUXDB_INSECURE", "maybe", "=maybe is neither"),
        ] {
            let told = read(argument, &[(variable, value)]).unwrap_err();
            assert!(told.contains(part) && !told.contains("s3cret"), "{told}");
        }
    }
}
