//! What files become.

use sojourn_plan::{
    AvroSchema, Decoder, Expect, HttpAction, KeyRule, Overrides, Plan, ProtobufSchema,
    RenderContext, RetryOn, Secret, Selector, StageKind, StageSource, Step, Teller, Template, Test,
    read,
};

use crate::util::{complete, memory, plan};

const S: u64 = 1_000_000_000;

fn http(step: &Step) -> &HttpAction {
    step.action.http().unwrap()
}

/// Renders with the key `k1` and every variable set to its own name.
fn render(plan: &Plan, template: &Template, k: u64) -> String {
    let variables: Vec<_> =
        plan.variables.iter().map(|name| Some(format!("<{name}>").into_boxed_str())).collect();
    let context = RenderContext {
        seed: plan.seed,
        k,
        run_id: "run-1",
        key: "k1",
        variables: &variables,
        own: &[],
        data: &plan.data,
    };
    let mut out = Vec::new();
    template.render(&context, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn root_plan(root: &str) -> (Plan, HttpAction) {
    let text =
        format!("data: {{ users: {{ csv: users.csv }} }}\njourneys:\n  a:\n    root:\n{root}");
    let plan = plan(&complete(&text));
    let http = http(&plan.journeys[0].steps[0]).clone();
    (plan, http)
}

#[test]
fn urls_join_the_target_and_encode_what_they_must() {
    for (target, url, expected) in [
        ("http://h:1", "/a b?q=ä&r={{ row.name }}#f", "/a%20b?q=%C3%A4&r=Ann"),
        ("http://h:1/api/", "things", "/api/things"),
        ("http://h:1/api", "/things", "/api/things"),
        ("http://h:1/api", "?q=1", "/api?q=1"),
        ("http://h:1", "?q=1", "/?q=1"),
        ("http://h:1", "http://other:2/x?u=http://y/", "/x?u=http://y/"),
        ("http://h:1", "https://other", "/"),
    ] {
        let (plan, http) =
            root_plan(&format!("      http: {{ url: \"{url}\" }}\ntarget: {target}\n"));
        assert_eq!(render(&plan, &http.path, 0), expected, "{url}");
        let is_other = url.starts_with("http");
        assert_eq!(http.host, if is_other { "other" } else { "h" });
    }
}

#[test]
fn requests_have_their_defaults() {
    let (_, http) = root_plan("      http: /x\n");
    assert_eq!((http.method.as_str(), http.tls, http.port), ("GET", false, 8080));
    assert_eq!((http.timeout_ns, http.redirects_max, http.body_max), (10 * S, 0, 10_000_000));
    assert!(http.body.is_none() && http.headers.is_empty());
    let (_, http) = root_plan("      http: { url: /x, json: null }\n");
    assert_eq!(http.method, "POST");
    assert_eq!(http.headers[0].0, "Content-Type");
    let (_, http) = root_plan(
        "      http: { url: /x, method: put, json: 1, headers: { content-type: text/x } }\n",
    );
    assert_eq!((http.method.as_str(), http.headers.len()), ("PUT", 1));
}

#[test]
fn bodies_of_every_form() {
    let (plan, http) = root_plan(
        r#"      http:
        url: /x
        json:
          n: "{{ int(5, 5) }}"
          seq: '{{ seq(10) }}'
          pick: "{{ pick(2) }}"
          word: "{{ pick('2') }}"
          both: "a{{ int(5, 5) }}"
          name: '{{ row.users.name }}'
          age: "{{ number(row.users.age) }}"
          run: "\"{{ run_id }}"
          list: [1, 1.50, true, null, "1", {}]
          "k\"": "{{ '{{' }}"
"#,
    );
    let body = http.body.unwrap();
    let expected = |name: &str, age: &str, seq: u64| {
        format!(
            "{{\"n\":5,\"seq\":{seq},\"pick\":2,\"word\":\"2\",\"both\":\"a5\",\"name\":{name},\
             \"age\":{age},\"run\":\"\\\"run-1\",\"list\":[1,1.5,true,null,\"1\",{{}}],\
             \"k\\\"\":\"{{{{\"}}"
        )
    };
    assert_eq!(render(&plan, &body, 0), expected("\"Ann\"", "30", 10));
    let second = render(&plan, &body, 1);
    assert_eq!(second, expected("\"Bob \\\"B\\\"\"", "\"x\"", 11));
    assert!(serde_json::from_str::<serde_json::Value>(&second).is_ok());

    let (plan, http) =
        root_plan("      http: { url: /x, form: { \"a b\": \"c&d\", n: \"={{ row.name }}\" } }\n");
    assert_eq!(render(&plan, &http.body.unwrap(), 1), "a%20b=c%26d&n=%3DBob%20%22B%22");
    assert_eq!(render(&plan, &http.headers[0].1, 0), "application/x-www-form-urlencoded");

    let (plan, http) = root_plan("      http: { url: /x, body: { file: body.xml } }\n");
    let body = render(&plan, &http.body.unwrap(), 1);
    assert!(body.starts_with("<id>") && body.len() == 4 + 36 + 5, "{body}");
    assert!(http.headers.is_empty());
}

#[test]
fn every_hole_has_a_stream_of_its_own_that_does_not_move() {
    let text = "      http: { url: \"/{{ int(0, 1000000) }}/{{ int(0, 1000000) }}\" }\n";
    let (plan, http) = root_plan(text);
    let path = render(&plan, &http.path, 7);
    let [left, right] = path[1..].split('/').collect::<Vec<_>>()[..] else {
        panic!("{path}");
    };
    assert_ne!(left, right);
    let (again, http) = root_plan(&format!("{text}# a comment\nname: other\n"));
    assert_eq!(render(&again, &http.path, 7), path);
    let (seeded, http) = root_plan(&format!("{text}seed: 8\n"));
    assert_ne!(render(&seeded, &http.path, 7), path);
}

const ORDER: &str = r#"
setup:
  - { name: log-in, http: POST /login, extract: { token: body.token } }
refresh:
  - { name: renew, every: 30s, http: "POST /renew?t={{ token }}", extract: { token: body.token } }
teardown:
  - { name: log-out, http: "POST /logout?t={{ token }}" }
journeys:
  order:
    within: 40s
    steps:
      - { name: cart, http: "POST /carts?t={{ token }}", extract: { cart: body.id } }
      - { name: pay, key: "{{ run_id }}-{{ seq() }}", http: "POST /pay/{{ key }}/{{ cart }}" }
      - { name: confirm, after: paid, http: "PUT /orders/{{ key }}" }
    stages:
      - { name: reserved, on: events, match: { type: A }, key: { from: $.id, as: "o:{}" } }
      - { name: told, on: events, match: { type: B }, key: key, optional: true }
      - { name: paid, on: events, match: { type: C }, key: header.X-Id }
      - { name: split, on: events, match: { type: D }, key: $.id, expect: 3,
          member: $.part, after: reserved }
      - { name: dead, on: dead-letters, match: { $envelope.source: /o }, key: $envelope.subject,
          failure: true, reason: header.x-death-reason }
      - { name: seen, poll: { url: "/orders/{{ key }}", until: { body.state: done } } }
"#;

#[test]
fn alternatives_told_numbers_further_keys_and_traces_are_read() {
    let text = "\
trace: true
journeys:
  order:
    root: { http: POST /orders, key: body.id }
    within: 40s
    stages:
      - { name: created, on: events, match: { type: A }, key: $.id, rekey: { from: $.psp, as: \"p:{}\" } }
      - { one_of: [paid, refunded] }
      - { name: paid, on: events, match: { type: B }, key: $.psp }
      - { name: refunded, on: events, match: { type: C }, key: $.psp }
      - { name: lines, on: events, match: { type: D }, key: $.id, member: $.l,
          expect: { from: $.lines, of: created } }
      - { name: boxes, on: events, match: { type: E }, key: $.id, member: $.b,
          expect: { from: $.boxes } }
      - { name: parts, on: events, match: { type: F }, key: $.id, member: $.p,
          expect: { from: body.parts, of: root } }
  plain:
    root: { http: POST /plain, trace: false }
";
    let plan = plan(&complete(text));
    assert_eq!([plan.journeys[0].trace, plan.journeys[1].trace], [true, false]);
    let stages = &plan.journeys[0].stages;
    use StageKind::{Branch, Required};
    let kinds: Vec<_> = stages.iter().map(|stage| stage.kind).collect();
    assert_eq!(kinds, [Required, Branch(0), Branch(0), Required, Required, Required]);
    // Both alternatives and what comes after them count from the required stage before.
    let after: Vec<_> = stages.iter().map(|stage| stage.after).collect();
    assert_eq!(after, [None, Some(0), Some(0), Some(0), Some(3), Some(4)]);
    let tellers: Vec<_> = stages
        .iter()
        .filter_map(|stage| match &stage.expect {
            Expect::Told { by, .. } => Some(*by),
            Expect::Members(_) => None,
        })
        .collect();
    assert_eq!(tellers, [Teller::Stage(0), Teller::Stage(4), Teller::Step(0)]);
    let Some((Selector::Body(path), format)) = &stages[0].rekey else {
        panic!("a further key");
    };
    assert_eq!((path.text.as_str(), format.as_str()), ("$.psp", "p:{}"));
}

#[test]
fn variables_and_keys_are_known_where_they_are_set() {
    let plan = plan(&complete(ORDER));
    assert_eq!(plan.variables, ["token", "cart"]);
    assert_eq!((plan.setup.len(), plan.refresh[0].every_ns, plan.teardown.len()), (1, 30 * S, 1));
    let order = &plan.journeys[0];
    assert_eq!((order.within_ns, order.linger_ns), (40 * S, 20 * S));
    let [cart, pay, confirm] = order.steps.as_slice() else {
        panic!("three steps");
    };
    assert_eq!([cart.after, pay.after, confirm.after], [None, None, Some(2)]);
    assert_eq!(render(&plan, &http(cart).path, 0), "/carts?t=%3Ctoken%3E");
    assert_eq!(render(&plan, &http(pay).path, 0), "/pay/k1/%3Ccart%3E");
    let Some(KeyRule::Made(key)) = &pay.key else {
        panic!("the client makes the key");
    };
    assert_eq!(render(&plan, key, 3), "run-1-3");

    let after: Vec<_> = order.stages.iter().map(|stage| stage.after).collect();
    // An optional stage starts no hop, a failure's hop starts at the root.
    assert_eq!(after, [None, Some(0), Some(0), Some(0), None, Some(3)]);
    let kinds: Vec<_> = order.stages.iter().map(|stage| stage.kind).collect();
    assert_eq!(kinds[1], StageKind::Optional);
    assert_eq!(kinds[4], StageKind::Failure);
    assert!(matches!(order.stages[3].expect, Expect::Members(3)));
    assert!(
        matches!(&order.stages[4].reason, Some(Selector::Header(name)) if name == "x-death-reason")
    );
    let StageSource::Event { key, key_format, channel, .. } = &order.stages[0].source else {
        panic!("an event");
    };
    assert!(matches!(key, Selector::Body(path) if path.text == "$.id"));
    assert_eq!((key_format.as_str(), *channel), ("o:{}", 0));
    let StageSource::Event { key, matches, .. } = &order.stages[4].source else {
        panic!("an event");
    };
    let selectors = [key, &matches[0].selector].map(|selector| match selector {
        Selector::Body(path) => path.text.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(selectors, ["$envelope.subject", "$envelope.source"]);
    let StageSource::Poll(poll) = &order.stages[5].source else {
        panic!("a poll");
    };
    assert_eq!((poll.every_ns, poll.budget_per_s), (S / 2, 50.0));
}

#[test]
fn a_root_step_may_be_tried_again() {
    use RetryOn::{Connect, Reset, Status, Timeout};
    let retry = |text: &str| {
        let (plan, _) = root_plan(&format!("      http: /x\n      retry: {text}\n"));
        (plan.journeys[0].steps[0].retry.clone().unwrap(), plan.journeys[0].within_ns)
    };
    let (usual, within_ns) = retry("{ attempts: 2 }");
    assert_eq!((usual.attempts, usual.backoff_ns), (2, S / 10));
    assert_eq!(usual.on, [Timeout, Connect, Reset, Status(500, 599)]);
    assert_eq!(within_ns, 2 * 10 * S + S / 10, "a journey without stages may take its time");
    let (own, within_ns) = retry("{ attempts: 3, on: [reset, 429, 4XX], backoff: 1s }");
    assert_eq!((own.attempts, own.backoff_ns), (3, S));
    assert_eq!(own.on, [Reset, Status(429, 429), Status(400, 499)]);
    assert_eq!(within_ns, 3 * 10 * S + S + 2 * S);
    assert_eq!(retry("{ attempts: 2, on: timeout }").0.on, [Timeout]);
}

#[test]
fn conditions_of_every_kind() {
    let (plan, _) = root_plan(
        "      http: /x
      expect:
        status: [2xx, 404]
        body.a: 1
        body.b: [x, 2]
        body.c: { greater: 1, less_or_equal: 5, not: 3 }
        body.d: { present: false }
        body: { contains: é }
",
    );
    let checks = &plan.journeys[0].steps[0].expect;
    let texts: Vec<_> = checks.iter().map(|check| check.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "status: [2xx, 404]",
            "body.a: 1",
            "body.b: [x, 2]",
            "body.c greater 1",
            "body.c less or equal 5",
            "body.c not 3",
            "body.d present false",
            "body contains é",
        ]
    );
    assert!(checks[0].test.holds(Some(&204.into())) && checks[0].test.holds(Some(&404.into())));
    assert!(!checks[0].test.holds(Some(&304.into())) && !checks[0].test.holds(Some(&2040.into())));
    assert!(matches!(&checks[6].test, Test::Absent));
}

#[test]
fn the_command_line_and_the_environment_have_the_last_word() {
    let text = complete(
        r#"name: "${NAME:-x}"
seed: ${COUNT}
labels: { a: "${COUNT}", b: file }
target: http://u:1/
journeys:
  j:
    root:
      http:
        url: /x
        headers: { authorization: "Bearer ${TOKEN}", x-key: plain }
        json:
          n: ${COUNT}
          t: "${COUNT}"
          password: hunter2
"#,
    );
    let overrides = Overrides {
        target: Some("https://other".into()),
        labels: vec![("b".into(), "line".into()), ("c".into(), "new".into())],
        seed: Some(9),
        environment: vec![("NAME".into(), "given".into()), ("COUNT".into(), "6".into())],
    };
    let plan = match read("plan.yaml", &text, &memory(), &overrides) {
        Ok(plan) => plan,
        Err(errors) => panic!("{errors}"),
    };
    assert_eq!((plan.name.as_str(), plan.seed), ("given", 9));
    let labels: Vec<_> = plan.labels.iter().map(|(n, v)| format!("{n}={v}")).collect();
    assert_eq!(labels, ["a=6", "b=line", "c=new"]);
    let http = http(&plan.journeys[0].steps[0]);
    assert_eq!((http.host.as_str(), http.port, http.tls), ("other", 443, true));
    assert_eq!(render(&plan, &http.headers[0].1, 0), "Bearer s3cret-t0ken");
    let body = render(&plan, http.body.as_ref().unwrap(), 0);
    assert_eq!(body, r#"{"n":6,"t":"6","password":"hunter2"}"#);
    assert!(plan.text.contains("Bearer ${TOKEN}") && plan.text.contains("x-key: plain"));
    assert!(!plan.text.contains("s3cret") && !plan.text.contains("hunter2"));
}

#[test]
fn anchors_and_merges_are_yaml_like_any_other() {
    let plan = plan(&complete(
        "journeys:\n  a: &a { root: { http: GET /a }, weight: 2 }\n  b: { <<: *a, weight: 3 }\n",
    ));
    assert_eq!(plan.load[0].journeys, [(0, 2.0), (1, 3.0)]);
    assert_eq!(plan.journeys[1].within_ns, 10 * S);
}

#[test]
fn health_limits() {
    let plan = plan(&complete("health: { missed_max: 1%, lag_p99_max: 20ms, silent_max: 2s }\n"));
    assert_eq!((plan.health.missed_max, plan.health.delivered_min), (0.01, 0.995));
    assert_eq!((plan.health.lag_p99_max_ns, plan.health.silent_max_ns), (20_000_000, 2 * S));
}

#[test]
fn every_decoder_by_its_word() {
    let decoder = |written: &str| {
        let channel = format!("channels: {{ c: {{ webhook: {{}}, decoder: {written} }} }}");
        let file = format!("{channel}\njourneys: {{ j: {{ root: {{ http: GET / }} }} }}\n");
        plan(&complete(&file)).channels[0].decoder.clone()
    };
    for (word, expected) in [
        ("auto", Decoder::Auto),
        ("json", Decoder::Json),
        ("cloudevents", Decoder::CloudEvents),
        ("masstransit", Decoder::MassTransit),
        ("nservicebus", Decoder::NServiceBus),
        ("debezium", Decoder::Debezium),
        ("messagepack", Decoder::MessagePack),
    ] {
        assert_eq!(decoder(word), expected, "{word}");
    }
    let text = decoder("{ regex: '(?<id>[0-9]+)' }");
    assert!(matches!(&text, Decoder::Text(regex) if regex.as_str() == "(?<id>[0-9]+)"));
    let avro = decoder(
        "{ avro: { registry: 'https://load:p%40ss@r:8081/v1', subjects: s, tls: { ca: c.pem } } }",
    );
    assert!(!format!("{avro:?}").contains("p@ss"));
    let Decoder::Avro(AvroSchema::Registry(registry)) = avro else { panic!("{avro:?}") };
    let server = &registry.server;
    assert_eq!((server.address().as_str(), server.path.as_str()), ("r:8081", "v1"));
    assert_eq!(server.password.as_ref().map(Secret::reveal), Some("p@ss"));
    assert_eq!((server.tls, server.trust.ca.is_some()), (true, true));
    assert_eq!(registry.subjects, ["s"]);
    let file = decoder("{ avro: { schema: paid.avsc } }");
    assert_eq!(file, Decoder::Avro(AvroSchema::File("paid.avsc".into())));
    let protobuf = ProtobufSchema {
        descriptor: "events.binpb".into(),
        message: "shop.Paid".to_owned(),
        registry: true,
    };
    let written = "{ protobuf: { descriptor: events.binpb, message: .shop.Paid, registry: true } }";
    assert_eq!(decoder(written), Decoder::Protobuf(protobuf));
}
