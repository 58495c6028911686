//! Wrong words and wrong scripts: an error with its place, exit code 1, never a panic.

use sojourn_testkit::{MisbehavingServer, Output, temp_dir};

use super::program;

/// A load with this script.
fn with_script(text: &str, more: &[&str]) -> Output {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("a.lua"), text).unwrap();
    let url = server.url("/");
    let words = ["-d", "20", "-s", "a.lua", &url].into_iter().chain(more.iter().copied());
    program(&words.collect::<Vec<_>>()).in_dir(folder.path()).run().unwrap()
}

/// Expects this error, and no report.
fn fails(text: &str, error: &str) {
    let output = with_script(text, &[]);
    assert_eq!(output.code, Some(1), "{text}: {output}");
    assert!(output.stderr.starts_with(error), "{text}: {output}");
    assert!(!output.stdout.contains("requests in"), "{text}: {output}");
}

#[test]
fn mistakes_before_the_load() {
    fails("function request(", "a.lua:1: ");
    fails("\nlocal x = nil + 1", "a.lua:2: attempt to perform arithmetic on a nil value");
    fails("function setup(t)\n  t:set('f', print)\nend", "a.lua:2: a function cannot go");
    fails("function setup(t)\n  t.addr = 'x'\nend", "a.lua:2: thread.addr takes an address");
    fails("function setup(t)\n  t.port = 1\nend", "a.lua:2: ");
    fails("function init(args)\n  error('no words')\nend", "a.lua:2: no words");
    fails("request = 'GET /'", "a.lua: the script: request is a string, not a function");
    fails("wrk.method = {}", "a.lua: request(): wrk.format: method is a table, not a string");
    fails("wrk.path = 'a b'", "the request that wrk.* describes: ");
    fails("wrk = nil", "a.lua: ");
}

#[test]
fn mistakes_under_load() {
    fails("function request() return nil + 1 end", "a.lua:1: attempt to perform");
    fails("function request() end", "a.lua: request() returned a nil, not the bytes");
    fails("function request() return 'GET' end", "a.lua: request() returned no whole HTTP");
    fails("function request() return '' end", "a.lua: request() returned an empty string");
    fails("\nfunction delay() return x.y end", "a.lua:2: attempt to index global 'x'");
    fails("function delay() return 'long' end", "a.lua: delay() returned a string");
    fails("function delay() return 0/0 end", "a.lua: delay() returned ");
    fails("function response(s, h, b)\n h.x.y = 1\nend", "a.lua:2: attempt to index field 'x'");
    fails(
        "local n = 0 function response(s)\n n = n + 1 assert(n < 50, 'fifty')\nend",
        "a.lua:2: fifty",
    );
    fails(
        "local t = {} function request() t[#t + 1] = ('x'):rep(1e7) .. #t \
           return wrk.format() end",
        "a.lua",
    );
}

#[test]
fn mistakes_after_the_load_leave_the_report() {
    let text = "function response() wrk.thread:stop() end\nfunction done(s) s.x.y = 1 end";
    let output = with_script(text, &["-c1", "-t1"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("  1 requests in "), "{output}");
    assert!(output.stderr.contains("\na.lua:2: attempt to index field 'x'"), "{output}");
}

#[test]
fn a_loop_without_an_end_is_interrupted() {
    let text = "function request()\n  while true do pcall(wrk.format) end\nend";
    fails(text, "a.lua:2: request() has run for 5 s: an endless loop?");
}

#[test]
fn wrong_words_are_told_with_the_usage() {
    for (words, told) in [
        (&["-c", "10"][..], "sojourn wrk: a URL is missing\n"),
        (&["-c", "x", "http://h"], "sojourn wrk: --connections: \"x\" is not a number"),
        (&["-t4", "-c3", "http://h"], "sojourn wrk: number of connections must be >= threads\n"),
        (&["--nope", "http://h"], "sojourn wrk: unknown option --nope\n"),
    ] {
        let output = program(words).run().unwrap();
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.starts_with(told), "{output}");
        assert!(output.stdout.starts_with("Usage: sojourn wrk <options> <url>"), "{output}");
    }
    for words in [["foo"], ["ftp://h/"], ["http://me:secret@127.0.0.1:1/"]] {
        let output = program(&words).run().unwrap();
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output}");
        assert!(output.stderr.starts_with("invalid URL: "), "{output}");
        assert!(!output.stderr.contains("secret"), "{output}");
    }
    let output = program(&["-s", "nowhere.lua", "http://127.0.0.1:1/"]).run().unwrap();
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.starts_with("cannot open nowhere.lua: No such file"), "{output}");
}

#[test]
fn help_and_version() {
    for (word, beginning) in [("--help", "Usage: "), ("-h", "Usage: "), ("-v", "sojourn wrk ")] {
        let output = program(&[word]).run().unwrap();
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.starts_with(beginning), "{output}");
    }
}
