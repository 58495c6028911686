//! What deliveries are answered with, and which as if they had failed.
//!
//! Whether one fails is a function of the message and of how often it was delivered before: a
//! repeated run fails the same ones. A message is known by its id in a header, else by its path and
//! body, which a sender's retries repeat.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sojourn_broker::{BrokerError, RawMessage, decode, select};
use sojourn_plan::{Check, Decoder, WebhookAnswer, WebhookChannel};

use crate::queue::message;

/// Messages whose failed deliveries are remembered until one is answered well. Beyond, answers do
/// not fail: rather fewer failures than wrong ones.
const REMEMBERED_MAX: usize = 100_000;
/// Headers that identify a message, the first that is there.
const IDS: [&str; 3] = ["webhook-id", "ce-id", "message-id"];

/// What to answer, and how late.
#[derive(Debug)]
pub(crate) struct Answers {
    well: Answer,
    after: Duration,
    fail: Option<Failures>,
    cases: Vec<(Vec<Check>, Answer)>,
    headers: HeaderMap,
}

/// A status, and a body of JSON.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    json: Option<Bytes>,
}

impl Answer {
    fn new(
        webhook: &WebhookChannel,
        number: u16,
        json: Option<&serde_json::Value>,
    ) -> Result<Self, BrokerError> {
        let json = json.map(|json| Bytes::from(json.to_string()));
        Ok(Self { status: status(webhook, number)?, json })
    }
}

impl From<StatusCode> for Answer {
    fn from(status: StatusCode) -> Self {
        Self { status, json: None }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        match self.json {
            Some(json) => (self.status, [(CONTENT_TYPE, "application/json")], json).into_response(),
            None => self.status.into_response(),
        }
    }
}

#[derive(Debug)]
struct Failures {
    status: StatusCode,
    share: f64,
    deliveries: u32,
    /// Deliveries that have failed, by message.
    failed: Mutex<HashMap<u64, u32>>,
    remembered_max: usize,
}

impl Answers {
    /// From a channel's settings.
    pub(crate) fn new(webhook: &WebhookChannel) -> Result<Self, BrokerError> {
        let WebhookAnswer { status: well, after_ns, fail, headers, json, cases } = &webhook.respond;
        let headers = headers.iter().map(|(name, value)| {
            let unfit = || BrokerError::new(format!("webhook: header `{name}` can't be sent"));
            let name = HeaderName::try_from(name).map_err(|_| unfit())?;
            Ok((name, HeaderValue::try_from(value).map_err(|_| unfit())?))
        });
        let headers = headers.collect::<Result<_, BrokerError>>()?;
        let fail = match fail {
            Some(fail) => Some(Failures {
                status: status(webhook, fail.status)?,
                share: fail.share,
                deliveries: fail.deliveries.unwrap_or(u32::MAX),
                failed: Mutex::default(),
                remembered_max: REMEMBERED_MAX,
            }),
            None => None,
        };
        let cases = cases.iter().map(|case| {
            Ok((case.matches.clone(), Answer::new(webhook, case.status, case.json.as_ref())?))
        });
        let cases = cases.collect::<Result<_, BrokerError>>()?;
        let well = Answer::new(webhook, *well, json.as_ref())?;
        Ok(Self { well, after: Duration::from_nanos(*after_ns), fail, cases, headers })
    }

    /// Headers of every answer.
    pub(crate) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    /// How long after receipt.
    pub(crate) fn after(&self) -> Duration {
        self.after
    }

    /// The answer to a delivery.
    pub(crate) fn choose(&self, path: &str, headers: &HeaderMap, body: &[u8]) -> Answer {
        match &self.fail {
            Some(fail) if fail.fails(path, headers, body) => fail.status.into(),
            _ if self.cases.is_empty() => self.well.clone(),
            _ => self.case(&message(0, path, headers, body)).unwrap_or(&self.well).clone(),
        }
    }

    /// The answer of the first case that fits. What can't be read has no values: only conditions
    /// on what is absent, and on headers and path, hold of it.
    fn case(&self, message: &RawMessage<'_>) -> Option<&Answer> {
        let decoded = decode(&Decoder::Auto, message).unwrap_or_default();
        let holds =
            |check: &Check| check.test.holds(select(&check.selector, message, &decoded).as_ref());
        let fitting = self.cases.iter().find(|(matches, _)| matches.iter().all(holds));
        fitting.map(|(_, answer)| answer)
    }
}

impl Failures {
    fn fails(&self, path: &str, headers: &HeaderMap, body: &[u8]) -> bool {
        let id = IDS.iter().find_map(|name| headers.get(*name));
        let message = match id {
            Some(id) => hash(&[b"id", id.as_bytes()]),
            None => hash(&[b"body", path.as_bytes(), b"\n", body]),
        };
        // Nothing in here can panic half way through a change.
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = failed.get(&message).copied().unwrap_or(0);
        let drawn = hash(&[&message.to_le_bytes(), &before.to_le_bytes()]);
        // 53 bits: as many as the fraction has, so that a share of 1 is all and 0 is none.
        let fraction = (drawn >> 11) as f64 / (1u64 << 53) as f64;
        let has_room = failed.len() < self.remembered_max || failed.contains_key(&message);
        let fails = before < self.deliveries && fraction < self.share && has_room;
        if fails {
            failed.insert(message, before.saturating_add(1));
        } else if before > 0 {
            failed.remove(&message);
        }
        fails
    }
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(part);
    }
    let whole = context.finish();
    let first = whole.as_ref().first_chunk::<8>().copied().unwrap_or_default();
    u64::from_le_bytes(first)
}

