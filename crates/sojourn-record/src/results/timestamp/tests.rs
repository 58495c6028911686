//! Times in and out.

use proptest::prelude::*;

use super::*;

fn printed(timestamp: Timestamp) -> String {
    let mut out = Vec::new();
    timestamp.write_rfc3339(&mut out);
    String::from_utf8(out).unwrap()
}

/// The first seven are what `vegeta encode` prints for the same nanoseconds.
#[test]
fn instants_print_as_vegeta_prints_them() {
    for (unix_ns, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (1, "1970-01-01T00:00:00.000000001Z"),
        (1_000_000_000, "1970-01-01T00:00:01Z"),
        (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
        (1_700_000_000_100_000_000, "2023-11-14T22:13:20.1Z"),
        (i64::MIN, "0001-01-01T00:00:00Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00Z"),
        (-2_203_977_600_000_000_000, "1900-02-28T00:00:00Z"),
        (-2_203_891_200_000_000_000, "1900-03-01T00:00:00Z"),
    ] {
        assert_eq!(printed(Timestamp::utc(unix_ns)), expected);
    }
    let at = |offset_s| Timestamp { unix_ns: 1_700_000_000_000_000_005, offset_s: Some(offset_s) };
    assert_eq!(printed(at(0)), "2023-11-14T22:13:20.000000005Z");
    assert_eq!(printed(at(-12_600)), "2023-11-14T18:43:20.000000005-03:30");
    assert_eq!(printed(at(19_800)), "2023-11-15T03:43:20.000000005+05:30");
}

#[test]
fn edges_of_rfc_3339_are_read() {
    let read = |text: &str| Timestamp::parse_rfc3339(text.as_bytes()).unwrap();
    assert_eq!(read("1970-01-01T00:00:00Z"), Timestamp::utc(0));
    assert_eq!(read("1970-01-01T01:30:00.5+01:30").unix_ns, 500_000_000);
    assert_eq!(read("1970-01-01T01:30:00+01:30").offset_s, Some(5_400));
    assert_eq!(read("1969-12-31T23:59:59.9999999999999-00:00").unix_ns, -1);
    assert_eq!(read("2024-02-29T23:59:59.000000001Z").unix_ns, 1_709_251_199_000_000_001);
    assert_eq!(read("2262-04-11T23:47:16.854775807Z"), Timestamp::utc(i64::MAX));
    assert_eq!(read("0001-01-01T00:00:00Z"), Timestamp::UNKNOWN);
    assert!(!Timestamp::UNKNOWN.is_known());
}

#[test]
fn what_is_no_time_is_refused() {
    for text in [
        "",
        "Z",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01t00:00:00z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00,5Z",
        "1970-01-01T00:00:00+0100",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T24:00:00Z",
        "1970-01-01T23:60:00Z",
        "1970-01-01T23:59:60Z",
        "1970-13-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "+970-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z ",
        "2262-04-11T23:47:16.854775808Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00.1Z",
    ] {
        assert!(Timestamp::parse_rfc3339(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(unix_ns: i64, minutes in -1439..1440_i32) {
        for offset_s in [None, (minutes != 0).then_some(minutes * 60)] {
            let timestamp = Timestamp { unix_ns, offset_s };
            prop_assert_eq!(Timestamp::parse_rfc3339(printed(timestamp).as_bytes()), Ok(timestamp));
        }
    }

    #[test]
    fn days_follow_each_other(days in -800_000..800_000_i64) {
        let (year, month, day) = date_of_days(days);
        prop_assert_eq!(days_of_date(year, month, day), days);
        prop_assert!((1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day));
        let next = date_of_days(days + 1);
        prop_assert!(next == (year, month, day + 1) || next.2 == 1);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9TZ:.+-]{0,40}") {
        let _read = Timestamp::parse_rfc3339(text.as_bytes());
    }
}
