//! What `K6_OTEL_*` say of the output to OpenTelemetry.

use super::receiver_options::{Reader, ReceiverOptionError, without_password};
use crate::options::Environment;

const PREFIX: &str = "K6_OTEL_";
const SECOND_NS: u64 = 1_000_000_000;

/// The output to OpenTelemetry as it was asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenTelemetryOptions {
    /// By which protocol.
    pub exporter: Exporter,
    /// The collector: scheme, host and port.
    pub url: String,
    /// The resource's `service.name`.
    pub service_name: String,
    /// The resource's `service.version`.
    pub service_version: String,
    /// What metrics' names begin with.
    pub metric_prefix: String,
    /// How often figures are sent.
    pub export_interval_ns: u64,
    /// Headers of each request, credentials among them.
    pub headers: Vec<(String, String)>,
    /// Whether a rate is one counter, told apart by `condition`, or two.
    pub is_rate_single: bool,
    /// Whether any certificate will do.
    pub is_unverified: bool,
    /// Authorities (PEM file) that are trusted besides the system's.
    pub ca_file: Option<String>,
    /// A certificate and its key: files.
    pub identity: Option<(String, String)>,
}

/// Without secrets.
impl std::fmt::Debug for OpenTelemetryOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenTelemetryOptions({})", self.shown("opentelemetry"))
    }
}

/// The protocol of OTLP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exporter {
    /// gRPC.
    Grpc,
    /// Protobuf over HTTP, posted to this path.
    Http(String),
}

impl OpenTelemetryOptions {
    /// From the environment. OpenTelemetry's own variables are read where k6's are not set:
    /// `OTEL_SERVICE_NAME`, `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`.
    ///
    /// # Errors
    ///
    /// A value is wrong.
    pub fn read(
        output: &'static str,
        argument: &str,
        environment: &Environment,
        version: &str,
    ) -> Result<Self, ReceiverOptionError> {
        let reader = Reader { output, prefix: PREFIX, environment };
        if !argument.is_empty() {
            return Err(reader.wrong(format!(
                "`{output}` takes nothing behind a `=`; {PREFIX}GRPC_EXPORTER_ENDPOINT or \
                 {PREFIX}HTTP_EXPORTER_ENDPOINT say where to"
            )));
        }
        let kind = reader.text("EXPORTER_PROTOCOL").or_else(|| reader.text("EXPORTER_TYPE"));
        let exporter = match kind.unwrap_or("grpc") {
            "grpc" => Exporter::Grpc,
            "http" | "http/protobuf" => {
                Exporter::Http(reader.text_or("HTTP_EXPORTER_URL_PATH", "/v1/metrics"))
            }
            other => {
                let told = "is no exporter; there are grpc and http";
                return Err(reader.wrong(format!("{PREFIX}EXPORTER_TYPE={other} {told}")));
            }
        };
        let of_sdk = Reader { output, prefix: "OTEL_", environment };
        let headers = match reader.text("HEADERS") {
            Some(_) => reader.pairs("HEADERS", '=')?,
            None => of_sdk.pairs("EXPORTER_OTLP_HEADERS", '=')?,
        };
        let name = reader.text("SERVICE_NAME").or_else(|| of_sdk.text("SERVICE_NAME"));
        Ok(Self {
            url: url(&reader, &of_sdk, exporter == Exporter::Grpc)?,
            exporter,
            service_name: name.unwrap_or("k6").to_owned(),
            service_version: reader.text_or("SERVICE_VERSION", version),
            metric_prefix: reader.text_or("METRIC_PREFIX", ""),
            export_interval_ns: reader.duration_ns("EXPORT_INTERVAL", 10 * SECOND_NS)?,
            headers,
            is_rate_single: reader.boolean("SINGLE_COUNTER_FOR_RATE", true)?,
            is_unverified: reader.boolean("TLS_INSECURE_SKIP_VERIFY", false)?,
            ca_file: reader.text("TLS_CERTIFICATE").map(str::to_owned),
            identity: identity(&reader)?,
        })
    }

    /// The output as texts have it, without a password.
    pub fn shown(&self, output: &str) -> String {
        let url = without_password(&self.url);
        match &self.exporter {
            Exporter::Grpc => format!("{output} (grpc, {url})"),
            Exporter::Http(path) => format!("{output} (http, {url}{path})"),
        }
    }
}

