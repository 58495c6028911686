//! RFC 3339 in UTC, for the payload's `occurredAt`.

const DAY_S: u64 = 86_400;

/// `2026-11-21T03:14:57.123456Z` from nanoseconds since the Unix epoch.
pub(crate) fn rfc3339(unix_ns: u64) -> String {
    let (seconds, micros) = (unix_ns / 1_000_000_000, unix_ns % 1_000_000_000 / 1_000);
    let (year, month, day) = civil(seconds / DAY_S);
    let second_of_day = seconds % DAY_S;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{micros:06}Z",
        second_of_day / 3_600,
        second_of_day / 60 % 60,
        second_of_day % 60,
    )
}

/// Year, month and day of a day counted from 1970-01-01, by whole 400-year eras that begin in
/// March, so that the leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_709_210_096, "2024-02-29T12:34:56.000000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(rfc3339(seconds * 1_000_000_000), expected);
        }
        assert_eq!(rfc3339(1_234_567), "1970-01-01T00:00:00.001234Z");
    }
}
