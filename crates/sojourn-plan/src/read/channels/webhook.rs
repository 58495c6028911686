//! A receiver of webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use serde_json::Value;

use crate::{
    Connector, Secret, WebhookAnswer, WebhookCase, WebhookChannel, WebhookFailures,
    WebhookSignature,
};

use crate::read::Reader;
use crate::read::conditions::{conditions, fixed};
use crate::read::fields::{Fields, given_or, shown};
use crate::read::node::{Content, Node};
use crate::read::selectors::Place;
use crate::read::shape::Kind::{
    Any, Choice, Conditions, Count, Duration, Either, Fraction, List, Map, Named, Text,
};
use crate::read::shape::{Field, Shape};

/// Tolerance of timestamps, nanoseconds, that Standard Webhooks' own libraries have.
const TOLERANCE_NS: u64 = 300_000_000_000;
/// Longest wait before an answer, nanoseconds: senders give up sooner.
const AFTER_NS_MAX: u64 = 3_600_000_000_000;
/// What a secret of Standard Webhooks begins with.
const SECRET_PREFIX: &str = "whsec_";

pub(crate) static WEBHOOK: Shape = Shape {
    name: "a webhook channel",
    doc: "A receiver of webhooks.",
    fields: &[
        Field::new("listen", Text, "Address to listen on; 127.0.0.1:0, a free port, by default."),
        Field::new("path", Text, "Path, or a prefix ending in `*`; `/*` by default."),
        Field::new(
            "respond",
            Either(&[Count, Map(&RESPOND)]),
            "Status to answer with, 200 by default, or how to answer.",
        ),
        Field::new("signature", Map(&SIGNATURE), "How senders sign; others are answered 401."),
    ],
};

const JSON: Field =
    Field::new("json", Any, "Body to answer with, as JSON, without templates; none by default.");

static RESPOND: Shape = Shape {
    name: "a webhook's answer",
    doc: "How a webhook answers.",
    fields: &[
        Field::new("status", Count, "Status to answer with; 200 by default."),
        Field::new("after", Duration, "How long after receipt; at once by default."),
        Field::new("fail", Map(&FAIL), "Deliveries answered as if they had failed."),
        Field::new("headers", Named(&Text), "Headers of every answer."),
        JSON,
        Field::new(
            "cases",
            List(&Map(&CASE)),
            "Answers to deliveries that fit, the first that does.",
        ),
    ],
};

static CASE: Shape = Shape {
    name: "a webhook's case",
    doc: "How deliveries are answered that fit.",
    fields: &[
        Field::new("match", Conditions, "Which deliveries.").required(),
        Field::new("status", Count, "Status to answer with; 200 by default."),
        JSON,
    ],
};

static FAIL: Shape = Shape {
    name: "failing answers",
    doc: "Deliveries answered as if they had failed, chosen by message and delivery.",
    fields: &[
        Field::new("share", Fraction, "Share of deliveries that fail.").required(),
        Field::new("status", Count, "Status they are answered with; 503 by default."),
        Field::new("deliveries", Count, "How many deliveries of a message may fail; any."),
    ],
};

static SIGNATURE: Shape = Shape {
    name: "a webhook's signature",
    doc: "How senders sign. One of the two.",
    fields: &[
        Field::new(
            "standard",
            Either(&[Text, Map(&STANDARD)]),
            "Standard Webhooks: the secret, `whsec_…`, or a mapping.",
        ),
        Field::new("hmac", Map(&HMAC), "HMAC-SHA256 of the body in a header."),
    ],
};

static STANDARD: Shape = Shape {
    name: "a Standard Webhooks signature",
    doc: "Headers `webhook-id`, `webhook-timestamp` and `webhook-signature` (v1).",
    fields: &[
        Field::new("secret", Text, "The secret: `whsec_` and base64.").required(),
        Field::new("tolerance", Duration, "How far timestamps may be off; 5m by default."),
    ],
};

static HMAC: Shape = Shape {
    name: "an hmac signature",
    doc: "HMAC-SHA256 of the body in a header.",
    fields: &[
        Field::new("header", Text, "Name of the header.").required(),
        Field::new("secret", Text, "The key.").required(),
        Field::new("prefix", Text, "Text before the signature, such as `sha256=`."),
        Field::new("encoding", Choice(&["hex", "base64"]), "How it is written; hex by default."),
    ],
};

