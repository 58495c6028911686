//! The payments API: what a load test loads.
//!
//! `POST /api/payment/create` `{"amount": 86.10, "currency": "GBP"}` → 200
//! `{"paymentId": "<uuid>"}`; `GET /api/payment/{id}/status` → `{"status": "settled"}`; `GET /` and
//! `GET /health`.
//! What is refused is answered with 400 (the payment), 404 (no such payment) or 503 (too busy, or
//! the embedded broker is full) and `{"error": "…"}`.

use crate::common::Common;
use crate::counters::bump;
use crate::payment::Payment;
use crate::random::PaymentIds;
use crate::retention::FULL;
use crate::stage::Stage;
use crate::store::{AppendError, NewEvent, StoreHandle};
use crate::truth_record::Record;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use sojourn_clock::{Anchor, now_ns};
use std::sync::{Arc, atomic::Ordering};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Payments being created at once; more are answered with 503.
const CREATING_MAX: usize = 4_096;
/// A request's body may not be larger, bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Currencies that are taken.
const CURRENCIES: [&str; 3] = ["GBP", "EUR", "USD"];

/// The API's parts.
pub(crate) struct Api {
    ids: PaymentIds,
    anchor: Anchor,
    store: StoreHandle,
    common: Common,
    /// One permit for each payment that may be created at once.
    creating: Semaphore,
}

impl Api {
    pub(crate) fn new(ids: PaymentIds, store: StoreHandle, common: Common) -> Self {
        Self { ids, anchor: Anchor::now(), store, common, creating: Semaphore::new(CREATING_MAX) }
    }

    /// The HTTP interface.
    pub(crate) fn router(self) -> Router {
        Router::new()
            .route("/", get(hello))
            .route("/health", get(health))
            .route("/api/payment/create", post(create))
            .route("/api/payment/{id}/status", get(status))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(Arc::new(self))
    }

    fn reject(&self, problem: &str) -> Response {
        bump(&self.common.counters.rejected);
        self.refusal(StatusCode::BAD_REQUEST, problem)
    }

    fn unavailable(&self, problem: &str) -> Response {
        bump(&self.common.counters.refused);
        self.refusal(StatusCode::SERVICE_UNAVAILABLE, problem)
    }

    fn refusal(&self, status: StatusCode, problem: &str) -> Response {
        self.common.truth.note(|| Record::Rejected { at_ns: now_ns(), status: status.as_u16() });
        error(status, problem)
    }

    fn accept(&self, id: Uuid, key: String) -> Response {
        bump(&self.common.counters.accepted);
        let at_ns = now_ns();
        // Only the first one changes it.
        let _first = self.common.counters.first_accepted_ns.compare_exchange(
            0,
            at_ns,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        self.common.truth.note(|| Record::Accepted { at_ns, key });
        Json(json!({ "paymentId": id.to_string() })).into_response()
    }
}

async fn hello() -> &'static str {
    "a payments system to load: \
     POST /api/payment/create {\"amount\": 86.10, \"currency\": \"GBP\"}\n"
}

async fn health(State(api): State<Arc<Api>>) -> Json<Value> {
    let problems = api.common.problems.texts();
    let status = if problems.is_empty() { "ok" } else { "doubtful" };
    Json(json!({ "status": status, "problems": problems }))
}

async fn create(State(api): State<Arc<Api>>, body: Bytes) -> Response {
    let (amount, currency) = match read(&body) {
        Ok(payment) => payment,
        Err(problem) => return api.reject(&problem),
    };
    let Ok(_permit) = api.creating.try_acquire() else {
        return api.unavailable("too many payments at once");
    };
    if let Some(retention) = &api.common.retention
        && !retention.promise()
    {
        api.common.problems.report(format!("API refuses payments: {FULL}"));
        return api.unavailable(FULL);
    }
    loop {
        let id = api.ids.next();
        let key = format!("pay:{id}");
        let appended = api
            .store
            .append(NewEvent {
                stream: key.clone(),
                expected_version: 0,
                stage: Stage::Initiated,
                data: Payment::initiated(&id.to_string(), &amount, currency),
                occurred_unix_ns: api.anchor.unix_ns_at(now_ns()),
            })
            .await;
        match appended {
            Ok(()) => return api.accept(id, key),
            // The id is taken: the next one.
            Err(AppendError::Conflict { .. }) => {}
            Err(AppendError::Store(problem)) => return api.unavailable(&problem.to_string()),
        }
    }
}

async fn status(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Response {
    match api.store.load(&format!("pay:{id}")).await {
        Ok(events) => match Payment::of(&events).reached {
            Some(stage) => Json(json!({ "status": stage.name() })).into_response(),
            None => error(StatusCode::NOT_FOUND, "there is no such payment"),
        },
        Err(problem) => error(StatusCode::SERVICE_UNAVAILABLE, &problem.to_string()),
    }
}

fn error(status: StatusCode, problem: &str) -> Response {
    (status, Json(json!({ "error": problem }))).into_response()
}

/// Amount and currency of a request, or what is wrong with it.
fn read(body: &[u8]) -> Result<(Value, &'static str), String> {
    let request: Value =
        serde_json::from_slice(body).map_err(|problem| format!("body is not JSON: {problem}"))?;
    let amount = &request["amount"];
    if !amount.as_f64().is_some_and(|amount| amount > 0.0) {
        return Err("amount must be a number above 0".into());
    }
    let currency = request["currency"]
        .as_str()
        .and_then(|given| CURRENCIES.into_iter().find(|&currency| currency == given));
    match currency {
        Some(currency) => Ok((amount.clone(), currency)),
        None => Err(format!("currency must be one of {}", CURRENCIES.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_valid_payments() {
        let body = br#"{"amount": 86.10, "currency": "EUR", "more": 1}"#;
        assert_eq!(read(body), Ok((json!(86.1), "EUR")));
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            ("", "not JSON"),
            ("[]", "amount"),
            (r#"{"currency": "GBP"}"#, "amount"),
            (r#"{"amount": 0, "currency": "GBP"}"#, "amount"),
            (r#"{"amount": -1, "currency": "GBP"}"#, "amount"),
            (r#"{"amount": "1", "currency": "GBP"}"#, "amount"),
            (r#"{"amount": 1}"#, "currency"),
            (r#"{"amount": 1, "currency": "gbp"}"#, "currency"),
        ];
        for (body, expected) in cases {
            let problem = read(body.as_bytes()).unwrap_err();
            assert!(problem.contains(expected), "{body}: {problem}");
        }
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(body: Vec<u8>) {
            drop(read(&body));
        }
    }
}
