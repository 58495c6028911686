//! Instants of results: nanoseconds since the Unix epoch and the zone they were taken in.

/// When a request began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Nanoseconds since the Unix epoch: 1677 to 2262.
    pub unix_ns: i64,
    /// Seconds east of Greenwich of the zone it is printed in; `None` is UTC itself.
    pub offset_s: Option<i32>,
}

/// Days, seconds of the day and nanoseconds are counted apart, so that nothing overflows.
const DAY_S: i64 = 86_400;
const SECOND_NS: i64 = 1_000_000_000;

impl Timestamp {
    /// No instant is known: printed as the first of January of the year 1.
    pub const UNKNOWN: Self = Self { unix_ns: i64::MIN, offset_s: None };

    /// An instant in UTC, nanoseconds since the Unix epoch.
    #[must_use]
    pub fn utc(unix_ns: i64) -> Self {
        Self { unix_ns, offset_s: None }
    }

    /// Whether an instant is known.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.unix_ns != Self::UNKNOWN.unix_ns
    }

    /// Appends it as RFC 3339 has it, with as many fraction digits as it needs, at most nine.
    pub fn write_rfc3339(self, out: &mut Vec<u8>) {
        if !self.is_known() {
            out.extend_from_slice(b"0001-01-01T00:00:00Z");
            return;
        }
        let offset_s = i64::from(self.offset_s.unwrap_or(0));
        let local_s = self.unix_ns.div_euclid(SECOND_NS) + offset_s;
        let (year, month, day) = date_of_days(local_s.div_euclid(DAY_S));
        let second = local_s.rem_euclid(DAY_S);
        digits(out, year, 4);
        for (mark, value) in [(b'-', month), (b'-', day)] {
            out.push(mark);
            digits(out, value, 2);
        }
        for (mark, value) in [(b'T', second / 3600), (b':', second / 60 % 60), (b':', second % 60)]
        {
            out.push(mark);
            digits(out, value, 2);
        }
        let fraction = self.unix_ns.rem_euclid(SECOND_NS);
        if fraction > 0 {
            out.push(b'.');
            digits(out, fraction, 9);
            while out.last() == Some(&b'0') {
                out.pop();
            }
        }
        if offset_s == 0 {
            out.push(b'Z');
        } else {
            out.push(if offset_s < 0 { b'-' } else { b'+' });
            digits(out, offset_s.abs() / 3600, 2);
            out.push(b':');
            digits(out, offset_s.abs() / 60 % 60, 2);
        }
    }

    /// Reads RFC 3339. Digits after the ninth of the fraction are dropped. Errs in words: what is
    /// wrong with the text.
    pub fn parse_rfc3339(text: &[u8]) -> Result<Self, &'static str> {
        const SHAPE: &str = "is not a time like 2006-01-02T15:04:05.999Z or …+01:00";
        let (head, tail) = text.split_at_checked(19).ok_or(SHAPE)?;
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if marks.iter().any(|(at, mark)| head[*at] != *mark) {
            return Err(SHAPE);
        }
        let number = |at: usize, end: usize| parse_digits(&head[at..end]).ok_or(SHAPE);
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
            return Err("names a day that does not exist");
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err("names a time of day that does not exist");
        }
        let (fraction_ns, tail) = parse_fraction(tail).ok_or(SHAPE)?;
        let offset_s = parse_zone(tail).ok_or(SHAPE)?;
        if (year, month, day, hour, minute, second, fraction_ns) == (1, 1, 1, 0, 0, 0, 0) {
            return Ok(Self::UNKNOWN);
        }
        let local_s = days_of_date(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
        Self::of_seconds(local_s - i64::from(offset_s.unwrap_or(0)), fraction_ns, offset_s)
            .ok_or("is not between the years 1678 and 2261")
    }

    /// From whole seconds and the nanoseconds above them; `None` outside of what nanoseconds in 64
    /// bits can tell.
    pub(super) fn of_seconds(unix_s: i64, ns: i64, offset_s: Option<i32>) -> Option<Self> {
        let unix_ns = i128::from(unix_s) * i128::from(SECOND_NS) + i128::from(ns);
        Some(Self { unix_ns: i64::try_from(unix_ns).ok()?, offset_s })
    }

    /// Whole seconds, rounded down, and the nanoseconds above them.
    pub(super) fn seconds(self) -> (i64, i32) {
        let ns = self.unix_ns.rem_euclid(SECOND_NS);
        (self.unix_ns.div_euclid(SECOND_NS), i32::try_from(ns).unwrap_or(0))
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

/// `.123`, if there is one, as nanoseconds, and what follows it.
fn parse_fraction(tail: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = tail.strip_prefix(b".") else { return Some((0, tail)) };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (shown, kept) = (rest.get(..count)?, count.min(9));
    if shown.is_empty() {
        return None;
    }
    let scale = 10i64.pow(9 - u32::try_from(kept).ok()?);
    Some((parse_digits(&shown[..kept])? * scale, &rest[count..]))
}

/// `Z` or `±hh:mm`.
fn parse_zone(text: &[u8]) -> Option<Option<i32>> {
    if text == b"Z" {
        return Some(None);
    }
    let (sign, rest) = text.split_first()?;
    let sign = match sign {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if rest.len() != 5 || rest[2] != b':' {
        return None;
    }
    let (hours, minutes) = (parse_digits(&rest[..2])?, parse_digits(&rest[3..])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    Some(Some(sign * i32::try_from(hours * 3600 + minutes * 60).ok()?))
}

/// Up to nine digits, nothing else.
fn parse_digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

/// A number that is not negative, with leading zeros.
fn digits(out: &mut Vec<u8>, value: i64, width: u32) {
    for place in (0..width).rev() {
        out.push(b'0' + (value / 10i64.pow(place) % 10) as u8);
    }
}

/// Days from 1970-01-01 of a date of the Gregorian calendar.
///
/// Years are taken to begin in March, so that the leap day ends them; 400 of them have 146,097
/// days.
fn days_of_date(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_of_date`].
fn date_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leaps = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leaps) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_of_date(next_year, next, 1) - days_of_date(year, month, 1)
}

#[cfg(test)]
mod tests;
