//! Requests to JetStream, and what its acknowledgement subjects say of a message.
//!
//! Requests and answers are JSON on subjects of `$JS.API`:
//! <https://docs.nats.io/reference/reference-protocols/nats_api_reference>.

use serde::Deserialize;
use serde_json::{Value, json};
use sojourn_broker::BrokerError;

use crate::config::Settings;
use crate::connection::{Connection, Event};
use crate::dial::left;
use crate::headers::status;
use crate::lost::Lost;
use crate::protocol::publish;

/// Code of JetStream's error for a stream that does not exist.
pub(crate) const STREAM_NOT_FOUND: u64 = 10059;
/// Code of JetStream's error for a consumer that does not exist.
pub(crate) const CONSUMER_NOT_FOUND: u64 = 10014;
/// A work queue's messages go to one consumer only.
const WORK_QUEUE: [u64; 4] = [10084, 10098, 10099, 10100];

/// Why a request brought nothing.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The connection is gone.
    Lost(Lost),
    /// JetStream refused, with its code and words.
    Refused { code: u64, error: BrokerError },
}

impl From<Lost> for Failure {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

impl Failure {
    /// In words.
    pub(crate) fn into_error(self) -> BrokerError {
        match self {
            Self::Lost(lost) => lost.error,
            Self::Refused { error, .. } => error,
        }
    }
}

/// What a stream holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamState {
    pub(crate) messages: u64,
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    /// When its first message was stored, as JetStream writes it.
    pub(crate) first_time: String,
    /// When the stream was made: another one of its name has another time.
    pub(crate) created: String,
    /// Subjects that it takes.
    pub(crate) subjects: Vec<String>,
}

/// Requests over a connection, for one stream.
pub(crate) struct JetStream<'c> {
    pub(crate) connection: &'c mut Connection,
    pub(crate) settings: &'c Settings,
    pub(crate) stream: &'c str,
    pub(crate) deadline_ns: u64,
}

