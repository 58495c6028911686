//! `sojourn wrk` by the real binary, checked against what the servers saw.

mod accounts;
mod book;
mod mistakes;
mod scripts;

use sojourn_testkit::{Output, Program, sojourn};

/// A script of the tests.
pub(crate) fn script(name: &str) -> String {
    format!("{}/../sojourn-wrk/tests/scripts/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// `sojourn wrk` with these words.
pub(crate) fn program(words: &[&str]) -> Program {
    sojourn(["wrk"].into_iter().chain(words.iter().copied()))
}

/// The same, to its end, which must be a good one.
pub(crate) fn wrk(words: &[&str]) -> Printed {
    let output = program(words).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    Printed(output)
}

/// What was printed.
#[derive(Debug)]
pub(crate) struct Printed(pub(crate) Output);

impl Printed {
    /// The lines of standard output that begin so, without that.
    fn lines(&self, beginning: &str) -> Vec<String> {
        let lines = self.0.stdout.lines().filter_map(|line| line.strip_prefix(beginning));
        lines.map(|line| line.trim().to_owned()).collect()
    }

    fn line(&self, beginning: &str) -> String {
        self.lines(beginning).first().unwrap_or_else(|| panic!("{beginning}: {}", self.0)).clone()
    }

    /// `N requests in T`.
    pub(crate) fn requests(&self) -> u64 {
        let line = self.0.stdout.lines().find(|line| line.contains(" requests in "));
        let line = line.unwrap_or_else(|| panic!("{}", self.0));
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// (connect, read, write, timeout); zeros where the line is missing.
    pub(crate) fn socket_errors(&self) -> [u64; 4] {
        let lines = self.lines("  Socket errors:");
        let mut numbers = lines.iter().flat_map(|line| line.split(", ")).map(|pair| {
            pair.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap()
        });
        std::array::from_fn(|_| numbers.next().unwrap_or(0))
    }

    /// `Non-2xx or 3xx responses`.
    pub(crate) fn bad_statuses(&self) -> u64 {
        self.lines("  Non-2xx or 3xx responses:").first().map_or(0, |n| n.parse().unwrap())
    }

    /// A percentile of the first distribution, milliseconds.
    pub(crate) fn percentile_ms(&self, percent: &str) -> f64 {
        let lines = self.0.stdout.lines().map(str::trim);
        let value = lines.filter_map(|line| line.strip_prefix(percent)).next();
        milliseconds(value.unwrap_or_else(|| panic!("{percent}: {}", self.0)))
    }

    /// The greatest latency, milliseconds.
    pub(crate) fn max_ms(&self) -> f64 {
        milliseconds(self.line("    Latency").split_whitespace().nth(2).unwrap())
    }
}

fn milliseconds(text: &str) -> f64 {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().unwrap();
    match &text[digits.len()..] {
        "us" => number / 1e3,
        "ms" => number,
        "s" => number * 1e3,
        "m" => number * 6e4,
        unit => panic!("{text}: {unit}"),
    }
}
