//! Where an output goes, as `--out KIND=TARGET` says.

use std::path::PathBuf;

use sojourn_record::JourneyShape;
use url::Url;

use crate::credentials::{Credentials, Environment, decoded};

/// The kinds, with what stands behind the `=`.
const KINDS: &str = "prometheus=[HOST]:PORT, prometheus-rw=URL, otlp=URL, otlp-grpc=URL, \
                     influxdb=URL/DATABASE, influxdb2=URL?org=ORG&bucket=BUCKET, \
                     statsd=HOST:PORT, ndjson=FILE, parquet=FILE";

/// An output that cannot be.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Not of the form KIND=TARGET, or no such kind.
    #[error("`--out {0}` is no output; there are {KINDS}")]
    Unknown(String),
    /// A target that its kind cannot use.
    #[error("`--out {kind}=…`: {why}")]
    Target {
        /// The kind.
        kind: &'static str,
        /// What is wrong with the target, and what it should be.
        why: String,
    },
    /// What has to be there before the run cannot be made: a listener, a file, a thread.
    #[error("`--out {what}`: {why}")]
    Start {
        /// The output, without secrets.
        what: String,
        /// What could not be done.
        why: String,
    },
}

/// What every series and journey of a run is labelled with.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The run's id: the label `run`.
    pub id: String,
    /// The plan's name: the label `plan`.
    pub plan: String,
    /// Certificates (PEM) that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// The plan's journeys: what each stage follows.
    pub shapes: Vec<JourneyShape>,
}

/// Where an output goes.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) place: Place,
    /// The output as it is called in texts: without user, password and token.
    pub(crate) what: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Place {
    Prometheus { address: String, linger_ns: u64 },
    RemoteWrite(Endpoint),
    Otlp(Endpoint),
    OtlpGrpc(Endpoint),
    InfluxDb1 { endpoint: Endpoint, database: String },
    InfluxDb2 { endpoint: Endpoint, org: String, bucket: String },
    Statsd(String),
    Ndjson(PathBuf),
    Parquet(PathBuf),
}

/// A server, and what lets us in.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Without user, password, query and fragment.
    pub(crate) url: Url,
    pub(crate) credentials: Credentials,
}

impl Endpoint {
    /// A server by its URL, whose user and password become a header, and headers besides.
    ///
    /// # Errors
    /// What is given cannot stand in a header.
    pub fn new(url: &Url, headers: &[(String, String)]) -> Result<Self, String> {
        let mut credentials = Credentials::of_url(url)?;
        for (name, value) in headers {
            credentials.add(name, value, &format!("the header `{name}`"))?;
        }
        Ok(Self { url: bare(url), credentials })
    }

    /// The server's URL without user, password, query and fragment.
    pub fn url(&self) -> &Url {
        &self.url
    }
}

/// A URL without user, password, query and fragment.
fn bare(url: &Url) -> Url {
    let mut url = url.clone();
    // Neither fails for http and https.
    let _of_http = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url
}

impl Target {
    /// Reads `KIND=TARGET`. Credentials come with a URL (`http://USER:PASSWORD@HOST`) or from the
    /// environment.
    ///
    /// # Errors
    /// [`OutputError::Unknown`] and [`OutputError::Target`].
    pub fn parse(text: &str) -> Result<Self, OutputError> {
        Self::parse_in(text, &|name| std::env::var(name).ok())
    }

    /// The same with another environment, which is asked for those variables alone that this kind
    /// of output takes credentials from.
    ///
    /// # Errors
    /// As of [`Self::parse`].
    pub fn parse_in(
        text: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OutputError> {
        // What stands behind the kind may hold a password.
        let (kind, target) = text.split_once('=').unwrap_or((text, ""));
        let parser = Parser { target, environment };
        let (place, shown) = match kind {
            "prometheus" => parser.prometheus(),
            "prometheus-rw" => parser.endpoint("prometheus-rw", Credentials::remote_write),
            "otlp" => parser.endpoint("otlp", Credentials::otlp),
            "otlp-grpc" => parser.endpoint("otlp-grpc", Credentials::otlp),
            "influxdb" => parser.influxdb1(),
            "influxdb2" => parser.influxdb2(),
            "statsd" => parser.statsd(),
            "ndjson" => parser.file("ndjson", Place::Ndjson),
            "parquet" => parser.file("parquet", Place::Parquet),
            _ => Err(OutputError::Unknown(named(kind))),
        }?;
        Ok(Self { place, what: format!("{kind}={shown}") })
    }

    /// The output as it is called in texts: without user, password and token.
    pub fn what(&self) -> &str {
        &self.what
    }
}

struct Parser<'a> {
    target: &'a str,
    environment: Environment<'a>,
}

