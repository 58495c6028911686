//! Reading again.

use std::time::Duration;

use sojourn_broker::{PositionRange, Span, Tap};
use sojourn_broker_redis::RedisTap;
use sojourn_services::Redis;

use crate::support::*;

fn again(tap: &mut RedisTap, span: &Span) -> Result<Vec<String>, String> {
    let mut feed = Feed::default();
    match tap.replay(span, Duration::from_secs(20), &mut feed) {
        Ok(count) => {
            assert_eq!(count, feed.0.len() as u64);
            Ok(feed.texts().into_iter().map(str::to_owned).collect())
        }
        Err(error) => Err(error.message),
    }
}

fn numbers(numbers: std::ops::Range<u32>) -> Result<Vec<String>, String> {
    Ok(numbers.map(|number| number.to_string()).collect())
}

#[test]
fn spans_by_position_and_time_come_again_and_the_tap_stays_where_it_is() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "CONFIG SET appendfsync no");
    // Trimmed before the tap was there: none of its business.
    add(&mut system, "s", "data", "old");
    add(&mut system, "other", "data", "x");
    run(&mut system, "XTRIM s MAXLEN = 0");
    let mut tap = open(&with_field(streams(&redis, &["other", "s"]), "data"));
    // Ids of our own making: 2,500 entries, one in each millisecond.
    let now: Vec<u64> = redis::cmd("TIME").query(&mut system).unwrap();
    let base = now[0] * 1_000 + 60_000;
    for number in 0..2_500 {
        run(&mut system, &format!("XADD s {}-{} data {number}", base + number, number % 3));
    }
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 2_500);
    let offset = |at: usize| feed.0[at].position.unwrap().1;
    let span = |from, to| Span::Positions(vec![PositionRange { partition: 1, from, to }]);
    assert_eq!(again(&mut tap, &span(offset(10), offset(2_400))), numbers(10..2_400));
    assert_eq!(again(&mut tap, &span(offset(2_400), u64::MAX)), numbers(2_400..2_500));
    assert_eq!(again(&mut tap, &span(offset(7), offset(7))), numbers(0..0));
    let time = |from, to| Span::Time { from_unix_ms: base + from, to_unix_ms: base + to };
    assert_eq!(again(&mut tap, &time(5, 1_500)), numbers(5..1_500));
    let nowhere = Span::Positions(vec![PositionRange { partition: 2, from: 0, to: 1 }]);
    assert!(again(&mut tap, &nowhere).unwrap_err().contains("there is no partition 2"));
    // What is gone is not passed over in silence.
    run(&mut system, "XTRIM s MAXLEN = 2000");
    assert_eq!(again(&mut tap, &time(501, 600)), numbers(501..600));
    let error = again(&mut tap, &time(499, 600)).unwrap_err();
    assert!(error.contains("entries of stream `s` may have been deleted"), "{error}");
    run(&mut system, &format!("XDEL s {}-0", base + 900));
    assert_eq!(again(&mut tap, &time(901, 902)), numbers(901..902));
    assert!(again(&mut tap, &time(899, 902)).is_err());
    // The tap goes on behind what it had read.
    run(&mut system, &format!("XADD s {}-0 data next", base + 5_000));
    poll_for(&mut tap, &mut feed, 2_501);
    assert_eq!(feed.texts()[2_500], "next");
}

#[test]
fn a_tap_that_is_not_open_reads_the_past_too_and_pub_sub_has_none() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    for number in 0..3 {
        add(&mut system, "s", "data", &number.to_string());
    }
    let mut tap = RedisTap::new(&with_field(streams(&redis, &["s"]), "data")).unwrap();
    let all = Span::Time { from_unix_ms: 0, to_unix_ms: u64::MAX };
    assert_eq!(again(&mut tap, &all), numbers(0..3));
    let mut tap = RedisTap::new(&channels(&redis, &["c"])).unwrap();
    assert!(again(&mut tap, &all).unwrap_err().contains("keeps nothing"));
}
