//! Name servers' answers and hosts files: addresses come out only if they went in.

use std::net::IpAddr;

use sojourn_http::foreign::{DnsReply, dns_question, host_addresses, read_dns_reply};

use crate::Input;

const ID: u16 = 0x1234;
const HOST: &str = "www.a.test";

/// Option 0: for IPv6; 1: the bytes are a name to ask for; 2: they are a hosts file; 3: they follow
/// the head of an answer and the question in it.
pub(crate) fn check(input: Input<'_>) {
    let is_v6 = input.has(0);
    if input.has(1) {
        return check_question(&String::from_utf8_lossy(input.bytes), is_v6);
    }
    if input.has(2) {
        let text = String::from_utf8_lossy(input.bytes);
        let found = host_addresses(&text, HOST);
        assert!(found.len() <= text.lines().count());
        return;
    }
    let mut message = Vec::new();
    if input.has(3) {
        message = dns_question(ID, HOST, is_v6).expect("a name");
        message[2..4].copy_from_slice(&[0x81, 0x80]);
        message[7] = 9;
    }
    message.extend_from_slice(input.bytes);
    if let Some(DnsReply::Addresses(found)) = read_dns_reply(&message, ID, HOST, is_v6) {
        let length = if is_v6 { 16 } else { 4 };
        assert!(found.len() * length <= message.len());
        for address in found {
            assert_eq!(address.is_ipv6(), is_v6);
            let octets = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            assert!(message.windows(length).any(|window| window == octets));
        }
    }
}

/// A question, turned into an answer without records, is one to itself.
fn check_question(host: &str, is_v6: bool) {
    let Some(mut message) = dns_question(ID, host, is_v6) else {
        return;
    };
    assert!(message.len() <= 12 + 255 + 4);
    assert_eq!(read_dns_reply(&message, ID, host, is_v6), None);
    message[2] |= 0x80;
    let expected = Some(DnsReply::Addresses(Vec::new()));
    assert_eq!(read_dns_reply(&message, ID, host, is_v6), expected);
}
