//! Mock files, good and bad. What good ones do is tested over sockets, in `tests/`.

use std::path::Path;

use proptest::prelude::*;
use sojourn_plan::{Files, Overrides};

use super::{mock_schema, read_mock, read_openapi};
use crate::book::Book;
use crate::latency::RunFiles;

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
    read_mock("m.yaml", text, &Memory, &RunFiles::default(), &overrides)
        .map_err(|it| it.to_string())
}

/// `wrong.txt` holds files, a line `-----`, and how what is said about them begins; cases are
/// separated by `=====`.
#[test]
fn what_is_wrong_is_named_with_its_place_and_what_to_do() {
    let mut wrong = Vec::new();
    for case in include_str!("wrong.txt").split("=====\n") {
        let (text, expected) = case.split_once("\n-----\n").unwrap();
        let got = match read(text) {
            Ok(_) => "no error".to_owned(),
            Err(errors) => errors.replace("m.yaml:", ""),
        };
        if !got.starts_with(expected.trim_end()) {
            wrong.push(format!("{text}\nexpected:\n{expected}\ngot:\n{got}\n"));
        }
    }
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

const GOOD: &str = include_str!("good.yaml");

#[test]
fn a_good_file_is_read_whole() {
    let book = read(GOOD).unwrap();
    assert_eq!((book.seed, book.routes.len(), book.callbacks.len()), (3, 3, 3));
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
            "{{", "}}", "${", "[", "]", "{", "}", ": ", "\n", "- ", "'", "é", "\u{0}", "-1", "99d",
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
    for name in ["route", "answer", "callback", "message_to_publish", "limit", "HTTP_request"] {
        assert!(definitions[name]["properties"].is_object(), "{name}");
        assert_eq!(definitions[name]["additionalProperties"], false);
    }
}

const API: &str = include_str!("api.yaml");

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

/// Each kind of thing has many parts, and each of those is such a thing again.
#[test]
fn schemas_that_refer_to_themselves_make_small_examples() {
    let thing = "$ref: '#/components/schemas/t'";
    let property = |n| format!("p{n}: {{ type: array, minItems: 3, items: {{ {thing} }} }}");
    let properties: Vec<String> = (0..20).map(property).collect();
    let content = format!("{{ application/json: {{ schema: {{ {thing} }} }} }}");
    let text = format!(
        "openapi: 3.0.0
paths: {{ /a: {{ get: {{ responses: {{ 200: {{ content: {content} }} }} }} }} }}
components: {{ schemas: {{ t: {{ properties: {{ {} }} }} }} }}
",
        properties.join(", ")
    );
    let book = read_openapi("api.yaml", &text, 0).unwrap();
    let crate::book::answer::Kind::Ready(message) = &book.routes[0].answers[0].0.kind else {
        panic!("not ready")
    };
    let length = message.body().length();
    assert!((100..1_000_000).contains(&length), "{length}");
    let example: serde_json::Value = serde_json::from_slice(message.body().piece(0)).unwrap();
    let nobody = serde_json::json!([]);
    assert_eq!(example["p0"][2]["p0"], nobody, "a friend's friend has no friends");
}

#[test]
fn everything_wrong_in_a_list_is_named() {
    let errors = read(
        "
routes:
  - route: /a
    answers: [{ shar: 1% }, { share: soon }, { status: 1 }]
    degrade: [{ at: soon }, { at: 1s, latency: x, errors: 200% }]
    faults: { close: x, reset: y, dribble_over: z }
    callbacks: [{ after: soon }, { htp: {} }, { publish: { topic: t } }]
",
    )
    .unwrap_err();
    for expected in [
        "4:17: unknown field `shar`",
        "4:38: `soon`",
        "4:56: `1`",
        "5:21: `soon`",
        "5:48: `x`",
        "5:59: `200%`",
        "6:22: `x`",
        "6:32: `y`",
        "6:49: `z`",
        "7:26: `soon`",
        "7:36: unknown field `htp`",
        "7:58: a message to publish without `to`",
    ] {
        assert!(errors.contains(expected), "{expected}\n{errors}");
    }
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

/// The example and every block of the documentation.
#[test]
fn what_is_published_reads_without_a_warning() {
    let page = include_str!("../../../../docs/mock.md");
    let blocks = page.split("```yaml\n").skip(1);
    let mut files: Vec<&str> = blocks.map(|rest| rest.split("```").next().unwrap()).collect();
    files.push(include_str!("../../../../examples/mocks.yaml"));
    assert!(files.len() >= 3);
    for text in files {
        let book = read(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(book.warnings, Vec::<String>::new(), "{text}");
    }
}
