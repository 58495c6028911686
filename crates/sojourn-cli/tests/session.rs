//! Session scripts as a process: what a target saw of their clients.

mod acceptance;
mod cookies;
mod events;
mod fixtures;
mod http2;
mod requirements;
mod tools;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::{Output, Reply, Request, Responder, Server, response, sojourn, temp_dir};

/// A request as the target saw it.
#[derive(Clone, Debug)]
struct Seen {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
    arrival_ns: u64,
    connection: u64,
}

type Book = Arc<Mutex<Vec<Seen>>>;

/// Answers `/token` with a token of its own, `/to?URL` with a redirect there, `/fail` with 503, all
/// else with 200.
struct Target {
    book: Book,
}

impl Responder for Target {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut book = self.book.lock().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        book.push(Seen {
            method: request.method.to_owned(),
            path: request.path.to_owned(),
            headers: request
                .headers
                .iter()
                .map(|header| (header.name.to_ascii_lowercase(), text(header.value)))
                .collect(),
            body: text(request.body),
            arrival_ns: request.arrival_ns,
            connection: request.connection,
        });
        let number = book.len();
        let answer = match request.path.split_once('?').unwrap_or((request.path, "")) {
            ("/token", query) if query != "id=3" => {
                let body = format!(r#"{{"token":"t{number}","big":4555666777888999}}"#);
                response(200, "application/json", body.as_bytes())
            }
            ("/to", url) => {
                let head =
                    format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n");
                head.into_bytes()
            }
            ("/fail", _) => response(503, "text/plain", b"no"),
            _ => response(200, "text/plain", b"ok"),
        };
        Reply::now(answer)
    }

    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        4_096
    }
}

struct Played {
    output: Output,
    report: Value,
    seen: Vec<Seen>,
}

impl Played {
    /// Runs a script; `BASE` in it is the target's URL.
    fn of(script: &str, files: &[(&str, &str)], flags: &[&str]) -> Self {
        let book = Book::default();
        let server = Server::start(Target { book: Arc::clone(&book) }).unwrap();
        let folder = temp_dir().unwrap();
        let script = script.replace("BASE", &server.url("")).replace("PORT", &port(&server));
        for (name, text) in files.iter().copied().chain([("test.js", &*script)]) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let arguments = ["run", "test.js", "--quiet", "--format", "json", "--report", "r.json"];
        let output = run(folder.path(), arguments.iter().chain(flags));
        let report = serde_json::from_str(&output.stdout).unwrap_or_default();
        let seen = book.lock().unwrap().clone();
        Self { output, report, seen }
    }

    /// A busy machine may make a run void; what was sent and counted is true all the same.
    fn assert_ran(&self) {
        assert!(matches!(self.output.code, Some(0 | 3)), "{}", self.output);
    }

    fn paths(&self) -> Vec<&str> {
        self.seen.iter().map(|seen| &*seen.path).collect()
    }

    fn count(&self, path: &str) -> usize {
        self.seen.iter().filter(|seen| seen.path.starts_with(path)).count()
    }

    /// Counts of a session's clients, over the whole run.
    fn clients(&self, session: &str, class: &str) -> u64 {
        let lines = self.report["ledger"]["journeys"].as_array().expect("journeys");
        let line = lines.iter().find(|line| line["name"] == session).expect("the session");
        line["whole_run"][class].as_u64().unwrap()
    }

    /// The reasons why requests of a step failed, with their counts.
    fn errors(&self, step: &str) -> Vec<(String, u64)> {
        let journeys = self.report["journeys"].as_array().unwrap();
        let steps = journeys.iter().flat_map(|journey| journey["steps"].as_array().unwrap());
        let row = steps.clone().find(|row| row["name"] == step).expect("the step");
        let errors = row["errors"].as_array().unwrap().iter();
        let pair = |row: &Value| {
            (row["reason"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap())
        };
        errors.map(pair).collect()
    }
}

fn port(server: &Server) -> String {
    server.address().port().to_string()
}

fn run<'a>(folder: &Path, arguments: impl Iterator<Item = &'a &'a str>) -> Output {
    sojourn(arguments).in_dir(folder).timeout(Duration::from_secs(120)).run().unwrap()
}

