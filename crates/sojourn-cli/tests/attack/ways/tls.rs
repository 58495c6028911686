//! Whom to trust, whom to be, and whether a session is taken up again.

use super::{answered, refused, tls_server::Authority};

/// Nobody was let in, for a reason of TLS.
fn is_refused(words: &[&str]) {
    for error in refused(words) {
        let lower = error.to_lowercase();
        assert!(["tls", "certificate", "x509"].iter().any(|word| lower.contains(word)), "{error}");
    }
}

#[test]
fn servers_are_trusted_by_the_roots_given_or_not_checked_at_all() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let server = ours.server(false);
    let (root, wrong, url) = (ours.root(), other.root(), server.url());
    is_refused(&[&url]);
    is_refused(&["-root-certs", &wrong, &url]);
    assert!(server.take().is_empty(), "a request came without trust");
    answered(&["-root-certs", &root, &url]);
    let both = format!("{wrong},{root}");
    answered(&["-root-certs", &both, &url]);
    answered(&["-insecure", &url]);
    assert!(server.take().len() >= 3);
    is_refused(&["-insecure=false", &url]);
}

fn words<'a>(root: &'a str, files: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [&["-root-certs", root][..], files, &[url]].concat()
}

#[test]
fn a_server_that_demands_a_certificate_is_shown_one() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let server = ours.server(true);
    let (root, url) = (ours.root(), server.url());
    let [certificate, key, both] = ours.client();
    for files in
        [&["-cert", certificate.as_str(), "-key", key.as_str()][..], &["-cert", both.as_str()]]
    {
        answered(&words(&root, files, &url));
        let handshakes = server.take();
        assert!(!handshakes.is_empty() && handshakes.iter().all(|it| it.shown), "{handshakes:?}");
    }
    let [_, _, strangers] = other.client();
    for files in [Vec::new(), vec!["-cert", strangers.as_str()]] {
        is_refused(&words(&root, &files, &url));
        assert!(server.take().is_empty());
    }
}

#[test]
fn sessions_are_taken_up_again_only_when_asked_for() {
    let authority = Authority::new("ours");
    let server = authority.server(false);
    let (root, url) = (authority.root(), server.url());
    let resumed = |flag: &str| {
        answered(&["-root-certs", &root, "-keepalive=false", flag, &url]);
        let handshakes = server.take();
        assert_eq!(handshakes.len(), 10, "{handshakes:?}");
        handshakes.iter().filter(|it| it.resumed).count()
    };
    assert_eq!(resumed("-session-tickets=false"), 0);
    // The first has nothing to take up; one that overlaps with it has not either, and on a busy
    // machine many may.
    let most = (0..5).map(|_| resumed("-session-tickets")).find(|count| *count >= 5);
    assert!(most.is_some());
}
