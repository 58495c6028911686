//! Attacks on a cluster, and what pods do with the objects that they come to.

use std::sync::{Arc, Mutex};

use sojourn_testkit::{Output, Reply, Request, Responder, Server, response};

use super::played::{Played, report};
use super::*;
use crate::generators::whole_run;

const ON: &str = "attack -rate 50 -duration 1s -on kubernetes -generators 2 -run-name pay-1 \
                  -namespace load";

impl Terminal {
    /// Whose coordinator's pod makes an attack.
    fn of_attack(flags: &str) -> Self {
        let mut terminal = Self::new("1s");
        let targets = terminal.folder.path().join("theirs.txt");
        std::fs::write(&targets, terminal.targets()).unwrap();
        terminal.coordinator = format!(
            "attack -targets {} -rate 50 -duration 1s -run-file results/run.sojourn {flags}",
            targets.display()
        );
        terminal
    }

    fn targets(&self) -> String {
        format!("GET {}\n", self.target.url("/"))
    }

    /// An attack whose targets come by standard input.
    fn attack(&self, flags: &str) -> Output {
        self.sojourn(format!("{ON} {flags}").trim()).input(self.targets()).run().unwrap()
    }
}

#[test]
fn the_run_file_of_an_attack_comes_back() {
    let terminal = Terminal::of_attack("");
    let output = terminal.attack("-output here.sojourn");
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output}");
    let here = terminal.folder.path().join("here.sojourn");
    let there = std::fs::read(terminal.cluster().join("results/run.sojourn")).unwrap();
    assert!(std::fs::read(&here).unwrap() == there);
    assert_eq!(whole_run(&report(&here), "completed"), 50, "{output}");
    assert!(output.stderr.contains("run file  here.sojourn"), "{output}");
    assert!(terminal.has("deleted"), "{}", terminal.calls());
    let created = std::fs::read_to_string(terminal.cluster().join("owned.json")).unwrap();
    assert!(created.contains(&format!("GET {}", terminal.target.url("/"))), "{created}");
    // What its pod would have printed is there for whoever only has its log.
    let printed = std::fs::read_to_string(terminal.cluster().join("results/report.txt")).unwrap();
    assert!(printed.contains("attack"), "{printed}");
}

#[test]
fn its_records_come_back_whole_though_a_connection_is_cut() {
    let terminal = Terminal::of_attack("-output results/records.bin");
    let output = terminal.attack("-output here.bin");
    assert_eq!(output.code, Some(0), "{output}");
    let there = std::fs::read(terminal.cluster().join("results/records.bin")).unwrap();
    assert!(there.len() > 1_000);
    assert!(std::fs::read(terminal.folder.path().join("here.bin")).unwrap() == there);
    assert_eq!(terminal.count("fleet hand /results/records.bin --from 1000"), 1);
    let lines = sojourn(["encode", "-to", "csv", "here.bin"]).in_dir(terminal.folder.path());
    assert_eq!(lines.run().unwrap().stdout.lines().count(), 50, "{output}");
    assert!(terminal.has("deleted"), "{}", terminal.calls());
}

/// As in `sojourn attack … | sojourn report`.
#[test]
fn its_records_go_into_a_pipe() {
    let terminal = Terminal::of_attack("-output results/records.bin -name piped");
    let output = terminal.attack("-name piped");
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.matches("piped").count() >= 50, "{output}");
}

#[test]
fn a_condition_that_comes_true_in_the_pod_is_the_exit_code_here() {
    let attempt = || {
        let terminal = Terminal::of_attack("-fail-if p50<10s");
        let output = terminal.attack("-fail-if p50<10s -output here.sojourn");
        (terminal, output)
    };
    // A busy machine makes a run void, which says more than a condition.
    let is_late = |output: &Output| output.stderr.contains("void: generator lag");
    let mut attempts = std::iter::repeat_with(attempt).take(4);
    let (terminal, output) =
        attempts.find(|(_, output)| !is_late(output)).expect("a run that is not void");
    assert_eq!(output.code, Some(99), "{output}");
    assert!(terminal.has("deleted"), "{}", terminal.calls());
}

