//! Names to addresses.
//!
//! `names` is the client's table of what is known and asked; `threads` look up, since a look-up
//! blocks: by the system's resolver, or by `stub` at servers of the caller's own, whose messages
//! `message` writes and reads.

mod addresses;
pub(crate) mod foreign;
mod hosts_file;
mod message;
mod names;
mod no_address;
mod options;
mod stub;
mod threads;

pub(crate) use names::{Found, NameId, Names};
pub(crate) use no_address::NoAddress;
pub use options::{DnsCache, DnsFamilies, DnsOptions, DnsSelect, DnsServerError, parse_dns_server};
