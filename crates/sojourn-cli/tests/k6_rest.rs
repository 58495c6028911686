//! k6's REST interface, and the words that use it: paused beginnings, users changed from outside,
//! figures under way, ends.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::{
    Output, Program, Reply, Request, Responder, Running, Server, TempDir, free_port, response,
    sojourn, temp_dir,
};

use crate::common::until;
use crate::generators::{children, kill};

/// Paths as they were asked for.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Vec<String>>>);

impl Responder for Book {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        self.0.lock().unwrap().push(request.path.to_owned());
        Reply::now(response(200, "text/plain", b"ok"))
    }
}

/// A test under way and its target.
struct Test {
    book: Book,
    _server: Server,
    _folder: TempDir,
    address: String,
    running: Running,
}

impl Test {
    /// Starts a script, `BASE` in which is the target's URL, and waits for its interface.
    fn start(script: &str, flags: &[&str]) -> Self {
        let book = Book::default();
        let server = Server::start(book.clone()).unwrap();
        let folder = temp_dir().unwrap();
        let script = script.replace("BASE", &server.url(""));
        std::fs::write(folder.path().join("test.js"), script).unwrap();
        let address = format!("127.0.0.1:{}", free_port().unwrap());
        let words = ["k6", "run", "test.js", "--quiet", "--address", &address];
        let running = sojourn(words.iter().chain(flags)).in_dir(folder.path()).start().unwrap();
        let test = Self { book, _server: server, _folder: folder, address, running };
        until("the interface answers", || test.get("/ping").is_some());
        test
    }

    /// A word of `sojourn k6`, which succeeds.
    fn say(&self, words: &str) -> String {
        let output = self.try_say(words);
        assert_eq!(output.code, Some(0), "{output}");
        output.stdout
    }

    fn try_say(&self, words: &str) -> Output {
        let words = format!("k6 {words} --address {}", self.address);
        sojourn(words.split(' ')).run().unwrap()
    }

    fn status(&self, name: &str) -> String {
        let told = self.say("status");
        let line = told.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {told}")).to_owned()
    }

    /// As users of the interface ask, without our words.
    fn get(&self, path: &str) -> Option<String> {
        let url = format!("http://{}{path}", self.address);
        let output = Program::new("curl").args(["-s", "--max-time", "5", &url]).run().unwrap();
        (output.code == Some(0)).then_some(output.stdout)
    }

    fn data(&self, path: &str) -> Value {
        let document: Value = serde_json::from_str(&self.get(path).unwrap()).unwrap();
        document["data"].clone()
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let url = format!("http://{}{path}", self.address);
        let words = ["-s", "--max-time", "5", "-X", method, "-d", body, &url];
        let output = Program::new("curl").args(words).run().unwrap();
        serde_json::from_str(&output.stdout).unwrap_or(Value::Null)
    }

    fn requests(&self) -> usize {
        self.book.0.lock().unwrap().len()
    }

    /// Who asks from now on, until that many do.
    fn askers(&self, count: usize) {
        let from = self.requests();
        until("so many users ask", || {
            let book = self.book.0.lock().unwrap();
            book[from..].iter().collect::<BTreeSet<_>>().len() == count
        });
    }
}

const PAUSED: &str = r#"
import http from 'k6/http';
import { check, group } from 'k6';
export const options = { iterations: 3, thresholds: { checks: ['rate==1'] } };
export function setup() { http.get('BASE/setup'); return { word: 'made' }; }
export default function (data) {
  group('outer', () => group('inner', () => {
    check(http.get('BASE/' + data.word), { 'is ok': (r) => r.status === 200 });
  }));
}
"#;

#[test]
fn a_paused_test_begins_when_it_is_resumed_and_lingers_until_it_is_told_to_go() {
    pause_and_linger(&["--paused", "--linger", "--profiling-enabled"]);
    pause_and_linger(&["--paused", "--linger", "--generators", "2"]);
}