impl JetStream<'_> {
    /// What the stream holds; errs with similar names when there is none such.
    pub(crate) fn stream_state(&mut self) -> Result<StreamState, Failure> {
        let answer = match self.ask(&format!("STREAM.INFO.{}", self.stream), &json!({})) {
            Err(Failure::Refused { code: STREAM_NOT_FOUND, .. }) => {
                return Err(self.no_such_stream());
            }
            answer => answer?,
        };
        let number = |path: &str| answer.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let text = |path: &str| {
            answer.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let texts = answer.pointer("/config/subjects").and_then(Value::as_array);
        Ok(StreamState {
            messages: number("/state/messages"),
            first_seq: number("/state/first_seq"),
            last_seq: number("/state/last_seq"),
            first_time: text("/state/first_ts"),
            created: text("/created"),
            subjects: texts
                .into_iter()
                .flatten()
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect(),
        })
    }

    fn no_such_stream(&mut self) -> Failure {
        let names = self.ask("STREAM.NAMES", &json!({}));
        let (address, stream) = (&self.settings.address, self.stream);
        let error = BrokerError::new(format!("nats at {address} has no stream `{stream}`"));
        Failure::Refused {
            code: STREAM_NOT_FOUND,
            error: error.with_hint(similar(stream, names.ok().as_ref(), "streams").unwrap_or_else(
                || {
                    "create it first (a tap never creates streams), or leave `stream` out to \
                     listen to the subjects themselves"
                        .to_owned()
                },
            )),
        }
    }

    /// One consumer as JetStream tells of it; errs with similar names when there is none such.
    pub(crate) fn consumer(&mut self, name: &str) -> Result<Value, Failure> {
        let asked = self.ask(&format!("CONSUMER.INFO.{}.{name}", self.stream), &json!({}));
        let Err(Failure::Refused { code: CONSUMER_NOT_FOUND, .. }) = asked else { return asked };
        let names = self.ask(&format!("CONSUMER.NAMES.{}", self.stream), &json!({}));
        let (address, stream) = (&self.settings.address, self.stream);
        let error = BrokerError::new(format!(
            "nats at {address}: stream `{stream}` has no consumer `{name}`"
        ));
        let hint = similar(name, names.ok().as_ref(), "consumers");
        Err(Failure::Refused {
            code: CONSUMER_NOT_FOUND,
            error: match hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            },
        })
    }

    /// Makes an ephemeral consumer that sends to a subject of ours, in order and without
    /// acknowledgements; returns its name and how many messages wait for it.
    pub(crate) fn ordered_consumer(
        &mut self,
        deliver_to: &str,
        filter: Option<&str>,
        start: &Value,
        heartbeat_ns: u64,
    ) -> Result<(String, u64), Failure> {
        let mut config = json!({
            "deliver_subject": deliver_to,
            "ack_policy": "none",
            "max_deliver": 1,
            "replay_policy": "instant",
            "flow_control": true,
            "idle_heartbeat": heartbeat_ns,
            "inactive_threshold": 5_000_000_000_u64,
            "mem_storage": true,
            "num_replicas": 1,
        });
        if let Some(filter) = filter {
            config["filter_subject"] = Value::from(filter);
        }
        for (name, value) in start.as_object().into_iter().flatten() {
            config[name] = value.clone();
        }
        let request = json!({ "stream_name": self.stream, "config": config });
        let answer = self.ask(&format!("CONSUMER.CREATE.{}", self.stream), &request);
        let answer = match answer {
            Err(Failure::Refused { code, error }) if WORK_QUEUE.contains(&code) => {
                return Err(Failure::Refused {
                    code,
                    error: error.with_hint(
                        "the stream is a work queue, whose messages go to one consumer only: \
                         leave `stream` out, and the tap listens to the subjects themselves",
                    ),
                });
            }
            answer => answer?,
        };
        let name = answer.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((name, answer.get("num_pending").and_then(Value::as_u64).unwrap_or(0)))
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, what: &str, request: &Value) -> Result<Value, Failure> {
        let subject = format!("{}.{what}", self.settings.api);
        let text = request.to_string();
        let answer = self.request(&subject, text.as_bytes())?;
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|error| self.connection.lost(&format!("JetStream's answer: {error}")))?;
        let Some(problem) = answer.get("error").filter(|problem| !problem.is_null()) else {
            return Ok(answer);
        };
        let number = |name: &str| problem.get(name).and_then(Value::as_u64);
        let words = problem.get("description").and_then(Value::as_str).unwrap_or("no reason");
        let (at, stream) = (&self.settings.address, self.stream);
        Err(Failure::Refused {
            code: number("err_code").or_else(|| number("code")).unwrap_or(0),
            error: BrokerError::new(format!(
                "nats at {at}: JetStream refuses for stream `{stream}`: {words}"
            )),
        })
    }

    /// The bytes that answer a request.
    fn request(&mut self, subject: &str, payload: &[u8]) -> Result<Vec<u8>, Failure> {
        self.connection.listen_for_answers();
        let (number, inbox) = self.connection.answer_subject();
        publish(self.connection.out(), subject, Some(&inbox), b"", payload);
        let mut kept = Vec::new();
        let answer = loop {
            match self.connection.next_keeping(&mut kept)? {
                Some(Event::Message(place)) => {
                    let message = self.connection.message(&place);
                    if self.connection.answered(message.subject) != Some(number) {
                        continue;
                    }
                    if status(message.headers).is_some_and(|status| status.code == 503) {
                        return Err(self.nobody());
                    }
                    break message.payload.to_vec();
                }
                Some(Event::Refused(words)) => return Err(self.forbidden(&words)),
                Some(Event::Pong) => {}
                None => {
                    let left = left(self.deadline_ns);
                    let silent = || self.connection.lost("JetStream does not answer in time");
                    let left = left.ok_or_else(silent)?;
                    self.connection.fill(left)?;
                }
            }
        };
        self.connection.put_back(&kept);
        Ok(answer)
    }

    fn nobody(&self) -> Failure {
        let at = &self.settings.address;
        Failure::Refused {
            code: 503,
            error: BrokerError::new(format!("nats at {at}: JetStream does not answer here"))
                .with_hint(
                    "is it enabled for this server and account (and is `domain` right)? Without \
                     it, leave `stream` out",
                ),
        }
    }

    fn forbidden(&self, words: &str) -> Failure {
        let at = &self.settings.address;
        Failure::Refused {
            code: 403,
            error: BrokerError::new(format!("nats at {at}: {words}"))
                .with_hint("docs/brokers/nats.md lists the permissions that a tap needs"),
        }
    }
}

