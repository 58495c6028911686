//! Attacks whose generators dial in.

use super::*;

use crate::generators::kill;

impl Fleet {
    /// Starts an attack with these words in this folder, and waits until it listens.
    fn attack(folder: TempDir, words: &[&str]) -> Self {
        let port = free_port().unwrap();
        let listen = format!("127.0.0.1:{port}");
        let all =
            ["attack", "-listen", &listen, "-key-file", "fleet.key", "-output", "out.sojourn"];
        let words = all.iter().chain(words);
        let coordinator = sojourn(words).in_dir(folder.path()).start().unwrap();
        let (elsewhere, generators) = (temp_dir().unwrap(), Vec::new());
        let fleet = Self { folder, elsewhere, port, coordinator, generators };
        until("it listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        fleet
    }
}

/// The report of a run file in this folder.
fn report(folder: &std::path::Path) -> Value {
    let words = ["report", "out.sojourn", "--format", "json"];
    let report = sojourn(words).in_dir(folder).run().unwrap();
    serde_json::from_str(&report.stdout).unwrap()
}

fn targets(server: &Server) -> TempDir {
    let folder = temp_dir().unwrap();
    let [a, b] = ["/a", "/b"].map(|path| server.url(path));
    std::fs::write(folder.path().join("targets.txt"), format!("GET {a}\n\nGET {b}\n")).unwrap();
    folder
}

/// Three generators without a file, whose clocks are hours wrong, hit what one process would.
#[test]
fn they_hit_what_one_process_would() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let words = ["-targets", "targets.txt", "-rate", "150", "-duration", "2s"];
    let words = [words.as_slice(), &["-generators", "3", "-threads", "2"]].concat();
    let mut fleet = Fleet::attack(targets(&server), &words);
    for wrong_ns in ["0", "3700000000", "-7200000000000"] {
        let generator = fleet.generator(fleet.port).env("SOJOURN_TEST_CLOCK_OFFSET_NS", wrong_ns);
        fleet.generators.push(generator.start().unwrap());
    }
    let folder = std::mem::replace(&mut fleet.folder, temp_dir().unwrap());
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(0), "{}", ended.output);
    let asked = target.sorted();
    let count = |path: &str| asked.iter().filter(|it| *it == path).count();
    assert_eq!((asked.len(), count("/a"), count("/b")), (300, 150, 150), "{}", ended.output);
    let report = report(folder.path());
    for class in ["started", "completed"] {
        assert_eq!(whole_run(&report, class), 300, "{class}: {}", ended.output);
    }
    assert_eq!(report["fleet"]["members"].as_array().unwrap().len(), 3, "{}", report["fleet"]);
    for generator in &ended.generators {
        assert_eq!(generator.code, Some(0), "{generator}");
        assert!(generator.stderr.contains("everything was delivered"), "{generator}");
    }
}

/// Their records are one stream in order of time, whatever their clocks say.
#[test]
fn records_of_all_are_one_stream() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let words = ["-targets", "targets.txt", "-rate", "400", "-duration", "2s", "-generators", "2"];
    let words = [words.as_slice(), &["-output", "out.bin"]].concat();
    let mut fleet = Fleet::attack(targets(&server), &words);
    for wrong_ns in ["0", "3700000000"] {
        let generator = fleet.generator(fleet.port).env("SOJOURN_TEST_CLOCK_OFFSET_NS", wrong_ns);
        fleet.generators.push(generator.start().unwrap());
    }
    let folder = std::mem::replace(&mut fleet.folder, temp_dir().unwrap());
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(0), "{}", ended.output);
    let words = ["encode", "-to", "json", "out.bin"];
    let lines = sojourn(words).in_dir(folder.path()).run().unwrap();
    let hits: Vec<Value> =
        lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(hits.len(), 800, "{}", ended.output);
    let mut numbers: Vec<_> = hits.iter().map(|hit| hit["seq"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().zip(0..).all(|(seq, k)| *seq == k));
    let end_ns = |hit: &Value| {
        let at: jiff::Timestamp = hit["timestamp"].as_str().unwrap().parse().unwrap();
        at.as_nanosecond() + i128::from(hit["latency"].as_u64().unwrap())
    };
    assert!(hits.is_sorted_by_key(end_ns));
    // Their instants are the coordinator's, not those of clocks that are an hour wrong.
    let (first, last) = (end_ns(&hits[0]), end_ns(&hits[799]));
    assert!(last - first < 60_000_000_000, "{first} to {last}");
}

/// Two generators, of which one is killed once the load has begun.
fn one_is_killed(flags: &[&str]) -> (Ended, Value) {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let words = ["-targets", "targets.txt", "-rate", "60", "-duration", "8s", "-generators", "2"];
    let words = [words.as_slice(), &["-reconnect-within", "2s"], flags].concat();
    let mut fleet = Fleet::attack(targets(&server), &words).join(2);
    until("the load has begun", || target.0.lock().unwrap().len() > 100);
    let killed = fleet.generators.remove(1);
    kill(killed.pid());
    drop(killed);
    let folder = std::mem::replace(&mut fleet.folder, temp_dir().unwrap());
    let ended = fleet.end();
    assert_eq!(ended.generators[0].code, Some(0), "{}", ended.generators[0]);
    let report = report(folder.path());
    assert_eq!(report["ledger"]["balanced"], true, "{}", ended.output);
    (ended, report)
}

#[test]
fn a_killed_generator_makes_the_attack_void_and_the_rest_goes_on_to_the_end() {
    let (ended, report) = one_is_killed(&[]);
    assert_eq!(ended.output.code, Some(3), "{}", ended.output);
    let said = &ended.output.stderr;
    assert!(said.contains("void: generator lost: generator process "), "{said}");
    assert!(said.contains("no connection for 2 s"), "{said}");
    // The other one made its half to the end.
    assert!(whole_run(&report, "started").as_u64().unwrap() >= 8 * 60 / 2, "{report}");
}

#[test]
fn an_attack_may_go_on_without() {
    let (ended, report) = one_is_killed(&["-on-loss", "continue"]);
    assert_eq!(ended.output.code, Some(0), "{}", ended.output);
    assert!(report["notes"].to_string().contains("lost: generator process "), "{report}");
}
