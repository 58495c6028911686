//! What the server understands of bytes, without a socket: for fuzzing, and to show that it does
//! not matter how the network cuts them.

use std::rc::Rc;

use super::intake::{Intake, Taken};
use crate::message::Message;
use crate::reply::Reply;
use crate::server::{Request, Responder};

/// Bodies longer than this are refused here.
const BODY_MAX: usize = 4096;

/// What became of one connection's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Understood {
    /// Method, target and body of each request, in order.
    pub requests: Vec<(String, String, Vec<u8>)>,
    /// The status with which the rest was refused.
    pub refused: Option<u16>,
}

impl Responder for Understood {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        BODY_MAX
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let (method, target) = (request.method.to_owned(), request.path.to_owned());
        self.requests.push((method, target, request.body.to_vec()));
        Reply::message(Rc::new(Message::text(200, "text/plain", b"")))
    }
}

/// Reads the bytes of a connection that come in pieces of `piece_max`, by the code that serves
/// sockets. A request that ends its connection is the last. Never panics.
pub fn understood(bytes: &[u8], piece_max: usize) -> Understood {
    let mut found = Understood::default();
    let mut intake = Intake::default();
    let mut now_ns = || 0;
    for piece in bytes.chunks(piece_max.max(1)) {
        let mut taken = intake.take_received(piece, 0, &mut found, &mut now_ns);
        loop {
            match taken {
                Taken::Bad(status) => {
                    found.refused = Some(status);
                    return found;
                }
                Taken::Request { terms, .. } if !terms.keep_alive => return found,
                Taken::Request { .. } | Taken::More { .. } => {}
            }
            if !intake.has_waiting() {
                break;
            }
            taken = intake.take_waiting(0, &mut found, &mut now_ns);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MANY: &[u8] = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n\
        POST /b?c=d HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello\
        \r\nPUT http://h/c HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n\
        3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: u\r\n\r\n\
        HEAD /d HTTP/1.0\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n";

    #[test]
    fn every_request_is_understood_however_it_is_cut() {
        let whole = understood(MANY, usize::MAX);
        assert_eq!(whole.refused, None);
        let targets: Vec<&str> = whole.requests.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(targets, ["/a", "/b?c=d", "/c", "/d"]);
        assert_eq!(whole.requests[2].2, b"abc0123456789");
        for piece_max in 1..MANY.len() {
            assert_eq!(understood(MANY, piece_max), whole, "{piece_max}");
        }
    }

    #[test]
    fn absurd_lengths_take_no_memory() {
        for length in ["18446744073709551615", "999999999999999999", "4097"] {
            let head = format!("POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
            assert!(understood(head.as_bytes(), usize::MAX).refused.is_some(), "{length}");
        }
        let chunk = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx";
        assert!(understood(chunk, usize::MAX).requests.is_empty());
    }

    /// Bytes that were requests until some were changed, left out or doubled.
    fn mutated() -> impl Strategy<Value = Vec<u8>> {
        let change = (0..MANY.len(), any::<u8>(), 0_usize..20, 0_u8..3);
        prop::collection::vec(change, 1..6).prop_map(|changes| {
            let mut bytes = MANY.to_vec();
            for (at, byte, length, kind) in changes {
                let at = at.min(bytes.len() - 1);
                let until = (at + length).min(bytes.len() - 1);
                match kind {
                    0 => bytes[at] = byte,
                    1 => drop(bytes.drain(at..until)),
                    _ => {
                        let copied = bytes[at..until].to_vec();
                        bytes.splice(at..at, copied);
                    }
                }
            }
            // A head is looked at when a line ends.
            bytes.extend_from_slice(b"\r\n");
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn how_bytes_are_cut_changes_nothing(bytes in mutated(), piece_max in 1_usize..60) {
            prop_assert_eq!(understood(&bytes, piece_max), understood(&bytes, usize::MAX));
        }

        #[test]
        fn nothing_panics_on_foreign_bytes(
            bytes in prop::collection::vec(any::<u8>(), 0..300), piece_max in 1_usize..60,
        ) {
            let _found = understood(&bytes, piece_max);
        }
    }
}