#[test]
fn every_client_has_its_own_values_and_connection() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 2, rate: 60 }]);
definition.session("watch", function (session) {
  var station = session.ds.pickFrom(session.ds.loadStructured("stations.csv"));
  session.post("/token?id=:id", {
    tag: "token",
    params: { id: station.get("id") },
    payload: { a: "x y", b: station.get("name") },
    extraction: { jsonpath: { token: "$.token", big: "$.big" } },
  });
  session.assert("token", session.getVar("token"), "!=", "");
  session.setVar("rounds", session.ds.generate("random_number", { range: [2, 4] }));
  var rounds = session.getVar("rounds");
  session.times(rounds, function (ctx) {
    ctx.get("/ping/:token?n=:n&unknown=:unknown", {
      tag: "ping",
      params: { token: session.getVar("token"), n: rounds },
      gzip: true,
    });
    ctx.waitExp(0.02);
  });
  session.check("big", session.getVar("big"), "=", "4555666777888999");
});
"#;
    let stations = "id,name\n1,ä\n2,b\n3,c\n";
    let played = Played::of(script, &[("stations.csv", stations)], &[]);
    played.assert_ran();
    let started = played.clients("watch", "started");
    assert_eq!(played.count("/token"), started as usize);
    // Nobody gets a token for station 3: those clients end there, and no others.
    let without = played.count("/token?id=3");
    assert!(without > 10, "{without} of {started}");
    assert_eq!(played.clients("watch", "failed"), without as u64);
    assert_eq!(played.clients("watch", "completed"), started - without as u64);
    let checks = played.report["checks"].as_array().unwrap();
    let check = |name: &str| checks.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(check("token")["failed"].as_u64(), Some(without as u64));
    assert_eq!(check("big")["held"].as_u64(), Some(started - without as u64));
    let mut by_token: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for seen in played.seen.iter().filter(|seen| seen.path.starts_with("/ping/")) {
        let (token, query) = seen.path["/ping/".len()..].split_once('?').unwrap();
        assert!(query.ends_with("&unknown=:unknown"), "{query}");
        assert_eq!(seen.headers["accept-encoding"], "gzip");
        by_token.entry(token).or_default().push(seen);
    }
    assert_eq!(by_token.len() as u64, started - without as u64);
    for (token, pings) in by_token {
        let number: usize = token[1..].parse().unwrap();
        let first = &played.seen[number - 1];
        assert!(first.path.starts_with("/token"), "{token}");
        let drawn = pings[0].path.split("n=").nth(1).unwrap().split('&').next().unwrap();
        assert_eq!(drawn.parse::<usize>().unwrap(), pings.len(), "{token}");
        assert!((2..=4).contains(&pings.len()));
        let is_its_own = |seen: &&Seen| seen.connection == first.connection;
        assert!(pings.iter().all(is_its_own), "{token}: its own connection");
    }
    let token = &played.seen[0];
    assert_eq!((&*token.method, &*token.body).0, "POST");
    assert!(token.body.starts_with("a=x+y&b=") || token.body.starts_with("a=x%20y&b="));
    assert_eq!(token.headers["content-type"], "application/x-www-form-urlencoded");
    let ids: std::collections::BTreeSet<&str> =
        played.seen.iter().map(|seen| &*seen.headers["x-request-id"]).collect();
    assert_eq!(ids.len(), played.seen.len(), "no id comes twice");
}

