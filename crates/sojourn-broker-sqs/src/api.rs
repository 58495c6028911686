//! Requests to the service and its answers, by an HTTP client of our own.

use std::time::Duration;

use serde_json::Value;
use sojourn_aws::{Unsigned, authorization};
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{
    BodyPolicy, Client, ClientConfig, Completion, Exchange, Failure, Io, OriginId,
    origin_host_header,
};

use crate::config::{Service, Settings};

/// The longest answer: ten messages of a mebibyte, with what JSON adds.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// The service, as one thread talks to it.
pub(crate) struct Api {
    client: Client,
    origin: OriginId,
    host: String,
    pub(crate) settings: Settings,
    completions: Vec<Completion>,
    /// Answers that came while [`Api::call`] waited for another.
    early: Vec<Answer>,
    next_token: u64,
    /// Used again by each request.
    bytes: Vec<u8>,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) token: u64,
    /// When its last byte was read, or it was given up.
    pub(crate) ended_ns: u64,
    pub(crate) outcome: Result<Vec<u8>, CallError>,
}

/// Why a request has no answer of use.
#[derive(Clone, Debug)]
pub(crate) enum CallError {
    /// The service refused it.
    Refused { code: String, message: String },
    /// There was no answer.
    Broken(Failure),
}

impl CallError {
    /// Whether it was refused for one of these reasons.
    pub(crate) fn is(&self, codes: &[&str]) -> bool {
        match self {
            Self::Refused { code, .. } => codes.iter().any(|known| code.contains(known)),
            Self::Broken(_) => false,
        }
    }

    /// Whether there is no such queue.
    pub(crate) fn is_missing(&self) -> bool {
        self.is(&["QueueDoesNotExist", "NonExistentQueue"])
    }

    /// Words without ids or addresses, since reports count by them.
    pub(crate) fn stable(&self) -> String {
        match self {
            Self::Refused { code, .. } => format!("refused: {code}"),
            Self::Broken(failure) => format!("no answer: {}", failure.kind.name()),
        }
    }
}

impl Api {
    /// Nothing is connected yet. Errs when the settings of TLS cannot be used.
    pub(crate) fn new(settings: Settings) -> Result<Self, BrokerError> {
        let config = ClientConfig {
            connect_timeout_ns: 5 * SECOND_NS,
            // A tap may be opened on one thread and polled on another, which a ring does not allow.
            io: Io::Epoll,
            punctual: false,
            // What is sent twice could be stored twice.
            resend: false,
            tls: settings.tls.clone(),
            ..ClientConfig::default()
        };
        let mut client = Client::new(config).map_err(|error| {
            BrokerError::new(format!("{}: no client can be made: {error}", settings.place()))
                .with_hint("AWS_CA_BUNDLE names a file of certificates in PEM")
        })?;
        let origin = client.origin(&settings.origin);
        let host = origin_host_header(&settings.origin);
        let (completions, early, bytes) = (Vec::new(), Vec::new(), Vec::new());
        let mut api =
            Self { client, origin, host, settings, completions, early, next_token: 1, bytes };
        if !api.write("Any", b"{}") {
            let place = api.settings.place();
            let message = format!("{place}: the keys hold characters that cannot be sent");
            return Err(BrokerError::new(message).with_hint("check AWS_ACCESS_KEY_ID"));
        }
        Ok(api)
    }

    /// What wakes [`Api::wait`] from other threads.
    pub(crate) fn waker(&self) -> sojourn_http::Waker {
        self.client.waker()
    }

    /// Sends a request; its answer has the token returned.
    pub(crate) fn send(&mut self, action: &str, body: &[u8], timeout: Duration) -> u64 {
        let token = self.next_token;
        self.next_token += 1;
        let began_ns = now_ns();
        self.write(action, body);
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let exchange = Exchange {
            token,
            origin: self.origin,
            bytes: &self.bytes,
            head_only: false,
            timeout_ns,
            body: BodyPolicy::Keep { bytes_max: ANSWER_BYTES_MAX },
        };
        self.client.send(began_ns, exchange);
        token
    }

    /// Writes the request's bytes; `false`: a header cannot be sent.
    fn write(&mut self, action: &str, body: &[u8]) -> bool {
        self.bytes.clear();
        let date = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let target = format!("AmazonSQS.{action}");
        let content_type = match self.settings.service {
            Service::Sqs => "application/x-amz-json-1.0",
            Service::Sns | Service::CloudWatch => {
                "application/x-www-form-urlencoded; charset=utf-8"
            }
        };
        let credentials = self.settings.credentials.as_ref();
        let token = credentials.and_then(|credentials| credentials.token.as_ref());
        // In the order of their names, as they are signed.
        let mut headers = vec![("content-type", content_type), ("host", self.host.as_str())];
        headers.push(("x-amz-date", &date));
        headers.extend(token.map(|token| ("x-amz-security-token", token.reveal())));
        if self.settings.service == Service::Sqs {
            headers.push(("x-amz-target", &target));
        }
        let signature = credentials.map(|credentials| {
            let unsigned = Unsigned {
                service: self.settings.service.word(),
                region: &self.settings.region,
                path: "/",
                headers: &headers,
                body,
                date: &date,
            };
            authorization(credentials, &unsigned)
        });
        headers.extend(signature.as_deref().map(|value| ("authorization", value)));
        let host = &self.host;
        sojourn_http::write_request("POST", "/", host, &headers, body, &mut self.bytes).is_ok()
    }

