//! Reading a message's headers by librdkafka's own functions.
//!
//! The crate's safe reader panics on a header whose name is not UTF-8, and anyone who may publish
//! to the topic can send one. This module is the only unsafe code of the connector.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use rdkafka::bindings::{rd_kafka_header_get_all, rd_kafka_headers_t, rd_kafka_message_headers};
use rdkafka::message::BorrowedMessage;
use rdkafka::types::RDKafkaRespErr;

/// The headers of a message, in order. A header without a value has an empty one; one whose name is
/// not UTF-8 is left out, since no plan could name it.
pub(crate) fn headers<'m>(message: &'m BorrowedMessage<'_>) -> Vec<(&'m str, &'m [u8])> {
    let mut list: *mut rd_kafka_headers_t = ptr::null_mut();
    // SAFETY: `message.ptr()` is a valid message as long as `message` is borrowed. The list that
    // librdkafka returns belongs to the message: we do not free it.
    let outcome = unsafe { rd_kafka_message_headers(message.ptr(), &mut list) };
    if outcome != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR || list.is_null() {
        return Vec::new();
    }
    let mut headers = Vec::new();
    for index in 0.. {
        let mut name: *const c_char = ptr::null();
        let mut value: *const c_void = ptr::null();
        let mut length = 0;
        // SAFETY: `list` is valid as above; the three places are valid for writing. Past the last
        // header the call errs and writes nothing.
        let outcome =
            unsafe { rd_kafka_header_get_all(list, index, &mut name, &mut value, &mut length) };
        if outcome != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR || name.is_null() {
            break;
        }
        // SAFETY: the name is a C string of the list, which lives as long as the message: `'m`.
        let name = unsafe { CStr::from_ptr(name) };
        let value: &'m [u8] = if value.is_null() || length == 0 {
            &[]
        } else {
            // SAFETY: the value is `length` readable bytes of the same list, never written to.
            unsafe { std::slice::from_raw_parts(value.cast(), length) }
        };
        if let Ok(name) = name.to_str() {
            headers.push((name, value));
        }
    }
    headers
}
