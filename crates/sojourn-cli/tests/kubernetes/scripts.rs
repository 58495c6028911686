//! k6 scripts on a cluster, and what pods do with the objects that they come to.

use std::collections::BTreeSet;

use sojourn_kubernetes::pod::unpack;
use sojourn_testkit::{Server, free_port};

use super::played::Played;
use super::*;
use crate::k6_fleet::{WHOLE, count};
use crate::k6_processes::Book;

/// A folder with a script and all that it reads.
fn folder(script: &str) -> TempDir {
    let folder = temp_dir().unwrap();
    for inner in ["lib", "data", "cluster"] {
        std::fs::create_dir(folder.path().join(inner)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("test.js", script);
    write("lib/greet.js", "export const greet = (word) => `hello-${word}`;\n");
    write("data/rows.json", r#"["x", "y", "z"]"#);
    write("words.txt", "word=hidden\n");
    write("config.json", r#"{ "tags": { "build": "7" } }"#);
    folder
}

const ON: &str = "run test.js --on kubernetes --generators 2 --run-name pay-1";

/// The script, what it imports and opens, its variables, its secrets and its settings go along.
#[test]
fn the_pods_run_the_script_with_all_that_it_reads() {
    let book = Book::default();
    let server = Server::start(book.clone()).unwrap();
    let folder = folder(&WHOLE.replace("BASE", &server.url("")));
    let words = format!(
        "{ON} --manifests -e OWN=very-own -c config.json --threads 1 --summary-export out/s.json \
         --secret-source=file=words.txt --out json=samples.json --results-linger 5m"
    );
    let printed = sojourn(words.split(' ')).in_dir(folder.path());
    let printed = printed.env("REGION", "far-north").env("K6_USER_AGENT", "us").run().unwrap();
    let played = Played::of(&printed);
    let said = played.words().join(" ");
    let expected = "fleet locked --words-from /key/words.json /results k6 coordinator test.tar \
                    --config=config.json --out=json=samples.json";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with("--write-into /results/files"), "{said}");
    for hidden in ["very-own", "far-north", "hidden"] {
        assert!(!said.contains(hidden), "{said}");
    }
    let secret = played.object("Secret");
    assert!(secret["data"]["file.test.tar"].is_string(), "{secret}");
    assert_eq!(secret["stringData"]["env.K6_USER_AGENT"], "us");
    let job = played.object("Job");
    assert_eq!(job["metadata"]["labels"]["sojourn/results"], "files");
    let ended = played.play();
    assert_eq!(ended.coordinator.code, Some(0), "{}", ended.coordinator);
    for generator in &ended.generators {
        assert_eq!(generator.code, Some(0), "{generator}");
    }
    let paths: BTreeSet<String> = book.paths().into_iter().collect();
    assert_eq!(paths.len(), 58, "{paths:?}");
    assert!(paths.contains("/shared/1/hello-made-far-north-very-own-y-6"), "{paths:?}");
    // What it printed and wrote is there to be fetched.
    let printed = std::fs::read_to_string(ended.result("report.txt")).unwrap();
    assert!(printed.contains("by 2 generators") && printed.ends_with("handled 56\n"), "{printed}");
    let here = temp_dir().unwrap();
    let packed = std::fs::File::open(ended.result("files.tar")).unwrap();
    let mut names = unpack(packed, here.path()).unwrap();
    names.sort();
    assert_eq!(names, ["made.json", "out/s.json", "samples.json"].map(PathBuf::from));
    assert_eq!(count(&here.path().join("out/s.json"), "iterations"), 56);
}

const FAILING: &str = r#"
import http from 'k6/http';
export const options = { vus: 2, iterations: 12, thresholds: { http_reqs: ['count<12'] } };
export default function () { http.get('BASE/x'); }
export function handleSummary(data) {
  return { stdout: 'handled\n', 'deep/made.txt': 'made', '/tmp/sojourn-elsewhere.txt': 'lost' };
}
"#;

/// A run by the coordinator's pod and one generator, which has done all that it should.
fn failing(server: &Server, line: &str) -> (Terminal, Output) {
    let mut terminal = Terminal::new("1s");
    terminal.folder = folder(&FAILING.replace("BASE", &server.url("")));
    let (here, port) = (terminal.folder.path().to_owned(), free_port().unwrap());
    let (cluster, key) = (terminal.cluster(), here.join("fleet.key"));
    let (key, listen) = (key.display().to_string(), format!("127.0.0.1:{port}"));
    terminal.coordinator = format!(
        "k6 coordinator {}/test.js --listen {listen} --key-file {key} --generators 1 --quiet \
         --write-into {}/results/files --summary-export summary.json",
        here.display(),
        cluster.display()
    );
    let running = terminal.sojourn(line).start().unwrap();
    until("it listens", || std::net::TcpStream::connect(&listen).is_ok());
    let words = ["generator", "--join", &listen, "--key-file", &key];
    let generator = sojourn(words).run().unwrap();
    assert_eq!(generator.code, Some(0), "{generator}");
    (terminal, running.wait().unwrap())
}

/// What the test has printed and written is here.
fn assert_here(terminal: &Terminal, output: &Output) {
    let here = terminal.folder.path();
    assert_eq!(output.code, Some(99), "{output}");
    assert_eq!(output.stdout, "handled\n", "{output}");
    assert_eq!(count(&here.join("summary.json"), "http_reqs"), 12);
    assert_eq!(std::fs::read_to_string(here.join("deep/made.txt")).unwrap(), "made");
    assert!(!Path::new("/tmp/sojourn-elsewhere.txt").exists());
    assert!(output.stderr.contains("file      summary.json"), "{output}");
}

#[test]
fn what_it_prints_and_writes_comes_here_with_its_exit_code() {
    let server = Server::start(Book::default()).unwrap();
    let (terminal, output) = failing(&server, ON);
    assert_here(&terminal, &output);
    for said in ["not below the folder", "thresholds on metrics"] {
        assert!(output.stderr.contains(said), "{said}: {output}");
    }
    assert!(terminal.has("deleted"), "{}", terminal.calls());
}

/// Nobody stayed with it.
#[test]
fn whoever_comes_later_gets_it_too() {
    let server = Server::start(Book::default()).unwrap();
    let (terminal, output) = failing(&server, &format!("{ON} --detach"));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "pay-1\n"), "{output}");
    until("it has ended", || terminal.has("code"));
    let output = terminal.run("fleet report pay-1 --output x.sojourn");
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("a summary and no run file"), "{output}");
    assert_here(&terminal, &terminal.run("fleet report pay-1"));
    assert!(!terminal.has("deleted"));
    std::fs::remove_file(terminal.folder.path().join("summary.json")).unwrap();
    assert_here(&terminal, &terminal.run("fleet attach pay-1"));
    assert!(terminal.has("deleted"), "{}", terminal.calls());
}

