//! Requirements: a YAML file that says which figures a test must reach.
//!
//! A requirement has a subject, a test of it, and perhaps a filter. Figures come from outside, by
//! [`Figures`]. One whose subject is not available is not met, unless it is optional: a requirement
//! that silently passes is none.

mod measured;
mod outcome;
mod read;

use crate::compare::Comparison;

pub use measured::Measured;
pub use outcome::{Outcome, Verdict, summary};

/// A file of requirements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requirements {
    /// In the file's order.
    pub list: Vec<Requirement>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// What is looked at.
    pub subject: Subject,
    /// Which part of what there is counts.
    pub filter: Filter,
    /// How the figure is compared.
    pub compare: Comparison,
    /// With what, in the subject's unit; true is 1.
    pub wanted: f64,
    /// `enabled: false` keeps a requirement in the file without looking at it.
    pub is_enabled: bool,
    /// Whether it may be unavailable.
    pub is_optional: bool,
}

/// What a requirement is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// `test.completed`: 1 if the test ended by itself, 0 if it was ended.
    Completed,
    /// `test.duration`, seconds.
    Duration,
    /// `test.cluster.utilization.cpu`, percent of what the generators may use.
    Cpu(Statistic),
    /// `checks`: of all checks and assertions.
    Checks(CheckFigure),
    /// `http.error_ratio`: the share of requests that were answered with a status of 400 and above
    /// or, unless the filter asks for a status, not at all; 0 to 1.
    ErrorRatio,
    /// `http.status_code`: responses whose status the filter names, of all that it names otherwise.
    StatusCode {
        /// How many there are, rather than which share.
        is_count: bool,
    },
    /// `http.latency`, milliseconds.
    Latency(Statistic),
    /// `http.apdex`, 0 to 1, by a satisfying time.
    Apdex {
        /// Milliseconds; four times as long is tolerated.
        satisfied_ms: f64,
    },
}

/// One figure of many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// Arithmetic mean.
    Average,
    /// Least.
    Minimum,
    /// Greatest.
    Maximum,
    /// Of percent; the median is that of 50.
    Percentile(f64),
}

/// A figure of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckFigure {
    /// Share of those that held, 0 to 1.
    SuccessRate,
    /// Share of those that did not, 0 to 1.
    FailureRate,
    /// How many held.
    SuccessCount,
    /// How many did not.
    FailureCount,
}

/// Which responses or checks count. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// What must hold for the status.
    pub status: Vec<(Comparison, u16)>,
    /// One of these tags; any if there is none.
    pub tags: Vec<String>,
    /// One of these names of checks; any if there is none.
    pub names: Vec<String>,
}

/// What a test has measured. `None` means that it is not known.
pub trait Figures {
    /// Whether the test ended by itself.
    fn completed(&self) -> Option<bool>;
    /// How long it was, seconds.
    fn duration_s(&self) -> Option<f64>;
    /// Use of the generators' processors, percent.
    fn cpu_percent(&self, statistic: Statistic) -> Option<f64>;
    /// How many checks and assertions of the filter held, and how many did not.
    fn checks(&self, filter: &Filter) -> Option<(u64, u64)>;
    /// How many responses the filter accepts.
    fn responses(&self, filter: &Filter) -> Option<u64>;
    /// How many requests of the filter's tags were sent and not answered; none where it asks for a
    /// status.
    fn unanswered(&self, _filter: &Filter) -> Option<u64> {
        Some(0)
    }
    /// Response time of what the filter accepts, milliseconds; unanswered requests, with the time
    /// until they were given up, are among it unless it asks for a status.
    fn latency_ms(&self, statistic: Statistic, filter: &Filter) -> Option<f64>;
    /// Apdex of the same: those of a status below 400 count one up to the satisfying time, and a
    /// half up to four times as long; all others count nothing.
    fn apdex(&self, satisfied_ms: f64, filter: &Filter) -> Option<f64>;
}

