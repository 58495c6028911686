//! Paces on a command line.
//!
//! ```text
//! 50            fifty a second           100/1m        a hundred a minute
//! 0, infinity   as fast as workers allow
//! 30s@50,1m@200          fifty a second for 30 s, then two hundred for a minute
//! 30s@10..100,1m@100     from ten to a hundred in a straight line, then a hundred
//! 10..100                the same over the whole duration
//! sine:mean=100,amplitude=50,period=1m,start=peak
//! ```

use std::fmt;

use sojourn_pace::{Profile, Segment};

use crate::read::units::{duration_ns, unit_ns};

/// Longest duration, and the one of an attack without end: a year.
pub(super) const FOREVER_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// When hits are due.
#[derive(Clone, Debug, PartialEq)]
pub enum Pace {
    /// As soon as a worker is free: a closed loop.
    Unpaced,
    /// So many per so long.
    Constant(Rate),
    /// A shape with its own length.
    Stages(Vec<Segment>),
    /// From one rate to another over the whole duration, per second.
    Ramp(f64, f64),
    /// A wave over the whole duration; its `duration_ns` is not used.
    Sine(Segment),
}

/// A rate, exactly as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    hits: u64,
    per_ns: u64,
}

/// What is wrong with a pace, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaceError(String);

impl fmt::Display for PaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PaceError {}

fn wrong<T>(message: impl Into<String>) -> Result<T, PaceError> {
    Err(PaceError(message.into()))
}

impl Pace {
    /// A `-rate`: `N` or `N/unit`, N a whole number; `0` and `infinity` for no pace.
    pub fn rate(text: &str) -> Result<Self, PaceError> {
        if matches!(text, "0" | "infinity") {
            return Ok(Self::Unpaced);
        }
        let rate = Rate::parse(text)?;
        Ok(if rate.hits == 0 { Self::Unpaced } else { Self::Constant(rate) })
    }

    /// A `-pace`.
    pub fn parse(text: &str) -> Result<Self, PaceError> {
        if let Some(wave) = text.strip_prefix("sine:") {
            return Ok(Self::Sine(sine(wave)?));
        }
        if text.contains('@') {
            let stages = text.split(',').map(|stage| segment(stage.trim()));
            return Ok(Self::Stages(stages.collect::<Result<_, _>>()?));
        }
        match text.split_once("..") {
            Some((from, to)) => Ok(Self::Ramp(per_s(from)?, per_s(to)?)),
            None => Self::rate(text),
        }
    }

    /// Its intensity over `duration_ns` (`None`: without end).
    pub fn profile(&self, duration_ns: Option<u64>) -> Result<Profile, PaceError> {
        let needs =
            |what: &str| duration_ns.map_or_else(|| wrong(format!("{what} needs -duration")), Ok);
        let segments = match self {
            Self::Unpaced => Vec::new(),
            Self::Constant(rate) => vec![rate.segment(duration_ns.unwrap_or(FOREVER_NS))],
            Self::Stages(_) if duration_ns.is_some() => {
                return wrong("a pace of stages has its own length: leave -duration out");
            }
            Self::Stages(stages) => stages.clone(),
            Self::Ramp(from_per_s, to_per_s) => vec![Segment::Linear {
                from_per_s: *from_per_s,
                to_per_s: *to_per_s,
                duration_ns: needs("a ramp")?,
            }],
            Self::Sine(wave) => {
                let mut wave = wave.clone();
                if let Segment::Sine { duration_ns: length_ns, .. } = &mut wave {
                    *length_ns = needs("a sine wave")?;
                }
                vec![wave]
            }
        };
        Ok(Profile { segments })
    }
}

impl Rate {
    fn parse(text: &str) -> Result<Self, PaceError> {
        let (hits, unit) = text.split_once('/').unwrap_or((text, "1s"));
        let Ok(hits) = hits.trim().parse::<u64>() else {
            return wrong(format!(
                "-rate format `{text}` doesn't match `freq/duration`, such as 50/1s"
            ));
        };
        let unit = unit.trim();
        let per_ns = unit_ns(unit).map_or_else(|| duration_ns(unit), Ok);
        match per_ns {
            Ok(0) => Ok(Self { hits: 0, per_ns: 1 }),
            Ok(per_ns) if hits > per_ns => {
                wrong(format!("`{text}` is more than 1,000,000,000 a second"))
            }
            Ok(per_ns) => Ok(Self { hits, per_ns }),
            Err(why) => wrong(format!("-rate `{text}`: {why}")),
        }
    }

    /// Hits per second.
    pub fn per_s(self) -> f64 {
        self.hits as f64 * 1e9 / self.per_ns as f64
    }

    /// So long a stretch of it. Hit k is due at k · per ÷ hits, so a stretch has
    /// ⌈hits · length ÷ per⌉ of them; where the rate as a fraction of a second would give one more,
    /// it is made the least bit smaller.
    fn segment(self, length_ns: u64) -> Segment {
        let exact =
            (u128::from(self.hits) * u128::from(length_ns)).div_ceil(u128::from(self.per_ns));
        let mut per_s = self.per_s();
        while (per_s * (length_ns as f64 / 1e9)).ceil() > exact as f64 && per_s > 0.0 {
            per_s = per_s.next_down();
        }
        Segment::Linear { from_per_s: per_s, to_per_s: per_s, duration_ns: length_ns }
    }
}

