//! Requirements: read, looked at, shown.

use sojourn_session::nfr::{Figures, Filter, Requirements, Statistic, summary};

/// Figures of a test of a thousand responses, counted one by one.
struct Known {
    /// (status, tag, milliseconds)
    responses: Vec<(u16, &'static str, f64)>,
    /// (name, held)
    checks: Vec<(&'static str, bool)>,
    cpu_percent: Option<f64>,
    has_latency: bool,
}

impl Known {
    fn new() -> Self {
        let response = |k: u32| {
            let status = if k.is_multiple_of(100) {
                500
            } else if k.is_multiple_of(10) {
                404
            } else {
                200
            };
            (status, if k.is_multiple_of(2) { "even" } else { "odd" }, f64::from(k))
        };
        let check = |k: u32| (if k < 2 { "first" } else { "later" }, k != 0);
        Self {
            responses: (0..1_000).map(response).collect(),
            checks: (0..10).map(check).collect(),
            cpu_percent: Some(59.5),
            has_latency: true,
        }
    }

    fn latencies(&self, filter: &Filter) -> Vec<f64> {
        let accepted =
            self.responses.iter().filter(|(status, tag, _)| filter.accepts(*status, Some(tag)));
        accepted.map(|(.., ms)| *ms).collect()
    }
}

impl Figures for Known {
    fn completed(&self) -> Option<bool> {
        Some(true)
    }

    fn duration_s(&self) -> Option<f64> {
        Some(600.0)
    }

    fn cpu_percent(&self, statistic: Statistic) -> Option<f64> {
        (statistic == Statistic::Average).then_some(self.cpu_percent).flatten()
    }

    fn checks(&self, filter: &Filter) -> Option<(u64, u64)> {
        let counted = self.checks.iter().filter(|(name, _)| filter.accepts_check(name));
        let held = counted.clone().filter(|(_, held)| *held).count() as u64;
        Some((held, counted.count() as u64 - held))
    }

    fn responses(&self, filter: &Filter) -> Option<u64> {
        Some(self.latencies(filter).len() as u64)
    }

    fn latency_ms(&self, statistic: Statistic, filter: &Filter) -> Option<f64> {
        let all = self.latencies(filter);
        let at = match statistic {
            Statistic::Average => return Some(all.iter().sum::<f64>() / all.len() as f64),
            Statistic::Minimum => 0,
            Statistic::Maximum => all.len() - 1,
            Statistic::Percentile(percent) => {
                ((all.len() as f64 * percent / 100.0).ceil() as usize).max(1) - 1
            }
        };
        self.has_latency.then(|| all[at])
    }

    fn apdex(&self, satisfied_ms: f64, filter: &Filter) -> Option<f64> {
        let score = |ms: &f64| match ms {
            ms if *ms <= satisfied_ms => 1.0,
            ms if *ms <= 4.0 * satisfied_ms => 0.5,
            _ => 0.0,
        };
        let all = self.latencies(filter);
        Some(all.iter().map(score).sum::<f64>() / all.len() as f64)
    }
}

/// The lines that come of a list of requirements.
fn lines(list: &str, figures: &Known) -> Vec<String> {
    let text = format!("version: \"0.1\"\nrequirements:\n{list}");
    let requirements =
        Requirements::read("nfr.yaml", &text).unwrap_or_else(|errors| panic!("{errors}"));
    requirements.evaluate(figures).iter().map(ToString::to_string).collect()
}

#[test]
fn every_type_in_short_and_long_form() {
    let list = r#"
- test.completed: true
- test.completed: { test: ["=", true] }
- test.duration: [">", 600]
- test.duration: { test: [">=", 600] }
- test.cluster.utilization.cpu: { select: average, test: ["<=", 60] }
- checks: { select: success_rate, test: ["=", 1] }
- checks: { select: failure_count, where: { name: first }, test: 1 }
- http.error_ratio: { test: ["<", 0.005] }
- http.error_ratio: { where: { tag: odd }, test: 0 }
- http.status_code: { select: count, where: { status: 500 }, test: ["<=", 10] }
- http.status_code: { where: { status: [[">=", 400], ["<", 500]], tag: [even, odd] }, test: ["<", 0.1] }
- http.latency: { select: { type: percentile, value: 99.0 }, where: { status: ["<", 400], tag: odd }, test: ["<", 990] }
- http.latency: { select: average, test: ["!=", 499.5] }
- http.latency: { select: median, test: [">", 499] }
- http.apdex: [">", 0.7]
- http.apdex: { select: { type: apdex, value: 100 }, test: [">=", 0.9] }
"#;
    let expected = [
        "✓ test.completed: true, wanted = true",
        "✓ test.completed: true, wanted = true",
        "✗ test.duration: 600 s, wanted > 600",
        "✓ test.duration: 600 s, wanted >= 600",
        "✓ test.cluster.utilization.cpu average: 59.5 %, wanted <= 60",
        "✗ checks success_rate: 0.9, wanted = 1",
        "✓ checks failure_count (name first): 1, wanted = 1",
        "✗ http.error_ratio: 0.1, wanted < 0.005",
        "✓ http.error_ratio (tag odd): 0, wanted = 0",
        "✓ http.status_code count (status = 500): 10, wanted <= 10",
        "✓ http.status_code share (status >= 400, status < 500, tag even or odd): 0.09, wanted < 0.1",
        "✗ http.latency percentile 99 (status < 400, tag odd): 989 ms, wanted < 990",
        "✗ http.latency average: 499.5 ms, wanted != 499.5",
        "✗ http.latency percentile 50: 499 ms, wanted > 499",
        "✓ http.apdex of 500 ms: 0.751, wanted > 0.7",
        "✗ http.apdex of 100 ms: 0.251, wanted >= 0.9",
    ];
    let mut found = lines(list, &Known::new());
    // The odd ones of 500: the 495th is 989.
    assert_eq!(
        found.remove(11),
        "✓ http.latency percentile 99 (status < 400, tag odd): 989 ms, wanted < 990"
    );
    let expected: Vec<_> =
        expected.iter().enumerate().filter(|(at, _)| *at != 11).map(|(_, line)| *line).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_is_unavailable_fails_unless_it_is_optional() {
    let text = r#"
requirements:
  - http.latency: { select: maximum, test: ["<", 1] }
  - http.latency: { select: maximum, test: ["<", 1], optional: true }
  - http.latency: { select: maximum, test: ["<", 1], enabled: false }
  - http.error_ratio: { where: { tag: nobody }, test: 0 }
  - test.completed: true
"#;
    let figures = Known { has_latency: false, ..Known::new() };
    let outcomes = Requirements::read("nfr.yaml", text).unwrap().evaluate(&figures);
    let shown: Vec<_> = outcomes.iter().map(|it| (it.has_failed(), it.to_string())).collect();
    let expected = [
        (true, "? http.latency maximum: not available, wanted < 1"),
        (false, "? http.latency maximum: not available, wanted < 1 (optional)"),
        (false, "DISABLED http.latency maximum, wanted < 1"),
        (true, "? http.error_ratio (tag nobody): not available, wanted = 0"),
        (false, "✓ test.completed: true, wanted = true"),
    ];
    assert_eq!(shown, expected.map(|(failed, line)| (failed, line.to_owned())));
    assert_eq!(summary(&outcomes), "1/4 requirements met");
}

#[test]
fn a_validation_needs_no_file() {
    let lines = |has_checks| -> Vec<_> {
        let outcomes = Requirements::of_validation(has_checks).evaluate(&Known::new());
        outcomes.iter().map(ToString::to_string).collect()
    };
    let all = [
        "✓ test.completed: true, wanted = true",
        "✗ checks success_rate: 0.9, wanted = 1",
        "✗ http.error_ratio: 0.1, wanted = 0",
    ];
    assert_eq!(lines(true), all);
    assert_eq!(lines(false), [all[0], all[2]]);
}

#[test]
fn slips_are_told_with_their_place() {
    for (list, expected) in [
        (
            "- http.latncy: { test: ['<', 1] }",
            "nfr.yaml:2:3: unknown requirement `http.latncy`\n  hint: did you mean `http.latency`?",
        ),
        (
            "- http.latency: ['<', 1]",
            "nfr.yaml:2:17: `http.latency` without `select`\n  hint: there is average",
        ),
        (
            "- http.latency: { select: p99, test: ['<', 1] }",
            "nfr.yaml:2:27: `p99` can't be selected of `http.latency`",
        ),
        (
            "- http.latency: { select: { type: percentile, value: 101 }, test: 1 }",
            "nfr.yaml:2:27: `percentile` can't be selected",
        ),
        ("- checks: { select: success_rate }", "nfr.yaml:2:11: a requirement without `test`"),
        (
            "- checks: { tst: 1 }",
            "nfr.yaml:2:13: unknown field `tst` in a requirement\n  hint: did you mean `test`?",
        ),
        ("- checks: ['==', 1]", "nfr.yaml:2:12: `==` is not one of the choices"),
        ("- checks: ['=', 1, 2]", "nfr.yaml:2:11: a test of 3 items"),
        ("- checks: ['=', x]", "nfr.yaml:2:17: `x` is not a number"),
        ("- test.completed: 7", "nfr.yaml:2:19: `7` is neither true nor false"),
        (
            "- test.duration: { where: { tag: a }, test: ['>', 1] }",
            "nfr.yaml:2:27: `tag` means nothing to `test.duration`",
        ),
        (
            "- http.latency: { select: average, where: { status: [1, 2, 3] }, test: 1 }",
            "nfr.yaml:2:53: this is no test of a status",
        ),
        (
            "- http.latency: { select: average, where: { status: 5000 }, test: 1 }",
            "nfr.yaml:2:53: `5000` is out of range",
        ),
        (
            "- { checks: 1, test.completed: true }",
            "nfr.yaml:2:3: an item must have exactly one name",
        ),
        ("- checks", "nfr.yaml:2:3: expected a mapping, found text"),
        (
            "- checks: { enabled: maybe, test: 1 }",
            "nfr.yaml:2:22: `maybe` is neither true nor false",
        ),
    ] {
        let text = format!("requirements:\n{list}\n");
        let found = Requirements::read("nfr.yaml", &text).unwrap_err().to_string();
        assert!(found.starts_with(expected), "{list}\n{found}");
    }
    let found = |text: &str| Requirements::read("nfr.yaml", text).unwrap_err().to_string();
    assert!(
        found("version: \"0.2\"\nrequirements: []")
            .starts_with("nfr.yaml:1:10: `0.2` is no version")
    );
    assert!(found("version: \"0.1\"").contains("without `requirements`"));
    assert!(found("requirements: [").starts_with("nfr.yaml:1:"));
}
