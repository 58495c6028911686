//! What the client understands of foreign bytes, without a socket: for fuzzing only, no part of the
//! interface. Each function takes bytes, and where it matters how they are cut, and tells all that
//! came of them, so that two readings of the same bytes can be compared.

mod answer;
mod http2;
mod tunnel;

pub use crate::resolver::foreign::{DnsReply, dns_question, host_addresses, read_dns_reply};
pub use answer::{Answer, Content, read_answer, read_content};
pub use http2::{
    Conversation, FieldList, HEADER_LIST_BYTES_MAX, HeaderTable, converse, write_header_field,
};
pub use tunnel::{TunnelEnd, open_tunnel};