#[test]
fn hosts_that_are_no_targets_are_not_asked() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 1, rate: 20 }]);
definition.session("s", function (session) {
  session.get("/to?BASE/there", { tag: "followed", headers: { "X-Own": "1" } });
  session.check("there", session.lastHttpStatus(), "=", "200");
  session.get("/to?http://localhost:PORT/elsewhere", { tag: "denied redirect" });
  session.get("http://localhost:PORT/absolute", { tag: "denied" });
  session.get("/fail", { tag: "refused" });
});
"#;
    let played = Played::of(script, &[], &[]);
    let started = played.clients("s", "started");
    assert!(started > 5 && played.clients("s", "completed") == started, "{}", played.output);
    assert_eq!(played.count("/there"), started as usize);
    let there = played.seen.iter().find(|seen| seen.path == "/there").unwrap();
    assert_eq!(there.headers["x-own"], "1");
    assert_eq!(played.count("/elsewhere") + played.count("/absolute"), 0);
    let denied = |step: &str| {
        let errors = played.errors(step);
        assert!(errors.len() == 1 && errors[0].0.starts_with("denied"), "{errors:?}");
        errors[0].1
    };
    assert_eq!((denied("denied"), denied("denied redirect")), (started, started));
    assert_eq!(played.errors("refused"), [("status 503".to_owned(), started)]);
    assert_eq!(played.report["checks"][0]["held"].as_u64(), Some(started));
}

#[test]
fn endless_loops_end_with_the_last_phase() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 2, rate: 100, max_clients: 3 }]);
definition.session("s", function (session) {
  session.forEver(function (ctx) { ctx.get("/x"); ctx.wait(0.05); });
});
"#;
    let played = Played::of(script, &[], &[]);
    played.assert_ran();
    assert_eq!((played.clients("s", "started"), played.clients("s", "completed")), (3, 3));
    let requests = played.count("/x");
    assert!((80..=120).contains(&requests), "3 clients, 2 s, every 50 ms: {requests}");
}

#[test]
fn what_is_wrong_is_said_at_its_place_before_anything_is_sent() {
    for (script, strict, said) in [
        ("definition.setTarget('');", false, "test.js:1"),
        ("definition.setTarget('BASE');\ndefinition.foo();", false, "test.js:2"),
        (
            "definition.setTarget('BASE');\ndefinition.setArrivalPhases([{duration: 1, rate: 1}]);\n\
             definition.session('s', function (session) {\n  session.get('/:x');\n});",
            true,
            "test.js:4",
        ),
    ] {
        let flags: &[&str] = if strict { &["--strict"] } else { &[] };
        let played = Played::of(script, &[], flags);
        assert_eq!(played.output.code, Some(2), "{}", played.output);
        assert!(played.output.stderr.contains(said), "{}", played.output);
        assert_eq!(played.paths(), Vec::<&str>::new());
    }
}

#[test]
fn which_options_change_nothing_is_said_once_and_is_no_slip() {
    let script = r#"
definition.setTarget("BASE");
definition.setTestOptions({ cluster: { sizing: "xlarge", region: "eu-west-1" } });
definition.setArrivalPhases([{ duration: 1, rate: 0 }, { duration: 1, rate: 20 }]);
definition.session("s", (session) => session.get("/"));
"#;
    for flags in [&["--strict"][..], &["--generators", "2"], &["--strict", "--validate"]] {
        let book = Book::default();
        let server = Server::start(Target { book: Arc::clone(&book) }).unwrap();
        let folder = temp_dir().unwrap();
        let script = script.replace("BASE", &server.url(""));
        std::fs::write(folder.path().join("test.js"), script).unwrap();
        let output = run(folder.path(), ["run", "test.js", "--quiet"].iter().chain(flags));
        assert!(matches!(output.code, Some(0 | 3)), "{output}");
        let said = "note: cluster.sizing (xlarge), cluster.region (eu-west-1) of setTestOptions() \
                    are ignored";
        assert_eq!(output.stderr.matches(said).count(), 1, "{flags:?}\n{output}");
        assert!(!book.lock().unwrap().is_empty(), "{flags:?}");
    }
}
