//! When a root step is tried again.

use crate::{Retry, RetryOn};

use super::Reader;
use super::fields::{Fields, given_or};
use super::node::{Content, Node};
use super::problems::suggestion;
use super::shapes;

/// Most attempts: what a client does that gives up at all.
const ATTEMPTS_MAX: u64 = 10;
/// The pause before the second attempt, unless the file says otherwise.
const BACKOFF_NS: u64 = 100_000_000;
/// What is tried again unless the file says otherwise: what may well be over a moment later.
const USUAL: [RetryOn; 4] =
    [RetryOn::Timeout, RetryOn::Connect, RetryOn::Reset, RetryOn::Status(500, 599)];
const WORDS: [&str; 5] = ["timeout", "connect", "reset", "5xx", "429"];

impl Reader<'_> {
    /// A step's retry.
    pub(super) fn retry(&mut self, node: &Node) -> Option<Retry> {
        let fields = Fields::of(node, &shapes::RETRY, &mut self.problems)?;
        let attempts = fields.get("attempts");
        let attempts = attempts.and_then(|node| self.problems.count(node, 2, ATTEMPTS_MAX));
        let on = match fields.get("on") {
            Some(node) => self.retry_on(node),
            None => Some(USUAL.to_vec()),
        };
        let backoff_ns =
            given_or(fields.get("backoff"), BACKOFF_NS, |node| self.problems.duration(node));
        // At most ten: it fits.
        Some(Retry { attempts: attempts? as u32, on: on?, backoff_ns: backoff_ns? })
    }

    fn retry_on(&mut self, node: &Node) -> Option<Vec<RetryOn>> {
        let items = match &node.content {
            Content::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        if items.is_empty() {
            let hint = Some("leave `on` away for timeout, connect, reset and 5xx".to_owned());
            self.problems.at(node, "an empty list: nothing would be tried again", hint);
            return None;
        }
        // Every item is looked at before the first wrong one spoils the list.
        let causes: Vec<_> = items.iter().map(|item| self.retry_cause(item)).collect();
        causes.into_iter().collect()
    }

    fn retry_cause(&mut self, node: &Node) -> Option<RetryOn> {
        let text = self.problems.text(node)?;
        let cause = cause(text);
        if cause.is_none() {
            let shown = self.problems.offending(node);
            let message = format!("`{shown}` is nothing that an attempt can end with");
            self.problems.at(node, message, suggestion(text, WORDS));
        }
        cause
    }
}

fn cause(text: &str) -> Option<RetryOn> {
    match text {
        "connect" => return Some(RetryOn::Connect),
        "reset" => return Some(RetryOn::Reset),
        "timeout" => return Some(RetryOn::Timeout),
        _ => {}
    }
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some(RetryOn::Status(class * 100, class * 100 + 99));
    }
    let status: u16 = text.parse().ok().filter(|status| (100..600).contains(status))?;
    Some(RetryOn::Status(status, status))
}
