//! Webhooks that follow an answer.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sojourn_clock::MILLISECOND_NS;
use sojourn_mock::{Message, Reply, Request, Responder, Server, ServerConfig};

use crate::client::{Client, mock, until};

/// What a receiver was sent: when, where, which header, what.
#[derive(Clone, Debug)]
struct Hook {
    at_ns: u64,
    path: String,
    signature: String,
    body: Value,
}

struct Receiver(Arc<Mutex<Vec<Hook>>>, u16);

impl Responder for Receiver {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        10_000
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let signature = request.header("x-signature").unwrap_or_default();
        self.0.lock().unwrap().push(Hook {
            at_ns: request.arrival_ns,
            path: request.path.to_owned(),
            signature: String::from_utf8_lossy(signature).into_owned(),
            body: serde_json::from_slice(request.body).unwrap_or_default(),
        });
        Reply::message(Rc::new(Message::text(self.1, "text/plain", b"")))
    }
}

fn receiver(status: u16) -> (Server, Arc<Mutex<Vec<Hook>>>) {
    let hooks = Arc::new(Mutex::new(Vec::new()));
    let own = hooks.clone();
    let make = move || Receiver(own, status);
    (Server::start(&ServerConfig::default(), vec![make]).unwrap(), hooks)
}

fn metric(client: &mut Client, name: &str) -> u64 {
    let text = client.get("/_sojourn/metrics").text();
    let prefix = format!("sojourn_mock_{name} ");
    text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
}

#[test]
fn each_answer_is_followed_by_its_webhook_in_time() {
    let (receiver, hooks) = receiver(204);
    let mock = mock(&format!(
        "
routes:
  - route: POST /payments/{{id}}
    status: 202
    latency: 10ms
    callbacks:
      - after: 40ms
        http:
          url: {}/hooks/{{{{ path.id }}}}
          headers: {{ x-signature: 's-{{{{ header.x-tenant }}}}' }}
          json: {{ payment: '{{{{ path.id }}}}', amount: '{{{{ number(body.amount) }}}}' }}
",
        receiver.url("")
    ));
    let mut client = Client::connect(mock.address());
    let mut sent_ns = Vec::new();
    for number in 0..20 {
        let body = json!({ "amount": number }).to_string();
        sent_ns.push(sojourn_clock::now_ns());
        let answer = client.post(&format!("/payments/p{number}"), "x-tenant: t\r\n", &body);
        assert_eq!(answer.status, 202);
    }
    until("all have come", || hooks.lock().unwrap().len() == 20);
    let mut hooks = hooks.lock().unwrap().clone();
    hooks.sort_by_key(|hook| hook.body["amount"].as_u64());
    for (number, (hook, sent_ns)) in hooks.iter().zip(&sent_ns).enumerate() {
        assert_eq!(hook.path, format!("/hooks/p{number}"));
        assert_eq!(hook.signature, "s-t");
        assert_eq!(hook.body, json!({ "payment": format!("p{number}"), "amount": number }));
        // 40 ms after the answer was due, which was 10 ms after the request had come.
        assert!(hook.at_ns >= sent_ns + 50 * MILLISECOND_NS, "{number} came early");
    }
    until("all are done", || metric(&mut client, "callbacks_done_total") == 20);
    assert_eq!(metric(&mut client, "callbacks_total"), 20);
    assert_eq!(metric(&mut client, "callbacks_failed_total"), 0);
}

#[test]
fn a_share_of_callbacks_and_those_that_fail() {
    let (receiver, hooks) = receiver(500);
    let mock = mock(&format!(
        "
seed: 3
routes:
  - route: /half
    callbacks: [{{ share: 50%, http: {{ url: '{}/x', method: PUT }} }}]
",
        receiver.url("")
    ));
    let mut client = Client::connect(mock.address());
    for _ in 0..400 {
        client.get("/half");
    }
    until("all are decided", || {
        let accepted = metric(&mut client, "callbacks_total");
        accepted > 0 && metric(&mut client, "callbacks_failed_total") == accepted
    });
    let count = hooks.lock().unwrap().len();
    // Binomial: four deviations of √(400/4).
    assert!(count.abs_diff(200) < 40, "{count}");
    assert_eq!(metric(&mut client, "callbacks_total"), count as u64);
}

#[test]
fn a_broker_that_this_build_lacks_is_a_failed_callback() {
    let mock = mock(
        "
routes:
  - route: /event
    callbacks: [{ kafka: { brokers: '127.0.0.1:9', topic: t, key: k, json: {} } }]
",
    );
    let mut client = Client::connect(mock.address());
    assert_eq!(client.get("/event").status, 200);
    until("it has failed", || metric(&mut client, "callbacks_failed_total") == 1);
}
