//! What channels become.

use serde_json::json;
use sojourn_plan::{
    Connector, Decoder, PostgresSource, PostgresTable, Secret, SqsSource, WebhookAnswer,
    WebhookFailures, WebhookSignature,
};

use crate::util::{complete, plan};

const S: u64 = 1_000_000_000;

#[test]
fn channels_of_every_kind() {
    let plan = plan(&complete(
        "\
channels:
  a: { kafka: { brokers: [\"a:1\", \"b:2\"], topics: t, properties: { sasl.password: x } },
       decoder: json }
  b: { webhook: { listen: \"127.0.0.1:9000\", path: /hooks/*, respond: 204 }, message_id: $.id }
  c: { webhook: }
journeys:
  j: { root: { http: GET / } }
",
    ));
    let Connector::Kafka(kafka) = &plan.channels[0].connector else {
        panic!("kafka");
    };
    assert_eq!(
        (kafka.brokers.as_str(), kafka.topics.as_slice()),
        ("a:1,b:2", &["t".to_owned()][..])
    );
    assert_eq!(plan.channels[0].decoder, Decoder::Json);
    let Connector::Webhook(hook) = &plan.channels[1].connector else {
        panic!("webhook");
    };
    assert_eq!((hook.path.as_str(), hook.respond.status), ("/hooks/*", 204));
    let Connector::Webhook(hook) = &plan.channels[2].connector else {
        panic!("webhook");
    };
    assert_eq!((hook.listen.as_str(), hook.path.as_str()), ("127.0.0.1:0", "/*"));
    assert_eq!(plan.warnings.len(), 3, "{:?}", plan.warnings);
    assert!(!plan.text.contains("sasl.password: x"));
}

#[test]
fn a_webhook_that_verifies_and_fails() {
    let plan = plan(&complete(
        "\
channels:
  a:
    webhook:
      signature: { standard: whsec_aHVudGVyMg== }
      respond: { status: 202, after: 200ms, fail: { share: 5%, deliveries: 2 } }
  b:
    webhook:
      signature: { hmac: { header: X-Hub-Signature-256, secret: hunter2, prefix: \"sha256=\" } }
journeys:
  j: { root: { http: GET / } }
",
    ));
    let webhook = |place: usize| match &plan.channels[place].connector {
        Connector::Webhook(webhook) => webhook,
        _ => panic!("a webhook"),
    };
    let fail = WebhookFailures { status: 503, share: 0.05, deliveries: Some(2) };
    let WebhookAnswer { status, after_ns, fail: fails, headers, json, cases } = &webhook(0).respond;
    assert_eq!((*status, *after_ns, fails.as_ref()), (202, S / 5, Some(&fail)));
    assert!(headers.is_empty() && json.is_none() && cases.is_empty());
    let secret = Secret::new("whsec_aHVudGVyMg==");
    let standard = WebhookSignature::Standard { secret, tolerance_ns: 300 * S };
    assert_eq!(webhook(0).signature, Some(standard));
    let hmac = WebhookSignature::Hmac {
        header: "X-Hub-Signature-256".to_owned(),
        prefix: "sha256=".to_owned(),
        secret: Secret::new("hunter2"),
        base64: false,
    };
    assert_eq!(webhook(1).signature, Some(hmac));
    for shown in [format!("{:?}", plan.channels), plan.text] {
        assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
    }
}

#[test]
fn a_webhook_that_answers_by_case() {
    let plan = plan(&complete(
        "\
channels:
  a:
    webhook:
      respond:
        headers: { X-Sdk: v1 }
        json: { done: true }
        cases:
          - { match: { $.step: a, $.n: { less: 3 } }, status: 206, json: [{ op: Next, id: b }] }
          - { match: { header.X-Ping: { present: true } }, json: null }
journeys:
  j: { root: { http: GET / } }
",
    ));
    let Connector::Webhook(webhook) = &plan.channels[0].connector else { panic!("a webhook") };
    let WebhookAnswer { status, headers, json, cases, .. } = &webhook.respond;
    assert_eq!(*headers, [("X-Sdk".to_owned(), "v1".to_owned())]);
    assert_eq!((*status, json.as_ref()), (200, Some(&json!({ "done": true }))));
    let shown = cases.iter().map(|case| (case.matches.len(), case.status, case.json.clone()));
    let next = json!([{ "op": "Next", "id": "b" }]);
    assert_eq!(shown.collect::<Vec<_>>(), [(2, 206, Some(next)), (1, 200, Some(json!(null)))]);
}

#[test]
fn a_postgres_channel_with_all_that_it_may_have() {
    let plan = plan(&complete(
        "\
channels:
  a: { postgres: { url: \"postgres+tls://u:hunter2@db/shop\", tls: { ca: ca.pem },
       table: { name: s.t, cursor: id, every: 20ms, gaps: 1m, key: k, headers: h, payload: p },
       outbox: { table: o, waiting: NOT sent, written: at } }, backlog: relay }
  b: { postgres: { url: \"postgresql://db\", table: { name: t, cursor: id } } }
journeys:
  j: { root: { http: GET / } }
",
    ));
    let Connector::Postgres(a) = &plan.channels[0].connector else { panic!("postgres") };
    assert_eq!((a.server.port, a.server.tls, a.server.path.as_str()), (5432, true, "shop"));
    let table = PostgresTable {
        name: "s.t".into(),
        cursor: "id".into(),
        every_ns: S / 50,
        gaps_ns: 60 * S,
        key: Some("k".into()),
        headers: Some("h".into()),
        payload: Some("p".into()),
    };
    assert_eq!(a.source, PostgresSource::Table(table));
    let outbox = a.outbox.as_ref().unwrap();
    assert_eq!((outbox.table.as_str(), outbox.waiting.as_deref()), ("o", Some("NOT sent")));
    assert_eq!(plan.channels[0].backlog, ["relay"]);
    assert!(!plan.text.contains("hunter2"));
    let Connector::Postgres(b) = &plan.channels[1].connector else { panic!("postgres") };
    let PostgresSource::Table(table) = &b.source else { panic!("table") };
    assert_eq!((table.every_ns, table.gaps_ns), (S / 20, 10 * S));
}

#[test]
fn an_amqp_channel_with_all_its_settings() {
    let plan = plan(&complete(
        "\
channels:
  a: { amqp: { url: \"amqps://load:hunter2@mq.example/%2Fshop\", exchange: orders,
       routing: [order.#, refund], management: \"http://watch:hunter3@mq.example:15672\",
       mandatory: false, tls: { name: mq } }, backlog: billing }
  b: { amqp: { url: \"amqp://mq.example\", exchange: \"Shop.Events:Paid\" } }
journeys:
  j: { root: { http: GET / } }
",
    ));
    let Connector::Amqp(amqp) = &plan.channels[0].connector else {
        panic!("amqp");
    };
    assert_eq!((amqp.server.address(), amqp.server.tls), ("mq.example:5671".to_owned(), true));
    assert_eq!((amqp.server.path.as_str(), amqp.mandatory), ("/shop", false));
    assert_eq!(amqp.server.trust.name.as_deref(), Some("mq"));
    assert_eq!(amqp.routing, ["order.#", "refund"]);
    assert_eq!(plan.channels[0].connector.usual_topic(), Some("refund"));
    let management = amqp.management.as_ref().unwrap();
    assert_eq!((management.port, management.user.as_deref()), (15672, Some("watch")));
    assert!(!format!("{plan:?}").contains("hunter"));
    assert!(!plan.text.contains("hunter"));
    let Connector::Amqp(amqp) = &plan.channels[1].connector else {
        panic!("amqp");
    };
    assert_eq!((amqp.server.port, amqp.server.path.as_str()), (5672, ""));
    assert_eq!((amqp.routing.as_slice(), amqp.mandatory), (&["#".to_owned()][..], true));
    assert_eq!(amqp.exchange, "Shop.Events:Paid");
}

#[test]
fn queues_and_topics_of_sqs() {
    let plan = plan(&complete(
        "\
channels:
  a: { sqs: { queue: tap, endpoint: \"http://127.0.0.1:9324\", discard: true,
              publish: [tap, work] } }
  b: { sqs: { topic: \"arn:aws:sns:eu-west-1:1:orders\", publish: work,
              credentials: { access_key_id: ID, secret_access_key: hunter2 } } }
journeys:
  j: { root: { http: GET / } }
",
    ));
    let sqs = |place: usize| match &plan.channels[place].connector {
        Connector::Sqs(sqs) => sqs.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(sqs(0).source, SqsSource::Queue("tap".to_owned()));
    assert_eq!((sqs(0).discard, sqs(0).publish), (true, vec!["tap".to_owned(), "work".to_owned()]));
    assert_eq!(plan.channels[1].connector.usual_topic(), Some("arn:aws:sns:eu-west-1:1:orders"));
    assert_eq!((sqs(1).discard, sqs(1).publish), (false, vec!["work".to_owned()]));
    assert_eq!(sqs(0).credentials, None);
    let credentials = sqs(1).credentials.unwrap();
    assert_eq!((credentials.id.as_str(), credentials.secret.reveal()), ("ID", "hunter2"));
    assert!(!format!("{plan:?}").contains("hunter2"));
}
