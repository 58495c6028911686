//! Passwords, tokens, keys, credentials, TLS.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sojourn_broker::Tap as _;
use sojourn_broker_nats::NatsTap;
use sojourn_plan::{NatsChannel, Tls};
use sojourn_services::{Nats, NatsOptions, PASSWORD, Service as _, USER};

use crate::support::{channel, open_error, opened, outcomes, publisher, with_login};

fn check_refused(channel: &NatsChannel, says: &str) {
    let error = open_error(channel);
    let text = format!("{error} | {}", error.hint.as_deref().unwrap_or_default());
    assert!(text.contains("Authorization Violation") && text.contains(says), "{text}");
    assert!(!format!("{error:?}").contains("wrong-one"), "{error:?}");
}

#[test]
fn passwords() {
    let options = NatsOptions { password: true, tls: false };
    let nats = Nats::start_with(options).unwrap();
    let open = channel(nats.port(), &["a"], None);
    opened(&with_login(open.clone(), USER, PASSWORD));
    check_refused(&with_login(open.clone(), USER, "wrong-one"), "check user, password");
    check_refused(&open, "it asks for a login");
    // A publisher says so too.
    use sojourn_broker::Publisher as _;
    let mut publisher = publisher(&with_login(open, USER, "wrong-one"));
    publisher.try_publish(1, "a", None, &[], b"x").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[0].error.as_deref(), Some("login refused"));
}

#[test]
fn a_token() {
    let lines = "authorization { token: \"s3cr3t\" }";
    let nats = Nats::start_configured(NatsOptions::default(), lines).unwrap();
    let mut with_token = channel(nats.port(), &["a"], None);
    with_token.server.user = Some("s3cr3t".to_owned());
    opened(&with_token);
    with_token.server.user = Some("wrong-one".to_owned());
    check_refused(&with_token, "token");
}

#[test]
fn tls_right_and_wrong() {
    let options = NatsOptions { password: true, tls: true };
    let nats = Nats::start_with(options).unwrap();
    let mut secure = with_login(channel(nats.port(), &["a"], None), USER, PASSWORD);
    secure.server.tls = true;
    let trusting = Tls { ca: nats.ca_file(), ..Tls::default() };
    secure.server.trust = trusting.clone();
    let mut tap = opened(&secure);
    let mut publisher = publisher(&secure);
    use sojourn_broker::Publisher as _;
    let big = vec![b'x'; 900_000];
    for token in 0..20 {
        publisher.try_publish(token, "a", None, &[], &big).unwrap();
    }
    assert!(outcomes(&mut publisher, 20).iter().all(|outcome| outcome.error.is_none()));
    let mut keeper = crate::support::Keeper::default();
    crate::support::poll_for(&mut tap, &mut keeper, 20);
    assert!(keeper.0.iter().all(|kept| kept.payload == big));
    let check = |trust: Tls, says: &[&str]| {
        let mut other = secure.clone();
        other.server.trust = trust;
        let error = open_error(&other);
        let text = format!("{error} | {}", error.hint.as_deref().unwrap_or_default());
        assert!(says.iter().all(|words| text.contains(words)), "{text}");
    };
    check(Tls::default(), &["TLS", "nobody we trust", "ca: FILE"]);
    let other_name = Tls { name: Some("elsewhere.test".to_owned()), ..trusting };
    check(other_name, &["TLS", "not for `elsewhere.test`", "name:"]);
    check(Tls { ca: Some("/no/such/ca.pem".into()), ..Tls::default() }, &["/no/such/ca.pem"]);
    secure.server.trust = Tls { insecure: true, ..Tls::default() };
    opened(&secure);
    // Without TLS, or with TLS where there is none.
    let mut plain = secure.clone();
    plain.server.tls = false;
    assert!(open_error(&plain).hint.unwrap().contains("tls://"));
    let open = Nats::start().unwrap();
    let mut asks = secure.clone();
    asks.server.port = open.port();
    assert!(open_error(&asks).hint.unwrap().contains("nats://"));
}