/// Scheme, host and port.
fn url(
    reader: &Reader<'_>,
    of_sdk: &Reader<'_>,
    is_grpc: bool,
) -> Result<String, ReceiverOptionError> {
    let (endpoint, insecure, own) = if is_grpc {
        ("GRPC_EXPORTER_ENDPOINT", "GRPC_EXPORTER_INSECURE", "localhost:4317")
    } else {
        ("HTTP_EXPORTER_ENDPOINT", "HTTP_EXPORTER_INSECURE", "localhost:4318")
    };
    let is_plain = reader.boolean(insecure, false)?;
    let given = match reader.text(endpoint) {
        Some(given) => given,
        // This one has a scheme.
        None => match of_sdk.text("EXPORTER_OTLP_ENDPOINT") {
            Some(given) => return reader.url(given.trim_end_matches('/').to_owned(), own),
            None => own,
        },
    };
    if given.contains("://") || given.contains(['/', '@']) {
        let told = "must be a host and a port without scheme and path, such as";
        return Err(reader.wrong(format!("{PREFIX}{endpoint} {told} {own}")));
    }
    Ok(format!("{}://{given}", if is_plain { "http" } else { "https" }))
}

fn identity(reader: &Reader<'_>) -> Result<Option<(String, String)>, ReceiverOptionError> {
    match (reader.text("TLS_CLIENT_CERTIFICATE"), reader.text("TLS_CLIENT_KEY")) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => Ok(Some((chain.to_owned(), key.to_owned()))),
        _ => Err(reader.wrong(format!(
            "{PREFIX}TLS_CLIENT_CERTIFICATE and {PREFIX}TLS_CLIENT_KEY need each other"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<OpenTelemetryOptions, String> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = variables.iter().map(own).collect();
        let read = OpenTelemetryOptions::read("opentelemetry", "", &environment, "1.2");
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn protocols_have_their_endpoints() {
        let plain = read(&[]).unwrap();
        assert_eq!(
            (plain.url.as_str(), &plain.exporter),
            ("https://localhost:4317", &Exporter::Grpc)
        );
        assert_eq!((plain.service_name.as_str(), plain.service_version.as_str()), ("k6", "1.2"));
        let http = read(&[
            ("K6_OTEL_EXPORTER_TYPE", "http"),
            ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
            ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "host:1"),
            ("K6_OTEL_HEADERS", "api-key=s3cret,x=y"),
        ])
        .unwrap();
        assert_eq!(http.shown("opentelemetry"), "opentelemetry (http, http://host:1/v1/metrics)");
        assert_eq!(http.headers.len(), 2);
        assert!(!format!("{http:?}").contains("s3cret"));
        let of_sdk = read(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other:2/"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b"),
            ("OTEL_SERVICE_NAME", "mine"),
        ])
        .unwrap();
        assert_eq!((of_sdk.url.as_str(), of_sdk.service_name.as_str()), ("http://other:2", "mine"));
        assert_eq!(of_sdk.headers.len(), 1);
    }

    #[test]
    fn a_password_in_the_address_is_never_shown() {
        let options = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:s3cret@host:4318")]);
        let options = options.unwrap();
        for shown in [options.shown("opentelemetry"), format!("{options:?}")] {
            assert!(!shown.contains("s3cret") && shown.contains("host:4318"), "{shown}");
        }
        assert!(options.url.contains("s3cret"), "it is sent all the same");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value, part) in [
            ("K6_OTEL_EXPORTER_TYPE", "zipkin", "EXPORTER_TYPE=zipkin is no exporter"),
            ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "http://h:1", "without scheme"),
            ("K6_OTEL_EXPORT_INTERVAL", "often", "=often is no duration"),
            ("K6_OTEL_TLS_CLIENT_KEY", "k", "need each other"),
        ] {
            let told = read(&[(name, value)]).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
        let none = Environment::new();
        let told = OpenTelemetryOptions::read("opentelemetry", "http://h", &none, "").unwrap_err();
        assert!(told.to_string().contains("takes nothing behind"), "{told}");
    }
}
