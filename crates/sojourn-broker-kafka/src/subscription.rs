//! The tap's client, whose messages come into a queue of their own and are taken many at a time.
//!
//! A poll of librdkafka brings one event, and costs four readings of the clock, a lock and an
//! allocation or two. Out of a queue that holds nothing but messages it gives many by one call;
//! what the client says of itself (errors, statistics) stays in the client's queue, which
//! [`Subscription::client`] is polled for.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::time::Duration;

use rdkafka::bindings::{
    rd_kafka_consume_batch_queue, rd_kafka_message_destroy, rd_kafka_queue_destroy,
    rd_kafka_queue_forward, rd_kafka_queue_get_partition, rd_kafka_queue_new, rd_kafka_queue_t,
};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{IsError as _, KafkaError};
use rdkafka::types::{RDKafkaMessage, RDKafkaRespErr};

use crate::received::Received;
use crate::watch::Watch;

/// Most messages taken at once: what is left of a call is little by then, and the last of them has
/// not waited long for the first.
const TAKEN_MAX: usize = 64;

/// A consumer and the queue of its messages.
pub(crate) struct Subscription {
    /// Of `client`: destroyed before it is.
    queue: NonNull<rd_kafka_queue_t>,
    client: BaseConsumer<Watch>,
}

// SAFETY: librdkafka's queues belong to no thread, and this one is only reached through `self`.
unsafe impl Send for Subscription {}

impl Subscription {
    /// Of a client to which nothing is assigned yet.
    pub(crate) fn new(client: BaseConsumer<Watch>) -> Self {
        // SAFETY: the client is valid.
        let queue = unsafe { rd_kafka_queue_new(client.client().native_ptr()) };
        // librdkafka ends the process when there is no memory; it never returns null here.
        let queue = NonNull::new(queue).expect("librdkafka makes a queue");
        Self { queue, client }
    }

    /// For all but messages.
    pub(crate) fn client(&self) -> &BaseConsumer<Watch> {
        &self.client
    }

    /// Has a partition's messages come here. To be called before it is assigned: what came before
    /// is in the client's queue.
    pub(crate) fn redirect(&self, topic: &str, partition: i32) {
        // No topic that Kafka knows has a NUL in its name; its messages would come to the client.
        let Ok(topic) = CString::new(topic) else { return };
        let client = self.client.client().native_ptr();
        // SAFETY: the client is valid, and the topic a C string.
        let own = unsafe { rd_kafka_queue_get_partition(client, topic.as_ptr(), partition) };
        if !own.is_null() {
            // SAFETY: both queues are valid; ours to the one is given back, and it stays forwarded.
            unsafe {
                rd_kafka_queue_forward(own, self.queue.as_ptr());
                rd_kafka_queue_destroy(own);
            }
        }
    }

    /// Takes what is there, up to [`TAKEN_MAX`] messages; for the first of them it waits.
    pub(crate) fn take(&self, wait: Duration) -> Taken<'_> {
        let mut taken =
            Taken { messages: [ptr::null_mut(); TAKEN_MAX], next: 0, end: 0, of: PhantomData };
        if !wait.is_zero() {
            let wait_ms = wait.as_millis().clamp(1, i32::MAX as u128) as i32;
            // Of several it would wait for the last.
            self.fill(&mut taken, wait_ms, 1);
            if taken.end == 0 {
                return taken;
            }
        }
        self.fill(&mut taken, 0, TAKEN_MAX);
        taken
    }

    fn fill(&self, taken: &mut Taken<'_>, wait_ms: i32, end: usize) {
        let room = &mut taken.messages[taken.end..end];
        // SAFETY: the queue is valid, and there is room for as many pointers. The messages are ours
        // to destroy.
        let count = unsafe {
            rd_kafka_consume_batch_queue(
                self.queue.as_ptr(),
                wait_ms,
                room.as_mut_ptr(),
                room.len(),
            )
        };
        // Below zero where the queue is not to be read by this call, which ours is.
        taken.end += usize::try_from(count).unwrap_or(0);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // SAFETY: it is valid, nobody has it any more, and the client is still there.
        unsafe { rd_kafka_queue_destroy(self.queue.as_ptr()) }
    }
}

/// Messages taken out of a [`Subscription`].
pub(crate) struct Taken<'s> {
    /// Valid from `next` up to `end`, and to be destroyed by us.
    messages: [*mut RDKafkaMessage; TAKEN_MAX],
    next: usize,
    end: usize,
    of: PhantomData<&'s Subscription>,
}

impl Taken<'_> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.end - self.next
    }
}

impl<'s> Iterator for Taken<'s> {
    type Item = Result<Message<'s>, KafkaError>;

    fn next(&mut self) -> Option<Self::Item> {
        let message = *self.messages[..self.end].get(self.next)?;
        self.next += 1;
        let message = Message { message, of: PhantomData };
        // SAFETY: valid until `message` is dropped.
        let (error, partition) = unsafe { ((*message.message).err, (*message.message).partition) };
        Some(match error {
            RDKafkaRespErr::RD_KAFKA_RESP_ERR__PARTITION_EOF => {
                Err(KafkaError::PartitionEOF(partition))
            }
            error if error.is_error() => Err(KafkaError::MessageConsumption(error.into())),
            _ => Ok(message),
        })
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// One of them, without an error once it is handed out.
pub(crate) struct Message<'s> {
    message: *mut RDKafkaMessage,
    of: PhantomData<&'s Subscription>,
}

impl Message<'_> {
    pub(crate) fn received(&self) -> Received<'_> {
        // SAFETY: it was consumed, has no error, and is valid until this is dropped.
        unsafe { Received::new(self.message) }
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        // SAFETY: it is ours, and its client is still there: `of`.
        unsafe { rd_kafka_message_destroy(self.message) }
    }
}
