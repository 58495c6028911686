//! Flags and variables of k6's that are about a run and not about its load: what has no effect is
//! said, what has one has it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sojourn_testkit::{
    Program, Reply, Request, Responder, Server, TempDir, free_port, response, sojourn, temp_dir,
};

use crate::common::until;
use crate::mock::Mocked;

const EMPTY: &str = "export default function () {}";

fn folder(script: &str) -> TempDir {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    folder
}

fn program(folder: &Path, words: &[&str]) -> Program {
    let usual = ["k6", "run", "--quiet", "test.js"];
    sojourn(usual.iter().chain(words)).in_dir(folder).timeout(Duration::from_secs(60))
}

#[test]
fn what_has_no_effect_is_said_once_and_the_test_goes_on() {
    let folder = folder(EMPTY);
    let words = ["--profiling-enabled", "-u", "2", "-i", "2", "--generators", "2"];
    let run = program(folder.path(), &words).env("K6_TRACES_OUTPUT", "otel");
    let output = run.env("K6_FEATURES", "native-histograms").run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    for word in ["--profiling-enabled", "--traces-output otel", "--features native-histograms"] {
        let told = format!("{word} (");
        assert_eq!(output.stderr.matches(&told).count(), 1, "{word}: {output}");
    }
    assert_eq!(output.stderr.matches("has no effect").count(), 3, "{output}");
}

const TALKING: &str = r#"
export default function () {
  console.log('plain');
  console.warn('two words');
}
export function setup() {
  for (let i = 0; i < __ENV.LINES; i++) console.log(`line ${i}`);
}"#;

#[test]
fn logs_go_where_the_help_says_and_nowhere_else() {
    let help = sojourn(["k6", "run", "--help"]).run().unwrap();
    assert!(help.stdout.contains("file=PATH") && help.stdout.contains("loki=URL"), "{help}");
    let folder = folder(TALKING);
    let words = ["--log-output", "file=a.log,level=warn"];
    let output = program(folder.path(), &words).run().unwrap();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    let log = std::fs::read_to_string(folder.path().join("a.log")).unwrap();
    assert!(log.ends_with(" level=warning msg=\"two words\" source=console\n"), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    for wrong in ["file=a.log,level=zz", "syslog=http://me:secret@x", "loki=me:secret@x,limit=0"] {
        let output = program(folder.path(), &["--log-output", wrong]).run().unwrap();
        assert_eq!(output.code, Some(255), "{output}");
        assert!(output.stderr.contains("--log-output "), "{output}");
        assert!(!output.stderr.contains("secret"), "{output}");
    }
}

/// What Loki has been sent: a header, and bodies. It refuses those that come elsewhere.
#[derive(Clone, Default)]
struct Loki(Arc<Mutex<Vec<(String, Value)>>>);

impl Responder for Loki {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        1 << 20
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        if request.path != "/loki/api/v1/push" {
            return Reply::now(response(400, "text/plain", b"not here"));
        }
        let scope = request.header("x-scope-orgid").unwrap_or_default();
        let scope = String::from_utf8_lossy(scope).into_owned();
        let body = serde_json::from_slice(request.body).unwrap();
        self.0.lock().unwrap().push((scope, body));
        Reply::now(response(204, "text/plain", b""))
    }
}

#[test]
fn lines_reach_loki_with_their_labels_and_none_is_lost_at_the_end() {
    let loki = Loki::default();
    let server = Server::start(loki.clone()).unwrap();
    let folder = folder(TALKING);
    let url = server.url("/loki/api/v1/push");
    // The period does not end before the test.
    let output = format!(
        "loki={url},label.app=shop,limit=20,pushPeriod=60s,header.X-Scope-OrgID=load,\
         allowedLabels=[level]"
    );
    let words =
        ["--log-output", &output, "-e", "LINES=30", "--generators", "2", "-u", "2", "-i", "2"];
    let output = program(folder.path(), &words).run().unwrap();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    let sent = loki.0.lock().unwrap().clone();
    assert_eq!(sent.len(), 1, "{sent:?}");
    let (scope, body) = &sent[0];
    assert_eq!(scope, "load");
    let streams = body["streams"].as_array().unwrap();
    assert_eq!(streams[0]["stream"], json!({ "app": "shop", "level": "info" }));
    assert_eq!(streams[0]["values"].as_array().unwrap().len(), 20, "{body}");
    assert_eq!(streams[0]["values"][0][1], "line 0 source=console");
    let last = streams.last().unwrap();
    assert_eq!(last["stream"], json!({ "app": "shop", "level": "warning" }));
    let told = last["values"][0][1].as_str().unwrap();
    // Ten of setup's, and two of each iteration.
    assert!(told.starts_with("14 log lines were dropped: the limit is 20 in 1m0s"), "{told}");
    // Where it refuses them, that is said, and how many lines it has cost.
    let elsewhere = url.replace("http://", "loki=http://me:secret@").replace("/v1/push", "/v2");
    let output = program(folder.path(), &["--log-output", &elsewhere]).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stderr.matches("the log can't be sent to Loki").count(), 1, "{output}");
    assert!(output.stderr.contains("2 lines of the log did not reach Loki"), "{output}");
    assert!(!output.stderr.contains("secret"), "{output}");
}

const SECURE: &str = "
import http from 'k6/http';
import { check } from 'k6';
export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };
export default function () {
  check(http.get(__ENV.TARGET), { answered: (it) => it.status === 200 });
}";