/// Up to five names to offer instead of a missing one, the most similar first.
fn similar(wanted: &str, answer: Option<&Value>, of: &str) -> Option<String> {
    let names = answer?.get(of)?.as_array()?;
    let mut scored: Vec<_> = names
        .iter()
        .filter_map(Value::as_str)
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let offered: Vec<_> = scored.iter().take(5).map(|(_, name)| format!("`{name}`")).collect();
    (!offered.is_empty()).then(|| format!("it has {}", offered.join(", ")))
}

/// What the subject that a delivered message is acknowledged by says of it:
/// `$JS.ACK.stream.consumer.delivered.stream-seq.consumer-seq.time.pending`, in newer servers with
/// a domain and an account's hash after `ACK` and more at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) stream_seq: u64,
    pub(crate) consumer_seq: u64,
    /// When the server stored the message, nanoseconds since the Unix epoch.
    pub(crate) stored_unix_ns: u64,
    /// Messages that the consumer has not been sent yet.
    pub(crate) pending: u64,
}

impl Delivery {
    /// `None`: another subject.
    pub(crate) fn parse(subject: &str) -> Option<Self> {
        let rest = subject.strip_prefix("$JS.ACK.")?;
        let dots = rest.bytes().filter(|byte| *byte == b'.').count();
        let mut tokens = rest.split('.');
        match dots {
            6 => tokens.nth(2)?,
            8.. => tokens.nth(4)?,
            _ => return None,
        };
        let mut number = || tokens.next()?.parse().ok();
        Some(Self {
            stream_seq: number()?,
            consumer_seq: number()?,
            stored_unix_ns: number()?,
            pending: number()?,
        })
    }
}

/// An answer to a message published to a stream.
#[derive(Debug, Deserialize)]
pub(crate) struct PublishAnswer {
    #[serde(default)]
    pub(crate) stream: String,
    #[serde(default)]
    pub(crate) duplicate: bool,
    pub(crate) error: Option<PublishError>,
}

/// Why a stream did not take a message.
#[derive(Debug, Deserialize)]
pub(crate) struct PublishError {
    #[serde(default)]
    pub(crate) description: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn acknowledgement_subjects_old_and_new() {
        let expect = Some(Delivery {
            stream_seq: 12,
            consumer_seq: 5,
            stored_unix_ns: 1_700_000_000_000_000_001,
            pending: 3,
        });
        let numbers = "1.12.5.1700000000000000001.3";
        assert_eq!(Delivery::parse(&format!("$JS.ACK.S.C.{numbers}")), expect);
        assert_eq!(Delivery::parse(&format!("$JS.ACK._.h4sh.S.C.{numbers}")), expect);
        assert_eq!(Delivery::parse(&format!("$JS.ACK.d.h4sh.S.C.{numbers}.rnd")), expect);
        for bad in ["", "$JS.ACK.", "$JS.ACK.S.C.1.2.3", "$JS.ACK.S.C.1.x.5.1.3", "_INBOX.1"] {
            assert_eq!(Delivery::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_are_offered_by_likeness() {
        let answer = json!({ "streams": ["INVOICES", "ORDER", "ORDERS2"] });
        let offered = similar("ORDERS", Some(&answer), "streams").unwrap();
        assert_eq!(offered, "it has `ORDERS2`, `ORDER`, `INVOICES`");
        assert_eq!(similar("ORDERS", Some(&json!({ "streams": null })), "streams"), None);
    }

    proptest! {
        #[test]
        fn any_subject_is_read_without_panic(rest: String) {
            Delivery::parse(&format!("$JS.ACK.{rest}"));
        }
    }
}
