//! A payment, as its events tell it.

use crate::stage::Stage;
use crate::store::StoredEvent;
use serde_json::{Value, json};

/// The state of a payment after some events.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Payment {
    /// Number of events.
    pub(crate) version: u32,
    /// The furthest stage.
    pub(crate) reached: Option<Stage>,
    /// What the API took, for the provider.
    pub(crate) amount: Value,
    pub(crate) currency: Value,
    /// The provider's name for it, once created there.
    pub(crate) reference: Option<String>,
}

impl Payment {
    /// Folds a stream. Data that can't be read counts as absent: the third party will object.
    pub(crate) fn of(events: &[StoredEvent]) -> Self {
        let mut payment = Self::default();
        for event in events {
            payment.version = event.version;
            payment.reached = payment.reached.max(Some(event.stage));
            match event.stage {
                Stage::Initiated => {
                    let mut data = event.value();
                    payment.amount = data["amount"].take();
                    payment.currency = data["currency"].take();
                }
                Stage::Created => {
                    payment.reference = event.value()["reference"].as_str().map(Into::into);
                }
                Stage::Settled | Stage::Completed => {}
            }
        }
        payment
    }

    /// Data of `PaymentInitiated`.
    pub(crate) fn initiated(payment_id: &str, amount: &Value, currency: &str) -> String {
        json!({"paymentId": payment_id, "amount": amount, "currency": currency}).to_string()
    }

    /// Data of `PaymentCreated`.
    pub(crate) fn created(reference: &str) -> String {
        json!({ "reference": reference }).to_string()
    }
}

impl StoredEvent {
    fn value(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_tell_the_payment() {
        let event = |version, stage, data: String| StoredEvent { version, stage, data };
        let mut events = vec![
            event(1, Stage::Initiated, Payment::initiated("x", &json!(86.1), "GBP")),
            event(2, Stage::Created, Payment::created("ref-1")),
        ];
        let payment = Payment::of(&events);
        assert_eq!(payment.version, 2);
        assert_eq!(payment.reached, Some(Stage::Created));
        assert_eq!(payment.amount, json!(86.1));
        assert_eq!(payment.currency, json!("GBP"));
        assert_eq!(payment.reference.as_deref(), Some("ref-1"));
        events.push(event(3, Stage::Settled, "not json".into()));
        assert_eq!(Payment::of(&events).reached, Some(Stage::Settled));
        assert_eq!(Payment::of(&[]), Payment::default());
    }
}