    /// Waits for answers until there is one, at most until the deadline.
    pub(crate) fn wait(
        &mut self,
        deadline_ns: u64,
        answers: &mut Vec<Answer>,
    ) -> Result<(), BrokerError> {
        if !self.early.is_empty() {
            answers.append(&mut self.early);
            return Ok(());
        }
        let waited = self.client.wait_until(deadline_ns, &mut self.completions);
        let place = &self.settings;
        waited.map_err(|error| BrokerError::new(format!("{}: {error}", place.place())))?;
        let settings = &self.settings;
        answers.extend(self.completions.drain(..).map(|completion| answer(settings, completion)));
        Ok(())
    }

    /// A request and its answer as JSON.
    pub(crate) fn call(
        &mut self,
        action: &str,
        body: &Value,
        timeout: Duration,
    ) -> Result<Value, CallError> {
        let answer = self.exchange(action, body.to_string().as_bytes(), timeout)?;
        // Actions that only do something answer nothing.
        if answer.trim_ascii().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|error| CallError::Refused {
            code: "InvalidAnswer".to_owned(),
            message: format!("the answer is not JSON: {error}"),
        })
    }

    /// A request and its answer.
    pub(crate) fn exchange(
        &mut self,
        action: &str,
        body: &[u8],
        timeout: Duration,
    ) -> Result<Vec<u8>, CallError> {
        let token = self.send(action, body, timeout);
        self.outcome_of(token)
    }

    /// Waits for the answer of a request that was sent; those of others are kept for whoever waits
    /// next.
    pub(crate) fn outcome_of(&mut self, token: u64) -> Result<Vec<u8>, CallError> {
        let mut answers = std::mem::take(&mut self.early);
        loop {
            if let Some(place) = answers.iter().position(|answer| answer.token == token) {
                let answer = answers.swap_remove(place);
                self.early = answers;
                return answer.outcome;
            }
            let deadline_ns = now_ns() + SECOND_NS;
            if let Err(error) = self.wait(deadline_ns, &mut answers) {
                return Err(CallError::Refused {
                    code: "LocalFailure".to_owned(),
                    message: error.message,
                });
            }
        }
    }

    /// An error with the place, the service's words and what can be done.
    pub(crate) fn error(&self, what: &str, error: &CallError) -> BrokerError {
        let place = self.settings.place();
        match error {
            CallError::Broken(failure) => BrokerError::new(format!("{place}: {what}: {failure}"))
                .with_hint("is it running there, and may this machine connect to it?"),
            CallError::Refused { code, message } => {
                let said = format!("{place}: {what}: {code}: {message}");
                let error = BrokerError::new(said);
                let keys = KEYS.iter().any(|word| code.contains(word));
                error.with_hint(match keys {
                    true => {
                        "check the channel's `credentials`, or AWS_ACCESS_KEY_ID, \
                         AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the profile, and this \
                         machine's clock"
                    }
                    false => "the permissions needed are in docs/brokers/sqs.md",
                })
            }
        }
    }
}

/// What the service calls keys that it does not take.
const KEYS: &[&str] = &[
    "Token",
    "Signature",
    "InvalidAccessKeyId",
    "MissingAuthentication",
    "UnrecognizedClient",
    "InvalidSecurity",
];

fn answer(settings: &Settings, completion: Completion) -> Answer {
    let Completion { token, ended_ns, outcome, .. } = completion;
    let outcome = match outcome {
        Err(failure) => Err(CallError::Broken(failure)),
        Ok(response) if response.status == 200 => Ok(response.body),
        Ok(response) => Err(refusal(settings, response.status, &response.body)),
    };
    Answer { token, ended_ns, outcome }
}

fn refusal(settings: &Settings, status: u16, body: &[u8]) -> CallError {
    let text = String::from_utf8_lossy(body);
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    // SQS answers JSON and SNS XML; what stands before them and refuses keys may do as it likes.
    let of_xml = |name: &str| crate::sns::element(&text, name).map(str::to_owned);
    let code = word("__type").or_else(|| word("Code")).or_else(|| of_xml("Code"));
    let message = word("message").or_else(|| word("Message")).or_else(|| of_xml("Message"));
    let code = code.as_deref().map(|code| code.rsplit(['#', '.']).next().unwrap_or(code));
    CallError::Refused {
        code: code.map_or_else(|| format!("HTTP status {status}"), str::to_owned),
        message: settings.redact(&message.unwrap_or_else(|| text.into_owned())),
    }
}
