//! What `K6_PROMETHEUS_RW_*` say of the output by Prometheus' remote write.

use super::receiver_options::{Reader, ReceiverOptionError, without_password};
use crate::options::Environment;
use crate::summary::{StatKind, TrendStat};

const PREFIX: &str = "K6_PROMETHEUS_RW_";
const HEADERS: &str = "K6_PROMETHEUS_RW_HEADERS_";
const SECOND_NS: u64 = 1_000_000_000;

/// The output by remote write as it was asked for.
#[derive(Clone, PartialEq)]
pub struct RemoteWriteOptions {
    /// Where to; it may hold user and password.
    pub url: String,
    /// Headers of each request, credentials among them.
    pub headers: Vec<(String, String)>,
    /// User and password of each request.
    pub basic: Option<(String, String)>,
    /// Labels of every series that has none of the same name.
    pub labels: Vec<(String, String)>,
    /// How often figures are sent.
    pub push_interval_ns: u64,
    /// The figures of a trend.
    pub stats: Vec<RemoteWriteStat>,
    /// Whether a trend is a native histogram instead.
    pub has_native_histograms: bool,
    /// Whether series are marked as stale at the end.
    pub marks_stale: bool,
    /// Whether any certificate will do.
    pub is_unverified: bool,
    /// A certificate and its key: files.
    pub identity: Option<(String, String)>,
}

/// Without secrets.
impl std::fmt::Debug for RemoteWriteOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteWriteOptions({})", self.shown("experimental-prometheus-rw"))
    }
}

/// A figure of a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RemoteWriteStat {
    /// The sum of all samples.
    Sum,
    /// One of those that summaries have too.
    Of(StatKind),
}

impl RemoteWriteOptions {
    /// From the environment; `argument` is a URL that goes before the variable's.
    ///
    /// # Errors
    ///
    /// A value is wrong, or asks for what is not there.
    pub fn read(
        output: &'static str,
        argument: &str,
        environment: &Environment,
    ) -> Result<Self, ReceiverOptionError> {
        let reader = Reader { output, prefix: PREFIX, environment };
        let signed = ["SIGV4_REGION", "SIGV4_ACCESS_KEY", "SIGV4_SECRET_KEY"];
        reader
            .refuse(&signed, "requests are not signed for AWS; send to a proxy that signs them")?;
        let own = "http://localhost:9090/api/v1/write";
        let url = if argument.is_empty() {
            reader.text_or("SERVER_URL", own)
        } else {
            argument.to_owned()
        };
        let mut headers = reader.pairs("HTTP_HEADERS", ':')?;
        headers.extend(environment.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(HEADERS).filter(|name| !name.is_empty())?;
            Some((name.to_owned(), value.clone()))
        }));
        if let Some(token) = reader.text("BEARER_TOKEN") {
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        let password = reader.text("PASSWORD").unwrap_or_default();
        let basic = reader.text("USERNAME").map(|user| (user.to_owned(), password.to_owned()));
        let mut labels = reader.pairs("LABELS", '=')?;
        labels.retain(|(name, value)| !name.is_empty() && !value.is_empty() && name != "__name__");
        Ok(Self {
            url: reader.url(url, own)?,
            headers,
            basic,
            labels,
            push_interval_ns: reader.duration_ns("PUSH_INTERVAL", 5 * SECOND_NS)?,
            stats: stats(&reader)?,
            has_native_histograms: reader.boolean("TREND_AS_NATIVE_HISTOGRAM", false)?,
            marks_stale: reader.boolean("STALE_MARKERS", false)?,
            is_unverified: reader.boolean("INSECURE_SKIP_TLS_VERIFY", false)?,
            identity: identity(&reader)?,
        })
    }

    /// The output as texts have it, without secrets.
    pub fn shown(&self, output: &str) -> String {
        format!("{output}={}", without_password(&self.url))
    }
}

fn stats(reader: &Reader<'_>) -> Result<Vec<RemoteWriteStat>, ReceiverOptionError> {
    let list = reader.text_or("TREND_STATS", "p(99)");
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    let stat = |word: &str| match word {
        "sum" => Ok(RemoteWriteStat::Sum),
        _ => TrendStat::parse(word).map(|stat| RemoteWriteStat::Of(stat.kind)).map_err(|_| {
            reader.wrong(format!(
                "{PREFIX}TREND_STATS: `{word}` is no figure of a trend; there are count, sum, min, \
                 max, avg, med and p(N) with N from 0 to 100"
            ))
        }),
    };
    words.map(stat).collect()
}

fn identity(reader: &Reader<'_>) -> Result<Option<(String, String)>, ReceiverOptionError> {
    match (reader.text("CLIENT_CERTIFICATE"), reader.text("CLIENT_CERTIFICATE_KEY")) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => Ok(Some((chain.to_owned(), key.to_owned()))),
        _ => Err(reader.wrong(format!(
            "{PREFIX}CLIENT_CERTIFICATE and {PREFIX}CLIENT_CERTIFICATE_KEY need each other"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str, variables: &[(&str, &str)]) -> Result<RemoteWriteOptions, String> {
        let own = |(name, value): &(&str, &str)| (format!("{PREFIX}{name}"), (*value).to_owned());
        let environment = variables.iter().map(own).collect();
        let read = RemoteWriteOptions::read("experimental-prometheus-rw", argument, &environment);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn variables_say_everything() {
        let plain = read("", &[]).unwrap();
        assert_eq!(plain.url, "http://localhost:9090/api/v1/write");
        assert_eq!(plain.push_interval_ns, 5 * SECOND_NS);
        assert_eq!(plain.stats, [RemoteWriteStat::Of(StatKind::Percentile(99.0))]);
        let options = read(
            "",
            &[
                ("SERVER_URL", "http://host/write"),
                ("HTTP_HEADERS", "X-One:1, X-Two : 2"),
                ("HEADERS_X-THREE", "s3cret"),
                ("BEARER_TOKEN", "t0ken"),
                ("USERNAME", "me"),
                ("PASSWORD", "s3cret"),
                ("LABELS", "server=a,__name__=b,c="),
                ("TREND_STATS", "sum,p(99.9),avg"),
            ],
        )
        .unwrap();
        let names: Vec<_> = options.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["X-One", "X-Two", "X-THREE", "Authorization"]);
        assert_eq!(options.basic, Some(("me".to_owned(), "s3cret".to_owned())));
        assert_eq!(options.labels, [("server".to_owned(), "a".to_owned())]);
        assert_eq!(options.stats.len(), 3);
        assert!(!options.has_native_histograms);
        let native = read("", &[("TREND_AS_NATIVE_HISTOGRAM", "true")]).unwrap();
        assert!(native.has_native_histograms);
        let shown = format!("{options:?}");
        assert!(shown.contains("http://host/write") && !shown.contains("s3cret"), "{shown}");
        assert_eq!(read("https://other/w", &[]).unwrap().url, "https://other/w");
    }

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        for (name, value, part) in [
            ("TREND_AS_NATIVE_HISTOGRAM", "often", "TREND_AS_NATIVE_HISTOGRAM"),
            ("SIGV4_REGION", "eu", "K6_PROMETHEUS_RW_SIGV4_REGION: requests are not signed"),
            ("TREND_STATS", "p(101)", "`p(101)` is no figure"),
            ("HTTP_HEADERS", "a=b", "no list of name:value"),
            ("SERVER_URL", "host:9090", "must begin with http://"),
            ("CLIENT_CERTIFICATE", "a.pem", "need each other"),
        ] {
            let told = read("", &[(name, value)]).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
    }
}
