//! What test binaries print, added up.

/// The sum of the test binaries' closing lines, and who failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Binaries that began.
    pub(super) begun: u64,
    /// Binaries that came to their end.
    pub(super) suites: u64,
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
    /// Names of the tests that passed.
    pub(super) passes: Vec<String>,
    /// Names of the tests that failed.
    pub(super) failures: Vec<String>,
    /// Names of those that failed and passed when run again.
    pub(super) flaky: Vec<String>,
}

impl Count {
    pub(super) fn add(&mut self, other: Self) {
        self.begun += other.begun;
        self.suites += other.suites;
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.passes.extend(other.passes);
        self.failures.extend(other.failures);
        self.flaky.extend(other.flaky);
    }

    /// Whether every binary ended in order, and who failed is known by name.
    pub(super) fn is_whole(&self) -> bool {
        self.begun == self.suites && self.failed == self.failures.len() as u64
    }

    /// The names of those that failed; one that starts itself anew is told of twice.
    pub(super) fn distinct_failures(&self) -> Vec<String> {
        let mut failures = self.failures.clone();
        failures.sort();
        failures.dedup();
        failures
    }

    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`; others are passed
    /// over.
    pub(super) fn read(&mut self, line: &str) {
        let line = line.trim_end();
        if line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test")) {
            self.begun += 1;
        }
        if let Some((name, outcome)) =
            line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... "))
        {
            match outcome {
                "ok" => self.passes.push(name.to_owned()),
                "FAILED" => self.failures.push(name.to_owned()),
                _ => {}
            }
        }
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        self.suites += 1;
        let words: Vec<&str> = result.split([' ', ';']).collect();
        for pair in words.windows(2) {
            let number = pair[0].parse().unwrap_or(0);
            match pair[1] {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Count {
        let mut count = Count::default();
        lines.iter().for_each(|line| count.read(line));
        count
    }

    #[test]
    fn closing_lines_are_summed() {
        let mut count = of(&[
            "running 4 tests",
            "test one ... ok",
            "test room::two ... FAILED\n",
            "test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; in 1s",
            "running 1 test",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out",
        ]);
        let expected = Count {
            begun: 2,
            suites: 2,
            passed: 15,
            failed: 1,
            ignored: 1,
            passes: vec!["one".to_owned()],
            failures: vec!["room::two".to_owned()],
            flaky: Vec::new(),
        };
        assert_eq!(count, expected);
        assert!(count.is_whole());
        count.add(of(&["running 0 tests", "test result: ok. 5 passed; 0 failed; 0 ignored;"]));
        assert_eq!((count.begun, count.suites, count.passed, count.failed), (3, 3, 20, 1));
    }

    #[test]
    fn a_binary_that_crashed_or_a_failure_without_a_name_is_not_whole() {
        assert!(!of(&["running 4 tests", "test one ... ok"]).is_whole());
        let nameless = ["running 1 test", "test result: FAILED. 0 passed; 1 failed; 0 ignored;"];
        assert!(!of(&nameless).is_whole());
    }

    #[test]
    fn a_failure_that_is_told_of_twice_is_one() {
        let count = of(&["test b ... FAILED", "test a ... FAILED", "test b ... FAILED"]);
        assert_eq!(count.distinct_failures(), ["a", "b"]);
    }
}
