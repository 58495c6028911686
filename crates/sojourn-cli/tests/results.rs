//! `report`, `encode` and `plot` on attack results, as scripts call them. The files are Vegeta's
//! own (see `sojourn-record/tests/fixtures`).

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use sojourn_record::results::{AttackResult, Encoder, Encoding, Timestamp};
use sojourn_testkit::{Output, TempDir, sojourn, temp_dir};

const TEXT: &str = include_str!("../../sojourn-report/tests/golden/vegeta/attack.text");
const JSON: &str = include_str!("../../sojourn-report/tests/golden/vegeta/attack.json");
const CSV: &str = include_str!("../../sojourn-record/tests/fixtures/attack.csv");

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sojourn-record/tests/fixtures").join(name)
}

fn fixture_bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

fn run(words: &[&str], input: &[u8]) -> Output {
    sojourn(words).input(input).run().unwrap()
}

/// What it prints when all goes well, with nothing on standard error.
fn printed(words: &[&str], input: &[u8]) -> String {
    let output = run(words, input);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    output.stdout
}

/// A failure at work: one line with the time in front, exit code 1.
fn failed(output: &Output, expected: &str) {
    assert_eq!(output.code, Some(1), "{output}");
    let line = output.stderr.strip_suffix('\n').unwrap_or_default();
    let (time, said) = line.split_at_checked(20).unwrap_or_default();
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!((shape.as_str(), said), ("0000/00/00 00:00:00 ", expected), "{output}");
}

/// Results of an attack that began at a second and went on for some more, ten a second.
fn attack_of(name: &str, from_s: i64, seconds: i64) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::new(Encoding::Gob), Vec::new());
    for index in 0..=seconds * 10 {
        let result = AttackResult {
            attack: name.as_bytes(),
            seq: index as u64,
            code: 200,
            timestamp: Timestamp::utc(from_s * 1_000_000_000 + index * 100_000_000),
            latency_ns: 5_000_000,
            ..AttackResult::default()
        };
        encoder.encode(&result, &mut out);
    }
    out
}

