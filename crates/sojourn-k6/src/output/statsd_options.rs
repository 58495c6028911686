//! What `K6_STATSD_*` say of the output to StatsD.

use super::receiver_options::{Reader, ReceiverOptionError};
use crate::options::Environment;

/// The output to StatsD as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsdOptions {
    /// `HOST:PORT`.
    pub address: String,
    /// What metrics' names begin with.
    pub namespace: String,
    /// How often samples are sent.
    pub push_interval_ns: u64,
    /// Whether samples carry their tags, as DogStatsD has them.
    pub has_tags: bool,
    /// Tags that are left out.
    pub blocked: Vec<String>,
}

impl StatsdOptions {
    /// From the environment; `argument` is an address that goes before the variable's.
    ///
    /// # Errors
    ///
    /// A value is wrong.
    pub fn read(argument: &str, environment: &Environment) -> Result<Self, ReceiverOptionError> {
        let reader = Reader { output: "statsd", prefix: "K6_STATSD_", environment };
        let address = if argument.is_empty() {
            reader.text_or("ADDR", "localhost:8125")
        } else {
            argument.to_owned()
        };
        let port = address.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        if !matches!(port, Some((host, Ok(_))) if !host.is_empty()) || address.contains('/') {
            return Err(reader.wrong(format!("`{address}` is no HOST:PORT")));
        }
        let blocked = reader.text_or("TAG_BLOCKLIST", "vu,iter,url");
        Ok(Self {
            address,
            namespace: reader.text_or("NAMESPACE", "k6."),
            push_interval_ns: reader.duration_ns("PUSH_INTERVAL", 1_000_000_000)?,
            has_tags: reader.boolean("ENABLE_TAGS", false)?,
            blocked: blocked.split(',').map(|tag| tag.trim().to_owned()).collect(),
        })
    }

    /// The output as texts have it.
    pub fn shown(&self) -> String {
        format!("statsd={}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        let read = |argument: &str| StatsdOptions::read(argument, &Environment::new());
        assert_eq!(read("").unwrap().shown(), "statsd=localhost:8125");
        assert_eq!(read("[::1]:1").unwrap().address, "[::1]:1");
        for wrong in ["host", ":8125", "http://host:1", "host:port"] {
            assert!(read(wrong).unwrap_err().to_string().contains("is no HOST:PORT"), "{wrong}");
        }
    }
}
