//! A Prometheus that answers what it is told to.

use std::sync::atomic::{AtomicUsize, Ordering};

use sojourn_testkit::{Output, sojourn, temp_dir};

use super::text;
use crate::{common::alone, follow_up::System, mock::Mocked};

/// What `load` and its password are in a header.
const AUTHORIZATION: &str = "Basic bG9hZDpodW50ZXIyMg==";

fn success(kind: &str, result: &str) -> (u16, String) {
    let data = format!(r#"{{"resultType":"{kind}","result":{result}}}"#);
    (200, format!(r#"{{"status":"success","data":{data}}}"#))
}

fn vector(values: &[&str]) -> (u16, String) {
    let sample = |(number, value): (usize, &&str)| {
        format!(r#"{{"metric":{{"__name__":"m","pod":"p{number:02}"}},"value":[1.0,"{value}"]}}"#)
    };
    let samples: Vec<String> = values.iter().enumerate().map(sample).collect();
    success("vector", &format!("[{}]", samples.join(",")))
}

/// Answers by the query that is asked.
fn prometheus() -> System {
    let later = AtomicUsize::new(0);
    System::start(move |asked, _| {
        if asked.headers.get("authorization").map(String::as_str) != Some(AUTHORIZATION) {
            return (401, String::new(), b"who is it?".to_vec());
        }
        let query = asked.line.split("/prom/api/v1/query?query=").nth(1).unwrap_or_default();
        let (status, body) = match query.split([' ', '&']).next().unwrap_or_default() {
            "scalar" => success("scalar", r#"[1.0,"42.5"]"#),
            "one" => vector(&["7"]),
            "two" => vector(&["1", "2"]),
            "many" => vector(&["3"; 25]),
            "nan" => vector(&["NaN"]),
            "empty" => vector(&[]),
            "later" if later.fetch_add(1, Ordering::SeqCst) < 3 => vector(&["5"]),
            "later" => (503, "gone for a while".to_owned()),
            _ => {
                let error = "invalid parameter: parse error with hunter22 in it";
                let body =
                    format!(r#"{{"status":"error","errorType":"bad_data","error":"{error}"}}"#);
                (400, body)
            }
        };
        (status, "content-type: application/json\r\n".to_owned(), body.into_bytes())
    })
}

/// `sojourn run` of these queries, and the files that it leaves.
fn observe(queries: &[&str], seconds: u64) -> (Output, String, String, Vec<u8>) {
    let (mock, system) = (Mocked::start(&[], &[]), prometheus());
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text(&mock.address, "20/s", seconds)).unwrap();
    let url = format!("http://load:hunter22@{}/prom", system.address);
    let mut arguments = vec![
        "run",
        "plan.yaml",
        "--quiet",
        "--output",
        "run.sojourn",
        "--report",
        "run.json",
        "--report",
        "run.html",
        "--prometheus",
        &url,
    ];
    arguments.extend(queries.iter().flat_map(|query| ["--observe", query]));
    let output = sojourn(arguments).in_dir(folder.path()).run().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let file = std::fs::read(folder.path().join("run.sojourn")).unwrap_or_default();
    (output, read("run.json"), read("run.html"), file)
}

#[test]
fn queries_are_figures_by_their_names_and_labels() {
    let _turn = alone();
    let queries =
        ["s=scalar", "one=one", "two=two", "many=many", "nan=nan", "none=empty", "later=later"];
    let (output, json, html, file) = observe(&queries, 6);
    assert_eq!(output.code, Some(0), "{output}");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let resources = report["resources"].as_array().unwrap();
    let value = |name: &str| {
        let found = resources.iter().find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {json}"))["value"].clone()
    };
    assert_eq!(value("s")["mean"], 42.5);
    assert!(value("s")["seconds"].as_u64().unwrap() >= 4, "{json}");
    assert_eq!(value("one")["last"], 7.0);
    assert_eq!(
        (&value("two{pod=p00}")["max"], &value("two{pod=p01}")["max"]),
        (&1.0.into(), &2.0.into())
    );
    let many = resources.iter().filter(|it| it["name"].as_str().unwrap().starts_with("many{"));
    assert_eq!(many.count(), 20);
    for none in ["nan", "none"] {
        assert!(value(none).is_null(), "{json}");
    }
    // It answered at the beginning and in two seconds.
    assert!((1..=2).contains(&value("later")["seconds"].as_u64().unwrap()), "{json}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("query many has 5 series more than the 20 that are kept"), "{notes}");
    assert_eq!(notes.matches("query later: not answered every second").count(), 1, "{notes}");
    assert!(notes.contains("HTTP status 503"), "{notes}");
    assert!(output.stdout.contains("two{pod=p01}"), "{output}");
    assert!(html.contains("query scalar"), "the page says what was asked");
    // The password is nowhere.
    let all = format!("{output}{json}{html}{}", String::from_utf8_lossy(&file));
    for secret in ["hunter22", "bG9hZDpodW50ZXIyMg"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn a_query_that_is_refused_ends_the_command_in_the_servers_words() {
    let (output, ..) = observe(&["good=one", "bad=sum(("], 2);
    assert_eq!(output.code, Some(2), "{output}");
    let said =
        "query bad: HTTP status 400: bad_data: invalid parameter: parse error with *** in it";
    assert!(output.stderr.contains(said), "{output}");
    assert!(!output.stderr.contains("hunter22"), "{output}");
}

#[test]
fn a_server_that_is_not_there_or_a_url_that_is_none_is_said_without_its_password() {
    let folder = temp_dir().unwrap();
    let mock = Mocked::start(&[], &[]);
    std::fs::write(folder.path().join("plan.yaml"), text(&mock.address, "20/s", 2)).unwrap();
    for (url, said) in [
        ("http://load:hunter22@127.0.0.1:1", "Prometheus 127.0.0.1:1: query up: no answer"),
        ("gopher://load:hunter22@127.0.0.1:1", "--prometheus: `gopher://` is not spoken here"),
        ("http://load:hunter22@127.0.0.1:x", "--prometheus: not a URL"),
    ] {
        let arguments = ["run", "plan.yaml", "--quiet", "--prometheus", url, "--observe", "up=up"];
        let output = sojourn(arguments).in_dir(folder.path()).run().unwrap();
        assert_eq!(output.code, Some(2), "{url}: {output}");
        assert!(output.stderr.contains(said), "{url}: {output}");
        assert!(!format!("{output}").contains("hunter22"), "{output}");
    }
}