#[test]
fn secrets_of_tls_are_logged_where_somebody_asks_for_them() {
    let target = Mocked::start(&[], &["--tls"]);
    let url = format!("TARGET=https://{}/", target.address);
    let folder = folder(SECURE);
    let run = |keys: &str| {
        program(folder.path(), &["-e", &url]).env("SSLKEYLOGFILE", keys).run().unwrap()
    };
    let output = run("keys.log");
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stderr.matches("who has keys.log can read").count(), 1, "{output}");
    let keys = std::fs::read_to_string(folder.path().join("keys.log")).unwrap();
    // NSS's format: what it is, the client's random, the secret.
    let traffic = keys.lines().filter(|line| line.starts_with("CLIENT_TRAFFIC_SECRET_0 "));
    let words: Vec<_> = traffic.flat_map(|line| line.split(' ').skip(1)).collect();
    assert_eq!(words.len(), 2, "one connection: {keys}");
    assert!(words[0].len() == 64 && words[1].len() >= 64, "{keys}");

    let output = run("none/keys.log");
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("SSLKEYLOGFILE: none/keys.log"), "{output}");
}

/// It goes on when the test has seen the dashboard.
const WATCHED: &str = "
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = {
  iterations: 1,
  thresholds: { checks: ['rate==1'], http_reqs: ['count>100'] },
};
export default function () {
  check(http.get(__ENV.TARGET), { '<answered>': (it) => it.status === 200 });
  while (http.get(__ENV.GATE).status === 0) sleep(0.1);
  sleep(2);
}";

fn watched(folder: &Path, gate: u16, target: &Mocked, variables: &[(&str, &str)]) -> Program {
    let target = format!("TARGET=http://{}/", target.address);
    let gate = format!("GATE=http://127.0.0.1:{gate}/");
    let mut program = program(folder, &["-e", &target, "-e", &gate]);
    program = program.env("K6_WEB_DASHBOARD", "true");
    for (name, value) in variables {
        program = program.env(&format!("K6_WEB_DASHBOARD_{name}"), value);
    }
    program
}

#[test]
fn k6s_dashboard_is_ours_and_its_report_is_written_at_the_end() {
    let target = Mocked::start(&[], &[]);
    let folder = folder(WATCHED);
    let opener = folder.path().join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\necho \"$1\" > opened.tmp && mv opened.tmp opened\n")
        .unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (port, gate) = (free_port().unwrap().to_string(), free_port().unwrap());
    let variables =
        [("HOST", "127.0.0.1"), ("PORT", &*port), ("EXPORT", "report.html"), ("OPEN", "true")];
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let run = watched(folder.path(), gate, &target, &variables).env("PATH", path);
    let running = run.start().unwrap();
    let address = format!("http://127.0.0.1:{port}/");
    until("a browser is opened", || folder.path().join("opened").exists());
    let opened = std::fs::read_to_string(folder.path().join("opened")).unwrap();
    assert!(opened.starts_with(&address), "{opened}");
    let page = Program::new("curl").args(["-s", "--max-time", "5", &address]).run().unwrap();
    assert!(page.code == Some(0) && page.stdout.contains("<html"), "{page}");
    let open = std::net::TcpListener::bind(("127.0.0.1", gate)).unwrap();
    let answering = std::thread::spawn(move || answer_once(&open));
    let output = running.wait().unwrap();
    answering.join().unwrap();
    assert_eq!(output.code, Some(99), "{output}");
    assert!(output.stderr.contains("report    report.html"), "{output}");
    let report = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    for part in [
        "<h1>test</h1>",
        "✓ holds</td><td>checks</td><td>rate==1</td><td>rate=100.00%",
        "✗ failed</td><td>http_reqs</td><td>count&gt;100</td><td>count=",
        "<td>&lt;answered&gt;</td><td>1</td><td>0</td>",
        "Users: up to 1 over",
        "http_req_duration",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(!report.contains("<script") && !report.contains("http://www"), "{report}");
}

fn answer_once(listener: &std::net::TcpListener) {
    use std::io::{Read as _, Write as _};
    let (mut stream, _) = listener.accept().unwrap();
    let mut head = [0; 4_096];
    assert!(stream.read(&mut head).unwrap() > 0);
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(answer.as_bytes()).unwrap();
}

#[test]
fn the_port_minus_one_is_a_report_alone() {
    let target = Mocked::start(&[], &[]);
    let script = SECURE.replace("insecureSkipTLSVerify: true, ", "");
    let folder = folder(&script);
    let gate = target.address.port();
    let without_effect = [("PORT", "-1"), ("RECORD", "r.json"), ("TAG", "url"), ("PERIOD", "5s")];
    for variables in [&[("PORT", "-1"), ("EXPORT", "alone.html")][..], &without_effect] {
        let output = watched(folder.path(), gate, &target, variables).run().unwrap();
        assert_eq!(output.code, Some(0), "{output}");
        for (name, _) in variables {
            let told = output.stderr.contains(&format!("K6_WEB_DASHBOARD_{name} has no effect"));
            assert_eq!(told, matches!(*name, "RECORD" | "TAG"), "{name}: {output}");
        }
        assert!(!output.stderr.contains("dashboard http"), "{output}");
        // As soon as it is asked for.
        assert_eq!(output.stderr.contains("report    alone.html"), variables.len() == 2);
    }
    let report = std::fs::read_to_string(folder.path().join("alone.html")).unwrap();
    assert!(report.contains("<p>passed</p>"), "{report}");
    let wrong = watched(folder.path(), gate, &target, &[("PORT", "many")]).run().unwrap();
    assert_eq!(wrong.code, Some(104), "{wrong}");
    assert!(wrong.stderr.contains("K6_WEB_DASHBOARD_PORT"), "{wrong}");
}

#[test]
fn a_report_that_can_not_be_written_is_told_and_changes_nothing_else() {
    let folder = folder(EMPTY);
    let words = ["--out", "web-dashboard=port=-1&export=none/report.html"];
    let output = program(folder.path(), &words).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("report none/report.html"), "{output}");
}
