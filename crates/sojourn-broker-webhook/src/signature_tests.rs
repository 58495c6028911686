//! Signatures against published examples, and against everything that is not quite one.

use sojourn_plan::Secret;

use super::*;

/// The example of the Standard Webhooks specification's libraries.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const TIMESTAMP: u64 = 1_614_265_330;
const BODY: &[u8] = br#"{"test": 2432232314}"#;
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn standard_headers(signature: &str) -> [(&'static str, String); 3] {
    [
        ("webhook-id", ID.to_owned()),
        ("webhook-timestamp", TIMESTAMP.to_string()),
        ("webhook-signature", signature.to_owned()),
    ]
}

fn standard() -> Verifier {
    let secret = Secret::new(SECRET);
    let tolerance_ns = 300 * SECOND_NS;
    Verifier::new(&WebhookSignature::Standard { secret, tolerance_ns }).unwrap()
}

fn hmac(secret: &str, prefix: &str, base64: bool) -> Verifier {
    Verifier::new(&WebhookSignature::Hmac {
        header: "X-Hub-Signature-256".to_owned(),
        prefix: prefix.to_owned(),
        secret: Secret::new(secret),
        base64,
    })
    .unwrap()
}

#[test]
fn the_published_example_of_standard_webhooks() {
    let verifier = standard();
    let at_ns = TIMESTAMP * SECOND_NS;
    let verify = |signature: &str, body: &[u8], unix_ns| {
        verifier.verify(&headers(&standard_headers(signature)), body, unix_ns)
    };
    assert_eq!(verify(SIGNATURE, BODY, at_ns), Ok(()));
    // Keys are changed by signing with both for a while.
    let both = format!("v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,x {SIGNATURE}");
    assert_eq!(verify(&both, BODY, at_ns), Ok(()));
    for at_ns in [at_ns - 300 * SECOND_NS, at_ns + 300 * SECOND_NS] {
        assert_eq!(verify(SIGNATURE, BODY, at_ns), Ok(()));
    }
    let late = Err("the timestamp is too far from this machine's time");
    assert_eq!(verify(SIGNATURE, BODY, at_ns + 300 * SECOND_NS + 1), late);
    assert_eq!(verify(SIGNATURE, BODY, at_ns - 300 * SECOND_NS - 1), late);
    let wrong = Err("the signature is wrong");
    assert_eq!(verify(SIGNATURE, b"{}", at_ns), wrong);
    assert_eq!(verify("", BODY, at_ns), wrong);
    assert_eq!(verify(&SIGNATURE.replace("v1", "v2"), BODY, at_ns), wrong);
    let many = "v1,AAAA ".repeat(SIGNATURES_MAX) + SIGNATURE;
    assert_eq!(verify(&many, BODY, at_ns), wrong, "a bounded number is looked at");
}

#[test]
fn a_header_missing_or_given_twice_is_refused() {
    let verifier = standard();
    let whole = standard_headers(SIGNATURE);
    for gone in 0..3 {
        let mut some = whole.to_vec();
        some.remove(gone);
        let result = verifier.verify(&headers(&some), BODY, TIMESTAMP * SECOND_NS);
        assert_eq!(result, Err("a header of the signature is missing"));
        let mut twice = headers(&whole);
        twice.append(whole[gone].0, whole[gone].1.parse().unwrap());
        assert!(verifier.verify(&twice, BODY, TIMESTAMP * SECOND_NS).is_err());
    }
    for absurd in ["", "-1", "1e9", "99999999999999999999", "18446744073709551615"] {
        let mut given = headers(&whole);
        given.insert("webhook-timestamp", absurd.parse().unwrap());
        assert!(verifier.verify(&given, BODY, TIMESTAMP * SECOND_NS).is_err(), "{absurd}");
    }
}

/// GitHub's documented example.
#[test]
fn the_published_example_of_github() {
    let verifier = hmac("It's a Secret to Everybody", "sha256=", false);
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let verify = |signature: &str, body: &[u8]| {
        verifier.verify(&headers(&[("x-hub-signature-256", signature.to_owned())]), body, 0)
    };
    assert_eq!(verify(signature, b"Hello, World!"), Ok(()));
    assert_eq!(verify(signature, b"Hello, World?"), Err("the signature is wrong"));
    assert_eq!(verify(&signature[7..], b"Hello, World!"), Err("the signature lacks its prefix"));
    // Cut at every byte, and every character changed.
    for at in 0..signature.len() {
        assert!(verify(&signature[..at], b"Hello, World!").is_err(), "cut at {at}");
        let mut changed = signature.to_owned().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(changed).unwrap();
        assert!(verify(&changed, b"Hello, World!").is_err(), "changed at {at}");
    }
    assert!(verify(&format!("{signature}00"), b"Hello, World!").is_err());
    assert!(verifier.verify(&HeaderMap::new(), b"Hello, World!", 0).is_err());
}

#[test]
fn base64_and_a_secret_that_is_never_shown() {
    let verifier = hmac("It's a Secret to Everybody", "", true);
    let signature = "dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=";
    let given = headers(&[("x-hub-signature-256", signature.to_owned())]);
    assert_eq!(verifier.verify(&given, b"Hello, World!", 0), Ok(()));
    assert!(!format!("{verifier:?}").contains("Secret"));
    let wrong = WebhookSignature::Standard { secret: Secret::new("whsec_!"), tolerance_ns: 1 };
    assert!(!Verifier::new(&wrong).unwrap_err().to_string().contains("whsec_!"));
}
