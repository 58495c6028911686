//! What lets an output in, from its URL or the environment; never printed.

use base64::{Engine, prelude::BASE64_STANDARD};
use url::Url;

/// Where variables are looked up.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Headers that let us in.
#[derive(Clone, Default)]
pub(crate) struct Credentials {
    headers: Vec<(String, String)>,
}

/// Without what it holds.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials({} headers)", self.headers.len())
    }
}

impl Credentials {
    /// User and password of the URL, else `SOJOURN_PROMETHEUS_TOKEN`.
    pub(crate) fn remote_write(url: &Url, environment: Environment<'_>) -> Result<Self, String> {
        Self::basic_or(url, environment, "SOJOURN_PROMETHEUS_TOKEN", "Bearer")
    }

    /// User and password of the URL, and `OTEL_EXPORTER_OTLP_HEADERS`, as OpenTelemetry has it:
    /// `name=value,name=value`, values percent-encoded.
    pub(crate) fn otlp(url: &Url, environment: Environment<'_>) -> Result<Self, String> {
        const VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";
        let mut credentials = Self::basic_or(url, environment, "", "")?;
        for pair in environment(VARIABLE).unwrap_or_default().split(',') {
            let Some((name, value)) = pair.split_once('=') else {
                if pair.trim().is_empty() {
                    continue;
                }
                return Err(format!("{VARIABLE} is no list of name=value"));
            };
            credentials.add(name.trim(), &decoded(value.trim()), VARIABLE)?;
        }
        Ok(credentials)
    }

    /// User and password of the URL.
    pub(crate) fn influxdb1(url: &Url, _: Environment<'_>) -> Result<Self, String> {
        Self::of_url(url)
    }

    /// User and password of a URL.
    pub(crate) fn of_url(url: &Url) -> Result<Self, String> {
        Self::basic_or(url, &|_| None, "", "")
    }

    /// `INFLUX_TOKEN`, as InfluxDB's own client has it.
    pub(crate) fn influxdb2(url: &Url, environment: Environment<'_>) -> Result<Self, String> {
        Self::basic_or(url, environment, "INFLUX_TOKEN", "Token")
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn basic_or(
        url: &Url,
        environment: Environment<'_>,
        variable: &str,
        scheme: &str,
    ) -> Result<Self, String> {
        let mut credentials = Self::default();
        if !url.username().is_empty() || url.password().is_some() {
            let password = url.password().unwrap_or_default();
            let pair = format!("{}:{}", decoded(url.username()), decoded(password));
            let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
            credentials.add("authorization", &value, "the URL")?;
        } else if let Some(token) = Some(variable).filter(|it| !it.is_empty()).and_then(environment)
        {
            let value = format!("{scheme} {}", token.trim());
            credentials.add("authorization", &value, variable)?;
        }
        Ok(credentials)
    }

    pub(crate) fn add(&mut self, name: &str, value: &str, source: &str) -> Result<(), String> {
        let name = name.to_ascii_lowercase();
        let is_header = http::HeaderName::from_bytes(name.as_bytes()).is_ok()
            && http::HeaderValue::from_str(value).is_ok();
        if !is_header {
            return Err(format!("what {source} gives cannot stand in a header"));
        }
        self.headers.push((name, value.to_owned()));
        Ok(())
    }
}

/// Percent-encoding taken off.
pub(crate) fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_made_of_url_and_environment() {
        let url = Url::parse("http://me:p%40ss@host").unwrap();
        let basic = ("authorization".to_owned(), "Basic bWU6cEBzcw==".to_owned());
        let plain = Url::parse("http://host").unwrap();
        let environment = |name: &str| {
            Some(match name {
                "OTEL_EXPORTER_OTLP_HEADERS" => "X-Tenant=a%20b, api-key = k".to_owned(),
                _ => format!("of {name}"),
            })
        };
        let remote = Credentials::remote_write(&url, &environment).unwrap();
        assert_eq!(remote.headers, std::slice::from_ref(&basic));
        let remote = Credentials::remote_write(&plain, &environment).unwrap();
        assert_eq!(remote.headers[0].1, "Bearer of SOJOURN_PROMETHEUS_TOKEN");
        let otlp = Credentials::otlp(&url, &environment).unwrap();
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(otlp.headers, [basic, own("x-tenant", "a b"), own("api-key", "k")]);
        let influx = Credentials::influxdb2(&plain, &environment).unwrap();
        assert_eq!(influx.headers[0].1, "Token of INFLUX_TOKEN");
        let broken = |_: &str| Some("a\nb".to_owned());
        let said = Credentials::influxdb2(&plain, &broken).unwrap_err();
        assert_eq!(said, "what INFLUX_TOKEN gives cannot stand in a header");
    }
}
