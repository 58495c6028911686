//! How long a piece of work takes: a distribution, written as text (`uniform(5s,9s)`).
//!
//! Forms: `300ms` (fixed), `uniform(MIN,MAX)`, `exp(MEAN)`, `lognormal(MEDIAN,P99)`. Durations
//! carry a unit: `ns`, `us`, `ms`, `s` or `m`, with decimals (`1.5s`); a bare `0` is zero.

use rand::{SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, Exp, LogNormal, Uniform};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Standard normal quantile at 0.99, which turns a p99 into a log-normal sigma.
const NORMAL_QUANTILE_99: f64 = 2.326_347_874_040_841;
/// No sample is longer than this: an unlucky draw shall not outlive the demo. One hour.
const SAMPLE_NS_MAX: f64 = 3.6e12;

/// A distribution of service times, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ServiceTime {
    /// Always the same.
    Fixed {
        /// The time, nanoseconds.
        ns: u64,
    },
    /// Every value of an interval equally likely.
    Uniform {
        /// Shortest, nanoseconds.
        ns_min: u64,
        /// Longest, nanoseconds.
        ns_max: u64,
    },
    /// Memoryless.
    Exponential {
        /// Mean, nanoseconds.
        ns_mean: u64,
    },
    /// A long tail, given by two points that people measure.
    LogNormal {
        /// Median, nanoseconds.
        ns_median: u64,
        /// 99th percentile, nanoseconds; not below the median.
        ns_p99: u64,
    },
}

impl ServiceTime {
    /// A fixed time in milliseconds.
    pub const fn fixed_ms(ms: u64) -> Self {
        Self::Fixed { ns: ms * 1_000_000 }
    }

    /// One sample in nanoseconds, a pure function of `random` (64 well-mixed bits).
    pub fn sample_ns(&self, random: u64) -> u64 {
        let mut generator = StdRng::seed_from_u64(random);
        // Parameters were checked when parsed; should a hand-made value be out of range, the
        // distribution degrades to its middle instead of failing.
        let sample = match *self {
            Self::Fixed { ns } => return ns,
            Self::Uniform { ns_min, ns_max } => Uniform::new_inclusive(ns_min, ns_max)
                .map_or(ns_min as f64, |it| it.sample(&mut generator) as f64),
            Self::Exponential { ns_mean: 0 } => 0.0,
            Self::Exponential { ns_mean } => {
                let mean = ns_mean as f64;
                Exp::new(1.0 / mean).map_or(mean, |it| it.sample(&mut generator))
            }
            Self::LogNormal { ns_median: 0, .. } => 0.0,
            Self::LogNormal { ns_median, ns_p99 } => {
                let median = ns_median as f64;
                let sigma = (ns_p99 as f64 / median).ln() / NORMAL_QUANTILE_99;
                LogNormal::new(median.ln(), sigma.max(0.0))
                    .map_or(median, |it| it.sample(&mut generator))
            }
        };
        sample.min(SAMPLE_NS_MAX) as u64
    }
}

/// A service time that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "service time {text:?} is not readable: {problem}; \
     write 300ms, uniform(5s,9s), exp(20ms) or lognormal(20ms,80ms)"
)]
pub struct ServiceTimeError {
    text: String,
    problem: String,
}

impl FromStr for ServiceTime {
    type Err = ServiceTimeError;

    fn from_str(text: &str) -> Result<Self, ServiceTimeError> {
        parse(text.trim()).map_err(|problem| ServiceTimeError { text: text.to_owned(), problem })
    }
}

fn parse(text: &str) -> Result<ServiceTime, String> {
    let Some((name, rest)) = text.split_once('(') else {
        return Ok(ServiceTime::Fixed { ns: duration_ns(text)? });
    };
    let inner = rest.strip_suffix(')').ok_or("the closing parenthesis is missing")?;
    let arguments =
        inner.split(',').map(|part| duration_ns(part.trim())).collect::<Result<Vec<_>, _>>()?;
    match (name.trim(), arguments.as_slice()) {
        ("fixed", &[ns]) => Ok(ServiceTime::Fixed { ns }),
        ("exp", &[ns_mean]) => Ok(ServiceTime::Exponential { ns_mean }),
        ("uniform", &[ns_min, ns_max]) if ns_min <= ns_max => {
            Ok(ServiceTime::Uniform { ns_min, ns_max })
        }
        ("uniform", &[_, _]) => Err("the minimum is above the maximum".into()),
        ("lognormal", &[ns_median, ns_p99]) if ns_median <= ns_p99 => {
            Ok(ServiceTime::LogNormal { ns_median, ns_p99 })
        }
        ("lognormal", &[_, _]) => Err("the median is above the p99".into()),
        ("fixed" | "exp" | "uniform" | "lognormal", given) => {
            Err(format!("{} does not take {} value(s)", name.trim(), given.len()))
        }
        (other, _) => Err(format!("there is no distribution named {other:?}")),
    }
}

