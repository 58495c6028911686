//! The test target's endpoints.

use std::io::Read;

use serde_json::json;
use sojourn_mock::{Mock, test_target};

use crate::client::{Client, options};

fn target() -> (Mock, Client) {
    let mock = Mock::start(test_target(1), &options()).unwrap();
    let client = Client::connect(mock.address());
    (mock, client)
}

#[test]
fn everything_else_is_echoed() {
    let (_mock, mut client) = target();
    let answer = client.post("/any/path?status=418&location=/there", "X-A: b\r\n", "hello");
    assert_eq!((answer.status, answer.header("location")), (418, Some("/there")));
    let text = answer.text();
    assert!(text.starts_with("POST /any/path?status=418&location=/there HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("X-A: b\r\n") && text.ends_with("\r\n\r\nhello"), "{text}");
    let long = client.post("/", "", &"x".repeat(10_001)).text();
    assert!(long.ends_with("\r\n\r\n"), "a long body is left out");
    assert_eq!(client.get("/ping?delay=7").timing()[0], 7.0);
}

#[test]
fn bytes_of_any_size_that_compression_does_not_shorten() {
    let (_mock, mut client) = target();
    for size in [0, 1, 65_535, 65_537, 3_000_000] {
        let answer = client.get(&format!("/respond-with/bytes?size={size}"));
        assert_eq!((answer.status, answer.body.len()), (200, size));
    }
    assert_eq!(client.get("/respond-with/bytes").body.len(), 0);
    let body = client.get("/respond-with/bytes?size=65536").body;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &body).unwrap();
    assert!(packed.finish().unwrap().len() > body.len());
    for bad in ["-1", "x", "99999999999"] {
        let answer = client.get(&format!("/respond-with/bytes?size={bad}"));
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text());
    }
}

#[test]
fn cookies_and_tokens() {
    let (_mock, mut client) = target();
    let answer = client.get("/cookie/set?cookie=basket");
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    let (pair, _) = cookie.split_once(';').unwrap();
    let value = pair.strip_prefix("basket=").unwrap();
    assert!(value.len() == 7 && value.bytes().all(|byte| byte.is_ascii_digit()), "{value}");
    client.send(&format!("GET /cookie/get?cookie=basket HTTP/1.1\r\ncookie: {pair}\r\n\r\n"));
    assert_eq!(client.answer().unwrap().text(), value);
    let answer = client.get("/cookie/get");
    assert_eq!((answer.status, answer.text().as_str()), (403, "cookie required\n"));
    assert!(client.get("/cookie/set").header("set-cookie").unwrap().starts_with("sessionid="));
    let named = client.post("/cookie/set", "", "cookie=from-form");
    assert!(named.header("set-cookie").unwrap().starts_with("from-form="));
    assert_eq!(client.get("/cookie/set?cookie=a%0d%0ab").status, 400);

    let tokens: Vec<String> = (0..200)
        .map(|_| client.get("/random/get_token").json()["token"].as_str().unwrap().to_owned())
        .collect();
    assert!(tokens.iter().all(|token| token.len() == 12));
    let mut distinct = tokens.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), tokens.len());
    // Each of 36 letters is as likely: chi-squared with 35 degrees of freedom exceeds 66.6 once in
    // a thousand.
    let letters = tokens.concat();
    let expected = letters.len() as f64 / 36.0;
    let alphabet = "abcdefghijklmnopqrstuvwxyz0123456789".chars();
    let chi: f64 = alphabet
        .map(|letter| letters.matches(letter).count() as f64 - expected)
        .map(|off| off * off / expected)
        .sum();
    assert!(chi < 66.6, "{chi}");
}

#[test]
fn data_files_and_the_shop() {
    let (_mock, mut client) = target();
    for (path, content_type) in [
        ("/data/test.json", "application/json"),
        ("/data/test_array.json", "application/json"),
        ("/data/test.xml", "application/xml"),
        ("/data/test.html", "text/html; charset=utf-8"),
        ("/data/register.json", "application/json"),
        ("/data/token.json", "application/json"),
        ("/data/search.json", "application/json"),
        ("/data/error_bad_request.json", "application/json"),
    ] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(content_type)));
        if content_type == "application/json" {
            answer.json();
        }
    }
    assert_eq!(client.get("/demo/search?delay=1").status, 200, "a delay is no search");
    let refused = client.get("/demo/search?q=tea");
    assert_eq!((refused.status, refused.json()), (400, json!({"error": "bad request"})));
    // One call in twenty takes 250 to 350 ms; by the same seed always the same ones.
    let held: Vec<f64> = (0..60).map(|_| client.get("/demo/login").timing()[0]).collect();
    assert!(held.iter().all(|ms| *ms == 0.0 || (250.0..=350.0).contains(ms)), "{held:?}");
    let slow = held.iter().filter(|ms| **ms > 0.0).count();
    assert!((1..=9).contains(&slow), "{slow} of 60, 3 expected");
    assert!(client.get("/demo/register").json()["authorization"]["token"].is_string());
}

#[test]
fn answers_are_compressed_for_those_who_ask() {
    let (_mock, mut client) = target();
    let plain = client.get("/data/search.json").body;
    for (coding, accepted) in [("gzip", "gzip, br"), ("deflate", "deflate")] {
        client.send(&format!(
            "GET /data/search.json HTTP/1.1\r\naccept-encoding: {accepted}\r\n\r\n"
        ));
        let answer = client.answer().unwrap();
        assert_eq!(answer.header("content-encoding"), Some(coding));
        let mut body = Vec::new();
        match coding {
            "gzip" => flate2::read::GzDecoder::new(&*answer.body).read_to_end(&mut body),
            _ => flate2::read::ZlibDecoder::new(&*answer.body).read_to_end(&mut body),
        }
        .unwrap();
        assert_eq!(body, plain);
    }
}

#[test]
fn no_answer_at_all() {
    let (_mock, mut client) = target();
    client.send("GET /do-not-respond HTTP/1.1\r\n\r\n");
    assert!(matches!(client.rest(), (bytes, Ok(())) if bytes.is_empty()));
    let (_mock, mut client) = target();
    assert_eq!(client.get("/cmd/shutdown?code=1").status, 403);
    let answer = client.get("/x509/inspect");
    assert_eq!((answer.status, answer.json()), (400, json!({"error": "not a TLS connection"})));
}