fn pause_and_linger(flags: &[&str]) {
    let test = Test::start(PAUSED, flags);
    until("it is paused", || test.status("status") == "4");
    assert_eq!((test.status("paused"), test.status("running")), ("true".into(), "false".into()));
    assert_eq!(test.requests(), 0);
    let resumed = test.say("resume");
    assert!(resumed.contains("paused: false"), "{resumed}");
    until("it has ended", || test.status("status") == "9");
    assert_eq!(*test.book.0.lock().unwrap(), ["/setup", "/made", "/made", "/made"]);
    assert_eq!(test.data("/v1/setup")["attributes"]["data"]["word"], "made");
    let metrics = test.data("/v1/metrics");
    let named = |name: &str| {
        let metrics = metrics.as_array().unwrap().iter();
        metrics.clone().find(|metric| metric["id"] == name).unwrap()["attributes"].clone()
    };
    assert_eq!(named("http_reqs")["sample"]["count"], 4);
    assert_eq!(
        (&named("checks")["tainted"], &named("iterations")["tainted"]),
        (&Value::Bool(false), &Value::Null)
    );
    assert_eq!(test.data("/v1/metrics/iterations")["attributes"]["sample"]["count"], 3);
    assert!(test.get("/v1/metrics/none").unwrap().contains("there is none of that name"));
    // The process's own figures are there for who asks for them.
    let (own, profile) = (test.get("/metrics").unwrap(), test.get("/debug/pprof/heap").unwrap());
    let is_profiled = flags.contains(&"--profiling-enabled");
    assert_eq!(own.contains("\nprocess_resident_memory_bytes "), is_profiled, "{own}");
    assert_eq!(own.contains("there is no such path"), !is_profiled, "{own}");
    assert_eq!(profile.contains("perf record"), is_profiled, "{profile}");
    let groups = test.data("/v1/groups");
    let names: Vec<&Value> =
        groups.as_array().unwrap().iter().map(|group| &group["attributes"]["name"]).collect();
    assert_eq!(names, ["", "outer", "inner"]);
    let inner = &groups[2];
    assert_eq!(inner["attributes"]["checks"][0]["passes"], 3);
    assert_eq!(inner["relationships"]["parent"]["data"]["id"], groups[1]["id"]);
    let path = format!("/v1/groups/{}", inner["id"].as_str().unwrap());
    assert_eq!(&test.data(&path), inner);
    test.running.interrupt().unwrap();
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("iterations"), "the summary comes then: {output}");
}

#[test]
fn a_process_that_dies_while_the_test_is_paused_ends_it() {
    let test = Test::start(PAUSED, &["--paused", "--generators", "2"]);
    until("it is paused", || test.status("status") == "4");
    let processes = children(test.running.pid());
    assert_eq!(processes.len(), 2);
    kill(processes[0]);
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(109), "{output}");
    let named = format!("generator process 0 (pid {}) ended early", processes[0]);
    assert!(output.stderr.contains(&named), "{output}");
    assert!(test.book.0.lock().unwrap().is_empty());
}

#[test]
fn setup_and_its_data_are_anothers_before_the_beginning() {
    let test = Test::start(PAUSED, &["--paused", "--no-setup"]);
    until("it is paused", || test.status("status") == "4");
    let made = test.send("POST", "/v1/setup", "");
    assert_eq!(made["data"]["attributes"]["data"]["word"], "made", "{made}");
    let given = test.send("PUT", "/v1/setup", r#"{"word":"given"}"#);
    assert_eq!(given["data"]["attributes"]["data"]["word"], "given", "{given}");
    assert_eq!(test.send("PUT", "/v1/setup", "{")["errors"][0]["status"], "400");
    test.say("resume");
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(*test.book.0.lock().unwrap(), ["/setup", "/given", "/given", "/given"]);
}

const STEERED: &str = r#"
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { scenarios: { s: {
  executor: 'externally-controlled', vus: 2, maxVUs: 4, duration: '0' } } };
export default function () { http.get('BASE/' + __VU); sleep(0.02); }
"#;

#[test]
fn users_are_changed_paused_and_ended_from_outside() {
    steer(&[]);
}

#[test]
fn users_of_several_processes_are_changed_from_outside_alike() {
    steer(&["--generators", "3"]);
}

fn steer(flags: &[&str]) {
    let test = Test::start(STEERED, flags);
    test.askers(2);
    // Several processes tell of their users a moment later.
    until("two are told", || test.status("vus") == "2" && test.status("vus-max") == "4");
    test.say("scale --vus 4");
    test.askers(4);
    test.say("scale --vus 6 --max 8");
    test.askers(6);
    until("more are told", || test.status("vus-max") == "8");
    let refused = test.try_say("scale --vus 9");
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("9 users are more than vus-max, 8"), "{refused}");
    test.say("scale --vus 1");
    until("one is left", || test.status("vus") == "1");
    test.askers(1);
    test.say("pause");
    until("nobody runs", || test.status("vus") == "0");
    let paused = test.requests();
    let stats: Value = serde_json::from_str(&test.say("stats")).unwrap();
    let of = |name: &str| stats.as_array().unwrap().iter().find(|it| it["id"] == name).cloned();
    let counted = of("http_reqs").unwrap()["attributes"]["sample"]["count"].as_u64();
    assert_eq!((counted, test.requests()), (Some(paused as u64), paused));
    test.say("resume");
    until("it goes on", || test.requests() > paused + 5);
    let stopped = test.send(
        "PATCH",
        "/v1/status",
        r#"{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}"#,
    );
    assert_eq!(stopped["data"]["attributes"]["stopped"], true, "{stopped}");
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(103), "{output}");
}