impl Filter {
    /// Whether a response counts.
    pub fn accepts(&self, status: u16, tag: Option<&str>) -> bool {
        let has_tag = || tag.is_some_and(|tag| self.tags.iter().any(|known| known == tag));
        self.accepts_status(status) && (self.tags.is_empty() || has_tag())
    }

    /// Whether responses of a status count.
    pub fn accepts_status(&self, status: u16) -> bool {
        let holds = |(compare, wanted): &(Comparison, u16)| {
            compare.holds_numbers(f64::from(status), f64::from(*wanted))
        };
        self.status.iter().all(holds)
    }

    /// Whether a check counts.
    pub fn accepts_check(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|known| known == name)
    }
}

impl Requirements {
    /// What a run without load must meet when nothing else is said: it completes, every check holds
    /// (if there is any), and no response is an error.
    pub fn of_validation(has_checks: bool) -> Self {
        let require = |subject, wanted| Requirement {
            subject,
            filter: Filter::default(),
            compare: Comparison::Equal,
            wanted,
            is_enabled: true,
            is_optional: false,
        };
        let mut list = vec![require(Subject::Completed, 1.0), require(Subject::ErrorRatio, 0.0)];
        if has_checks {
            list.insert(1, require(Subject::Checks(CheckFigure::SuccessRate), 1.0));
        }
        Self { list }
    }

    /// Looks at every requirement.
    pub fn evaluate(&self, figures: &dyn Figures) -> Vec<Outcome> {
        self.list.iter().map(|requirement| requirement.evaluate(figures)).collect()
    }
}

impl Requirement {
    /// Looks at the figure that this is about.
    pub fn evaluate(&self, figures: &dyn Figures) -> Outcome {
        let subject = if self.is_enabled { self.subject.of(figures, &self.filter) } else { None };
        let verdict = match subject {
            _ if !self.is_enabled => Verdict::Disabled,
            None => Verdict::Unavailable,
            Some(figure) if self.compare.holds_numbers(figure, self.wanted) => Verdict::Met,
            Some(_) => Verdict::Missed,
        };
        Outcome::new(self, subject, verdict)
    }
}

impl Subject {
    /// The figure, if it is known. Shares of nothing are not.
    fn of(self, figures: &dyn Figures, filter: &Filter) -> Option<f64> {
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        match self {
            Self::Completed => figures.completed().map(f64::from),
            Self::Duration => figures.duration_s(),
            Self::Cpu(statistic) => figures.cpu_percent(statistic),
            Self::Checks(figure) => {
                let (held, not) = figures.checks(filter)?;
                match figure {
                    CheckFigure::SuccessRate => share(held, held + not),
                    CheckFigure::FailureRate => share(not, held + not),
                    CheckFigure::SuccessCount => Some(held as f64),
                    CheckFigure::FailureCount => Some(not as f64),
                }
            }
            Self::ErrorRatio => {
                let mut wrong = filter.clone();
                wrong.status.push((Comparison::AtLeast, 400));
                let unanswered = figures.unanswered(filter)?;
                let answered = figures.responses(filter)?;
                share(figures.responses(&wrong)? + unanswered, answered + unanswered)
            }
            Self::StatusCode { is_count: true } => figures.responses(filter).map(|n| n as f64),
            Self::StatusCode { is_count: false } => {
                let all = Filter { status: Vec::new(), ..filter.clone() };
                share(figures.responses(filter)?, figures.responses(&all)?)
            }
            Self::Latency(statistic) => figures.latency_ms(statistic, filter),
            Self::Apdex { satisfied_ms } => figures.apdex(satisfied_ms, filter),
        }
    }

    /// As it is called in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "test.completed",
            Self::Duration => "test.duration",
            Self::Cpu(_) => "test.cluster.utilization.cpu",
            Self::Checks(_) => "checks",
            Self::ErrorRatio => "http.error_ratio",
            Self::StatusCode { .. } => "http.status_code",
            Self::Latency(_) => "http.latency",
            Self::Apdex { .. } => "http.apdex",
        }
    }

    /// The unit of its figures; empty where there is none.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Duration => "s",
            Self::Cpu(_) => "%",
            Self::Latency(_) => "ms",
            _ => "",
        }
    }
}
