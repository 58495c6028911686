//! Wrong usage and wrong input: what is said, and the exit code.

use sojourn_testkit::{Output, sojourn, temp_dir};

fn said(words: &[&str], input: &str) -> Output {
    let folder = temp_dir().unwrap();
    let all = ["attack", "-output", "out.bin"].into_iter().chain(words.iter().copied());
    sojourn(all).in_dir(folder.path()).input(input).run().unwrap()
}

#[test]
fn wrong_input_is_told_with_its_line() {
    for (input, why) in [
        ("", "no targets to attack"),
        ("# only a comment\n\n", "no targets to attack"),
        ("GET\n", "stdin:1: bad target: GET"),
        ("get http://h/\n", "stdin:1: bad method: get"),
        ("GET /path\n", "stdin:1: bad URL: /path, not an absolute URL"),
        ("GET http://127.0.0.1:1/\nno header\n", "stdin:2: bad header: no header"),
        ("GET http://127.0.0.1:1/\nA: b\nGET http://127.0.0.1:1/\n", "a blank line before it"),
        ("GET http://127.0.0.1:1/\n# why\nGET http://127.0.0.1:1/\n", "stdin:3: bad header"),
        ("GET http://127.0.0.1:1/\n@/no/such/file\n", "stdin:2: bad body: /no/such/file"),
    ] {
        let output = said(&[], input);
        assert_eq!(output.code, Some(1), "{input:?}: {output}");
        assert!(output.stderr.contains(why), "{input:?}: {output}");
    }
    for (input, why) in [
        ("{\"url\":\"http://h/\"}", "stdin:1: target: required method is missing"),
        ("{\"method\":\"GET\"}", "target: required url is missing"),
        ("[]", "not a JSON object"),
        ("{\"method\":\"GET\",\"url\":\"http://h/\",\"body\":\"***\"}", "not base64"),
        ("{\"method\":\"GET\",\"url\":\"http://h/\",\"header\":{\"a\":\"b\"}}", "bad header"),
    ] {
        let output = said(&["-format", "json"], input);
        assert_eq!(output.code, Some(1), "{input:?}: {output}");
        assert!(output.stderr.contains(why), "{input:?}: {output}");
    }
}

#[test]
fn wrong_usage_is_told_with_a_hint() {
    let url = "http://127.0.0.1:1/";
    for (words, code, why) in [
        (vec!["-rate", "fast", url], 2, "doesn't match `freq/duration`"),
        (vec!["-pace", "5s@50,x", url], 2, "stage `x`"),
        (vec!["-duration", "5", url], 2, "has no unit"),
        (vec!["-ratee", "5", url], 2, "rate"),
        (vec!["-max-body", "much", url], 2, "10 MB"),
        (vec!["-header", "nonsense", url], 2, "header 'nonsense' has a wrong format"),
        (vec!["-header", "Key: ", url], 2, "header 'Key: ' has a wrong format"),
        (vec!["-header", "Bearer secret", url], 2, "header 'Bearer ***' has a wrong format"),
        (vec!["-proxy-header", ": secret", url], 2, "header ':***' has a wrong format"),
        (vec!["-format", "xml", url], 1, "format \"xml\" isn't one of [http, json]"),
        (vec!["-fail-if", "p99", url], 2, "no comparison"),
        (vec!["-key", "k.pem", url], 2, "-key needs -cert"),
        (vec!["-format", "xml"], 1, "format \"xml\" isn't one of [http, json]"),
        (vec!["-targets", "none.txt"], 1, "error opening none.txt"),
        (vec!["-body", "none.txt", url], 1, "error reading none.txt"),
    ] {
        let output = said(&words, "GET http://127.0.0.1:1/");
        assert_eq!(output.code, Some(code), "{words:?}: {output}");
        assert!(output.stderr.contains(why), "{words:?}: {output}");
    }
}