/// `30s@50` or `30s@10..100`.
fn segment(stage: &str) -> Result<Segment, PaceError> {
    let form =
        || PaceError(format!("stage `{stage}`: write LENGTH@RATE, such as 30s@50 or 30s@10..100"));
    let (length, rate) = stage.split_once('@').ok_or_else(form)?;
    let length_ns =
        duration_ns(length).map_err(|why| PaceError(format!("stage `{stage}`: {why}")))?;
    match rate.split_once("..") {
        Some((from, to)) => Ok(Segment::Linear {
            from_per_s: per_s(from)?,
            to_per_s: per_s(to)?,
            duration_ns: length_ns,
        }),
        None => Ok(Rate::parse(rate)?.segment(length_ns)),
    }
}

fn per_s(text: &str) -> Result<f64, PaceError> {
    Ok(Rate::parse(text.trim())?.per_s())
}

/// `mean=100,amplitude=50,period=1m,start=peak`.
fn sine(text: &str) -> Result<Segment, PaceError> {
    let (mut mean_per_s, mut amplitude_per_s, mut period_ns, mut phase) = (None, None, None, 0.0);
    for part in text.split(',') {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| PaceError(format!("sine: `{part}` is not NAME=VALUE")))?;
        match name.trim() {
            "mean" => mean_per_s = Some(per_s(value)?),
            "amplitude" | "amp" => amplitude_per_s = Some(per_s(value)?),
            "period" => {
                let ns = duration_ns(value).map_err(|why| PaceError(format!("sine: {why}")))?;
                period_ns = Some(ns);
            }
            "start" => phase = start(value)?,
            other => {
                return wrong(format!(
                    "sine: unknown `{other}`; there are mean, amplitude, period and start"
                ));
            }
        }
    }
    let (Some(mean_per_s), Some(amplitude_per_s), Some(period_ns)) =
        (mean_per_s, amplitude_per_s, period_ns)
    else {
        return wrong("sine: mean, amplitude and period are needed");
    };
    if amplitude_per_s > mean_per_s || period_ns == 0 {
        return wrong("sine: the amplitude may not exceed the mean, nor the period be zero");
    }
    Ok(Segment::Sine { mean_per_s, amplitude_per_s, period_ns, phase, duration_ns: 0 })
}

/// Where in the wave it starts, as a fraction of the period.
fn start(text: &str) -> Result<f64, PaceError> {
    match text.trim() {
        "mean-up" | "up" => Ok(0.0),
        "peak" => Ok(0.25),
        "mean-down" | "down" => Ok(0.5),
        "trough" => Ok(0.75),
        other => wrong(format!("sine: start={other}: there are up, peak, down and trough")),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_pace::{Arrivals, Schedule};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn hits(pace: &str, duration_ns: Option<u64>) -> u64 {
        let profile = Pace::parse(pace).unwrap().profile(duration_ns).unwrap();
        let mut schedule = Schedule::new(profile, Arrivals::Constant, 0, None);
        (0..).take_while(|&k| schedule.at(k).is_some()).count() as u64
    }

    #[test]
    fn a_run_has_as_many_hits_as_rate_times_duration() {
        for (rate, seconds, expected) in [
            ("50", 10, 500),
            ("50/1s", 1, 50),
            ("1/3s", 9, 3),
            ("7/3s", 9, 21),
            ("100/m", 60, 100),
            ("3/s", 1000, 3000),
            ("1/ms", 2, 2000),
            ("999/7s", 49, 6993),
        ] {
            assert_eq!(hits(rate, Some(seconds * SECOND_NS)), expected, "{rate} for {seconds} s");
        }
    }

    #[test]
    fn stages_ramps_and_waves() {
        assert_eq!(hits("2s@50,1s@200", None), 300);
        assert_eq!(hits("2s@0..100,1s@100", None), 200);
        assert_eq!(hits("10..30", Some(10 * SECOND_NS)), 200);
        assert_eq!(hits("sine:mean=100,amp=50,period=1s", Some(5 * SECOND_NS)), 500);
    }

    #[test]
    fn unpaced_in_all_its_words() {
        for text in ["0", "infinity", "0/1s"] {
            assert_eq!(Pace::rate(text), Ok(Pace::Unpaced), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("fast", "doesn't match `freq/duration`"),
            ("1.5", "doesn't match"),
            ("5/fortnight", "fortnight"),
            ("2000000000/s", "more than 1,000,000,000"),
            ("5s@", "doesn't match"),
            ("x@5", "stage `x@5`"),
            ("sine:mean=1", "are needed"),
            ("sine:mean=1,amp=2,period=1s", "may not exceed"),
            ("sine:speed=1", "unknown `speed`"),
        ] {
            let error = Pace::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        let stages = Pace::parse("1s@5").unwrap();
        assert!(stages.profile(Some(1)).unwrap_err().to_string().contains("-duration"));
        assert!(Pace::parse("1..5").unwrap().profile(None).is_err());
    }
}
