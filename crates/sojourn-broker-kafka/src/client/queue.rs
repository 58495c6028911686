//! How much a consumer has fetched that nobody has read yet.
//!
//! librdkafka's statistics have it too, but pile up where nobody polls.
#![allow(unsafe_code)]

use rdkafka::bindings::{
    rd_kafka_queue_destroy, rd_kafka_queue_get_consumer, rd_kafka_queue_length,
};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};

/// Messages that wait in all its partitions together, the end of a partition counting as one.
pub(super) fn length<C: ConsumerContext>(consumer: &BaseConsumer<C>) -> usize {
    // SAFETY: the client lives as long as `consumer` is borrowed. The handle of its queue is ours
    // until it is given back, which nothing comes between.
    unsafe {
        let queue = rd_kafka_queue_get_consumer(consumer.client().native_ptr());
        if queue.is_null() {
            return 0;
        }
        let length = rd_kafka_queue_length(queue);
        rd_kafka_queue_destroy(queue);
        length
    }
}
