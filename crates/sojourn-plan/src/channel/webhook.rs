//! A receiver of webhooks.

use super::Secret;
use crate::Check;

/// A receiver of webhooks.
#[derive(Clone, Debug)]
pub struct WebhookChannel {
    /// Address to listen on, `127.0.0.1:9000`; port 0 takes a free one.
    pub listen: String,
    /// Path, or a prefix ending in `*`.
    pub path: String,
    /// How it answers.
    pub respond: WebhookAnswer,
    /// How senders sign; `None`: nothing is verified.
    pub signature: Option<WebhookSignature>,
}

/// How a receiver answers.
#[derive(Clone, Debug)]
pub struct WebhookAnswer {
    /// Status to answer with.
    pub status: u16,
    /// From receipt to answer, nanoseconds.
    pub after_ns: u64,
    /// Deliveries answered otherwise.
    pub fail: Option<WebhookFailures>,
    /// Headers of every answer.
    pub headers: Vec<(String, String)>,
    /// The answer's body, if it has one.
    pub json: Option<serde_json::Value>,
    /// Answers to deliveries that fit one of these; the first that does counts.
    pub cases: Vec<WebhookCase>,
}

/// How deliveries are answered that fit.
#[derive(Clone, Debug)]
pub struct WebhookCase {
    /// Which deliveries: all of these hold.
    pub matches: Vec<Check>,
    /// Status to answer with.
    pub status: u16,
    /// The answer's body, if it has one.
    pub json: Option<serde_json::Value>,
}

impl Default for WebhookAnswer {
    fn default() -> Self {
        Self {
            status: 200,
            after_ns: 0,
            fail: None,
            headers: Vec::new(),
            json: None,
            cases: Vec::new(),
        }
    }
}

/// Deliveries that are answered as if they had failed.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookFailures {
    /// Status to answer with.
    pub status: u16,
    /// Share of deliveries, 0 to 1.
    pub share: f64,
    /// How many deliveries of a message may fail, the first ones; `None`: any.
    pub deliveries: Option<u32>,
}

/// How senders sign.
#[derive(Clone, Debug, PartialEq)]
pub enum WebhookSignature {
    /// As Standard Webhooks says, version `v1`.
    Standard {
        /// `whsec_` and base64.
        secret: Secret,
        /// How far a message's timestamp may be from this machine's time, nanoseconds.
        tolerance_ns: u64,
    },
    /// HMAC-SHA256 of the body in a header.
    Hmac {
        /// Name of the header.
        header: String,
        /// Text before the signature there.
        prefix: String,
        /// The key.
        secret: Secret,
        /// Whether it is written in base64 rather than in hexadecimal digits.
        base64: bool,
    },
}