#[test]
fn what_pods_can_not_have_is_refused_before_anything_is_asked() {
    let plain =
        "export const options = { vus: 2, iterations: 4 };\nexport default function () {}\n";
    let mut terminal = Terminal::new("1s");
    terminal.folder = folder(plain);
    for (flags, code, said) in [
        ("--log-output file=x.log", 2, "would write a file in a pod"),
        ("--console-output x.txt", 2, "would write a file in a pod"),
        ("--linger", 2, "pods must have an end"),
        ("--summary-export /tmp/x.json", 2, "/tmp/x.json is not below this folder"),
        ("--out json=../x.json", 2, "../x.json is not below this folder"),
        ("--local-ips 127.0.0.1", 104, "an address is one machine's"),
        ("--execution-segment 0:1/2", 104, "executionSegment"),
    ] {
        let output = terminal.run(&format!("{ON} {flags}"));
        assert_eq!(output.code, Some(code), "{output}");
        assert!(output.stderr.contains(said), "{output}");
    }
    let output = terminal.run(&ON.replace("test.js", "-").replace("run -", "k6 run -"));
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("write it to a file"), "{output}");
    let output = terminal.run("run test.js --run-name pay-1");
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("is for runs in a cluster"), "{output}");
    assert_eq!(terminal.calls(), "");
}
