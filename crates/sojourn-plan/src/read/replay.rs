//! Replayed arrivals: a file of instants.

use std::path::Path;

use sojourn_pace::{Arrivals, Profile};

use crate::Model;

use super::fields::Fields;
use super::loads::{Phases, Shaped};
use super::node::Node;
use super::units::show_ns;
use super::{PlanError, Reader};

/// Most instants of a file: 80 MB of offsets.
const INSTANTS_MAX: usize = 10_000_000;

/// Plain numbers above so many seconds (three years) are points in time rather than offsets.
const OFFSET_MAX_S: i128 = 100_000_000;

const NS_PER_S: i128 = 1_000_000_000;

impl Reader<'_> {
    /// Arrivals at the instants that a file lists.
    pub(super) fn replay(
        &mut self,
        node: &Node,
        fields: &Fields<'_>,
        phases: Phases,
        limit: Option<u64>,
    ) -> Option<Shaped> {
        let unit_ns = match fields.get("unit") {
            Some(node) => [NS_PER_S, 1_000_000, 1_000, 1]
                [self.problems.choice(node, &["s", "ms", "us", "ns"])?],
            None => NS_PER_S,
        };
        let path = self.problems.text(node)?;
        let text = match self.files.read(Path::new(path)) {
            Ok(text) => text,
            Err(error) => {
                self.unreadable(node, &error);
                return None;
            }
        };
        let mut offsets = self.offsets(path, &text, unit_ns)?;
        if !offsets.is_sorted() {
            offsets.sort_unstable();
            self.warnings.push(format!("the instants of `{path}` are out of order: sorted"));
        }
        if let Some(limit) = limit {
            offsets.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        let listed = offsets.len();
        if let Some(total_ns) = phases.total_ns() {
            offsets.retain(|&offset| offset < total_ns);
        }
        if offsets.len() < listed {
            let dropped = listed - offsets.len();
            self.warnings.push(format!(
                "{dropped} instants of `{path}` lie beyond the end of the load: left out"
            ));
        }
        let Some(last) = offsets.last().copied() else {
            let hint = Some("one instant per line: seconds from the start".to_owned());
            self.problems.at(node, "no instants to replay", hint);
            return None;
        };
        let total_ns = phases.total_ns().unwrap_or_else(|| last.saturating_add(1));
        Some(Shaped {
            total_ns,
            declared: format!("replay of {} instants over {}", offsets.len(), show_ns(last)),
            model: Model::Open {
                profile: Profile::default(),
                arrivals: Arrivals::Replay(offsets.into()),
                limit,
            },
        })
    }

    /// A file's instants as offsets in nanoseconds; problems are reported at their lines.
    fn offsets(&mut self, path: &str, text: &str, unit_ns: i128) -> Option<Vec<u64>> {
        match parse(text, unit_ns) {
            Ok(offsets) => Some(offsets),
            Err((line, message)) => {
                let hint = "one instant per line: seconds (or `unit`) from the start, or RFC 3339";
                self.problems.push(PlanError {
                    file: path.to_owned(),
                    line,
                    column: 1,
                    message,
                    hint: Some(hint.to_owned()),
                });
                None
            }
        }
    }
}

/// Offsets in nanoseconds, in the file's order. Err: line and what is wrong with it.
fn parse(text: &str, unit_ns: i128) -> Result<Vec<u64>, (usize, String)> {
    let mut instants: Vec<i128> = Vec::new();
    let mut are_points = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if instants.len() == INSTANTS_MAX {
            return Err((number, format!("more than {INSTANTS_MAX} instants")));
        }
        let shown = super::fields::shown(line);
        let (instant, is_point) = match timestamp_ns(line) {
            Some(ns) => (ns, true),
            None => match decimal_ns(line, unit_ns) {
                Some(ns) => (ns, ns > OFFSET_MAX_S * NS_PER_S),
                None => return Err((number, format!("`{shown}` is not an instant"))),
            },
        };
        if instants.is_empty() {
            are_points = is_point;
        } else if is_point != are_points {
            return Err((number, format!("`{shown}`: points in time and offsets in one file")));
        }
        instants.push(instant);
    }
    let first = match are_points {
        true => instants.iter().min().copied().unwrap_or_default(),
        false => 0,
    };
    let offsets = instants.iter().map(|instant| u64::try_from(instant - first).unwrap_or(u64::MAX));
    Ok(offsets.collect())
}

/// A decimal number of units, exact to the nanosecond.
fn decimal_ns(text: &str, unit_ns: i128) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() > 20 || fraction.len() > 18 || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let parse = |text: &str| match text {
        "" => Some(0),
        text => text.parse::<i128>().ok(),
    };
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    Some(parse(whole)? * unit_ns + parse(fraction)? * unit_ns / scale)
}

/// RFC 3339: `2026-01-31T12:00:00.25Z`, in nanoseconds from 1970.
fn timestamp_ns(text: &str) -> Option<i128> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone_at);
    let mut time = time.splitn(3, ':');
    let (hour, minute) = (number(time.next()?)?, number(time.next()?)?);
    let second = decimal_ns(time.next()?, NS_PER_S)?;
    let offset_minutes = match zone {
        "Z" | "z" => 0,
        zone => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = number(hours)? * 60 + number(minutes)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let is_possible = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61 * NS_PER_S;
    if !is_possible {
        return None;
    }
    let minutes = (days_from_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
    Some(minutes * 60 * NS_PER_S + second)
}

fn number(text: &str) -> Option<i128> {
    let fits = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

/// Days of the proleptic Gregorian calendar, with years taken to begin in March so that the leap
/// day is their last.
fn days_from_1970(year: i128, month: i128, day: i128) -> i128 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_in_any_unit() {
        assert_eq!(
            parse("# head\n0\n0.25\n\n1.000000001 # late\n", NS_PER_S),
            Ok(vec![0, 250_000_000, 1_000_000_001])
        );
        assert_eq!(parse("5\n5.5\n", 1_000_000), Ok(vec![5_000_000, 5_500_000]));
        assert_eq!(parse("7\n", 1), Ok(vec![7]));
    }

    #[test]
    fn points_in_time_count_from_the_first() {
        let text = "2026-01-31T23:59:59.5Z\n2026-02-01T01:00:00+01:00\n";
        assert_eq!(parse(text, NS_PER_S), Ok(vec![0, 500_000_000]));
        let text = "1700000000.000000001\n1700000001\n";
        assert_eq!(parse(text, NS_PER_S), Ok(vec![0, 999_999_999]));
        assert_eq!(timestamp_ns("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(timestamp_ns("2000-02-29T12:00:00Z"), Some(951_825_600 * NS_PER_S));
        assert_eq!(timestamp_ns("2026-03-01T00:00:00-01:30"), Some(1_772_328_600 * NS_PER_S));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line) in [("1\nx\n", 2), ("-1", 1), ("1\n2026-01-01T00:00:00Z", 2), ("1..2", 1)]
        {
            assert_eq!(parse(text, NS_PER_S).unwrap_err().0, line, "{text}");
        }
    }
}
