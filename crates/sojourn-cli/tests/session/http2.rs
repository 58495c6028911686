//! HTTP/2 of sessions: spoken where the target offers it over TLS, on connections of each client.

use std::time::Duration;

use sojourn_testkit::{sojourn, temp_dir};

use crate::mock::Mocked;

const SCRIPT: &str = r#"
definition.setTarget("https://127.0.0.1:PORT");
definition.setArrivalPhases([{ duration: 1, rate: 50, max_clients: 6 }]);
definition.session("s", (session) => {
  session.times(3, (ctx) => {
    ctx.post("/x", { payload: "hello", extraction: { regexp: { version: "HTTP/(\\S+)", body: "\r\n\r\n(.*)$" } } });
    ctx.check("version", session.getVar("version"), "=", "VERSION");
    ctx.check("body", session.getVar("body"), "=", "hello");
  });
  session.get("/cookie/set?cookie=c");
  session.get("/cookie/get?cookie=c");
  session.check("cookie", session.lastHttpStatus(), "=", 200);
});
"#;

#[test]
fn a_target_that_offers_it_gets_it() {
    is_spoken(&[]);
}

#[test]
fn processes_of_generators_speak_it_too() {
    is_spoken(&["--generators", "2"]);
}

fn is_spoken(further: &[&str]) {
    let mock = Mocked::start(&[], &["--tls"]);
    let folder = temp_dir().unwrap();
    let script = SCRIPT.replace("PORT", &mock.address.port().to_string()).replace("VERSION", "2.0");
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    let arguments = ["session", "run", "test.js", "--quiet", "--format", "json", "--insecure"];
    let arguments: Vec<_> = arguments.iter().chain(further).copied().collect();
    let run = sojourn(arguments).in_dir(folder.path()).timeout(Duration::from_secs(60));
    let output = run.run().unwrap();
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let of = |name: &str| {
        let row = checks.iter().find(|row| row["name"] == name).expect("the check");
        (row["held"].as_u64().unwrap(), row["failed"].as_u64().unwrap())
    };
    assert_eq!((of("version"), of("body")), ((18, 0), (18, 0)), "{output}");
    assert_eq!(of("cookie"), (6, 0), "{output}");
}
