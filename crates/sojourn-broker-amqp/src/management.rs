//! RabbitMQ's management API: one short question a time, over HTTP/1.0 as it needs no more.

use std::io::{self, ErrorKind};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{AmqpChannel, Server};

use crate::stream::Stream;
use crate::tls::{self, ServerTls};

/// The longest answer read, bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// How long names are looked for that are like a wrong one.
const SIMILAR_NS_MAX: u64 = 2 * SECOND_NS;
/// How like names are that are suggested, from 0 to 1 (Jaro–Winkler).
const SIMILAR_MIN: f64 = 0.8;

/// The management of a broker.
#[derive(Clone, Debug)]
pub(crate) struct Management {
    server: Server,
    authorization: String,
    tls: ServerTls,
}

impl Management {
    /// The management that the channel names; its user is the channel's where its own URL has none.
    pub(crate) fn of(channel: &AmqpChannel) -> Result<Option<Self>, BrokerError> {
        let Some(server) = &channel.management else { return Ok(None) };
        let login = if server.user.is_some() { server } else { &channel.server };
        let user = login.user.as_deref().unwrap_or("guest");
        let password = login.password.as_ref().map_or("guest", |password| password.reveal());
        let authorization = STANDARD.encode(format!("{user}:{password}"));
        // The broker's own trust: most have both certificates from one authority.
        let server = Server { trust: channel.server.trust.clone(), ..server.clone() };
        let at = format!("the management at {}", server.address());
        let tls = tls::of(&server).map_err(|error| tls::file_error(&at, &error))?;
        Ok(Some(Self { server, authorization, tls }))
    }

    /// Messages of a queue that were given out and not acknowledged, as the broker last counted
    /// them (every five seconds by default); `None`: it has not counted them yet.
    pub(crate) fn unacknowledged(
        &self,
        vhost: &str,
        queue: &str,
        deadline_ns: u64,
    ) -> Result<Option<f64>, BrokerError> {
        let path = format!("/api/queues/{}/{}", segment(vhost), segment(queue));
        let answer = self.get(&path, deadline_ns)?;
        Ok(answer.get("messages_unacknowledged").and_then(Value::as_f64))
    }

    /// The exchange whose name is most like this one, if one is.
    pub(crate) fn similar_exchange(&self, vhost: &str, exchange: &str) -> Option<String> {
        let path = format!("/api/exchanges/{}?columns=name", segment(vhost));
        let answer = self.get(&path, now_ns() + SIMILAR_NS_MAX).ok()?;
        let names = answer.as_array()?.iter().filter_map(|one| one.get("name")?.as_str());
        let rated = names.map(|name| (strsim::jaro_winkler(name, exchange), name));
        let best = rated.filter(|(rate, _)| *rate >= SIMILAR_MIN);
        best.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.to_owned())
    }

    fn get(&self, path: &str, deadline_ns: u64) -> Result<Value, BrokerError> {
        let at = format!("the management at {}", self.server.address());
        let answer = self.exchange(path, deadline_ns).map_err(|error| {
            let (words, hint) = tls::explain(&error).unwrap_or_else(|| {
                (error.to_string(), "is its plugin enabled, and is this its port (usually 15672)?")
            });
            BrokerError::new(format!("{at}: {words}")).with_hint(hint)
        })?;
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Response::new(&mut headers);
        let parsed = head.parse(&answer);
        let (Ok(httparse::Status::Complete(length)), Some(status)) = (parsed, head.code) else {
            return Err(BrokerError::new(format!("{at}: what it answers is not HTTP")));
        };
        match status {
            200 => serde_json::from_slice(&answer[length..])
                .map_err(|error| BrokerError::new(format!("{at}: it answers no JSON: {error}"))),
            401 | 403 => Err(BrokerError::new(format!("{at}: it refuses the user"))
                .with_hint("give the user the tag `monitoring`, and access to the virtual host")),
            404 => Err(BrokerError::new(format!("{at}: there is no {path}"))),
            status => Err(BrokerError::new(format!("{at}: it answers {status}"))),
        }
    }

    /// Sends a request and reads until the connection ends.
    fn exchange(&self, path: &str, deadline_ns: u64) -> io::Result<Vec<u8>> {
        let Server { host, port, path: base, .. } = &self.server;
        let base = base.trim_end_matches('/');
        let slash = if base.is_empty() { "" } else { "/" };
        let request = format!(
            "GET {slash}{base}{path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Basic {}\r\n\
             Accept: application/json\r\n\r\n",
            self.server.address(),
            self.authorization
        );
        let left = |deadline_ns: u64| match deadline_ns.saturating_sub(now_ns()) {
            0 => Err(io::Error::new(ErrorKind::TimedOut, "no answer in time")),
            left_ns => Ok(Duration::from_nanos(left_ns)),
        };
        let mut stream = Stream::connect(host, *port, &self.tls, left(deadline_ns)?)?;
        let (mut sent, mut answer) = (0, Vec::new());
        let mut bytes = vec![0; 64 << 10];
        loop {
            while sent < request.len() {
                match stream.write(&request.as_bytes()[sent..]) {
                    Ok(written) => sent += written,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
            match stream.read(&mut bytes) {
                Ok(0) => return Ok(answer),
                Ok(read) => answer.extend_from_slice(&bytes[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    stream.wait(sent < request.len(), None, left(deadline_ns)?)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if answer.len() > ANSWER_BYTES_MAX {
                return Err(io::Error::other("it answers more than 16 MiB"));
            }
        }
    }
}

/// A name as one segment of a URL's path.
fn segment(name: &str) -> String {
    let mut segment = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                segment.push(char::from(byte));
            }
            byte => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_segment() {
        assert_eq!(segment("/"), "%2F");
        assert_eq!(segment("Pay:Paid é"), "Pay%3APaid%20%C3%A9");
    }
}
