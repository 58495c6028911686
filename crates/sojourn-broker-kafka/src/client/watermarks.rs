//! The offset behind a partition's newest message, as the last answer of the broker told it.
//!
//! The crate's own function asks the broker each time; librdkafka's that remembers is only among
//! its bindings.
#![allow(unsafe_code)]

use std::ffi::CString;

use rdkafka::bindings::rd_kafka_get_watermark_offsets;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::types::RDKafkaRespErr;

/// The high watermark; `None` before the broker has told it.
pub(super) fn high<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    topic: &str,
    partition: i32,
) -> Option<i64> {
    let topic = CString::new(topic).ok()?;
    let (mut low, mut high) = (-1, -1);
    // SAFETY: the client lives as long as `consumer` is borrowed; the text and both places for the
    // offsets live until the call returns, which keeps none of them.
    let outcome = unsafe {
        rd_kafka_get_watermark_offsets(
            consumer.client().native_ptr(),
            topic.as_ptr(),
            partition,
            &raw mut low,
            &raw mut high,
        )
    };
    (outcome == RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0).then_some(high)
}
