//! Session scripts without load: validations, commands of curl, logs, and conversions.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use sojourn_testkit::{Reply, Request, Responder, Server, TempDir, response, temp_dir};

use super::*;

/// `/zip` is answered by gzip, `/raw` by bytes that are no text, `/fail` by 503, `/to?URL` by a
/// redirect, all else by a token.
struct Site(Book);

impl Responder for Site {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut inner = Target { book: Arc::clone(&self.0) };
        let usual = inner.respond(request);
        let path = request.path.split('?').next().unwrap_or_default();
        Reply::now(match path {
            "/zip" => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(b"{\"secret of zip\": 1}").unwrap();
                let body = encoder.finish().unwrap();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: id=s3cret\r\n\
                     Content-Length: {}\r\n\r\n",
                    body.len()
                );
                [head.as_bytes(), &body].concat()
            }
            "/raw" => response(200, "image/png", &[0x89, 0x50, 0x4e, 0x47, 0, 1, 2]),
            "/to" | "/fail" => return usual,
            _ => response(200, "application/json", br#"{"token":"t1"}"#),
        })
    }

    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        4_096
    }
}

/// A folder with files, and a site that its scripts ask; `BASE` in a file is the site's URL.
struct Desk {
    folder: TempDir,
    _site: Server,
    book: Book,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let book = Book::default();
        let site = Server::start(Site(Arc::clone(&book))).unwrap();
        let folder = temp_dir().unwrap();
        for (name, text) in files {
            let text = text.replace("BASE", &site.url("")).replace("PORT", &port(&site));
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder, _site: site, book }
    }

    fn run(&self, words: &str) -> Output {
        let words: Vec<&str> = words.split(' ').collect();
        super::run(self.folder.path(), words.iter())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// What the site was asked since the last time.
    fn asked(&self) -> Vec<String> {
        let mut seen = std::mem::take(&mut *self.book.lock().unwrap());
        seen.sort_by_key(|seen| seen.arrival_ns);
        seen.into_iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
    }
}

const SESSIONS: &str = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 3600, rate: 100 }]);
definition.setSessionWeights({ second: 0 });
definition.session("first", function (session) {
  session.setAuthentication({ username: "ann", password: "s3cret" });
  session.post("/token", { payload: "a=1\nb", headers: { Cookie: "id=s3cret" },
    extraction: { jsonpath: { token: "$.token" } } });
  session.check("token", session.getVar("token"), "=", "t1");
  session.log("token " + session.getVar("token"));
  session.get("/zip", { gzip: true });
  session.forEver(function (ctx) { ctx.get("/raw"); ctx.wait(0.01); });
});
definition.session("second", function (session) {
  session.get("/to?BASE/there");
  session.assert("there", session.lastHttpStatus(), "=", 200);
});
"#;

#[test]
fn a_validation_sends_one_client_of_each_session_and_tells_all() {
    let desk = Desk::new(&[("test.js", SESSIONS)]);
    let output = desk.run("run test.js --validate --quiet");
    assert_eq!(output.code, Some(0), "{output}");
    let mut asked = desk.asked();
    asked.sort();
    let there = format!("GET /to?http://{}/there", desk._site.address());
    assert_eq!(asked, ["GET /raw", "GET /there", there.as_str(), "GET /zip", "POST /token"]);
    let told = &output.stdout;
    for part in [
        "# session first\ncurl -X POST -H 'Cookie: ***' -u 'ann:***'",
        "# session second\ncurl",
        "── session first, client 1.1\n",
        "> POST /token HTTP/1.1\n",
        "> Authorization: ***\n",
        "> Cookie: ***\n",
        ">\n> a=1\n> b\n",
        "<\n< {\"token\":\"t1\"}\n",
        "  ✓ check token\n",
        "  log: token t1\n",
        ", decompressed\n",
        "< Set-Cookie: ***\n",
        "< {\"secret of zip\": 1}\n",
        "< (binary, 7 bytes) 89 50 4e 47 00 01 02\n",
        "  waits 0.01 s\n",
        "── session second, client 2.1\n",
        "< HTTP/1.1 302 Found\n",
        "  request 2 to http://",
        "  ended: completed\n",
        "✓ test.completed: true, wanted = true\n",
        "✓ checks success_rate: 1, wanted = 1\n",
        "✓ http.error_ratio: 0, wanted = 0\n",
        "3/3 requirements met\n",
    ] {
        assert!(told.contains(part), "{part}\n{output}");
    }
    assert!(!told.contains("s3cret"), "{output}");
    assert!(output.stderr.contains("1 endless loop goes around once"), "{output}");
    let left: Vec<_> = std::fs::read_dir(desk.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "a validation leaves no file unless it is asked for one");
}