fn folder_with(files: &[(&str, &[u8])]) -> TempDir {
    let folder = temp_dir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn reports_are_vegetas_from_files_and_pipes_and_whatever_the_dashes() {
    for name in ["attack.bin", "attack.json", "attack.csv"] {
        let (path, bytes) = (fixture(name), fixture_bytes(name));
        let path = path.to_str().unwrap();
        assert_eq!(printed(&["report", path], b""), TEXT);
        assert_eq!(printed(&["report"], &bytes), TEXT);
        assert_eq!(printed(&["report", "-type", "text", "stdin"], &bytes), TEXT);
        assert_eq!(printed(&["report", "--type=json", "--", path], b""), JSON);
        assert_eq!(printed(&["report", "-type=json", "-output=stdout", path], b""), JSON);
        assert_eq!(printed(&["report", path, "--format", "json"], b""), JSON);
    }
    let buckets =
        printed(&["report", "-type=hist", "-buckets", "[0, 10ms]"], &fixture_bytes("attack.bin"));
    assert!(
        buckets.starts_with("Bucket         #   %       Histogram\n[0s,    10ms]  29  48.33%  #"),
        "{buckets}"
    );
}

#[test]
fn output_goes_into_a_file_that_is_emptied_first() {
    let folder = folder_with(&[("out", &[b'x'; 10_000])]);
    let path = folder.path().join("out");
    let input = fixture_bytes("attack.bin");
    assert_eq!(printed(&["report", "-output", path.to_str().unwrap()], &input), "");
    assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
}

#[test]
fn encodings_lead_into_each_other() {
    let gob = fixture_bytes("attack.bin");
    assert_eq!(printed(&["encode", "-to", "csv"], &gob), CSV);
    let json = printed(&["encode"], &gob);
    assert_eq!(printed(&["encode", "-to=csv"], json.as_bytes()), CSV);
    assert_eq!(printed(&["encode", "--to", "csv"], CSV.as_bytes()), CSV);
    let folder = temp_dir().unwrap();
    let path = folder.path().join("again.bin");
    let path = path.to_str().unwrap();
    assert_eq!(printed(&["encode", "-to", "gob", "-output", path], json.as_bytes()), "");
    assert_eq!(printed(&["report", path], b""), TEXT);
}

#[test]
fn a_last_line_without_its_end_counts() {
    let text = CSV.trim_end();
    assert_eq!(printed(&["encode", "-to", "csv"], text.as_bytes()), CSV);
    let json = printed(&["encode"], CSV.as_bytes());
    assert_eq!(printed(&["encode", "-to", "csv"], json.trim_end().as_bytes()), CSV);
}

/// Vegeta fails on this with `gob: duplicate type received`.
#[test]
fn concatenated_files_are_one_stream() {
    let both = [fixture_bytes("attack.bin"), attack_of("b", 1_800_000_000, 1)].concat();
    let csv = printed(&["encode", "-to", "csv"], &both);
    assert_eq!(csv.lines().count(), 60 + 11);
    assert!(csv.starts_with(CSV));
}

#[test]
fn several_files_are_merged_by_time() {
    let (a, b) = (attack_of("a", 100, 2), attack_of("b", 101, 2));
    let folder = folder_with(&[("a", &a), ("b", &b)]);
    let csv = |files: &[&str]| {
        let words: Vec<&str> = ["encode", "-to", "csv"].iter().chain(files).copied().collect();
        let output = sojourn(words).in_dir(folder.path()).run().unwrap();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
        output.stdout
    };
    let merged = csv(&["b", "a"]);
    let times: Vec<i64> =
        merged.lines().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(times.len(), 42);
    assert!(times.is_sorted(), "{times:?}");
    let report = sojourn(["report", "-type=json", "a", "b"]).in_dir(folder.path()).run().unwrap();
    assert!(report.stdout.contains("\"duration\":3000000000,"), "{report}");
    assert_eq!(report.stderr, "", "{report}");
}

/// Vegeta's issue 210.
#[test]
fn the_gap_between_files_does_not_count_and_is_said() {
    let folder = folder_with(&[("a", &attack_of("a", 100, 2)), ("b", &attack_of("b", 5_000, 2))]);
    let report = sojourn(["report", "-type=json", "b", "a"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(report.code, Some(0), "{report}");
    assert!(report.stdout.contains("\"duration\":4000000000,\"wait\":10000000,"), "{report}");
    assert!(report.stdout.contains("\"rate\":10.5,"), "{report}");
    assert!(report.stderr.contains("do not overlap"), "{report}");
}

#[test]
fn failures_are_one_line_and_exit_code_1() {
    let gob = fixture_bytes("attack.bin");
    for (words, expected) in [
        (&["report", "nofile"][..], "open nofile: no such file or directory"),
        (&["encode", "nofile"], "open nofile: no such file or directory"),
        (&["plot", "nofile"], "open nofile: no such file or directory"),
        (&["encode", "-to", "x"], "encode: unknown encoding \"x\""),
        (&["report", "-type", "foo"], "invalid report type: foo"),
        (&["report", "-type", "foobar"], "unknown report type: \"foobar\""),
        (&["report", "-type=hist"], "bad buckets: ''"),
        (
            &["report", "-type=plot"],
            "The plot reporter has been deprecated and succeeded by the vegeta plot command",
        ),
        (
            &["dump", "-dumper", "csv", "x"],
            "vegeta dump has been deprecated and succeeded by the vegeta encode command",
        ),
        (&["plot", "-threshold=2"], "threshold 2: must be 0, for every point, or at least 3"),
        (
            &["report", "-output", "/no/such/folder/x"],
            "open /no/such/folder/x: no such file or directory",
        ),
    ] {
        let output = run(words, &gob);
        failed(&output, expected);
        assert_eq!(output.stdout, "");
    }
    for words in [&["report"][..], &["encode"], &["plot"]] {
        for input in [&b""[..], b"hello\n", &gob[..100]] {
            failed(&run(words, input), "encode: can't detect encoding of \"stdin\"");
        }
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for (words, said) in [
        (&["report", "-bogus"][..], "--bogus"),
        (&["report", "-every", "x"], "time: invalid duration"),
        (&["encode", "-output"], "--output"),
        (&["plot", "-threshold", "many"], "many"),
        (&["report", "--format", "html"], "sojourn plot"),
    ] {
        let output = run(words, &fixture_bytes("attack.bin"));
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said) && output.stdout.is_empty(), "{output}");
    }
    for words in [&["report", "-h"][..], &["encode", "-help"], &["plot", "--help"]] {
        assert!(printed(words, b"").contains("Examples:"));
    }
}

/// Vegeta reports nothing of a file that was cut off.
#[test]
fn a_file_that_is_cut_off_is_reported_up_to_its_last_whole_record() {
    let gob = fixture_bytes("attack.bin");
    let cut = &gob[..gob.len() - 5];
    let output = run(&["report"], cut);
    failed(&output, "stdin ends in the middle of record 60");
    assert!(output.stdout.starts_with("Requests      [total, rate, throughput]         59, "));
    assert_eq!(run(&["encode", "-to", "csv"], cut).stdout.lines().count(), 59);
    let folder = folder_with(&[("cut", cut), ("whole", &gob)]);
    let both = sojourn(["report", "cut", "whole"]).in_dir(folder.path()).run().unwrap();
    failed(&both, "cut ends in the middle of record 60");
    assert!(both.stdout.contains("         119, "), "{both}");
    let bad = String::from_utf8(fixture_bytes("attack.json")).unwrap();
    let bad = bad.replacen("\"seq\":8,", "\"seq\":-8,", 1);
    let output = run(&["report"], bad.as_bytes());
    assert!(output.stderr.contains("stdin, record 9: invalid value: integer `-8`"), "{output}");
}

/// `sojourn report` and the like with its input left open, as behind a running attack.
struct Behind {
    child: Child,
}

impl Behind {
    fn start(words: &[&str]) -> Self {
        let binary = env!("CARGO_BIN_EXE_sojourn");
        let mut command = Command::new(binary);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap() }
    }

    fn give(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// The next so many bytes that it prints.
    fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.child.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
        bytes
    }

    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// What it prints up to its end, and the exit code. Its input stays open until then.
    fn end(mut self) -> (String, Option<i32>) {
        let stdin = self.child.stdin.take();
        let mut rest = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code();
        drop(stdin);
        (rest, code)
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _killed = self.child.kill();
        let _waited = self.child.wait();
    }
}

#[test]
fn encode_hands_on_what_it_has_while_its_input_goes_on() {
    let gob = fixture_bytes("attack.bin");
    let mut encode = Behind::start(&["encode", "-to", "csv"]);
    // All but a part of the last record.
    encode.give(&gob[..gob.len() - 5]);
    let last = CSV.trim_end().rfind('\n').unwrap() + 1;
    assert_eq!(encode.take(last), &CSV.as_bytes()[..last]);
    encode.give(&gob[gob.len() - 5..]);
    assert_eq!(encode.take(CSV.len() - last), &CSV.as_bytes()[last..]);
    encode.interrupt();
    assert_eq!(encode.end(), (String::new(), Some(0)));
}

#[test]
fn the_first_interrupt_ends_reading_and_writes_the_report() {
    let gob = fixture_bytes("attack.bin");
    // A report of `-every` shows that all that was given has been read.
    let mut report = Behind::start(&["report", "-every", "50ms"]);
    report.give(&[&gob[..], &gob[0xce..0xce + 20]].concat());
    let mut seen = Vec::new();
    while !seen.ends_with(TEXT.as_bytes()) {
        seen.extend(report.take(1));
    }
    report.interrupt();
    let (rest, code) = report.end();
    assert_eq!(code, Some(0));
    // Further ticks may have come before the signal; a part of a record is no failure then.
    assert!(!rest.is_empty() && rest.replace(TEXT, "").is_empty(), "{rest}");
}

#[test]
fn a_report_in_a_file_is_written_anew() {
    let gob = fixture_bytes("attack.bin");
    let folder = folder_with(&[]);
    let file = folder.path().join("report.txt");
    let name = file.display().to_string();
    let mut report = Behind::start(&["report", "-every", "20ms", "-output", &name]);
    report.give(&gob);
    let look = || {
        std::thread::sleep(std::time::Duration::from_millis(10));
        fs::read_to_string(&file).unwrap_or_default()
    };
    while look() != TEXT {}
    for _ in 0..20 {
        // Never two reports; what is being written may be seen unfinished.
        let text = look();
        assert!(TEXT.starts_with(&text), "{text}");
    }
    report.interrupt();
    assert_eq!(report.end(), (String::new(), Some(0)));
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
}

#[test]
fn an_interrupt_before_the_first_result_reports_zeros() {
    let mut report = Behind::start(&["report", "-type=json"]);
    report.give(&fixture_bytes("attack.bin")[..50]);
    // The mask of caught signals; SIGINT is the second.
    let is_caught = || {
        let status = fs::read_to_string(format!("/proc/{}/status", report.child.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & 2 != 0
    };
    while !is_caught() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    report.interrupt();
    let (text, code) = report.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\"requests\":0,\"rate\":0,\"throughput\":0,\"success\":0,"), "{text}");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let many = attack_of("a", 100, 20_000);
    let folder = folder_with(&[("many", &many)]);
    let script = format!("{} encode many | head -1", env!("CARGO_BIN_EXE_sojourn"));
    let script = format!("set -o pipefail; {script}");
    let output = sojourn_testkit::Program::new("bash")
        .args(["-c", &script])
        .in_dir(folder.path())
        .run()
        .unwrap();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    assert_eq!(output.stdout.lines().count(), 1);
}

#[test]
fn plot_makes_one_page_of_several_files() {
    let folder = folder_with(&[
        ("a.bin", &attack_of("same", 100, 2)),
        ("b.bin", &attack_of("same", 5_000, 2)),
    ]);
    let words = ["plot", "-title", "Before & after", "-output", "p.html", "a.bin", "b.bin"];
    let output = sojourn(words).in_dir(folder.path()).run().unwrap();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
    assert!(page.contains("<title>Before &amp; after</title>"));
    assert!(page.contains("same (a.bin): OK") && page.contains("same (b.bin): OK"));
    let piped = printed(&["plot"], &fixture_bytes("attack.json"));
    assert!(piped.contains("café \\u003ca\\u003e: ERROR"));
}