type Parsed = Result<(Place, String), OutputError>;

impl Parser<'_> {
    /// `:9464`, `127.0.0.1:9464`, `0.0.0.0:9464`, each with `?linger=30s` if wanted.
    fn prometheus(&self) -> Parsed {
        const KIND: &str = "prometheus";
        let (address, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let address = match address.strip_prefix(':') {
            Some(port) => format!("127.0.0.1:{port}"),
            None => address.to_owned(),
        };
        check_port(KIND, &address)?;
        let linger_ns = match query.split_once('=') {
            None if query.is_empty() => 0,
            Some(("linger", seconds)) => seconds
                .strip_suffix('s')
                .and_then(|seconds| seconds.parse::<u32>().ok())
                .filter(|seconds| *seconds <= 600)
                .map(|seconds| u64::from(seconds) * sojourn_clock::SECOND_NS)
                .ok_or_else(|| wrong(KIND, "linger is whole seconds, at most 600s"))?,
            _ => return Err(wrong(KIND, "the only option is ?linger=30s")),
        };
        Ok((Place::Prometheus { address: address.clone(), linger_ns }, address))
    }

    fn endpoint(
        &self,
        kind: &'static str,
        credentials: fn(&Url, Environment<'_>) -> Result<Credentials, String>,
    ) -> Parsed {
        let url = self.url(kind)?;
        if url.query().is_some() {
            return Err(wrong(kind, "a query (`?…`) has no meaning here"));
        }
        let endpoint = self.at(kind, &url, credentials)?;
        let shown = endpoint.url.to_string();
        let place = match kind {
            "prometheus-rw" => Place::RemoteWrite(endpoint),
            "otlp" => Place::Otlp(endpoint),
            _ => Place::OtlpGrpc(endpoint),
        };
        Ok((place, shown))
    }

    fn influxdb1(&self) -> Parsed {
        const KIND: &str = "influxdb";
        let url = self.url(KIND)?;
        let mut endpoint = self.at(KIND, &url, Credentials::influxdb1)?;
        let shown = endpoint.url.to_string();
        let path = endpoint.url.path().trim_end_matches('/').to_owned();
        let (folder, database) = path.rsplit_once('/').unwrap_or(("", ""));
        if database.is_empty() {
            return Err(wrong(KIND, "the path must be the database: http://host:8086/loadtests"));
        }
        let database = decoded(database);
        endpoint.url.set_path(folder);
        Ok((Place::InfluxDb1 { endpoint, database }, shown))
    }

    fn influxdb2(&self) -> Parsed {
        const KIND: &str = "influxdb2";
        let url = self.url(KIND)?;
        let value = |name: &str| {
            url.query_pairs()
                .find(|(key, value)| key == name && !value.is_empty())
                .map(|(_, value)| value.into_owned())
                .ok_or_else(|| wrong(KIND, "it needs ?org=ORG&bucket=BUCKET"))
        };
        let (org, bucket) = (value("org")?, value("bucket")?);
        if url.query_pairs().any(|(key, _)| key != "org" && key != "bucket") {
            return Err(wrong(KIND, "its options are org and bucket; the token is INFLUX_TOKEN's"));
        }
        let endpoint = self.at(KIND, &url, Credentials::influxdb2)?;
        let shown = format!("{}?org={org}&bucket={bucket}", endpoint.url);
        Ok((Place::InfluxDb2 { endpoint, org, bucket }, shown))
    }

    fn statsd(&self) -> Parsed {
        check_port("statsd", self.target)?;
        Ok((Place::Statsd(self.target.to_owned()), self.target.to_owned()))
    }

    fn file(&self, kind: &'static str, place: fn(PathBuf) -> Place) -> Parsed {
        if self.target.is_empty() {
            return Err(wrong(kind, "it needs a file's name"));
        }
        Ok((place(self.target.into()), self.target.to_owned()))
    }

    fn url(&self, kind: &'static str) -> Result<Url, OutputError> {
        let url = Url::parse(self.target)
            .map_err(|error| wrong(kind, &format!("no URL follows: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong(kind, "the URL must begin with http:// or https:// and a host"));
        }
        Ok(url)
    }

    fn at(
        &self,
        kind: &'static str,
        url: &Url,
        credentials: fn(&Url, Environment<'_>) -> Result<Credentials, String>,
    ) -> Result<Endpoint, OutputError> {
        let credentials = credentials(url, self.environment).map_err(|why| wrong(kind, &why))?;
        Ok(Endpoint { url: bare(url), credentials })
    }
}

/// What stands where a kind should, unless it may be a whole address with a password.
fn named(kind: &str) -> String {
    let is_kind = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if kind.chars().all(is_kind) { format!("{kind}=…") } else { "…".to_owned() }
}

fn check_port(kind: &'static str, address: &str) -> Result<(), OutputError> {
    if address.contains(['/', '@']) {
        return Err(wrong(kind, "a HOST:PORT is wanted, not a URL"));
    }
    let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.and_then(|(_, port)| port.parse::<u16>().ok()) {
        Some(_) => Ok(()),
        None => Err(wrong(kind, &format!("`{address}` is no HOST:PORT"))),
    }
}

fn wrong(kind: &'static str, why: &str) -> OutputError {
    OutputError::Target { kind, why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Target, OutputError> {
        Target::parse_in(text, &|name| (name == "INFLUX_TOKEN").then(|| "t0ken".to_owned()))
    }

    #[test]
    fn no_secret_shows() {
        for (text, what) in [
            (
                "prometheus-rw=http://me:s3cret@host:9090/api/v1/write",
                "prometheus-rw=http://host:9090/api/v1/write",
            ),
            ("influxdb=http://me:s3cret@host:8086/db", "influxdb=http://host:8086/db"),
            ("influxdb2=https://host/?org=o&bucket=b", "influxdb2=https://host/?org=o&bucket=b"),
            ("otlp=http://me:s3cret@host:4318", "otlp=http://host:4318/"),
            ("prometheus=:9464?linger=5s", "prometheus=127.0.0.1:9464"),
            ("statsd=localhost:8125", "statsd=localhost:8125"),
        ] {
            let target = parse(text).unwrap();
            assert_eq!(target.what(), what);
            let shown = format!("{target:?}");
            assert!(!shown.contains("s3cret") && !shown.contains("t0ken"), "{shown}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        for (text, why) in [
            ("prometheus", "no HOST:PORT"),
            ("http://me:s3cret@host:9090/api/v1/write", "`--out …` is no output"),
            ("http://me:s3cret@host/?org=o", "`--out …` is no output"),
            ("prometheus=http://me:s3cret@host:9090/api/v1/write", "not a URL"),
            ("prometheus=http://me:s3cret@host:9090", "not a URL"),
            ("statsd=http://me:s3cret@host:9090", "not a URL"),
            ("grafana=http://me:s3cret@host", "`--out grafana=…` is no output"),
            ("prometheus-rw=me:s3cret@host", "must begin with http"),
            ("prometheus-rw=http://me:s3cret@ho st", "no URL follows"),
            ("otlp=http://me:s3cret@host/?a=b", "no meaning"),
            ("influxdb=http://me:s3cret@host", "must be the database"),
            ("influxdb2=http://host/?org=o", "needs ?org=ORG&bucket=BUCKET"),
            ("influxdb2=http://host/?org=o&bucket=b&token=s3cret", "INFLUX_TOKEN"),
            ("prometheus=9464", "no HOST:PORT"),
            ("prometheus=:9464?linger=1h", "whole seconds"),
            ("statsd=:8125", "no HOST:PORT"),
            ("ndjson=", "file's name"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(why) && !said.contains("s3cret"), "{text}: {said}");
        }
    }
}
