//! A schema registry: what is asked of it over HTTP, as Confluent's answers.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{
    BodyPolicy, Client, ClientCertificate, ClientConfig, Completion, Exchange, Io, Origin,
    OriginId, TlsOptions, origin_host_header,
};
use sojourn_plan::{Secret, Server};

use crate::Schema;

/// How long one answer may take.
const TIMEOUT_NS: u64 = 5 * SECOND_NS;
/// Longest answer.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// How long a schema may take with all that it refers to.
pub(crate) const SCHEMA_NS_MAX: u64 = 3 * TIMEOUT_NS;
/// Requests under way at a time.
const UNDER_WAY_MAX: usize = 8;
/// Versions of a subject that are read at the beginning, the latest of them.
pub(crate) const VERSIONS_MAX: usize = 50;
const MEDIA_TYPE_SENT: &str = "application/vnd.schemaregistry.v1+json";
const MEDIA_TYPES: &str = "application/vnd.schemaregistry.v1+json, application/json";

/// Why schemas could not be had, in words without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl OpenError {
    pub(crate) fn new(message: String, hint: &str) -> Self {
        Self { message, hint: Some(hint.to_owned()) }
    }
}

/// A registry, asked by whoever may wait for its answers.
pub struct Registry {
    client: Client,
    origin: OriginId,
    host: String,
    /// Path in front of the registry's own.
    base: String,
    authorization: Option<Secret>,
    /// What answers may not repeat, the longest first.
    secrets: Vec<Secret>,
    /// `schema registry 127.0.0.1:8081`, for messages.
    pub(crate) place: String,
    completions: Vec<Completion>,
    next_token: u64,
}

/// A schema and the id under which messages name it.
pub(crate) struct Registered {
    pub(crate) id: u32,
    pub(crate) schema: Result<Schema, String>,
}

