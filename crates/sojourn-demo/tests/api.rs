//! The API's answers.

use crate::support::{Client, json, quick};
use sojourn_demo::{Demo, TruthLog};

#[test]
fn answers_by_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let config = quick(folder.path());
    let truth_path = config.truth_path.clone().unwrap();
    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    let create = "/api/payment/create";
    let refused =
        [r#"{"amount": 0, "currency": "GBP"}"#, r#"{"amount": 5, "currency": "JPY"}"#, "{"];
    for body in refused {
        let (status, answer) = client.send("POST", create, body);
        assert_eq!(status, 400, "{answer}");
        assert!(json(&answer)["error"].is_string(), "{answer}");
    }
    for currency in ["GBP", "EUR", "USD"] {
        let body = format!(r#"{{"amount": 100000, "currency": "{currency}"}}"#);
        assert_eq!(client.send("POST", create, &body).0, 200);
    }
    assert_eq!(client.send("GET", "/", "").0, 200);
    let (status, health) = client.send("GET", "/health", "");
    assert_eq!((status, json(&health)["status"].as_str()), (200, Some("ok")));
    let (status, answer) = client.send("GET", "/api/payment/unknown/status", "");
    assert_eq!(status, 404);
    assert!(json(&answer)["error"].is_string());

    let counts = demo.stop().unwrap();
    assert_eq!((counts.accepted, counts.rejected), (3, 3));
    let truth = TruthLog::read(truth_path).unwrap();
    assert_eq!(truth.rejected[&400], 3);
    assert_eq!(truth.totals().accepted, 3);
}
