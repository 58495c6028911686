//! Every kind of expression over the test target's data, as one client sees it over the network.

use std::fmt::Write as _;

use serde_json::Value;
use sojourn_testkit::temp_dir;

use super::run;
use crate::mock::Mocked;

const JSON: [(&str, &str); 27] = [
    ("$.name", "teapot"),
    ("price", "24.50"),
    ("$.lid", "true"),
    ("$.electric", "false"),
    ("$.engraving", ""),
    ("$.serial", "4555666777888999"),
    ("$.colours[1]", "white"),
    ("$.colours", "[\"blue\", \"white\"]"),
    ("$.spares", "[]"),
    ("$.spares[0]", ""),
    ("$.options", "{}"),
    ("$.options.x", ""),
    ("$.awards[0]", "design"),
    ("$.awards[1]", ""),
    ("$.parts[0].id", "spout"),
    ("$.sizes[1][0]", "4"),
    ("$.sizes[2]", "[]"),
    ("$.reviews[0].text", "pours 100%, no drips"),
    ("$.reviews[1].text", "the lid & the handle \"rattle\""),
    ("$.reviews[?id==7].by", "Ada"),
    ("$.reviews[?id==7][1].by", "Cy"),
    ("$.reviews[?by==Ben].stars", "2"),
    ("$.reviews[?id==9].by", ""),
    ("$.maker[\"complex key::accessor\"]", "kiln"),
    ("$[\"complex key::accessor\"].value", "clay"),
    ("$.maker.since", "1783"),
    ("$.nothing.here", ""),
];

const ARRAY: [(&str, &str); 6] = [
    ("$[0].id", "1"),
    ("[1].name", "saucer"),
    ("$[?id==3].name", "spoon"),
    ("$[0].stock[1]", "0"),
    ("$[1].stock", "[]"),
    ("$[3]", ""),
];

const XML: [(&str, &str); 9] = [
    ("/set/item[1]/name", "cup"),
    ("/set/@name", "tea %20 set"),
    ("//item[1]/@discount", "15%"),
    ("//item[@id='2']/name", "saucer 50%"),
    ("//item[last()]/name", "spoon & fork %s"),
    ("count(//item)", "3"),
    ("//price[@currency='EUR']", "1.20"),
    ("//item[@id='3']/@discount", ""),
    ("//item[4]", ""),
];

const HTML: [(&str, &str); 6] = [
    ("//a[@id='next']/@href", "/shop?page=2&sort=price&off=10%25"),
    ("//meta[@name='token']/@content", "c%30ffee"),
    ("//title", "Tea set"),
    ("//li[2]", "saucer"),
    ("//li[@data-id='1']", "cup"),
    ("//input[@name='csrf']/@value", "c0ffee"),
];

const TEXT: [(&str, &str); 4] = [
    ("value=\"(\\w+)\"", "c0ffee"),
    ("content=\"([^\"]+)\"", "c%30ffee"),
    ("h1 id=.title.", "h1 id=\"title\""),
    ("no such thing", ""),
];

/// A step that extracts all of these, and a check of each: as text, since equal numbers may be
/// written differently.
fn steps(script: &mut String, path: &str, kind: &str, list: &[(&str, &str)]) {
    let names = list
        .iter()
        .enumerate()
        .map(|(at, (expression, _))| format!("v{at}: {}", Value::from(*expression)));
    let names = names.collect::<Vec<_>>().join(", ");
    writeln!(script, "session.get(\"{path}\", {{ extraction: {{ {kind}: {{ {names} }} }} }});")
        .unwrap();
    for (at, (expression, expected)) in list.iter().enumerate() {
        let name = Value::from(format!("{path} {expression}"));
        let expected = Value::from(format!("<{expected}>"));
        let value = format!("\"<\" + session.getVar(\"v{at}\") + \">\"");
        writeln!(script, "session.check({name}, {value}, \"=\", {expected});").unwrap();
    }
}

#[test]
fn every_expression_finds_what_is_there_and_changes_nothing() {
    let mock = Mocked::start(&[], &[]);
    let mut script = format!("definition.setTarget(\"http://{}\");\n", mock.address);
    script.push_str("definition.setArrivalPhases([{ duration: 2, rate: 50, max_clients: 1 }]);\n");
    script.push_str("definition.session(\"s\", function (session) {\n");
    steps(&mut script, "/data/test.json", "jsonpath", &JSON);
    steps(&mut script, "/data/test_array.json", "jsonpath", &ARRAY);
    steps(&mut script, "/data/test.xml", "xpath", &XML);
    steps(&mut script, "/data/test.html", "xpath", &HTML);
    steps(&mut script, "/data/test.html", "regexp", &TEXT);
    let header = [("Content-Type", "text/html; charset=utf-8"), ("x-none", "")];
    steps(&mut script, "/data/test.html", "header", &header);
    // What was taken out goes back in as it is: nothing is coded or decoded on the way.
    script.push_str(
        r#"
session.get("/data/test.html", {
  extraction: { xpath: { href: "//a/@href", t: "//meta/@content" } },
});
session.post("/echo/:t?again=:t&none=:none", {
  params: { t: session.getVar("t") },
  payload: "raw & %41 " + session.getVar("href"),
  gzip: false,
  extraction: { regexp: { line: "^POST ([^ ]+)", body: "raw .*" } },
});
session.check("line", session.getVar("line"), "=", "/echo/c%30ffee?again=c%30ffee&none=:none");
session.check("body", session.getVar("body"), "=", "raw & %41 /shop?page=2&sort=price&off=10%25");
session.post("/form", { payload: { a: "1 2" }, gzip: true, extraction: { regexp: {
  kind: "(?i)content-type: ([^\r\n]+)", accepts: "(?i)accept-encoding: ([^\r\n]+)" } } });
session.check("form", session.getVar("kind"), "=", "application/x-www-form-urlencoded");
session.check("coded", session.getVar("accepts"), "=", "gzip");
});
"#,
    );
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), &script).unwrap();
    let arguments = ["run", "test.js", "--quiet", "--format", "json", "--report", "r.json"];
    let output = run(folder.path(), arguments.iter());
    assert!(matches!(output.code, Some(0 | 3)), "{output}\n{script}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let lists = [JSON.len(), ARRAY.len(), XML.len(), HTML.len(), TEXT.len(), header.len()];
    assert_eq!(checks.len(), lists.iter().sum::<usize>() + 4);
    let wrong: Vec<&Value> = checks
        .iter()
        .filter(|row| (row["held"].as_u64(), row["failed"].as_u64()) != (Some(1), Some(0)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