#[test]
fn flags_in_front_of_the_command_are_taken_or_refused_clearly() {
    for words in
        [["-profile", "cpu,heap"].as_slice(), &["-profile=cpu"], &["-cpus", "1", "-profile=heap"]]
    {
        let all = words.iter().copied().chain(["attack", "http://127.0.0.1:1/"]);
        let output = sojourn(all).run().unwrap();
        assert_eq!(output.code, Some(2), "{words:?}: {output}");
        assert!(
            output.stderr.contains("-profile") && output.stderr.contains("perf record"),
            "{output}"
        );
    }
    for words in
        [["-cpus", "1"].as_slice(), &["-cpus=1", "-profile="], &["-profile", "", "-cpus", "2"]]
    {
        // Vegeta's grammar goes on behind them.
        let rest = ["attack", "-redirects", "-1", "-rate", "0", "http://127.0.0.1:1/"];
        let output = sojourn(words.iter().copied().chain(rest)).run().unwrap();
        assert!(output.stderr.contains("-rate=0 requires"), "{words:?}: {output}");
    }
}

#[test]
fn a_rate_of_zero_without_workers_is_one_dated_line() {
    let line = dated(&said(&["-rate", "0", "http://127.0.0.1:1/"], ""));
    assert_eq!(line, "-rate=0 requires setting -max-workers");
}

/// The one line of a failure at work, without its date.
fn dated(output: &Output) -> String {
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(output.stderr.lines().count(), 1, "{output}");
    let (date, rest) = output.stderr.split_at("2026/11/21 18:56:44 ".len());
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000/00/00 00:00:00 ", "{output}");
    rest.trim_end().to_owned()
}

#[test]
fn certificates_that_cannot_be_used_are_one_dated_line() {
    let folder = temp_dir().unwrap();
    let text = folder.path().join("text.pem").display().to_string();
    std::fs::write(&text, "no certificate").unwrap();
    let url = "https://127.0.0.1:1/";
    for (words, expected) in [
        (vec!["-root-certs", "none.pem"], "open none.pem: no such file or directory"),
        (vec!["-cert", "none.pem"], "open none.pem: no such file or directory"),
        (
            vec!["-cert", text.as_str(), "-key", "none.pem"],
            "open none.pem: no such file or directory",
        ),
        (vec!["-root-certs", text.as_str()], "bad certificate: certificates of "),
        (vec!["-cert", text.as_str()], "bad certificate: certificates of "),
    ] {
        let output = said(&[&words[..], &[url]].concat(), "");
        let line = dated(&output);
        assert!(line.starts_with(expected), "{words:?}: {line}");
    }
}

#[test]
fn the_version_is_told_in_four_lines() {
    for words in [&["-version"][..], &["attack", "-version"], &["attack", "--version"]] {
        let output = sojourn(words).run().unwrap();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
        let names: Vec<&str> =
            output.stdout.lines().map(|line| line.split(": ").next().unwrap()).collect();
        assert_eq!(names, ["Version", "Commit", "Runtime", "Date"], "{output}");
        let runtime = output.stdout.lines().nth(2).unwrap();
        assert!(runtime.contains(" linux/"), "{output}");
    }
}

#[test]
fn a_command_that_there_is_none_of_is_named_as_by_vegeta() {
    let output = sojourn(["atack", "-rate", "5"]).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert_eq!(output.stderr.lines().next(), Some("Unknown command: atack"), "{output}");
    assert!(output.stderr.contains("'attack'"), "{output}");
    let output = sojourn(["fleet", "nonsense"]).run().unwrap();
    assert!(!output.stderr.contains("Unknown command"), "{output}");
    let output = sojourn::<&str>([]).run().unwrap();
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output}");
    assert!(output.stderr.contains("Usage: sojourn"), "{output}");
}

#[test]
fn one_dash_or_two_and_help_with_examples() {
    let output = sojourn(["attack", "-h"]).run().unwrap();
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.contains("sojourn attack http://"), "{output}");
    for flag in ["--max-workers", "--lazy", "--redirects", "--fail-if", "--pace"] {
        assert!(output.stdout.contains(flag), "{flag}: {output}");
    }
}
