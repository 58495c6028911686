//! Mock files, good and bad. What good ones do is tested over sockets, in `tests/`.

use std::path::Path;

use proptest::prelude::*;
use sojourn_plan::{Files, Overrides};

use super::{mock_schema, read_mock, read_openapi};
use crate::book::Book;

struct Memory;

impl Files for Memory {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        match path.to_str() {
            Some("body.json") => Ok("{\"id\": \"{{ path.id }}\"}".to_owned()),
            _ => Err(std::io::Error::new(std::io::ErrorKind::NotFound, "no such file")),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "LATENCY").then(|| "5ms".to_owned())
    }
}

fn read(text: &str) -> Result<Book, String> {
    let overrides = Overrides::default();
    read_mock("m.yaml", text, &Memory, Path::new(""), &overrides).map_err(|it| it.to_string())
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_to_do() {
    let mut wrong = Vec::new();
    let mut check = |text: &str, expected: &str| {
        let got = match read(text) {
            Ok(_) => "no error".to_owned(),
            Err(errors) => errors.replace("m.yaml:", ""),
        };
        if !got.starts_with(expected) {
            wrong.push(format!("{text}\nexpected:\n{expected}\ngot:\n{got}\n"));
        }
    };
    check("", "1:1: expected the file, found nothing");
    check("routes: []", "1:9: a mock without routes");
    check("latency: 5ms", "1:1: the file without `routes`");
    check(
        "routes:\n  - { rout: /a }",
        "2:7: unknown field `rout` in a route\n  hint: did you mean `route`?",
    );
    check("routes: [{ status: 200 }]", "1:10: a route without `route`");
    check(
        "routes: [{ route: post /a }]",
        "1:19: `post` is not a method\n  hint: methods are written in capitals: `POST /a`",
    );
    check(
        "routes: [{ route: a/b }]",
        "1:19: `a/b` is not a path\n  hint: such as `/payments/{id}`",
    );
    check(
        "routes: [{ route: 'GET /a/{x}/{x}' }]",
        "1:27: `{x}` is not a parameter, or stands here",
    );
    check("routes: [{ route: '/a?b=1' }]", "1:20: `/a?b=1` has a query: that is a condition");
    check("routes: [{ route: /a, status: 99 }]", "1:31: `99` is out of range");
    check("routes: [{ route: /a, latency: soon }]", "1:32: `soon` is not a duration");
    check(
        "routes: [{ route: /a, latency: 'expo(5ms)' }]",
        "1:33: there is no law `expo`\n  hint: did you mean `exp`?",
    );
    check("latency: 'exp(5)'\nroutes: [{ route: /a }]", "1:15: `5` has no unit");
    check("queue: 'mm1:rte=5'\nroutes: [{ route: /a }]", "1:13: `rte` is nothing that a queue has");
    check(
        "routes: [{ route: '/a/{id}', body: '{{ path.ide }}' }]",
        "1:40: the path has no part `ide`\n  hint: did you mean `id`?",
    );
    check(
        "routes: [{ route: /a, body: '{{ path.id }}' }]",
        "1:33: the path has no part `id`\n  hint: write `{id}` in the route's path",
    );
    check(
        "routes: [{ route: /a, body: '{{ header }}' }]",
        "1:33: `header` is no value of a request",
    );
    check("routes: [{ route: /a, body: '{{ hedder.x }}' }]", "1:33: unknown name `hedder.x`");
    check("routes: [{ route: /a, body: '{{ querry }}' }]", "1:33: unknown name `querry`");
    check("routes: [{ route: /a, body: { file: none.txt } }]", "1:37: `none.txt` can't be read");
    check("routes: [{ route: /a, file: none.bin }]", "1:29: `none.bin` can't be read");
    check("routes: [{ route: /a, file: body.json, json: {} }]", "1:40: both `json` and `file`");
    check("routes: [{ route: /a, json: {}, body: x }]", "1:29: both `json` and `body`");
    check(
        "routes: [{ route: /a, headers: { content-length: 5 } }]",
        "1:34: header `content-length`",
    );
    check(
        "routes: [{ route: /a, when: { status: 200 } }]",
        "1:31: `status` is no value of a request",
    );
    check("routes: [{ route: /a, when: { path.x: 1 } }]", "1:31: the path has no part `x`");
    check(
        "routes: [{ route: /a, when: { query.x: { abov: 1 } } }]",
        "1:42: unknown condition `abov`",
    );
    check(
        "routes: [{ route: /a, faults: { rst: 1% } }]",
        "1:33: unknown field `rst` in the faults",
    );
    check(
        "routes: [{ route: /a, faults: { close: 60%, reset: 50% } }]",
        "1:31: the shares are 110% together",
    );
    check("routes: [{ route: /a, close: 200% }]", "1:30: `200%` is more than the whole");
    check("routes: [{ route: /a, limit: 5 }]", "1:30: `5` does not say per what");
    check("routes: [{ route: /a, limit: 0/s }]", "1:30: a limit of nothing lets nobody through");
    check("routes: [{ route: /a, limit: { burst: 1 } }]", "1:30: a limit without `rate`");
    check("routes: [{ route: /a, size: { 1parsec: 5% } }]", "1:31: `1parsec` is not a size");
    check(
        "routes: [{ route: /a, degrade: [{ at: 5s }, { at: 1s }] }]",
        "1:32: no course through time",
    );
    check(
        "routes: [{ route: /a, answers: [{ share: 50% }, { share: 20% }] }]",
        "1:32: the shares are 70% together",
    );
    check("routes: [{ route: /a, answers: [{}, {}] }]", "1:37: a second answer without a share");
    check(
        "routes: [{ route: /a, status: 201, answers: [{}] }]",
        "1:23: both `status` and `answers`",
    );
    check("routes: [{ route: /a, answers: [] }]", "1:");
    check(
        "routes: [{ route: /a, callbacks: [{ after: 1s }] }]",
        "1:35: a callback that goes nowhere",
    );
    check(
        "routes: [{ route: /a, callbacks: [{ http: { url: /x } }] }]",
        "1:50: `/x` is not an absolute URL",
    );
    check(
        "routes: [{ route: /a, callbacks: [{ kafka: { brokers: h, topic: t } }] }]",
        "1:55: `h` is not a broker",
    );
    check("routes: [{ route: /a, callbacks: [{ http: { url: 'http://h/{{ path.q }}' } }] }]", "1:");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everything_wrong_is_told_at_once() {
    let errors = read("latency: x\nroutes:\n  - { route: a }\n  - { route: /b, status: x }\n");
    let errors = errors.unwrap_err();
    for place in ["m.yaml:1:10:", "m.yaml:3:14:", "m.yaml:4:26:"] {
        assert!(errors.contains(place), "{place}\n{errors}");
    }
}

const GOOD: &str = "
seed: 3
latency: ${LATENCY}
faults: { reset: 0.1% }
routes:
  - route: POST /payments/{id}
    when: { body.amount: { greater: 5 }, header.x-a: [b, c] }
    answers:
      - { share: 5%, status: 503 }
      - { status: 201, json: { id: '{{ path.id }}', at: '{{ unix_ms }}', n: '{{ uuid() }}' } }
    callbacks:
      - { after: 'exp(2s)', share: 50%, http: { url: 'http://127.0.0.1:9/x', json: { a: '{{ body.a.0.b }}' } } }
      - { kafka: { brokers: '127.0.0.1:9092', topic: t, key: '{{ path.id }}', body: x } }
  - { route: /files/*, file: body.json, size: { 1KB: 90%, 1MB: 10% }, limit: { rate: 5/s, burst: 2 } }
  - { route: '*', degrade: [{ at: 0s }, { at: 1m, latency: 3, errors: 10% }], close: 1% }
";

#[test]
fn a_good_file_is_read_whole() {
    let book = read(GOOD).unwrap();
    assert_eq!((book.seed, book.routes.len(), book.callbacks.len()), (3, 3, 2));
    assert_eq!(book.warnings, Vec::<String>::new());
    let first = &book.routes[0];
    assert_eq!(first.answers.iter().map(|(_, share)| *share).collect::<Vec<_>>(), [0.0, 0.05]);
    assert!(first.needs_body(&book) && !book.routes[1].needs_body(&book));
    assert_eq!(book.candidates("/x").collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_route_that_cannot_be_reached_is_warned_of() {
    let book = read("routes: [{ route: /a }, { route: '*' }, { route: GET /b }, { route: /a }]");
    let warnings = book.unwrap().warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("`GET /b` is never reached: `*` before it"), "{warnings:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_file_is_read_or_refused_but_never_panics(
        at in any::<prop::sample::Index>(),
        length in 0_usize..20,
        piece in prop::sample::select(vec![
            "{{", "}}", "${", "[", "]", "{", "}", ": ", "\n", "- ", "'", "é", "\u{0}", "-1", "99999d",
            "null", "path.", "exp(", ")", "*", "100%", "/",
        ]),
        removes: bool,
    ) {
        let chars: Vec<char> = GOOD.chars().collect();
        let at = at.index(chars.len());
        let until = if removes { (at + length).min(chars.len()) } else { at };
        let text: String =
            chars[..at].iter().copied().chain(piece.chars()).chain(chars[until..].iter().copied())
                .collect();
        let lines = text.matches('\n').count() + 2;
        if let Err(errors) = read(&text) {
            let line = errors.split(':').nth(1).and_then(|line| line.parse::<usize>().ok());
            prop_assert!(line.is_some_and(|line| line <= lines), "{errors}");
        }
    }
}

#[test]
fn the_schema_has_every_name_with_its_meaning() {
    let schema = mock_schema();
    assert_eq!(schema["title"], "Sojourn mock file");
    for name in ["seed", "latency", "routes", "queue", "faults"] {
        assert!(schema["properties"][name]["description"].is_string(), "{name}");
    }
    let definitions = schema["$defs"].as_object().unwrap();
    for name in ["route", "answer", "callback", "message", "limit", "HTTP_request"] {
        assert!(definitions[name]["properties"].is_object(), "{name}");
        assert_eq!(definitions[name]["additionalProperties"], false);
    }
}

const API: &str = r##"
openapi: 3.1.0
servers: [{ url: "https://{host}/v1/", variables: { host: { default: api.example } } }]
paths:
  /users/{id}:
    get:
      responses:
        "404": { description: none }
        "200":
          headers: { X-Rate: { schema: { type: integer, example: 7 } } }
          content: { application/json: { schema: { $ref: "#/components/schemas/User" } } }
    delete: { responses: { "204": { description: gone } } }
  /users/me:
    get: { responses: { default: { content: { application/json: { example: { me: true } } } } } }
  /text: { get: { responses: { 2XX: { content: { text/plain: { examples: { a: { value: hello } } } } } } } }
  /a.{b}: { get: {} }
components:
  schemas:
    User:
      type: object
      properties:
        id: { type: string, format: uuid }
        age: { type: [integer, "null"], minimum: 18 }
        role: { enum: [admin, user] }
        password: { type: string, writeOnly: true }
        friends: { type: array, items: { $ref: "#/components/schemas/User" } }
        address: { allOf: [{ properties: { city: { const: Rome } } }, { properties: { zip: { type: string } } }] }
"##;

#[test]
fn an_openapi_description_becomes_routes_with_examples() {
    let book = read_openapi("api.yaml", API, 0).unwrap();
    let names: Vec<&str> = book.routes.iter().map(|route| route.name.as_str()).collect();
    assert_eq!(
        names,
        ["GET /v1/users/me", "GET /v1/text", "GET /v1/users/{id}", "DELETE /v1/users/{id}"],
        "what leaves less open comes first"
    );
    assert_eq!(book.warnings.len(), 1, "{:?}", book.warnings);
    let answer = |place: usize| match &book.routes[place].answers[0].0.kind {
        crate::book::answer::Kind::Ready(message) => message.clone(),
        _ => panic!("not ready"),
    };
    let body = |place: usize| answer(place).body().piece(0).to_vec();
    assert_eq!(body(0), b"{\"me\":true}\n");
    assert_eq!(body(1), b"hello");
    let user: serde_json::Value = serde_json::from_slice(&body(2)).unwrap();
    assert_eq!(user["age"], 18);
    assert_eq!(user["role"], "admin");
    assert_eq!(user["address"], serde_json::json!({ "city": "Rome", "zip": "text" }));
    assert!(user.get("password").is_none() && user["friends"][0]["id"].is_string());
    let headers: Vec<(String, Vec<u8>)> =
        answer(2).headers().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
    assert!(headers.contains(&("X-Rate".to_owned(), b"7".to_vec())), "{headers:?}");
    assert_eq!(answer(3).status(), 204);
}

#[test]
fn what_is_no_openapi_3_says_so() {
    for (text, expected) in [
        ("swagger: '2.0'", "Swagger 2.0; convert it to OpenAPI 3"),
        ("openapi: 4.0.0", "its version is 4.0.0"),
        ("a: 1", "it has no `openapi: 3.…`"),
        ("openapi: 3.0.0\npaths: {}", "describes no operation"),
        ("{", "neither JSON nor YAML"),
    ] {
        let error = read_openapi("api.yaml", text, 0).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("api.yaml"), "{text}: {error}");
    }
}
