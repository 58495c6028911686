//! Sessions as journey files.

use std::io;
use std::path::Path;

use sojourn_plan::{Files, Model, Overrides, Plan};
use sojourn_session::{Data, JourneyFile, har_script, journey_file};

use crate::util::{Disk, defined, script};

/// Files beside a journey file.
struct Beside;

impl Files for Beside {
    fn read(&self, path: &Path) -> io::Result<String> {
        Disk.read(path)
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

fn made(text: &str) -> JourneyFile {
    let definition = defined(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let data = Data::load(&definition, &Disk).expect("its files are there");
    journey_file("test", &definition, &data).unwrap_or_else(|| panic!("{text}"))
}

fn plan(file: &JourneyFile) -> Plan {
    let read = sojourn_plan::read("test.yaml", &file.text, &Beside, &Overrides::default());
    read.unwrap_or_else(|errors| panic!("{}\n{errors}", file.text))
}

#[test]
fn what_journeys_can_do_is_converted_without_a_remark() {
    let text = script(
        r#"session.defaults.setHeader("X-A", "it's ${HOME} {{x}}");
        session.post("/login?x=ä b#top", {
          tag: "log in", gzip: true,
          payload: { user: "a&b", n: session.ds.generate("random_number", { range: [1, 9] }) },
          extraction: { jsonpath: { token: "$.a[\"b c\"][0].d", other: "$.l[?id==7].x" }, header: { "my id": "X-Id" },
            regexp: { number: "n=(\\d+)" } },
        });
        session.assert("status", session.lastHttpStatus(), "<", 300);
        session.assert("token", session.getVar("token"), "!=", "");
        session.setVar("path", "/b/" + session.getVar("my id"));
        session.times(2, (s) => s.put("/c" + s.getVar("path"), {
          headers: { Authorization: "Bearer " + s.getVar("token"), "Content-Type": "application/json" },
          payload: s.json({ id: s.ds.generate("random_uuid", {}), text: "a" + s.getVar("number"), list: [1, true] }),
        }));
        session.forEach(["1", "2"], (s, item) => s.get("/item/" + item));
        session.get("/never", { payload: undefined, tag: "out" });"#,
    );
    let text = format!("{text}definition.setTestOptions({{ exclude_tags: ['out'] }});");
    let file = made(&text);
    let shown: Vec<String> = file.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(shown, [""; 0], "{}", file.text);
    let plan = plan(&file);
    let steps: Vec<&str> = plan.journeys[0].steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["log-in", "put-c", "put-c-2", "get-item", "get-item-2"], "{}", file.text);
    for part in [
        "url: \"/login?x=%C3%A4%20b\"",
        "X-A: \"it's $${HOME} {{ '{{' }}x}}\"",
        "form: { user: \"a&b\", \"n\": \"{{ int(1, 9) }}\" }",
        "token: \"$.a['b c'][0].d\"",
        "my_id: header.X-Id",
        "url: \"/c/b/{{ my_id }}\"",
        "\"Bearer {{ token }}\"",
        "{ id: \"{{ uuid() }}\", text: \"a{{ v_number }}\", list: [1, true] }",
        "$.l[?@.id=='7' || @.id==7].x",
        "status: { less: 300 }",
        "url: /item/2",
    ] {
        assert!(file.text.contains(part), "{part} in\n{}", file.text);
    }
    assert!(!file.text.contains("never") && !file.text.contains("top"), "{}", file.text);
}

#[test]
fn what_journeys_cannot_do_is_said_at_its_place() {
    let text = script(
        r#"const login = { username: "u", password: "s3cret" }, x = { x: "//a" };
session.get("/a", { authentication: login, extraction: { xpath: x } });
session.get("/b/" + session.getVar("x"));
session.wait(1);
session.if(session.lastHttpStatus(), "=", 200, (s) => s.get("/c"));
session.setVar("n", session.ds.generate("random_number", { range: [1, 2] }));
session.get("/d?n=" + session.getVar("n"));
session.get(session.getVar("url"));
session.log("x");
const row = session.ds.pickFrom(session.ds.loadStructured("stations.csv"));
session.get("/e/" + row.get(0), { extraction: { jsonpath: { y: "$.y" } } });
session.check("y", session.getVar("y"), ">=", 3);
session.check("again", session.getVar("y"), "=", 3);
session.times(30, (s) => s.get("/f"));
session.publish("c", { payload: "x" });
session.forEver((s) => s.get("/g/" + s.ds.generate("random_string", { length: 3 })));
session.get("/behind");"#,
    );
    let file = made(&text);
    assert!(!file.text.contains("s3cret"), "{}", file.text);
    let told: Vec<(usize, &str)> =
        file.remarks.iter().map(|it| (it.line - 4, it.message.as_str())).collect();
    for (line, start) in [
        (1, "the password is not written"),
        (1, "`x` is left out"),
        (2, "get() is left out: `x` is a value that a journey can't have"),
        (3, "the pause is left out"),
        (4, "if() is left out"),
        (5, "`n` is left out"),
        (6, "get() is left out"),
        (7, "get() is left out: a journey's request names its host"),
        (8, "log() is left out"),
        (9, "rows are taken in turn"),
        (11, "a check that fails fails the journey"),
        (12, "`again` is left out: something is asked of that value already"),
        (13, "times() goes around once"),
        (14, "publish() is left out"),
        (15, "forEver() goes around once"),
        (15, "get() is left out: journeys make random numbers"),
    ] {
        let is_told = |&(at, message): &(usize, &str)| at == line && message.starts_with(start);
        assert!(told.iter().any(is_told), "{line}: {start} in {told:#?}");
        assert!(file.text.contains(&format!("# line {}: {start}", line + 4)), "{}", file.text);
    }
    assert_eq!(told.len(), 16, "{told:#?}");
    let plan = plan(&file);
    let steps: Vec<&str> = plan.journeys[0].steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["get-a", "get-e", "get-f"], "{}", file.text);
}

#[test]
fn phases_and_weights_become_a_load() {
    let text = "definition.setTargets(['http://a.example:81', 'https://b.example']);
        definition.setArrivalPhases([{ duration: 60, rate: 1.5 }, { duration: 0.5, rate: 0 },
          { duration: 30, rate: 2, max_clients: 7, session_weights: { 'a b': 0 } }]);
        definition.setSessionWeights({ 'a b': 3 });
        definition.session('a b', (s) => s.get('http://a.example:81/x'));
        definition.session('c', (s) => s.get('https://b.example/y'));";
    let file = made(text);
    let plan = plan(&file);
    assert_eq!(plan.allowed_hosts, ["a.example", "b.example"]);
    let names: Vec<&str> = plan.journeys.iter().map(|journey| journey.name.as_str()).collect();
    assert_eq!(names, ["a-b", "c"], "{}", file.text);
    let [first, second] = plan.load.as_slice() else { panic!("{}", file.text) };
    assert_eq!(first.journeys, [(0, 0.75), (1, 0.25)]);
    assert_eq!(second.journeys.len(), 1);
    assert_eq!(second.journeys[0].0, 1);
    assert_eq!((first.steady_ns, second.steady_ns), (60_000_000_000, 90_500_000_000));
    let Model::Open { limit, .. } = &second.model else { panic!("{}", file.text) };
    assert_eq!(*limit, Some(7));
}

#[test]
fn recordings_become_journeys_by_way_of_sessions() {
    let har = r#"{"log": {"entries": [
        {"startedDateTime": "2026-01-05T10:00:00Z", "request": {"method": "GET", "headers": [],
         "url": "http://shop.example/?q=1"}},
        {"startedDateTime": "2026-01-05T10:00:01Z", "request": {"method": "POST",
         "url": "http://shop.example/cart", "headers": [{"name": "X", "value": "{{y}}"}],
         "postData": {"text": "{\"a\": \"${B}\"}"}}}]}}"#;
    let file = made(&har_script(har).unwrap());
    let plan = plan(&file);
    assert_eq!(plan.journeys[0].steps.len(), 2);
    let messages: Vec<&str> = file.remarks.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, ["the pause is left out: journeys have none between their steps"]);
    assert!(file.text.contains(r#"body: "{\"a\": \"$${B}\"}""#), "{}", file.text);
}

/// Line breaks in a header, and headers that are made from the request, once made a file that could
/// not be read.
#[test]
fn headers_that_journey_files_refuse_are_written_as_clients_send_them_or_left_out() {
    let text = script(
        "session.get('/', { headers: { 'X-A': 'a\\r\\nb', Host: 'b.example', 'Content-Length': '9' } });",
    );
    let file = made(&text);
    assert_eq!(file.remarks.len(), 2, "{}", file.text);
    assert_eq!(plan(&file).journeys[0].steps.len(), 1);
    assert!(file.text.contains("a  b"), "{}", file.text);
}