impl Reader<'_> {
    pub(super) fn webhook(&mut self, node: &Node) -> Option<WebhookChannel> {
        let fields = Fields::of(node, &WEBHOOK, &mut self.problems)?;
        let mut webhook = default_webhook();
        if let Some(node) = fields.get("listen") {
            webhook.listen = self.problems.text(node)?.to_owned();
            self.check_address(node, &webhook.listen, "an address");
            self.check_listens_alone(node, &webhook.listen);
        }
        if let Some(node) = fields.get("path") {
            webhook.path = self.problems.text(node)?.to_owned();
            let star = webhook.path.find('*').unwrap_or(webhook.path.len());
            if !webhook.path.starts_with('/') || star + 1 < webhook.path.len() {
                let shown = self.problems.offending(node);
                let message = format!("`{shown}` is not a path");
                let hint = Some("such as `/hooks/paid`, or a prefix: `/hooks/*`".to_owned());
                self.problems.at(node, message, hint);
            }
        }
        let respond = given_or(fields.get("respond"), WebhookAnswer::default(), |node| {
            self.webhook_answer(node)
        });
        let signature =
            given_or(fields.get("signature"), None, |node| self.webhook_signature(node).map(Some));
        Some(WebhookChannel { respond: respond?, signature: signature?, ..webhook })
    }

    /// A second listener on one address could not be opened.
    fn check_listens_alone(&mut self, node: &Node, listen: &str) {
        if listen.ends_with(":0") {
            return;
        }
        let earlier = self.connectors.iter().position(|connector| {
            matches!(connector, Some(Connector::Webhook(other)) if other.listen == listen)
        });
        if let Some(name) = earlier.and_then(|place| self.channel_names.get(place)) {
            let message = format!("channel `{name}` listens on this address already");
            let hint = "give this one another port; or declare one channel with a path such as \
                        `/hooks/*`, and tell its events apart by `match: { topic: /hooks/paid }`";
            self.problems.at(node, message, Some(hint.to_owned()));
        }
    }

    fn webhook_answer(&mut self, node: &Node) -> Option<WebhookAnswer> {
        if !matches!(node.content, Content::Map(_)) {
            let status = self.webhook_status(node)?;
            return Some(WebhookAnswer { status, ..WebhookAnswer::default() });
        }
        let fields = Fields::of(node, &RESPOND, &mut self.problems)?;
        let status = given_or(fields.get("status"), 200, |node| self.webhook_status(node));
        let after_ns = given_or(fields.get("after"), 0, |node| {
            let after_ns = self.problems.duration(node)?;
            if after_ns > AFTER_NS_MAX {
                self.problems.at(node, "longer than an hour", None);
                return None;
            }
            Some(after_ns)
        });
        let fail = given_or(fields.get("fail"), None, |node| self.webhook_fail(node).map(Some));
        let headers = self.webhook_headers(&fields);
        let json = self.webhook_json(&fields);
        let cases = given_or(fields.get("cases"), Vec::new(), |node| {
            let cases = self.problems.list(node)?;
            cases.iter().map(|node| self.webhook_case(node)).collect()
        });
        let (status, after_ns, headers, json) = (status?, after_ns?, headers?, json?);
        Some(WebhookAnswer { status, after_ns, fail: fail?, headers, json, cases: cases? })
    }

    fn webhook_headers(&mut self, fields: &Fields<'_>) -> Option<Vec<(String, String)>> {
        let mut headers = Vec::new();
        if let Some(node) = fields.get("headers") {
            for (key, value) in self.problems.map(node)? {
                let text = self.problems.text(value)?;
                let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
                if !is_header_name(&key.name) {
                    let message = format!("`{}` is not a header's name", shown(&key.name));
                    self.problems.at_byte(key.range.start, message, None);
                } else if !text.chars().all(is_plain) {
                    let message = format!("the header `{}` has more than plain text", key.name);
                    self.problems.at(value, message, None);
                }
                headers.push((key.name.clone(), text.to_owned()));
            }
        }
        Some(headers)
    }

    fn webhook_case(&mut self, node: &Node) -> Option<WebhookCase> {
        let fields = Fields::of(node, &CASE, &mut self.problems)?;
        let matches = conditions(fields.get("match")?, Place::Event, &mut self.problems);
        let status = given_or(fields.get("status"), 200, |node| self.webhook_status(node));
        let json = self.webhook_json(&fields);
        Some(WebhookCase { matches, status: status?, json: json? })
    }

    /// The body of an answer, if there is to be one.
    fn webhook_json(&mut self, fields: &Fields<'_>) -> Option<Option<Value>> {
        given_or(fields.with_null("json"), None, |node| {
            let hint = "an answer is the same for all; `cases` tell deliveries apart";
            let no_template = ("a webhook's answer can't hold a template", hint);
            fixed(node, no_template, &mut self.problems).map(Some)
        })
    }

    fn webhook_fail(&mut self, node: &Node) -> Option<WebhookFailures> {
        let fields = Fields::of(node, &FAIL, &mut self.problems)?;
        let share = fields.get("share").and_then(|node| self.problems.fraction(node));
        let status = given_or(fields.get("status"), 503, |node| self.webhook_status(node));
        let deliveries = given_or(fields.get("deliveries"), None, |node| {
            let count = self.problems.count(node, 1, 1_000_000)?;
            u32::try_from(count).ok().map(Some)
        });
        Some(WebhookFailures { status: status?, share: share?, deliveries: deliveries? })
    }

    fn webhook_status(&mut self, node: &Node) -> Option<u16> {
        u16::try_from(self.problems.count(node, 200, 599)?).ok()
    }

    fn webhook_signature(&mut self, node: &Node) -> Option<WebhookSignature> {
        let fields = Fields::of(node, &SIGNATURE, &mut self.problems)?;
        match (fields.get("standard"), fields.get("hmac")) {
            (Some(node), None) => self.webhook_standard(node),
            (None, Some(node)) => self.webhook_hmac(node),
            (None, None) if fields.has_unknown => None,
            _ => {
                let hint = "either `standard: ${SECRET}` or `hmac: { header, secret, prefix }`";
                let message = "a signature is of one kind";
                self.problems.at(node, message, Some(hint.to_owned()));
                None
            }
        }
    }

    fn webhook_standard(&mut self, node: &Node) -> Option<WebhookSignature> {
        let (secret, tolerance) = match &node.content {
            Content::Map(_) => {
                let fields = Fields::of(node, &STANDARD, &mut self.problems)?;
                (fields.get("secret")?, fields.get("tolerance"))
            }
            _ => (node, None),
        };
        let tolerance_ns =
            given_or(tolerance, TOLERANCE_NS, |node| self.problems.duration_above_zero(node));
        let text = self.webhook_secret(secret)?;
        let is_key = |key: &str| BASE64.decode(key).is_ok_and(|key| !key.is_empty());
        if !text.reveal().strip_prefix(SECRET_PREFIX).is_some_and(is_key) {
            let message = "not a secret of Standard Webhooks";
            let hint = "`whsec_` and base64; best from the environment: `${WEBHOOK_SECRET}`";
            self.problems.at(secret, message, Some(hint.to_owned()));
            return None;
        }
        Some(WebhookSignature::Standard { secret: text, tolerance_ns: tolerance_ns? })
    }

    fn webhook_hmac(&mut self, node: &Node) -> Option<WebhookSignature> {
        let fields = Fields::of(node, &HMAC, &mut self.problems)?;
        let secret = fields.get("secret").and_then(|node| self.webhook_secret(node));
        let header = fields.get("header").and_then(|node| {
            let name = self.problems.text(node)?;
            if !is_header_name(name) {
                let message = format!("`{}` is not a header's name", self.problems.offending(node));
                self.problems.at(node, message, Some("such as `X-Hub-Signature-256`".to_owned()));
                return None;
            }
            Some(name.to_owned())
        });
        let prefix = self.text_of(&fields, "prefix")?.unwrap_or_default();
        let base64 = given_or(fields.get("encoding"), false, |node| {
            Some(self.problems.choice(node, &["hex", "base64"])? == 1)
        });
        let (header, secret, base64) = (header?, secret?, base64?);
        Some(WebhookSignature::Hmac { header, prefix, secret, base64 })
    }

    fn webhook_secret(&mut self, node: &Node) -> Option<Secret> {
        let text = self.problems.text(node)?.trim();
        self.problems.keep_secret(text);
        if text.is_empty() {
            self.problems.at(node, "an empty secret", None);
            return None;
        }
        Some(Secret::new(text))
    }
}

fn is_header_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !name.is_empty() && name.chars().all(is_plain)
}

/// What `webhook:` alone means.
pub(super) fn default_webhook() -> WebhookChannel {
    WebhookChannel {
        listen: "127.0.0.1:0".to_owned(),
        path: "/*".to_owned(),
        respond: WebhookAnswer::default(),
        signature: None,
    }
}