const USUAL: &str = r#"
import { sleep } from 'k6';
export const options = { vus: 1, duration: '60s' };
export default function () { sleep(0.05); }
"#;

#[test]
fn what_can_not_be_is_refused_in_words() {
    let test = Test::start(USUAL, &[]);
    until("it runs", || test.status("status") == "7");
    for (words, said) in [
        ("scale --vus 3", "externally-controlled"),
        ("pause", "externally-controlled"),
        ("scale", "nothing is to be changed"),
    ] {
        let output = test.try_say(words);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said), "{words}: {output}");
    }
    test.say("resume");
    for (body, said) in [
        ("{", "no JSON"),
        ("{}", "data.attributes"),
        (r#"{"data":{"attributes":{"vus":-1}}}"#, "`vus` is -1"),
        (r#"{"data":{"attributes":{"paused":"x"}}}"#, "`paused` is \"x\""),
    ] {
        let answer = test.send("PATCH", "/v1/status", body);
        let detail = answer["errors"][0]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(said), "{body}: {answer}");
    }
    assert_eq!(test.send("POST", "/v1/teardown", "")["errors"][0]["status"], "400");
    assert!(test.get("/v1/nothing").unwrap().contains("no such path"));
    test.running.interrupt().unwrap();
    assert_eq!(test.running.wait().unwrap().code, Some(105));
}

fn refused(folder: &Path, words: &str) -> Output {
    let words = format!("k6 run test.js --quiet {words}");
    sojourn(words.split(' ')).in_dir(folder).timeout(Duration::from_secs(30)).run().unwrap()
}

#[test]
fn nobody_waits_for_who_can_not_come() {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), USUAL).unwrap();
    let output = refused(folder.path(), "--paused");
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("--address"), "{output}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let output = refused(folder.path(), &format!("--address {address}"));
    assert_eq!(output.code, Some(106), "{output}");
    assert!(output.stderr.contains(&address.to_string()), "{output}");
    drop(taken);
    let output = sojourn(["k6", "status", "--address", &address.to_string()]).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("no answer from"), "{output}");
}

const SLOW: &str = r#"
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 1, iterations: 1, setupTimeout: '200s' };
const until = Date.now() + Number(__VU > 0 ? __ENV.INIT || 0 : 0);
while (Date.now() < until) {}
export function setup() { http.get('BASE/setup'); sleep(150); }
export default function () { http.get('BASE/iteration'); }
"#;

const STOPPED: &str = r#"{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}"#;

#[test]
fn who_asks_while_setup_is_called_is_answered_and_may_end_it() {
    let test = Test::start(SLOW, &[]);
    until("setup is called", || test.requests() == 1);
    for _ in 0..20 {
        // More than may wait at once.
        assert_eq!(test.data("/v1/status")["attributes"]["status"], 6);
    }
    let refused = test.send("POST", "/v1/setup", "");
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("being called"));
    let paused = r#"{"data":{"type":"status","id":"default","attributes":{"paused":true}}}"#;
    assert_eq!(test.send("PATCH", "/v1/status", paused)["errors"][0]["status"], "400");
    assert!(test.data("/v1/metrics").as_array().is_some());
    let stopped = test.send("PATCH", "/v1/status", STOPPED);
    assert_eq!(stopped["data"]["attributes"]["stopped"], true, "{stopped}");
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(103), "{output}");
    assert_eq!(*test.book.0.lock().unwrap(), ["/setup"]);
}

#[test]
fn who_asks_while_users_are_made_is_answered_and_may_end_it() {
    let test = Test::start(SLOW, &["-e", "INIT=150000"]);
    assert_eq!(test.data("/v1/status")["attributes"]["status"], 1);
    let stopped = test.send("PATCH", "/v1/status", STOPPED);
    assert_eq!(stopped["data"]["attributes"]["stopped"], true, "{stopped}");
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(103), "{output}");
    assert!(test.book.0.lock().unwrap().is_empty());
}

#[test]
fn the_first_signal_ends_setup() {
    let test = Test::start(SLOW, &[]);
    until("setup is called", || test.requests() == 1);
    test.running.interrupt().unwrap();
    let output = test.running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert_eq!(*test.book.0.lock().unwrap(), ["/setup"]);
}
