//! Tokens that let a script in: of Azure, by a real broker that reads them; of AWS, as a broker is
//! shown them.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sojourn_clock::{Anchor, SECOND_NS};
use sojourn_testkit::services::Kafka;

use super::{kept, play_in};
use crate::mock::Mocked;

/// A token without a signature, as the test's broker takes them.
fn jwt(subject: &str, seconds: u64) -> String {
    let now = Anchor::now().unix_ns / SECOND_NS;
    let head = URL_SAFE_NO_PAD.encode(json!({ "alg": "none" }).to_string());
    let claims = json!({ "sub": subject, "iat": now, "exp": now + seconds });
    format!("{head}.{}.", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

#[test]
fn a_token_of_entra_lets_in() {
    let kafka = Kafka::shared().unwrap();
    let answer =
        json!({ "token_type": "Bearer", "access_token": jwt("load", 600), "expires_in": 600 });
    let wrong = json!({ "error": "invalid_client", "error_description": "AADSTS7000215: hunter2" });
    let routes = json!({ "routes": [
        { "route": "POST /tenant/oauth2/v2.0/token", "json": answer },
        { "route": "*", "status": 401, "json": wrong },
    ] });
    let entra = Mocked::start(&[("entra.yaml", &routes.to_string())], &["entra.yaml"]);
    let authority = format!("http://{}/", entra.address);
    let brokers = kafka.bootstrap_with_token();
    let play = |tenant: &str, topic: &str| {
        let environment = [
            ("AZURE_AUTHORITY_HOST", authority.as_str()),
            ("AZURE_TENANT_ID", tenant),
            ("AZURE_CLIENT_ID", "client"),
            ("AZURE_CLIENT_SECRET", "hunter2"),
        ];
        play_in(&environment, "tokens.js", &[("BROKERS", &brokers), ("TOPIC", topic)])
    };
    let played = play("tenant", "k6.entra").passed();
    assert_eq!(played.count("kafka_reader_message_count"), 10.0);
    assert_eq!(kept(&kafka.bootstrap(), "k6.entra", 0).len(), 10);
    let refused = play("nobody", "k6.entra");
    let said = &refused.output.stderr;
    assert!(said.contains("no token: the receiver answers 401"), "{}", refused.output);
    assert!(said.contains("AADSTS7000215: ***") && !said.contains("hunter2"), "{said}");
}

/// Stands before a broker and keeps what clients send.
fn listen_in(broker: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&heard);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(broker).unwrap());
            let (mut answers, mut back) =
                (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                std::io::copy(&mut answers, &mut back).ok();
                back.shutdown(Shutdown::Both).ok();
            });
            let heard = Arc::clone(&all);
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while let Ok(length @ 1..) = client.read(&mut bytes) {
                    heard.lock().unwrap().extend_from_slice(&bytes[..length]);
                    if server.write_all(&bytes[..length]).is_err() {
                        break;
                    }
                }
                server.shutdown(Shutdown::Both).ok();
            });
        }
    });
    (address, heard)
}

#[test]
fn a_broker_is_shown_a_url_that_aws_would_know() {
    let kafka = Kafka::shared().unwrap();
    let (address, heard) = listen_in(kafka.bootstrap_with_token().parse().unwrap());
    let environment = [
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("AWS_SESSION_TOKEN", "a session"),
    ];
    let brokers = address.to_string();
    let played = play_in(&environment, "token_of_aws.js", &[("BROKERS", &brokers)]).passed();
    assert_eq!(played.of("checks", "fails"), 0.0, "{}", played.output);
    let heard = heard.lock().unwrap();
    let heard = String::from_utf8_lossy(&heard);
    // As RFC 7628 has it: fields end with byte 1.
    let (_, token) = heard.split_once("n,,\x01auth=Bearer ").expect("a token");
    let (token, _) = token.split_once('\x01').expect("its end");
    let url = String::from_utf8(URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap();
    let begin = "https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster%3AConnect\
                 &X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F";
    assert!(url.starts_with(begin), "{url}");
    for part in [
        "%2Feu-west-1%2Fkafka-cluster%2Faws4_request&X-Amz-Date=",
        "&X-Amz-Expires=900&X-Amz-Security-Token=a%20session&X-Amz-SignedHeaders=host&X-Amz-Sig",
        "&User-Agent=sojourn%2F",
    ] {
        assert!(url.contains(part), "{part}: {url}");
    }
    assert!(!heard.contains("hunter2") && !url.contains("hunter2"));
}
