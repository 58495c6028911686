//! What follows an answer: a webhook, or a message to a broker, so that a mock is an asynchronous
//! third party.

mod brokers;
mod counts;
mod courier;

use std::sync::Arc;

use sojourn_http::{Origin, origin_host_header, write_request};
use sojourn_plan::{Channel, HttpAction, PublishAction, Template};

use crate::book::Book;
use crate::book::answer::{Surroundings, needs_body};
use crate::book::values::Values;
use crate::latency::Latency;

use brokers::Letter;
pub use counts::CallbackFigures;
pub(crate) use courier::Courier;

/// Something to be done after an answer.
#[derive(Clone, Debug)]
pub(crate) struct Callback {
    /// How long after the answer.
    pub(crate) after: Latency,
    /// After what share of the answers.
    pub(crate) share: f64,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Publish(Box<Publication>),
    Webhook(Box<HttpAction>),
}

/// A message to a broker.
#[derive(Clone, Debug)]
pub(crate) struct Publication {
    pub(crate) channel: Arc<Channel>,
    pub(crate) message: PublishAction,
}

/// A callback whose templates are rendered.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) due_ns: u64,
    pub(crate) errand: Errand,
}

#[derive(Debug)]
pub(crate) enum Errand {
    Publish(Letter),
    Webhook { origin: Origin, bytes: Vec<u8>, is_head: bool, timeout_ns: u64 },
}

impl Job {
    /// What it holds of its request and file, bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match &self.errand {
            Errand::Publish(letter) => {
                let headers = letter.headers.iter().map(|(name, value)| name.len() + value.len());
                let key = letter.key.as_ref().map_or(0, Vec::len);
                letter.topic.len() + key + headers.sum::<usize>() + letter.payload.len()
            }
            Errand::Webhook { bytes, .. } => bytes.len(),
        };
        bytes as u64
    }
}

impl Callback {
    /// Whether it takes something from the request's body.
    pub(crate) fn needs_body(&self, book: &Book) -> bool {
        let needs = |template: &Template| needs_body(template, book);
        match &self.action {
            Action::Publish(it) => {
                let it = &it.message;
                let headers = it.headers.iter().map(|(_, value)| value);
                headers.chain(&it.key).chain([&it.topic, &it.body]).any(needs)
            }
            Action::Webhook(it) => {
                let headers = it.headers.iter().map(|(_, value)| value);
                headers.chain(&it.body).chain([&it.path]).any(needs)
            }
        }
    }

    /// The job that it makes of a request. Err: what cannot be sent, in words.
    pub(crate) fn job(
        &self,
        due_ns: u64,
        around: &Surroundings<'_>,
        values: &Values<'_>,
    ) -> Result<Job, String> {
        let render = |template: &Template| around.render(template, values);
        let named = |headers: &[(String, Template)]| -> Vec<(String, Vec<u8>)> {
            headers.iter().map(|(name, value)| (name.clone(), render(value))).collect()
        };
        let errand = match &self.action {
            Action::Publish(it) => Errand::Publish(Letter {
                channel: it.channel.clone(),
                topic: String::from_utf8_lossy(&render(&it.message.topic)).into_owned(),
                key: it.message.key.as_ref().map(render),
                headers: named(&it.message.headers),
                payload: render(&it.message.body),
                timeout_ns: it.message.timeout_ns,
            }),
            Action::Webhook(it) => {
                let origin = Origin { tls: it.tls, host: it.host.clone(), port: it.port };
                let path = String::from_utf8_lossy(&render(&it.path)).into_owned();
                let host = origin_host_header(&origin);
                let body = it.body.as_ref().map(render).unwrap_or_default();
                let mut bytes = Vec::new();
                write_request(&it.method, &path, &host, &named(&it.headers), &body, &mut bytes)
                    .map_err(|error| error.to_string())?;
                let (is_head, timeout_ns) = (it.method == "HEAD", it.timeout_ns);
                Errand::Webhook { origin, bytes, is_head, timeout_ns }
            }
        };
        Ok(Job { due_ns, errand })
    }
}
