//! The third parties: a payment service provider and a notification service, with latency.
//!
//! Both honour the header `idempotency-key`, as real ones do: a repeated request gets the first
//! one's answer and has no further effect. They remember a bounded number of keys.

use crate::config::DemoConfig;
use crate::counters::{Counters, bump};
use crate::random;
use crate::service_time::ServiceTime;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// The largest amount that the provider takes; what is above it is refused, however often it is
/// asked for. The API does not know of it: such a payment is poison for the consumer that asks.
const AMOUNT_MAX: f64 = 1_000_000.0;
/// Idempotency keys remembered per operation.
const KEYS_MAX: usize = 50_000;

/// Both mocks.
pub(crate) struct Mocks {
    seed: u64,
    requests: AtomicU64,
    psp_latency: ServiceTime,
    notification_latency: ServiceTime,
    created: Mutex<Remembered>,
    notified: Mutex<Remembered>,
    counters: Arc<Counters>,
}

impl Mocks {
    pub(crate) fn new(config: &DemoConfig, counters: Arc<Counters>) -> Self {
        Self {
            seed: config.seed,
            requests: AtomicU64::new(0),
            psp_latency: config.psp_latency,
            notification_latency: config.notification_latency,
            created: Mutex::default(),
            notified: Mutex::default(),
            counters,
        }
    }

    /// The mocks' HTTP interface.
    pub(crate) fn router(self) -> Router {
        Router::new()
            .route("/psp/api/payments/create", post(create))
            .route("/psp/api/payments/{reference}/settle", post(settle))
            .route("/notifications/api/send", post(notify))
            .with_state(Arc::new(self))
    }

    async fn hold(&self, latency: ServiceTime) {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let ns = latency.sample_ns(random::mix(self.seed ^ random::mix(request)));
        if ns > 0 {
            tokio::time::sleep(Duration::from_nanos(ns)).await;
        }
    }
}

async fn create(
    State(mocks): State<Arc<Mocks>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Json<Value>) {
    bump(&mocks.counters.psp_calls);
    mocks.hold(mocks.psp_latency).await;
    if is_above_limit(&body) {
        let error = format!("amount is above {AMOUNT_MAX}");
        return (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({ "error": error })));
    }
    let (reference, new) = remember(&mocks.created, &headers);
    if new {
        bump(&mocks.counters.psp_charges);
    }
    let body = json!({ "paymentId": reference.to_string() });
    (StatusCode::ACCEPTED, Json(body))
}

fn is_above_limit(body: &[u8]) -> bool {
    let request: Option<Value> = serde_json::from_slice(body).ok();
    request.and_then(|it| it["amount"].as_f64()).is_some_and(|amount| amount > AMOUNT_MAX)
}

async fn settle(State(mocks): State<Arc<Mocks>>, Path(reference): Path<String>) -> Json<Value> {
    bump(&mocks.counters.psp_calls);
    mocks.hold(mocks.psp_latency).await;
    Json(json!({ "paymentId": reference, "status": "settled" }))
}

async fn notify(State(mocks): State<Arc<Mocks>>, headers: HeaderMap) -> Json<Value> {
    mocks.hold(mocks.notification_latency).await;
    let (id, new) = remember(&mocks.notified, &headers);
    if new {
        bump(&mocks.counters.notifications);
    }
    Json(json!({ "notificationId": id.to_string() }))
}

/// Answers by idempotency key, the oldest forgotten first.
#[derive(Default)]
struct Remembered {
    answers: HashMap<String, Uuid>,
    order: VecDeque<String>,
}

/// The answer for a request, and whether it is a new one.
fn remember(remembered: &Mutex<Remembered>, headers: &HeaderMap) -> (Uuid, bool) {
    let fresh = Uuid::new_v4();
    let Some(key) = headers.get("idempotency-key").and_then(|value| value.to_str().ok()) else {
        return (fresh, true);
    };
    let mut known = remembered.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&answer) = known.answers.get(key) {
        return (answer, false);
    }
    if known.order.len() >= KEYS_MAX
        && let Some(oldest) = known.order.pop_front()
    {
        known.answers.remove(&oldest);
    }
    known.order.push_back(key.to_owned());
    known.answers.insert(key.to_owned(), fresh);
    (fresh, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_amounts_above_the_limit_are_refused() {
        for (body, refused) in [
            (r#"{"amount": 1000000}"#, false),
            (r#"{"amount": 1000000.01}"#, true),
            (r#"{"amount": "2000000"}"#, false),
            ("", false),
        ] {
            assert_eq!(is_above_limit(body.as_bytes()), refused, "{body}");
        }
    }

    #[test]
    fn a_repeated_key_has_one_effect_and_memory_is_bounded() {
        let remembered = Mutex::default();
        let headers = |key: &str| {
            HeaderMap::from_iter([(
                axum::http::HeaderName::from_static("idempotency-key"),
                key.parse().unwrap(),
            )])
        };
        let (first, new) = remember(&remembered, &headers("a"));
        assert!(new);
        assert_eq!(remember(&remembered, &headers("a")), (first, false));
        assert!(remember(&remembered, &HeaderMap::new()).1);
        for k in 0..KEYS_MAX {
            remember(&remembered, &headers(&k.to_string()));
        }
        assert_eq!(remembered.lock().unwrap().answers.len(), KEYS_MAX);
        assert!(remember(&remembered, &headers("a")).1);
    }
}