/// Why there is no answer of use.
#[derive(Debug, PartialEq, Eq)]
pub enum Miss {
    /// There is no such thing.
    Missing,
    /// The user or the password is wrong.
    Denied(u16),
    /// Anything else; asking again may help.
    Failed(String),
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it has none"),
            Self::Denied(status) => write!(f, "it refuses (HTTP status {status})"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl Registry {
    /// Nothing is connected yet. Errs when the settings of TLS cannot be used.
    pub fn new(server: &Server) -> Result<Self, OpenError> {
        let place = format!("schema registry {}", server.address());
        let config = ClientConfig {
            connect_timeout_ns: TIMEOUT_NS,
            // Made on one thread and used on another, which a ring does not allow.
            io: Io::Epoll,
            punctual: false,
            tls: tls(server),
            ..ClientConfig::default()
        };
        let mut client = Client::new(config).map_err(|error| {
            let message = format!("{place}: no client can be made: {error}");
            OpenError::new(message, "`tls` of the registry names files of certificates in PEM")
        })?;
        let origin = Origin { tls: server.tls, host: server.host.clone(), port: server.port };
        let mut secrets: Vec<Secret> = server.password.iter().cloned().collect();
        let authorization = server.user.as_ref().map(|user| {
            let password = server.password.as_ref().map_or("", Secret::reveal);
            let encoded = STANDARD.encode(format!("{user}:{password}"));
            let authorization = Secret::new(format!("Basic {encoded}"));
            // With the word before it or without: both say the password.
            secrets.extend([Secret::new(encoded.trim_end_matches('=')), Secret::new(encoded)]);
            authorization
        });
        // A password within another secret would leave the rest of that readable.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.reveal().len()));
        let path = server.path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let base = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Self {
            host: origin_host_header(&origin),
            origin: client.origin(&origin),
            client,
            base,
            authorization,
            secrets,
            place,
            completions: Vec::new(),
            next_token: 1,
        })
    }

    /// The schema of an id, with those that it refers to.
    pub(crate) fn schema(&mut self, id: u32) -> Result<Schema, Miss> {
        let deadline_ns = now_ns() + SCHEMA_NS_MAX;
        let answer = self.get(&format!("/schemas/ids/{id}"), deadline_ns)?;
        let references = self.references(std::slice::from_ref(&answer), deadline_ns);
        references.schema(&answer).map_err(Miss::Failed)
    }

    /// A subject's versions, the latest ones.
    pub(crate) fn subject(
        &mut self,
        subject: &str,
        deadline_ns: u64,
    ) -> Result<Vec<Registered>, Miss> {
        let subject = utf8_percent_encode(subject, NON_ALPHANUMERIC);
        let versions = self.get(&format!("/subjects/{subject}/versions"), deadline_ns)?;
        let versions: Vec<u64> =
            versions.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let first = versions.len().saturating_sub(VERSIONS_MAX);
        let path = |version: &u64| format!("/subjects/{subject}/versions/{version}");
        let paths: Vec<String> = versions[first..].iter().map(path).collect();
        let mut answers = Vec::with_capacity(paths.len());
        for answer in self.get_all(&paths, deadline_ns) {
            match answer {
                Ok(answer) => answers.push(answer),
                // Removed since it was listed.
                Err(Miss::Missing) => {}
                Err(miss) => return Err(miss),
            }
        }
        let references = self.references(&answers, deadline_ns);
        let registered = answers.iter().map(|answer| {
            let id = answer["id"].as_u64().and_then(|id| u32::try_from(id).ok());
            let id = id.ok_or_else(|| Miss::Failed("a version without an id".to_owned()))?;
            Ok(Registered { id, schema: references.schema(answer) })
        });
        registered.collect()
    }

    /// Whether it answers, and lets us in.
    pub(crate) fn answers(&mut self, deadline_ns: u64) -> Result<(), Miss> {
        match self.get("/schemas/types", deadline_ns) {
            // Not every registry can be asked this.
            Ok(_) | Err(Miss::Missing) => Ok(()),
            Err(miss) => Err(miss),
        }
    }

    /// The JSON at a path of the registry's, as `/subjects/orders-value/versions/latest`. Blocks
    /// for some seconds at most.
    pub fn fetch(&mut self, path: &str) -> Result<Value, Miss> {
        self.get(path, now_ns() + TIMEOUT_NS)
    }

    /// Sends JSON to a path of the registry's; its answer. Blocks for some seconds at most.
    pub fn send(&mut self, path: &str, body: &Value) -> Result<Value, Miss> {
        let deadline_ns = now_ns() + TIMEOUT_NS;
        let token = self.ask(path, Some(body), deadline_ns)?;
        loop {
            // The request has a completion, at the latest when its time is up.
            let waited = self.client.wait_until(now_ns() + SECOND_NS, &mut self.completions);
            waited.map_err(|error| Miss::Failed(error.to_string()))?;
            for completion in std::mem::take(&mut self.completions) {
                if completion.token == token {
                    return self.answer(completion);
                }
            }
        }
    }

    /// The schema of an answer, with those that it refers to, which are asked for.
    pub fn resolve(&mut self, answer: &Value) -> Result<Schema, Miss> {
        let references = self.references(std::slice::from_ref(answer), now_ns() + SCHEMA_NS_MAX);
        references.schema(answer).map_err(Miss::Failed)
    }

    fn get(&mut self, path: &str, deadline_ns: u64) -> Result<Value, Miss> {
        let answer = self.get_all(&[path.to_owned()], deadline_ns).pop();
        answer.unwrap_or_else(|| Err(Miss::Failed("it has not been asked".to_owned())))
    }

    /// The answers to several requests, in their order. Some are under way at a time: one after the
    /// other, fifty versions would take fifty times a distant registry's answer.
    pub(crate) fn get_all(
        &mut self,
        paths: &[String],
        deadline_ns: u64,
    ) -> Vec<Result<Value, Miss>> {
        let late = || Err(Miss::Failed("it has not answered in time".to_owned()));
        let mut answers: Vec<Result<Value, Miss>> = paths.iter().map(|_| late()).collect();
        let mut under_way: Vec<(u64, usize)> = Vec::new();
        let mut paths = paths.iter().enumerate();
        loop {
            while under_way.len() < UNDER_WAY_MAX
                && let Some((place, path)) = paths.next()
            {
                match self.ask(path, None, deadline_ns) {
                    Ok(token) => under_way.push((token, place)),
                    Err(miss) => answers[place] = Err(miss),
                }
            }
            if under_way.is_empty() {
                return answers;
            }
            // Every request has a completion, at the latest when its time is up.
            let waited = self.client.wait_until(now_ns() + SECOND_NS, &mut self.completions);
            if let Err(error) = waited {
                answers.fill_with(|| Err(Miss::Failed(error.to_string())));
                return answers;
            }
            for completion in std::mem::take(&mut self.completions) {
                let ours = under_way.iter().position(|(token, _)| *token == completion.token);
                if let Some(ours) = ours {
                    let (_, place) = under_way.swap_remove(ours);
                    answers[place] = self.answer(completion);
                }
            }
        }
    }

    /// Sends a request; its completion has the token.
    fn ask(&mut self, path: &str, body: Option<&Value>, deadline_ns: u64) -> Result<u64, Miss> {
        let now = now_ns();
        let timeout_ns = TIMEOUT_NS.min(deadline_ns.saturating_sub(now));
        if timeout_ns == 0 {
            return Err(Miss::Failed("it has not answered in time".to_owned()));
        }
        let mut headers = vec![("accept", MEDIA_TYPES)];
        headers.extend(self.authorization.iter().map(|value| ("authorization", value.reveal())));
        headers.extend(body.map(|_| ("content-type", MEDIA_TYPE_SENT)));
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map(Value::to_string).unwrap_or_default();
        let target = format!("{}{path}", self.base);
        let mut bytes = Vec::new();
        let (host, sent) = (&self.host, body.as_bytes());
        sojourn_http::write_request(method, &target, host, &headers, sent, &mut bytes)
            .map_err(|_| Miss::Failed("its URL holds characters that cannot be sent".to_owned()))?;
        let token = self.next_token;
        self.next_token += 1;
        let exchange = Exchange {
            token,
            origin: self.origin,
            bytes: &bytes,
            head_only: false,
            timeout_ns,
            body: BodyPolicy::Keep { bytes_max: ANSWER_BYTES_MAX },
        };
        self.client.send(now, exchange);
        Ok(token)
    }

    fn answer(&self, completion: Completion) -> Result<Value, Miss> {
        let response = match completion.outcome {
            Ok(response) => response,
            Err(failure) => return Err(Miss::Failed(format!("no answer: {failure}"))),
        };
        match response.status {
            200 => serde_json::from_slice(&response.body)
                .map_err(|error| Miss::Failed(format!("its answer is not JSON: {error}"))),
            401 | 403 => Err(Miss::Denied(response.status)),
            404 => Err(Miss::Missing),
            status => {
                let said: Value = serde_json::from_slice(&response.body).unwrap_or_default();
                let said = said["message"].as_str().unwrap_or("no more is said");
                Err(Miss::Failed(format!("HTTP status {status}: {}", self.redact(said))))
            }
        }
    }

    /// The registry's words without what they may repeat of the password, and not over a line.
    fn redact(&self, text: &str) -> String {
        let mut text = text.lines().next().unwrap_or_default().to_owned();
        for secret in &self.secrets {
            if !secret.reveal().is_empty() {
                text = text.replace(secret.reveal(), "***");
            }
        }
        text.chars().take(200).collect()
    }
}

fn tls(server: &Server) -> TlsOptions {
    let trust = &server.trust;
    let client_certificate = trust.cert.clone().zip(trust.key.clone());
    TlsOptions {
        root_certs: trust.ca.iter().cloned().collect(),
        // As everywhere in a plan: `ca` vouches for others, and is no server's own.
        roots_only: true,
        client_certificate: client_certificate
            .map(|(certificate, key)| ClientCertificate { certificate, key }),
        insecure: trust.insecure,
        ..TlsOptions::default()
    }
}