#[test]
fn the_traffic_goes_to_a_file_with_its_secrets_when_asked_for() {
    let desk = Desk::new(&[("test.js", SESSIONS)]);
    let words = "session run test.js --validate --quiet --dump traffic.txt --show-secrets \
                 --log log.txt --report page.json";
    let output = desk.run(words);
    assert_eq!(output.code, Some(0), "{output}");
    let traffic = desk.read("traffic.txt");
    assert!(!output.stdout.contains("> POST") && traffic.contains("> POST /token"), "{output}");
    assert!(traffic.contains("> Cookie: id=s3cret\n"), "{traffic}");
    assert!(traffic.contains("> Authorization: Basic YW5uOnMzY3JldA==\n"), "{traffic}");
    let log = desk.read("log.txt");
    assert!(log.ends_with(" s  first 1.1  token t1\n"), "{log}");
    let report: Value = serde_json::from_str(&desk.read("page.json")).unwrap();
    assert_eq!(report["checks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_validation_fails_by_checks_errors_and_requests_that_came_to_nothing() {
    for (steps, said) in [
        ("s.get('/x'); s.check('c', s.lastHttpStatus(), '=', 201);", "✗ checks success_rate: 0,"),
        ("s.get('/fail');", "✗ http.error_ratio: 1, wanted = 0"),
        ("s.get('/x'); s.get('http://localhost:PORT/y', { tag: 'y' });", "✗ session s, y: denied"),
        ("s.get('/to?http://localhost:PORT/z');", "which is no target (1 ×)"),
        ("s.get('/x'); s.wait(s.getVar('no'));", "a value that must be a number"),
    ] {
        let script = format!(
            "definition.setTarget('BASE');
             definition.setArrivalPhases([{{ duration: 1, rate: 1 }}]);
             definition.session('s', (s) => {{ {steps} }});"
        );
        let desk = Desk::new(&[("test.js", &script)]);
        let output = desk.run("run test.js --validate --quiet");
        assert_eq!(output.code, Some(99), "{output}");
        assert!(output.stdout.contains(said), "{said}\n{output}");
        assert_eq!(output.stdout.contains("checks success_rate"), steps.contains("check"));
    }
}

#[test]
fn clients_write_to_a_log_of_their_own() {
    let script = "definition.setTarget('BASE');
definition.setArrivalPhases([{ duration: 1, rate: 50, max_clients: 5 }]);
definition.session('s', (s) => { s.times(40, (t) => t.log('x\\ny')); });";
    let desk = Desk::new(&[("test.js", script)]);
    let output = desk.run("run test.js --quiet --log log.txt --report r.json");
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let log = desk.read("log.txt");
    let mut by_client: BTreeMap<&str, usize> = BTreeMap::new();
    for line in log.lines() {
        let (at, rest) = line.split_once(" s  s ").unwrap_or_else(|| panic!("{line}"));
        assert!((0.0..60.0).contains(&at.trim().parse::<f64>().unwrap()), "{line}");
        let (client, text) = rest.split_once("  ").unwrap();
        assert_eq!(text, "x\\ny");
        *by_client.entry(client).or_default() += 1;
    }
    let expected: BTreeMap<&str, usize> =
        ["1.1", "1.2", "1.3", "1.4", "1.5"].map(|client| (client, 40)).into();
    assert_eq!(by_client, expected);
    let output = desk.run("run test.js --quiet --report r.json");
    assert_eq!(output.stderr.matches(" s  s 1.").count(), 200, "{output}");
    let output = desk.run("run test.js --quiet --log no/such/folder/log.txt");
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("cannot write --log no/such/folder/log.txt"), "{output}");
}

#[test]
fn identifiers_are_given_on_the_command_line() {
    let script = "defines = {};
definition.setTarget('BASE');
definition.setArrivalPhases([{ duration: 1, rate: 1 }]);
definition.session('s', (s) => { s.get('/' + (defines.env || 'staging')); });";
    let desk = Desk::new(&[("test.js", script)]);
    for (flag, path) in [("", "staging"), (" --define env=prod", "prod")] {
        let output = desk.run(&format!("session curl test.js{flag}"));
        assert!(output.stdout.ends_with(&format!("/{path}'\n\n")), "{output}");
        assert_eq!(desk.run(&format!("run test.js --validate --quiet{flag}")).code, Some(0));
        assert_eq!(desk.asked(), [format!("GET /{path}")]);
    }
    for (flag, said) in [("1x=2", "--define: `1x` in `1x=2`"), ("env", "--define: `env` gives no")]
    {
        let output = desk.run(&format!("run test.js --define {flag}"));
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said), "{output}");
    }
    let plain = script.replace("(defines.env || 'staging')", "'x'");
    std::fs::write(desk.folder.path().join("plain.js"), plain).unwrap();
    let output = desk.run("run plain.js --strict --define evn=prod");
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`evn` is given a value"), "{output}");
}

