//! What the workers ask of the third parties, over HTTP.

use crate::http_client::{Answer, HttpClient};
use serde_json::{Value, json};

/// The payment service provider and the notification service.
pub(crate) struct ThirdParties {
    client: HttpClient,
}

impl ThirdParties {
    pub(crate) fn new(client: HttpClient) -> Self {
        Self { client }
    }

    /// Creates a payment at the provider; the provider's reference.
    pub(crate) async fn create(
        &self,
        amount: &Value,
        currency: &Value,
        idempotency_key: Option<&str>,
    ) -> Result<String, String> {
        let body = json!({"amount": amount, "currency": currency}).to_string();
        let path = "/psp/api/payments/create";
        let answer = self.client.post(path, idempotency_key, &body).await?;
        expect(&answer, 202, path)?;
        serde_json::from_slice::<Value>(&answer.body)
            .ok()
            .and_then(|body| body["paymentId"].as_str().map(str::to_owned))
            .ok_or_else(|| format!("{path} answered without a paymentId"))
    }

    /// Settles a payment at the provider.
    pub(crate) async fn settle(
        &self,
        reference: &str,
        idempotency_key: Option<&str>,
    ) -> Result<(), String> {
        let path = format!("/psp/api/payments/{reference}/settle");
        let answer = self.client.post(&path, idempotency_key, "{}").await?;
        expect(&answer, 200, &path)
    }

    /// Tells the customer.
    pub(crate) async fn notify(
        &self,
        payment: &str,
        idempotency_key: Option<&str>,
    ) -> Result<(), String> {
        let path = "/notifications/api/send";
        let body = json!({"id": payment, "jsonPayload": "{}"}).to_string();
        let answer = self.client.post(path, idempotency_key, &body).await?;
        expect(&answer, 200, path)
    }
}

fn expect(answer: &Answer, status: u16, path: &str) -> Result<(), String> {
    if answer.status == status { Ok(()) } else { Err(format!("{path} answered {}", answer.status)) }
}
