//! A message that was received, by librdkafka's own struct and functions.
//!
//! The crate's safe reader panics on a header whose name is not UTF-8, and anyone who may publish
//! to the topic can send one; and it knows no messages that are taken many at a time.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::{ptr, slice};

use rdkafka::bindings::{
    rd_kafka_header_get_all, rd_kafka_headers_t, rd_kafka_message_headers, rd_kafka_topic_name,
};
use rdkafka::message::BorrowedMessage;
use rdkafka::types::{RDKafkaMessage, RDKafkaRespErr};

/// A consumed message without an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'m> {
    /// Valid for `'m`, in which nobody writes to what is read here. A pointer, since librdkafka
    /// reaches by it what lies around the struct.
    message: *const RDKafkaMessage,
    of: PhantomData<&'m RDKafkaMessage>,
}

impl<'m> Received<'m> {
    /// One that the crate has polled.
    pub(crate) fn of(message: &'m BorrowedMessage<'_>) -> Self {
        // SAFETY: it was consumed, and is valid as long as it is borrowed.
        unsafe { Self::new(message.ptr()) }
    }

    /// # Safety
    /// It was consumed, has no error, and is not destroyed during `'m`.
    pub(crate) unsafe fn new(message: *const RDKafkaMessage) -> Self {
        Self { message, of: PhantomData }
    }

    fn fields(self) -> &'m RDKafkaMessage {
        // SAFETY: as `message` says.
        unsafe { &*self.message }
    }

    /// Its topic's name.
    pub(crate) fn topic(self) -> &'m [u8] {
        // SAFETY: a consumed message has a topic, which lives at least as long as it does; its name
        // is a C string.
        unsafe { CStr::from_ptr(rd_kafka_topic_name(self.fields().rkt)) }.to_bytes()
    }

    pub(crate) fn partition(self) -> i32 {
        self.fields().partition
    }

    pub(crate) fn offset(self) -> i64 {
        self.fields().offset
    }

    pub(crate) fn key(self) -> Option<&'m [u8]> {
        // SAFETY: of a consumed message.
        unsafe { bytes(self.fields().key, self.fields().key_len) }
    }

    pub(crate) fn payload(self) -> Option<&'m [u8]> {
        // SAFETY: of a consumed message.
        unsafe { bytes(self.fields().payload, self.fields().len) }
    }

    /// The headers, in order. A header without a value has an empty one; one whose name is not
    /// UTF-8 is left out, since no plan could name it.
    pub(crate) fn headers(self) -> Vec<(&'m str, &'m [u8])> {
        let mut list: *mut rd_kafka_headers_t = ptr::null_mut();
        // SAFETY: the message is valid. The list belongs to it: we do not free it.
        let outcome = unsafe { rd_kafka_message_headers(self.message, &mut list) };
        if outcome != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR || list.is_null() {
            return Vec::new();
        }
        let mut headers = Vec::new();
        for index in 0.. {
            let mut name: *const c_char = ptr::null();
            let mut value: *const c_void = ptr::null();
            let mut length = 0;
            // SAFETY: `list` is valid as above; the three places are valid for writing. Past the
            // last header the call errs and writes nothing.
            let outcome =
                unsafe { rd_kafka_header_get_all(list, index, &mut name, &mut value, &mut length) };
            if outcome != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR || name.is_null() {
                break;
            }
            // SAFETY: the name is a C string of the list, which lives as long as the message: `'m`.
            let name = unsafe { CStr::from_ptr(name) };
            // SAFETY: the value is `length` bytes of the same list.
            let value = unsafe { bytes(value, length) };
            if let Ok(name) = name.to_str() {
                headers.push((name, value.unwrap_or_default()));
            }
        }
        headers
    }
}

/// # Safety
/// Null, or so many readable bytes that nobody writes to during `'m`.
unsafe fn bytes<'m>(begin: *const c_void, length: usize) -> Option<&'m [u8]> {
    match begin.is_null() {
        true => None,
        // SAFETY: as the caller says.
        false => Some(unsafe { slice::from_raw_parts(begin.cast(), length) }),
    }
}
