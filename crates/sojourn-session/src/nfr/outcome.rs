//! What came of requirements, and how it is shown.

use std::fmt;

use super::{CheckFigure, Filter, Requirement, Statistic, Subject};

/// What came of one requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it is about: `http.latency`.
    pub kind: &'static str,
    /// Which figure: `percentile 99`; empty where there is only one.
    pub metric: String,
    /// Which part counts: `status < 400, tag a or b`; empty without a filter.
    pub filter: String,
    /// The figure; `None` where it is not available or was not looked at.
    pub subject: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// What was wanted: `< 1000`.
    pub expectation: String,
    /// Whether it was met.
    pub verdict: Verdict,
    /// Whether it may be unavailable.
    pub is_optional: bool,
}

/// Whether a requirement was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was.
    Met,
    /// It was not.
    Missed,
    /// Nobody knows.
    Unavailable,
    /// Nobody looked.
    Disabled,
}

impl Outcome {
    pub(super) fn new(requirement: &Requirement, subject: Option<f64>, verdict: Verdict) -> Self {
        let Requirement { subject: about, filter, compare, wanted, is_optional, .. } = requirement;
        let wanted = match about {
            Subject::Completed => (*wanted != 0.0).to_string(),
            _ => wanted.to_string(),
        };
        Self {
            kind: about.name(),
            metric: metric(*about),
            filter: shown(filter),
            subject,
            unit: about.unit(),
            expectation: format!("{} {wanted}", compare.sign()),
            verdict,
            is_optional: *is_optional,
        }
    }

    /// Whether it stands in the way of success.
    pub fn has_failed(&self) -> bool {
        match self.verdict {
            Verdict::Met | Verdict::Disabled => false,
            Verdict::Missed => true,
            Verdict::Unavailable => !self.is_optional,
        }
    }
}

/// One line: `✓ http.latency percentile 99 (tag a): 812.25 ms, wanted < 1000`.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.verdict {
            Verdict::Met => "✓ ",
            Verdict::Missed => "✗ ",
            Verdict::Unavailable => "? ",
            Verdict::Disabled => "DISABLED ",
        })?;
        f.write_str(self.kind)?;
        if !self.metric.is_empty() {
            write!(f, " {}", self.metric)?;
        }
        if !self.filter.is_empty() {
            write!(f, " ({})", self.filter)?;
        }
        match self.subject {
            Some(figure) if self.kind == Subject::Completed.name() => {
                write!(f, ": {}", figure != 0.0)?;
            }
            Some(figure) => {
                // At most three places, and no zeros at the end.
                let figure = (figure * 1_000.0).round() / 1_000.0;
                write!(f, ": {figure}")?;
                if !self.unit.is_empty() {
                    write!(f, " {}", self.unit)?;
                }
            }
            None if self.verdict == Verdict::Unavailable => f.write_str(": not available")?,
            None => {}
        }
        write!(f, ", wanted {}", self.expectation)?;
        if self.verdict == Verdict::Unavailable && self.is_optional {
            f.write_str(" (optional)")?;
        }
        Ok(())
    }
}

/// `3/4 requirements met`: of those that were looked at.
pub fn summary(outcomes: &[Outcome]) -> String {
    let looked = outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Disabled);
    let (mut met, mut all) = (0, 0);
    for outcome in looked {
        all += 1;
        met += usize::from(outcome.verdict == Verdict::Met);
    }
    format!("{met}/{all} requirements met")
}

fn metric(subject: Subject) -> String {
    match subject {
        Subject::Completed | Subject::Duration | Subject::ErrorRatio => String::new(),
        Subject::Cpu(statistic) | Subject::Latency(statistic) => match statistic {
            Statistic::Average => "average".to_owned(),
            Statistic::Minimum => "minimum".to_owned(),
            Statistic::Maximum => "maximum".to_owned(),
            Statistic::Percentile(percent) => format!("percentile {percent}"),
        },
        Subject::Checks(figure) => match figure {
            CheckFigure::SuccessRate => "success_rate".to_owned(),
            CheckFigure::FailureRate => "failure_rate".to_owned(),
            CheckFigure::SuccessCount => "success_count".to_owned(),
            CheckFigure::FailureCount => "failure_count".to_owned(),
        },
        Subject::StatusCode { is_count } => if is_count { "count" } else { "share" }.to_owned(),
        Subject::Apdex { satisfied_ms } => format!("of {satisfied_ms} ms"),
    }
}

fn shown(filter: &Filter) -> String {
    let mut parts = Vec::new();
    for (compare, status) in &filter.status {
        parts.push(format!("status {} {status}", compare.sign()));
    }
    for (what, list) in [("tag", &filter.tags), ("name", &filter.names)] {
        if !list.is_empty() {
            parts.push(format!("{what} {}", list.join(" or ")));
        }
    }
    parts.join(", ")
}
