//! Proxies' answers: it does not matter how they are cut, and we send nothing but our messages.

use sojourn_http::foreign::{TunnelEnd, open_tunnel};
use sojourn_http::{HostPort, Proxy};

use crate::Input;

/// Longer than this is no answer of a proxy.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Option 0: SOCKS, else CONNECT; 1: with user and password.
pub(crate) fn check(input: Input<'_>) {
    let proxy = match input.options & 3 {
        0 => "http://p:1",
        1 => "socks5h://p:1",
        2 => "http://u:pw@p:1",
        _ => "socks5h://u:pw@p:1",
    };
    let proxy = Proxy::parse(proxy).expect("a proxy");
    let target = HostPort { host: "a.test".to_owned(), port: 443 };
    let one_by_one = open_tunnel(&proxy, &target, input.bytes.chunks(1));
    let cut = open_tunnel(&proxy, &target, input.portions());
    // What a proxy sends before it is asked is an error, which single bytes can't show.
    if cut.outcome.is_ok() {
        assert_eq!(cut.outcome, one_by_one.outcome);
        assert_eq!(cut.sent, one_by_one.sent);
        assert_eq!(cut.bytes_left, one_by_one.bytes_left);
    }
    for TunnelEnd { outcome, sent, bytes_left } in [cut, one_by_one] {
        assert!(sent.len() < 200);
        assert!(outcome != Ok(false) || input.bytes.len() <= ANSWER_BYTES_MAX);
        assert!(bytes_left < input.bytes.len() || bytes_left == 0);
        if let Err(words) = outcome {
            assert!(words.contains("p:1") && words.contains("a.test:443"), "{words}");
            assert!(!words.contains("u:pw"), "{words}");
        }
    }
}
