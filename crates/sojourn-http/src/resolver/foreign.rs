//! Name service messages as [`crate::foreign`] shows them.

use std::net::IpAddr;

use super::hosts_file::addresses_in;
use super::message::{Kind, Name, Reply, question, reply};

/// What a name server says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DnsReply {
    /// The addresses, aliases followed.
    Addresses(Vec<IpAddr>),
    /// There is no such name.
    NoSuchName,
    /// The server's response code.
    Refused(u8),
    /// Ask again over TCP.
    Truncated,
}

/// A question for the addresses of `host`; `None` when it can't be a name.
pub fn dns_question(id: u16, host: &str, is_v6: bool) -> Option<Vec<u8>> {
    Some(question(id, &Name::new(host)?, kind(is_v6)))
}

/// Reads the answer to such a question; `None` when it is none, or `host` can't be a name.
pub fn read_dns_reply(message: &[u8], id: u16, host: &str, is_v6: bool) -> Option<DnsReply> {
    Some(match reply(message, id, &Name::new(host)?, kind(is_v6)).ok()? {
        Reply::Addresses(addresses) => DnsReply::Addresses(addresses),
        Reply::NoSuchName => DnsReply::NoSuchName,
        Reply::Refused(code) => DnsReply::Refused(code),
        Reply::Truncated => DnsReply::Truncated,
    })
}

/// The addresses that a hosts file's text gives a name.
pub fn host_addresses(text: &str, host: &str) -> Vec<IpAddr> {
    addresses_in(text, host)
}

fn kind(is_v6: bool) -> Kind {
    if is_v6 { Kind::V6 } else { Kind::V4 }
}
