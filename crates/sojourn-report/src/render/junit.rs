//! The report as JUnit's XML, which CI servers show as tests: a suite per run, a case for the
//! verdict, one for each threshold and one for each requirement.
//!
//! The shape is that of Ant's and Jenkins's schemas, as far as they agree: `testsuites`,
//! `testsuite`, `properties`, `testcase` with at most one of `failure`, `error` and `skipped`.

use crate::{
    ReportModel,
    build::rfc3339,
    model::{Outcome, RequirementOutcome, RequirementRow, RunIdentity, ThresholdRow},
};

/// What became of a case.
enum Judged {
    Passed,
    /// (type, message, details)
    Failed(&'static str, String, String),
    /// The same of what could not be judged.
    Error(&'static str, String, String),
    Skipped(String),
}

struct Case {
    class: &'static str,
    name: String,
    result: Judged,
    seconds: f64,
}

pub(super) fn report(model: &ReportModel) -> String {
    let mut cases = vec![verdict(model)];
    cases.extend(model.thresholds.iter().map(threshold));
    cases.extend(model.requirements.iter().map(requirement));
    let count = |is: fn(&Judged) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(|result| matches!(result, Judged::Failed(..))),
        count(|result| matches!(result, Judged::Error(..))),
    );
    let skipped = count(|result| matches!(result, Judged::Skipped(_)));
    let identity = &model.identity;
    let seconds = identity.end_ns as f64 / 1e9;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"sojourn\" {counts} time=\"{seconds:.3}\">\n"));
    // Of that schema: a date and a time without a zone, which is UTC here.
    let started = rfc3339(identity.start_unix_ns);
    out.push_str(&format!(
        "  <testsuite name=\"{}\" {counts} skipped=\"{skipped}\" time=\"{seconds:.3}\" \
         timestamp=\"{}\" hostname=\"{}\">\n",
        escape(&identity.name),
        started.get(..19).unwrap_or_default(),
        escape(&identity.host),
    ));
    properties(&mut out, identity);
    for case in &cases {
        write(&mut out, &identity.name, case);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn properties(out: &mut String, identity: &RunIdentity) {
    out.push_str("    <properties>\n");
    let mut property = |name: &str, value: &str| {
        let (name, value) = (escape(name), escape(value));
        out.push_str(&format!("      <property name=\"{name}\" value=\"{value}\"/>\n"));
    };
    property("run_id", &identity.run_id);
    property("start", &rfc3339(identity.start_unix_ns));
    property("host", &identity.host);
    property("sojourn", &identity.version);
    if let Some(suite) = &identity.suite {
        property("suite", suite);
    }
    for (name, value) in &identity.labels {
        property(&format!("label.{name}"), value);
    }
    for load in &identity.load {
        property("load", load);
    }
    out.push_str("    </properties>\n");
}

/// The case of the run as a whole: an error where the figures may not be believed.
fn verdict(model: &ReportModel) -> Case {
    let verdict = &model.verdict;
    let causes: Vec<String> =
        verdict.causes.iter().map(|cause| format!("{}: {}", cause.name, cause.detail)).collect();
    let (headline, mut details) = (verdict.headline.clone(), causes.join("\n"));
    if let Some(cut_off) = &verdict.cut_off {
        details.push_str(&format!("\nthe run file was cut off: {cut_off}"));
    }
    if let Some(warning) = &verdict.warning {
        details.push_str(&format!("\n{warning}"));
    }
    let result = match verdict.outcome {
        Outcome::Pass => Judged::Passed,
        Outcome::Fail => Judged::Failed("fail", headline, details),
        Outcome::Void => Judged::Error("void", headline, details),
        Outcome::Unfinished => Judged::Error("unfinished", headline, details),
    };
    let seconds = model.identity.end_ns as f64 / 1e9;
    Case { class: "run", name: "verdict".to_owned(), result, seconds }
}

fn threshold(row: &ThresholdRow) -> Case {
    let result = if row.held {
        Judged::Passed
    } else {
        let message = format!("asked {}, measured {}", row.text, row.measured_text);
        Judged::Failed("threshold", message.clone(), message)
    };
    Case { class: "thresholds", name: row.text.clone(), result, seconds: 0.0 }
}

fn requirement(row: &RequirementRow) -> Case {
    let filter = if row.filter.is_empty() { String::new() } else { format!("({})", row.filter) };
    let parts = [row.kind.as_str(), &row.metric, &filter, &row.wanted];
    let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let result = match row.outcome {
        RequirementOutcome::Met => Judged::Passed,
        _ if row.failed => Judged::Failed("requirement", row.text.clone(), row.text.clone()),
        _ => Judged::Skipped(row.text.clone()),
    };
    Case { class: "requirements", name, result, seconds: 0.0 }
}

fn write(out: &mut String, run: &str, case: &Case) {
    out.push_str(&format!(
        "    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.3}\"",
        escape(run),
        case.class,
        escape(&case.name),
        case.seconds
    ));
    let element = |name: &str, kind: &str, message: &str, details: &str| {
        let (message, details) = (escape(message), escape(details));
        format!(
            ">\n      <{name} type=\"{kind}\" message=\"{message}\">{details}</{name}>\n    \
             </testcase>\n"
        )
    };
    out.push_str(&match &case.result {
        Judged::Passed => "/>\n".to_owned(),
        Judged::Failed(kind, message, details) => element("failure", kind, message, details),
        Judged::Error(kind, message, details) => element("error", kind, message, details),
        Judged::Skipped(message) => {
            let message = escape(message);
            format!(">\n      <skipped message=\"{message}\"/>\n    </testcase>\n")
        }
    });
}

/// Foreign text as content or within quotes. What XML 1.0 has no character for (its 2.2) becomes
/// U+FFFD; line ends and tabs are written as references, so that attributes keep them.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(c))),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