#[test]
fn a_key_alone_and_credentials() {
    let user = Key::new(b'U', 1);
    let lines = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", user.public);
    let nats = Nats::start_configured(NatsOptions::default(), &lines).unwrap();
    check_file(&nats, &user.seed, true);
    check_file(&nats, &Key::new(b'U', 2).seed, false);

    let (operator, account, system) = (Key::new(b'O', 3), Key::new(b'A', 4), Key::new(b'A', 5));
    let limits = json!({ "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
        "wildcards": true, "conn": -1, "leaf": -1 });
    let of_account = json!({ "type": "account", "version": 2, "limits": limits });
    let statement = |key: &Key| operator.signed(&key.public, &of_account);
    let of_operator = json!({ "type": "operator", "version": 2 });
    let lines = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\n\
         resolver_preload: {{ {}: {}, {}: {} }}",
        operator.signed(&operator.public, &of_operator),
        system.public,
        account.public,
        statement(&account),
        system.public,
        statement(&system),
    );
    let nats = Nats::start_configured(NatsOptions::default(), &lines).unwrap();
    let of_user = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
    let credentials = |signer: &Key| {
        format!(
            "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            signer.signed(&user.public, &of_user),
            user.seed
        )
    };
    check_file(&nats, &credentials(&account), true);
    check_file(&nats, &credentials(&Key::new(b'A', 6)), false);
    let mut missing = channel(nats.port(), &["a"], None);
    missing.credentials = Some("/no/such/file.creds".into());
    let error = NatsTap::new(&missing).unwrap_err();
    assert!(error.message.contains("/no/such/file.creds"), "{error}");
}

fn check_file(nats: &Nats, text: &str, good: bool) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut with_file = channel(nats.port(), &["a"], None);
    with_file.credentials = Some(file.path().to_owned());
    match (NatsTap::new(&with_file).unwrap().open(), good) {
        (Ok(_), true) => {}
        (Err(error), false) => assert!(error.message.contains("Authorization"), "{error}"),
        (outcome, _) => panic!("{outcome:?}, good: {good}"),
    }
}

/// A key pair as NATS writes it.
struct Key {
    pair: Ed25519KeyPair,
    public: String,
    seed: String,
}

impl Key {
    /// `kind`: `O`perator, `A`ccount or `U`ser.
    fn new(kind: u8, number: u8) -> Self {
        let kind = kind - b'A';
        let secret = [number; 32];
        let pair = Ed25519KeyPair::from_seed_unchecked(&secret).unwrap();
        let public = written(&[kind << 3], pair.public_key().as_ref());
        let seed = written(&[18 << 3 | kind >> 2, kind << 6], &secret);
        // The prefix of a seed is ten bits, so the kind's five straddle two bytes.
        let seed = if kind >> 2 == kind << 3 >> 5 { seed } else { unreachable!() };
        Self { pair, public, seed }
    }

    fn signed(&self, subject: &str, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = part(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
        let body = part(&json!({
            "jti": "j", "iat": 1_700_000_000, "iss": self.public, "name": "n", "sub": subject,
            "nats": claims,
        }));
        let text = format!("{head}.{body}");
        let signature = URL_SAFE_NO_PAD.encode(self.pair.sign(text.as_bytes()));
        format!("{text}.{signature}")
    }
}

/// Prefix, bytes and checksum in base32, by way of one long number in binary.
fn written(prefix: &[u8], bytes: &[u8]) -> String {
    let mut all = [prefix, bytes].concat();
    let mut crc = 0_u16;
    for byte in &all {
        for bit in (0..8).rev() {
            let carry = (crc >> 15) ^ u16::from(byte >> bit & 1);
            crc <<= 1;
            if carry == 1 {
                crc ^= 0x1021;
            }
        }
    }
    all.extend_from_slice(&crc.to_le_bytes());
    let mut bits: String = all.iter().map(|byte| format!("{byte:08b}")).collect();
    while !bits.len().is_multiple_of(5) {
        bits.push('0');
    }
    let letters: Vec<char> = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".chars().collect();
    let digits = bits.as_bytes().chunks(5);
    digits
        .map(|five| letters[usize::from_str_radix(std::str::from_utf8(five).unwrap(), 2).unwrap()])
        .collect()
}