const HAR: &str = r#"{"log": {"entries": [
  {"startedDateTime": "2026-01-05T10:00:00.000Z", "request": {"method": "GET", "url": "BASE/a?b=c",
   "headers": [{"name": "Accept", "value": "text/html"}]}},
  {"startedDateTime": "2026-01-05T10:00:00.700Z", "request": {"method": "POST", "url": "BASE/d",
   "headers": [{"name": "Content-Type", "value": "text/plain"}], "postData": {"text": "${x} {{y}}"}}}
]}}"#;

#[test]
fn what_is_converted_can_be_run() {
    let asked = ["GET /a?b=c", "POST /d"];
    let desk = Desk::new(&[("recorded.har", HAR), ("test.js", SESSIONS)]);
    let output = desk.run("convert recorded.har -o made.js");
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(desk.run("run made.js --validate --quiet").code, Some(0));
    assert_eq!(desk.asked(), asked);
    for words in ["convert recorded.har --to journey -o j.yaml", "convert made.js -o j.yaml"] {
        let output = desk.run(words);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stderr.contains("the pause is left out"), "{output}");
        let output = desk.run("run j.yaml --once --quiet");
        assert_eq!(output.code, Some(0), "{}\n{output}", desk.read("j.yaml"));
        let body = desk.book.lock().unwrap()[1].body.clone();
        assert_eq!(
            (desk.asked(), body.as_str()),
            (asked.map(str::to_owned).to_vec(), "${x} {{y}}")
        );
    }
    let output = desk.run("convert test.js");
    assert!(output.stderr.contains("test.js:12:"), "{output}");
    std::fs::write(desk.folder.path().join("t.yaml"), &output.stdout).unwrap();
    let output = desk.run("run t.yaml --once --quiet");
    assert_eq!(output.code, Some(0), "{}\n{output}", desk.read("t.yaml"));
    let mut seen = desk.asked();
    seen.sort();
    let there = format!("GET /to?http://{}/there", desk._site.address());
    assert_eq!(seen, ["GET /raw", "GET /there", there.as_str(), "GET /zip", "POST /token"]);
}

#[test]
fn what_keeps_a_k6_script_from_becoming_a_session_is_listed() {
    let script = "import http from 'k6/http';
export default function () {
  const res = http.get('http://127.0.0.1/');
  http.get('/' + res.json('id'));
}";
    let desk = Desk::new(&[("k6.js", script), ("no.txt", "")]);
    let output = desk.run("convert k6.js");
    assert_eq!(output.code, Some(2), "{output}");
    let told = &output.stdout;
    assert!(told.starts_with("k6.js:4:18: `json` of an answer\n"), "{output}");
    assert!(told.contains("extraction: { jsonpath:"), "{output}");
    let last = "one thing stands between k6.js and a session script; 2 calls of http can stay";
    assert!(told.contains(last), "{output}");
    for (words, said) in [
        ("convert k6.js --to journey", "k6.js is no session script"),
        ("convert none.har", "cannot read none.har"),
    ] {
        let output = desk.run(words);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said), "{output}");
    }
}