/// Units, longest suffix first, so that `ms` is not read as `s`.
const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10)];

fn duration_ns(text: &str) -> Result<u64, String> {
    if text == "0" {
        return Ok(0);
    }
    let (number, scale) = UNITS
        .iter()
        .find_map(|&(unit, scale)| text.strip_suffix(unit).map(|number| (number, scale)))
        .ok_or_else(|| format!("{text:?} has no unit (ns, us, ms, s, m)"))?;
    let value: f64 = number.trim().parse().map_err(|_| format!("{number:?} is not a number"))?;
    let ns = value * scale;
    if (0.0..=SAMPLE_NS_MAX).contains(&ns) {
        Ok(ns.round() as u64)
    } else {
        Err(format!("{text:?} is not between 0 and 60m"))
    }
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fixed { ns } => write!(out, "{}", Text(ns)),
            Self::Uniform { ns_min, ns_max } => {
                write!(out, "uniform({},{})", Text(ns_min), Text(ns_max))
            }
            Self::Exponential { ns_mean } => write!(out, "exp({})", Text(ns_mean)),
            Self::LogNormal { ns_median, ns_p99 } => {
                write!(out, "lognormal({},{})", Text(ns_median), Text(ns_p99))
            }
        }
    }
}

/// A duration in the largest unit that states it exactly.
struct Text(u64);

impl fmt::Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (divisor, unit) = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")]
            .into_iter()
            .find(|&(divisor, _)| self.0 > 0 && self.0.is_multiple_of(divisor))
            .unwrap_or((1, "ns"));
        write!(out, "{}{unit}", self.0 / divisor)
    }
}

impl TryFrom<String> for ServiceTime {
    type Error = ServiceTimeError;

    fn try_from(text: String) -> Result<Self, ServiceTimeError> {
        text.parse()
    }
}

impl From<ServiceTime> for String {
    fn from(time: ServiceTime) -> Self {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use proptest::prelude::*;

    fn quantile(time: ServiceTime, q: f64) -> f64 {
        let mut samples: Vec<u64> = (0..20_000).map(|k| time.sample_ns(random::mix(k))).collect();
        samples.sort_unstable();
        samples[(q * samples.len() as f64) as usize] as f64
    }

    #[test]
    fn reads_every_form() {
        let cases = [
            ("300ms", ServiceTime::fixed_ms(300)),
            ("fixed(0.3s)", ServiceTime::fixed_ms(300)),
            ("0", ServiceTime::Fixed { ns: 0 }),
            (
                "uniform(5s, 9s)",
                ServiceTime::Uniform { ns_min: 5_000_000_000, ns_max: 9_000_000_000 },
            ),
            ("exp(20ms)", ServiceTime::Exponential { ns_mean: 20_000_000 }),
            (
                "lognormal(20ms,80ms)",
                ServiceTime::LogNormal { ns_median: 20_000_000, ns_p99: 80_000_000 },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_with_the_reason() {
        let cases = [
            ("300", "no unit"),
            ("uniform(9s,5s)", "minimum is above"),
            ("lognormal(9s,5s)", "median is above"),
            ("uniform(9s)", "does not take 1"),
            ("gamma(1s)", "no distribution named"),
            ("exp(1s", "closing parenthesis"),
            ("-1s", "not between"),
            ("NaNs", "not between"),
            ("xs", "not a number"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<ServiceTime>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn samples_follow_the_distribution() {
        let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 0.1, "{got} {want}");
        let log_normal = "lognormal(20ms,80ms)".parse().unwrap();
        near(quantile(log_normal, 0.5), 2e7);
        near(quantile(log_normal, 0.99), 8e7);
        let exponential = "exp(20ms)".parse().unwrap();
        near(quantile(exponential, 0.5), 2e7 * std::f64::consts::LN_2);
        let uniform = "uniform(5s,9s)".parse().unwrap();
        near(quantile(uniform, 0.0), 5e9);
        near(quantile(uniform, 0.5), 7e9);
        near(quantile(uniform, 0.9999), 9e9);
    }

    proptest! {
        #[test]
        fn text_round_trips(a in 0u64..4_000_000_000, b in 0u64..4_000_000_000, form in 0..4) {
            let time = match form {
                0 => ServiceTime::Fixed { ns: a },
                1 => ServiceTime::Uniform { ns_min: a.min(b), ns_max: a.max(b) },
                2 => ServiceTime::Exponential { ns_mean: a },
                _ => ServiceTime::LogNormal { ns_median: a.min(b), ns_p99: a.max(b) },
            };
            prop_assert_eq!(time.to_string().parse::<ServiceTime>().unwrap(), time);
        }

        #[test]
        fn foreign_text_never_panics(text in "\\PC{0,30}") {
            if let Ok(time) = text.parse::<ServiceTime>() {
                time.sample_ns(7);
            }
        }
    }
}
