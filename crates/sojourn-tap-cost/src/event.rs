//! The event that all of them take: a payment settled, some 150 bytes of JSON.

/// What the event is.
pub const EVENT_TYPE: &str = "PaymentSettled";

/// The run that events say they are of, where they carry headers.
pub const RUN_ID: &str = "run-1";

/// The event's key, by its number: 40 bytes, as long as those of the payments demo.
pub fn key(number: u64) -> String {
    format!("pay:00000000-0000-4000-8000-{number:012}")
}

/// An event, by its number.
pub fn event(number: u64) -> String {
    format!(
        "{{\"type\":\"{EVENT_TYPE}\",\"aggregateId\":\"{}\",\"amount\":{number},\
         \"currency\":\"GBP\",\"occurredAt\":\"2026-01-01T00:00:00.000Z\"}}",
        key(number)
    )
}
