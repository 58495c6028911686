//! What a script's options say of its summary.

/// One figure of a trend, as `summaryTrendStats` names it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendStat {
    /// As it is written: `p(99.9)`.
    pub name: String,
    /// What it is.
    pub kind: StatKind,
}

/// What a [`TrendStat`] is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatKind {
    /// The mean.
    Avg,
    /// The least.
    Min,
    /// The middle.
    Med,
    /// The greatest.
    Max,
    /// How many samples.
    Count,
    /// A percentile, 0 to 100.
    Percentile(f64),
}

/// The unit of all durations of a summary (`summaryTimeUnit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
}

/// A word of the options that summaries do not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// In `summaryTrendStats`.
    #[error(
        "'{0}' in summaryTrendStats is no figure of a trend; it is one of avg, min, med, max, \
         count and p(N) with N from 0 to 100"
    )]
    TrendStat(String),
    /// In `summaryTimeUnit`.
    #[error("summaryTimeUnit '{0}' is none of 's', 'ms' and 'us'")]
    TimeUnit(String),
}

impl TrendStat {
    /// Reads one of `summaryTrendStats`.
    ///
    /// # Errors
    ///
    /// It is no figure of a trend.
    pub fn parse(name: &str) -> Result<Self, OptionError> {
        let kind = match name {
            "avg" => StatKind::Avg,
            "min" => StatKind::Min,
            "med" => StatKind::Med,
            "max" => StatKind::Max,
            "count" => StatKind::Count,
            _ => percentile(name).ok_or_else(|| OptionError::TrendStat(name.to_owned()))?,
        };
        Ok(Self { name: name.to_owned(), kind })
    }

    /// Whether it counts samples, whatever those are.
    pub(super) fn is_count(&self) -> bool {
        self.kind == StatKind::Count
    }

    /// `avg`, `min`, `med`, `max`, `p(90)` and `p(95)`.
    pub fn defaults() -> Vec<Self> {
        let parsed = ["avg", "min", "med", "max", "p(90)", "p(95)"].map(Self::parse);
        parsed.into_iter().flatten().collect()
    }
}

fn percentile(name: &str) -> Option<StatKind> {
    let percent = name.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(StatKind::Percentile(percent))
}

impl TimeUnit {
    /// Reads `summaryTimeUnit`; an empty one is none.
    ///
    /// # Errors
    ///
    /// It is no unit.
    pub fn parse(word: &str) -> Result<Option<Self>, OptionError> {
        Ok(Some(match word {
            "" => return Ok(None),
            "s" => Self::Seconds,
            "ms" => Self::Milliseconds,
            "us" => Self::Microseconds,
            _ => return Err(OptionError::TimeUnit(word.to_owned())),
        }))
    }

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }
}
