//! Session scripts on a cluster, and what pods do with the objects that they come to.

use std::collections::BTreeSet;

use sojourn_testkit::Server;

use super::played::Played;
use super::*;
use crate::generators::{Target, whole_run};

const SCRIPT: &str = r#"
import { greet } from "./lib/greet";
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 2, rate: 40 }]);
definition.session("reader", (session) => {
  const row = session.ds.pickFrom(session.ds.loadStructured("data/rows.csv"));
  session.get("/:word/:id", { params: { word: greet(word), id: row.get("id") } });
  session.post("/body", { payload_from_file: session.ds.getRawFile("data/body.bin") });
});
"#;

/// A folder with a script and all that it reads.
fn folder(base: &str) -> TempDir {
    let folder = temp_dir().unwrap();
    for inner in ["lib", "data", "cluster"] {
        std::fs::create_dir(folder.path().join(inner)).unwrap();
    }
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    write("test.js", SCRIPT.replace("BASE", base).as_bytes());
    write("lib/greet.ts", b"export const greet = (word: string) => `hello-${word}`;\n");
    write("data/rows.csv", b"id\n1\n2\n3\n");
    write("data/body.bin", &[0xff, 0, 1]);
    folder
}

const ON: &str = "run test.js --on kubernetes --generators 2 --run-name pay-1 --define word=secret";

/// The script, what it imports and reads, and the values of its identifiers go along.
#[test]
fn the_pods_run_the_script_with_all_that_it_reads() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = folder(&server.url(""));
    let words = format!("{ON} --manifests --seed 7 --threads 2");
    let printed = sojourn(words.split(' ')).in_dir(folder.path()).run().unwrap();
    let played = Played::of(&printed);
    let said = played.words().join(" ");
    let expected = "fleet locked --words-from /key/words.json /results session coordinator test.js \
                    --seed=7 --threads=2 --listen 0.0.0.0:7000";
    assert!(said.starts_with(expected), "{said}");
    assert!(!said.contains("word=secret"), "{said}");
    let secret = played.object("Secret");
    assert_eq!(secret["data"]["file.data_body.bin"], "/wAB");
    assert!(secret["stringData"]["file.lib_greet.ts"].is_string(), "{secret}");
    let ended = played.play();
    ended.assert_done();
    let asked = target.sorted();
    let clients = asked.iter().filter(|it| *it == "/body").count();
    assert!(clients > 20, "{}", ended.coordinator);
    assert_eq!(whole_run(&ended.report(), "completed"), clients, "{}", ended.coordinator);
    let paths: BTreeSet<&str> = asked.iter().map(String::as_str).collect();
    let expected = ["/body", "/hello-secret/1", "/hello-secret/2", "/hello-secret/3"];
    assert_eq!(paths, BTreeSet::from(expected), "{}", ended.coordinator);
}

#[test]
fn its_report_and_requirements_are_made_here() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let mut terminal = Terminal::new("1s");
    terminal.folder = folder(&server.url(""));
    let script = terminal.folder.path().join("test.js");
    terminal.coordinator =
        format!("run {} --define word=w --output results/run.sojourn", script.display());
    let nfr = "version: \"0.1\"\nrequirements:\n  - test.duration: { test: [\">\", 1000] }\n";
    std::fs::write(terminal.folder.path().join("nfr.yaml"), nfr).unwrap();
    let output = terminal.run(&format!("{ON} --output here.sojourn --nfr nfr.yaml"));
    // A busy machine may make it void, which comes before all else.
    assert!(matches!(output.code, Some(3 | 99)), "{output}");
    assert!(output.stdout.contains("reader"), "{output}");
    assert!(output.stdout.contains("test.duration"), "{output}");
    let there = std::fs::read(terminal.cluster().join("results/run.sojourn")).unwrap();
    assert!(std::fs::read(terminal.folder.path().join("here.sojourn")).unwrap() == there);
    assert_eq!(terminal.has("deleted"), output.code == Some(99), "{}", terminal.calls());
}

#[test]
fn what_pods_can_not_have_is_refused_before_anything_is_asked() {
    let mut terminal = Terminal::new("1s");
    terminal.folder = folder("http://127.0.0.1:9");
    for (flags, said) in [
        ("--log lines.txt", "would write a file in each pod"),
        ("--out ndjson=x.ndjson", "which goes with it"),
        ("--validate", "cannot be used with"),
    ] {
        let output = terminal.run(&format!("{ON} {flags}"));
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said), "{output}");
    }
    let package = terminal.folder.path().join("node_modules/left");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(package.join("index.js"), "export const left = 1;\n").unwrap();
    let script = terminal.folder.path().join("test.js");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, format!("import {{ left }} from \"left\";\n{text}")).unwrap();
    let output = terminal.run(ON);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("packages don't go along"), "{output}");
    assert_eq!(terminal.calls(), "");
}