fn status(webhook: &WebhookChannel, status: u16) -> Result<StatusCode, BrokerError> {
    // An informational status would leave the sender waiting for the real one.
    StatusCode::from_u16(status).ok().filter(|status| !status.is_informational()).ok_or_else(|| {
        BrokerError::new(format!(
            "webhook on {}: cannot answer with status {status}",
            webhook.listen
        ))
        .with_hint("use a status from 200 to 599")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sojourn_plan::{JsonPath, Selector, Test, WebhookCase, WebhookFailures};

    use super::*;

    fn failures(share: f64, deliveries: u32, remembered_max: usize) -> Failures {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Failures { status, share, deliveries, failed: Mutex::default(), remembered_max }
    }

    fn with_id(id: usize) -> HeaderMap {
        HeaderMap::from_iter([("webhook-id".parse().unwrap(), id.to_string().parse().unwrap())])
    }

    /// How often each of a thousand messages fails until it is answered well.
    fn counts(failures: &Failures) -> Vec<u32> {
        let fails = |id| failures.fails("/", &with_id(id), b"");
        (0..1_000).map(|id| (0..50).take_while(|_| fails(id)).count() as u32).collect()
    }

    #[test]
    fn a_share_of_deliveries_fails_the_same_ones_each_time() {
        let first = counts(&failures(0.25, u32::MAX, 10));
        assert_eq!(first, counts(&failures(0.25, u32::MAX, 10)));
        // Geometric with mean 1/3; the interval is wider than four standard deviations.
        let failed: u32 = first.iter().sum();
        assert!((245..420).contains(&failed), "{failed}");
        assert!(first.iter().any(|count| *count >= 2));
    }

    #[test]
    fn no_more_deliveries_fail_than_told_and_the_memory_is_bounded() {
        assert_eq!(counts(&failures(1.0, 2, 10)), [2; 1_000]);
        assert_eq!(counts(&failures(0.0, 2, 10)), [0; 1_000]);
        let failures = failures(1.0, u32::MAX, 3);
        let fails = (0..5).map(|id| failures.fails("/", &with_id(id), b""));
        assert_eq!(fails.collect::<Vec<_>>(), [true, true, true, false, false]);
        assert_eq!(failures.failed.lock().unwrap().len(), 3);
    }

    #[test]
    fn without_an_id_path_and_body_are_the_message() {
        let failures = failures(1.0, 1, 10);
        let none = HeaderMap::new();
        assert!(failures.fails("/a", &none, b"x"));
        assert!(failures.fails("/b", &none, b"x"));
        assert!(failures.fails("/a", &none, b"y"));
        assert!(!failures.fails("/a", &none, b"x"), "its second delivery");
    }
    /// An application of two steps, which is told what has been done and says what is next.
    fn application() -> Answers {
        let path = |text: &str| {
            Selector::Body(JsonPath {
                plain: None,
                compiled: serde_json_path::JsonPath::parse(text).unwrap(),
                text: text.to_owned(),
            })
        };
        let absent =
            |text: &str| Check { text: String::new(), selector: path(text), test: Test::Absent };
        let case = |check, step: &str| WebhookCase {
            matches: vec![check],
            status: 206,
            json: Some(json!([{ "op": "StepRun", "id": step }])),
        };
        let cases = vec![case(absent("$.steps.pay"), "pay"), case(absent("$.steps.ship"), "ship")];
        let fail = WebhookFailures { status: 500, share: 1.0, deliveries: Some(1) };
        let json = Some(json!("done"));
        let respond = WebhookAnswer { json, cases, fail: Some(fail), ..WebhookAnswer::default() };
        Answers::new(&WebhookChannel {
            listen: String::new(),
            path: String::new(),
            respond,
            signature: None,
        })
        .unwrap()
    }

    #[test]
    fn the_first_case_that_fits_is_the_answer_and_a_failure_goes_before_all() {
        let answers = application();
        let answer = |steps: &str| {
            let body = format!("{{\"steps\":{steps}}}");
            let [failed, answered] =
                [0; 2].map(|_| answers.choose("/", &HeaderMap::new(), body.as_bytes()));
            assert_eq!((failed.status.as_u16(), failed.json), (500, None));
            let json = answered.json.unwrap();
            (answered.status.as_u16(), String::from_utf8(json.to_vec()).unwrap())
        };
        let next = |step| (206, format!("[{{\"op\":\"StepRun\",\"id\":\"{step}\"}}]"));
        assert_eq!(answer("{}"), next("pay"));
        assert_eq!(answer("{\"pay\":{}}"), next("ship"));
        assert_eq!(answer("{\"ship\":1}"), next("pay"), "the first that fits");
        assert_eq!(answer("{\"pay\":1,\"ship\":2}"), (200, "\"done\"".to_owned()));
        assert_eq!(answer("not JSON"), next("pay"), "nothing is in what can't be read");
    }
}
