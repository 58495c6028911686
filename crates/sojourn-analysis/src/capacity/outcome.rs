//! What a search found.

use serde::Serialize;

use crate::words;

/// Why a rate is too high.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Limit {
    /// A threshold of the file did not hold.
    Threshold {
        /// As written.
        text: String,
        /// What was measured, in words.
        measured: String,
    },
    /// Journeys were lost.
    Lost {
        /// How many.
        lost: u64,
        /// Of so many.
        started: u64,
    },
    /// Journeys failed, and no threshold of the file speaks of failures.
    Failed {
        /// How many.
        failed: u64,
        /// Of so many.
        started: u64,
    },
    /// More arrived than was finished.
    Growth {
        /// Journeys per second that the backlog grew by.
        per_s: f64,
        /// As a share of the arrivals.
        share: f64,
        /// The stage before which most of them came to wait.
        stage: Option<String>,
    },
}

impl Limit {
    /// As a fragment: what failed, with its figures.
    pub fn in_words(&self) -> String {
        match self {
            Self::Threshold { text, measured } => format!("{text} (measured {measured})"),
            Self::Lost { lost, started } => format!(
                "{} of {} lost",
                words::count(*lost),
                words::plural(*started, "journey", "journeys")
            ),
            Self::Failed { failed, started } => format!(
                "{} of {} failed",
                words::count(*failed),
                words::plural(*started, "journey", "journeys")
            ),
            Self::Growth { per_s, share, stage } => {
                let before = stage.as_ref().map_or_else(String::new, |it| format!(" before {it}"));
                format!(
                    "the backlog{before} grew by {}/s, {} of the arrivals",
                    words::number(*per_s),
                    words::percent(*share)
                )
            }
        }
    }
}

/// Why nothing higher was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "because")]
pub enum AtLeast {
    /// Runs beyond could not be believed: the generator was the limit, or a run was void otherwise.
    Void {
        /// It was this machine that could not keep up.
        by_generator: bool,
        /// The lowest rate at which it was so.
        rate_per_s: f64,
        /// What was measured.
        cause: String,
    },
    /// It is the highest rate that was to be tried.
    Ceiling,
    /// The search was stopped.
    Stopped,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "end")]
pub enum End {
    /// A rate that holds and a higher one that does not.
    Found {
        /// The highest rate that held.
        held_per_s: f64,
        /// The lowest that failed.
        failed_per_s: f64,
        /// What failed there.
        limit: Limit,
        /// The rate that held did so a second time.
        confirmed: bool,
        /// The two are as near to each other as was asked for.
        narrowed: bool,
    },
    /// Nothing failed as far as was tried.
    AtLeast {
        /// The highest rate that held.
        held_per_s: f64,
        /// Why it went no further.
        because: AtLeast,
        /// It held a second time.
        confirmed: bool,
    },
    /// Even the lowest rate that was tried failed.
    NeverHeld {
        /// That rate.
        failed_per_s: f64,
        /// What failed.
        limit: Limit,
    },
    /// Not one run could be believed.
    Void {
        /// At this rate.
        rate_per_s: f64,
        /// Why.
        cause: String,
    },
    /// Stopped before anything was known.
    Nothing,
}

impl End {
    /// The capacity: the middle between what held and what failed, or what held at least.
    pub fn capacity_per_s(&self) -> Option<f64> {
        match self {
            Self::Found { held_per_s, failed_per_s, .. } => Some((held_per_s + failed_per_s) / 2.0),
            Self::AtLeast { held_per_s, .. } => Some(*held_per_s),
            Self::NeverHeld { .. } | Self::Void { .. } | Self::Nothing => None,
        }
    }

    /// Half the distance between what held and what failed.
    pub fn half_width_per_s(&self) -> Option<f64> {
        match self {
            Self::Found { held_per_s, failed_per_s, .. } => Some((failed_per_s - held_per_s) / 2.0),
            _ => None,
        }
    }

    /// The highest rate that held.
    pub fn held_per_s(&self) -> Option<f64> {
        match self {
            Self::Found { held_per_s, .. } | Self::AtLeast { held_per_s, .. } => Some(*held_per_s),
            _ => None,
        }
    }

    /// What the capacity is limited by.
    pub fn limit(&self) -> Option<&Limit> {
        match self {
            Self::Found { limit, .. } | Self::NeverHeld { limit, .. } => Some(limit),
            _ => None,
        }
    }

    /// One sentence, without a full stop.
    pub fn in_words(&self) -> String {
        let rate = |per_s: f64| format!("{}/s", words::number(per_s));
        match self {
            Self::Found { held_per_s, failed_per_s, limit, confirmed, narrowed } => {
                let middle = (held_per_s + failed_per_s) / 2.0;
                let share = words::percent((failed_per_s - held_per_s) / 2.0 / middle);
                let again = if *confirmed { ", twice" } else { "" };
                let wide = if *narrowed { "" } else { " (not narrowed down further)" };
                format!(
                    "{} ± {share}{wide}: {} held{again}; at {} {}",
                    rate(middle),
                    rate(*held_per_s),
                    rate(*failed_per_s),
                    limit.in_words()
                )
            }
            Self::AtLeast { held_per_s, because, confirmed } => {
                let why = match because {
                    AtLeast::Void { by_generator: true, rate_per_s, cause } => {
                        format!("the generator was the limit, at {}: {cause}", rate(*rate_per_s))
                    }
                    AtLeast::Void { by_generator: false, rate_per_s, cause } => {
                        format!("runs at {} were void: {cause}", rate(*rate_per_s))
                    }
                    AtLeast::Ceiling => "nothing higher was to be tried".to_owned(),
                    AtLeast::Stopped => "the search was stopped".to_owned(),
                };
                let once = if *confirmed { "" } else { " (held once)" };
                format!("at least {}{once}: {why}", rate(*held_per_s))
            }
            Self::NeverHeld { failed_per_s, limit } => {
                format!("not even {} held: {}", rate(*failed_per_s), limit.in_words())
            }
            Self::Void { rate_per_s, cause } => {
                format!("no run could be believed: void at {}: {cause}", rate(*rate_per_s))
            }
            Self::Nothing => "stopped before anything was known".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_one_sentence() {
        let limit = Limit::Growth { per_s: 12.3, share: 0.06, stage: Some("settled".into()) };
        let found = End::Found {
            held_per_s: 195.0,
            failed_per_s: 205.0,
            limit: limit.clone(),
            confirmed: true,
            narrowed: true,
        };
        assert_eq!(
            found.in_words(),
            "200/s ± 2.5 %: 195/s held, twice; at 205/s the backlog before settled grew by \
             12.3/s, 6.0 % of the arrivals"
        );
        assert_eq!((found.capacity_per_s(), found.half_width_per_s()), (Some(200.0), Some(5.0)));
        let because = AtLeast::Void {
            by_generator: true,
            rate_per_s: 9_000.0,
            cause: "generator lag p99 12 ms".into(),
        };
        let at_least = End::AtLeast { held_per_s: 8_000.0, because, confirmed: true };
        assert_eq!(
            at_least.in_words(),
            "at least 8,000/s: the generator was the limit, at 9,000/s: generator lag p99 12 ms"
        );
        let never = End::NeverHeld { failed_per_s: 0.5, limit };
        assert!(never.in_words().starts_with("not even 0.500/s held: the backlog"));
        assert_eq!((never.capacity_per_s(), never.held_per_s()), (None, None));
    }
}
