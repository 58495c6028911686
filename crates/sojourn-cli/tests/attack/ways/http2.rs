//! HTTP/2: agreed on by ALPN or known before, its streams, and the ways it has in common with
//! HTTP/1.1.

use std::collections::BTreeSet;

use hyper::Version;

use super::{
    answered,
    http2_server::{Seen, h2c, h2c_at, over_tls},
    text,
    tls_server::Authority,
};
use crate::attack::attack;

fn connections(seen: &[Seen]) -> usize {
    seen.iter().map(|it| it.connection).collect::<BTreeSet<_>>().len()
}

#[test]
fn it_is_spoken_where_alpn_offers_it_unless_it_is_refused() {
    let authority = Authority::new("ours");
    let (address, log) = over_tls(authority.config(false));
    let (root, url) = (authority.root(), format!("https://{address}/"));
    for (flag, version) in [("-http2", Version::HTTP_2), ("-http2=false", Version::HTTP_11)] {
        answered(&["-root-certs", &root, flag, &url]);
        let seen = log.take();
        assert_eq!(seen.len(), 10);
        assert!(seen.iter().all(|it| it.version == version), "{flag}: {seen:?}");
    }
}

/// A hundred requests in half a second, of which ten at a time are held.
#[test]
fn no_more_streams_than_allowed_share_a_connection() {
    let (address, log) = h2c();
    let url = format!("http://{address}/");
    let of = |more: &[&str]| {
        let words = ["-rate", "200", "-duration", "500ms", "-h2c", &url];
        let hits = attack(&[&words[..], more].concat(), "").hits();
        assert!(hits.iter().all(|hit| hit.code == 200), "{hits:?}");
        let seen = log.take();
        assert_eq!((hits.len(), seen.len()), (100, 100));
        let most = seen.iter().map(|it| it.together).max().unwrap();
        (connections(&seen), most)
    };
    let one_thread = ["-threads", "1"];
    let (count, most) = of(&one_thread);
    assert_eq!(count, 1, "a hundred streams have room on one");
    assert!(most > 3, "{most} at once");
    let (count, most) = of(&[&one_thread[..], &["-streams", "3"]].concat());
    assert!(count > 1, "three streams do not carry them");
    assert_eq!(most, 3);
    // And where there may be no further connection, requests wait for a stream.
    let bounds = ["-streams", "3", "-max-connections", "2"];
    assert_eq!(of(&[&one_thread[..], &bounds].concat()), (2, 3));
}

#[test]
fn it_goes_over_a_unix_socket() {
    let folder = sojourn_testkit::temp_dir().unwrap();
    let path = folder.path().join("socket");
    let log = h2c_at(&path);
    let path = path.display().to_string();
    answered(&["-h2c", "-unix-socket", &path, "http://nowhere.example/"]);
    let seen = log.take();
    assert_eq!(seen.len(), 10);
    assert!(seen.iter().all(|it| it.host == "nowhere.example"), "{seen:?}");
}

/// Streams end by themselves: neither a length nor HTTP/1.1's encoding is said.
#[test]
fn a_chunked_body_is_one_without_a_length() {
    let (address, log) = h2c();
    let folder = sojourn_testkit::temp_dir().unwrap();
    let file = folder.path().join("body");
    std::fs::write(&file, "x".repeat(40_000)).unwrap();
    let (file, url) = (file.display().to_string(), format!("POST http://{address}/"));
    for (more, length) in [(vec!["-chunked"], None), (vec![], Some("40000"))] {
        let words = ["-rate", "20", "-duration", "500ms", "-h2c", "-body", &file];
        let hits = attack(&[&words[..], &more].concat(), &url).hits();
        assert_eq!(hits.len(), 10);
        for hit in &hits {
            assert_eq!((hit.code, text(hit).len()), (200, 40_000), "{}", hit.error);
        }
        for it in log.take() {
            assert_eq!(it.body.len(), 40_000);
            let said = it.headers.get("content-length").map(|it| it.to_str().unwrap());
            assert_eq!(said, length);
            assert!(!it.headers.contains_key("transfer-encoding"), "{it:?}");
        }
    }
}