#[test]
fn what_pods_can_not_do_is_refused_before_anything_is_created() {
    let terminal = Terminal::of_attack("");
    std::fs::write(terminal.folder.path().join("large.json"), "x".repeat(1_200_000)).unwrap();
    for (flags, said) in [
        ("-lazy", "-lazy with -generators"),
        ("-laddr 127.0.0.2", "-laddr with -on"),
        ("-duration 0", "-on without -duration"),
        ("-unix-socket /run/x", "-unix-socket with -on"),
        ("-prometheus-addr :9000", "-prometheus-addr with -on"),
        ("-detach -output x.bin", "records come to who stays"),
        ("-body large.json", "are 12000"),
        ("-body large.json", "a Secret holds 1048576 (1 MiB)"),
        ("-listen 127.0.0.1:0", "cannot be used with"),
        ("-in-image /no/such", "the run reads no such path"),
        ("-out influxdb=http://me:my-word@host/db", "a URL with a user or a password"),
    ] {
        let output = terminal.attack(flags);
        assert_eq!(output.code, Some(2), "{flags}: {output}");
        assert!(output.stderr.contains(said), "{flags}: {output}");
    }
    let elsewhere = terminal.folder.path().join("large.json");
    let targets = format!("POST http://host/\n@{}\n", elsewhere.display());
    let output = terminal.sojourn(ON).input(targets).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("pods have no such path"), "{output}");
    let words = ["attack", "http://127.0.0.1:9/", "-duration", "1s", "-run-name", "pay-1"];
    let output = sojourn(words).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("is for runs in a cluster"), "{output}");
    // How large a Secret gets is known last: until then it was only asked what is allowed.
    assert!(!terminal.has("job.json") && !terminal.has("tried.json"), "{}", terminal.calls());
}

/// What a target was asked: method and path, what lets us in, another header, body.
type Asked = (String, String, String, String);

#[derive(Clone, Default)]
struct Book(Arc<Mutex<Vec<Asked>>>);

impl Responder for Book {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let of = |name: &str| {
            let mut found = request.headers.iter().filter(|it| it.name.eq_ignore_ascii_case(name));
            let value = found.next().map(|it| String::from_utf8_lossy(it.value).into_owned());
            value.unwrap_or_default()
        };
        let line = format!("{} {}", request.method, request.path);
        let body = String::from_utf8_lossy(request.body).into_owned();
        self.0.lock().unwrap().push((line, of("authorization"), of("x-own"), body));
        Reply::now(response(200, "text/plain", b"ok"))
    }

    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        4_096
    }
}

/// Targets by standard input, a body that they name, one for those that name none, a certificate
/// of another folder, a header that is a secret: the pods that the objects describe send it all.
#[test]
fn the_pods_send_what_was_asked_for_here() {
    let book = Book::default();
    let server = Server::start(book.clone()).unwrap();
    let (folder, elsewhere) = (temp_dir().unwrap(), temp_dir().unwrap());
    std::fs::create_dir(folder.path().join("bodies")).unwrap();
    std::fs::write(folder.path().join("bodies/a.json"), r#"{"a":1}"#).unwrap();
    std::fs::write(elsewhere.path().join("usual.json"), "$usual").unwrap();
    let targets = format!(
        "POST {}\n@bodies/a.json\n\nPOST {}\nX-Own: b\n",
        server.url("/a"),
        server.url("/b")
    );
    let body = elsewhere.path().join("usual.json").display().to_string();
    let words = [
        "attack",
        "-rate",
        "100",
        "-duration",
        "1s",
        "-on",
        "kubernetes",
        "--generators",
        "2",
        "-manifests",
        "-run-name",
        "pay-1",
        "-header",
        "Authorization: Bearer very-secret",
        "-body",
        &body,
        "-label",
        "cost=$5",
        "-on-loss",
        "abort",
    ];
    let printed = sojourn(words).in_dir(folder.path()).input(targets).run().unwrap();
    let played = Played::of(&printed);
    let with_secret = played.objects.iter().filter(|it| it.to_string().contains("very-secret"));
    assert_eq!(with_secret.map(|it| &it["kind"]).collect::<Vec<_>>(), ["Secret"]);
    let said = played.words().join(" ");
    for words in [
        "fleet locked --words-from /key/words.json /results attack",
        "--targets=from-elsewhere/stdin --body=from-elsewhere/usual.json",
        "--label=cost=$$5",
        "--on-loss=abort",
        "--run-file /results/run.sojourn",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("--output") && !said.contains("--on="), "{said}");
    let ended = played.play();
    ended.assert_done();
    let mut asked = std::mem::take(&mut *book.0.lock().unwrap());
    asked.sort_unstable();
    let expected = [("POST /a", "", r#"{"a":1}"#), ("POST /b", "b", "$usual")];
    assert_eq!(asked.len(), 100, "{}", ended.coordinator);
    for (half, (line, own, body)) in asked.chunks(50).zip(expected) {
        let wanted: Asked = (line.into(), "Bearer very-secret".into(), own.into(), body.into());
        assert!(half.iter().all(|it| *it == wanted), "{half:?}");
    }
    let report = ended.report();
    assert_eq!(whole_run(&report, "completed"), 100, "{}", ended.coordinator);
    assert_eq!(report["fleet"]["members"].as_array().unwrap().len(), 2);
    let told = std::fs::read_to_string(ended.result("report.txt")).unwrap();
    assert!(!told.contains("very-secret") && !told.is_empty(), "{told}");
}
