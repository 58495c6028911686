//! Receivers that stall, fail, break: the run goes on, and the books add up. What every kind of
//! output makes of them stands in [`crate::every_kind`].

use sojourn_clock::SECOND_NS;
use sojourn_outputs::{Account, Counts, FRAMES_MAX};

use crate::{
    book::{POINTS, Played, SECONDS, all},
    receiver::{Manner, Receiver},
};

pub(crate) fn adds_up(account: &Account) {
    let sum = Counts {
        frames: account.sent.frames + account.dropped.frames,
        points: account.sent.points + account.dropped.points,
        journeys: account.sent.journeys + account.dropped.journeys,
    };
    assert_eq!(sum, account.given, "{account:?}");
}

/// Plays so many seconds against a receiver of OTLP, and gives it two seconds at the end.
fn played(
    seconds: u64,
    manner: impl Fn(usize) -> Manner + Send + Sync + 'static,
) -> (Account, Receiver) {
    let receiver = Receiver::start(manner);
    let mut played = Played::to(&[format!("otlp=http://127.0.0.1:{}", receiver.port)]);
    for second in 0..seconds {
        played.second(second + 1 == seconds);
    }
    let mut accounts = played.end_within(2 * SECOND_NS);
    let account = accounts.remove(0);
    adds_up(&account);
    assert_eq!(account.given.frames, seconds);
    (account, receiver)
}

#[test]
fn one_that_stalls_delays_nothing_and_gets_no_more_than_the_queue() {
    // Were a second of the run to wait for it, this would not end.
    let seconds = 3 * FRAMES_MAX as u64;
    let (account, _) = played(seconds, |_| Manner::Stall);
    assert_eq!(account.sent, Counts::default());
    assert_eq!(account.dropped.points, seconds * POINTS);
    assert!(account.last_failure.is_some());
    assert!(account.line().contains(&format!("dropped {seconds} seconds")), "{}", account.line());
}

#[test]
fn one_that_fails_now_and_then_gets_everything() {
    // Every third request fails, in one way or the other.
    let (account, receiver) = played(SECONDS, |number| match number % 6 {
        2 => Manner::Refuse(503),
        5 => Manner::Break,
        _ => Manner::Take(Vec::new()),
    });
    // What a connection that breaks had brought is sent again: never lost.
    let metrics =
        receiver.taken().iter().filter(|asked| asked.path == "/v1/metrics").count() as u64;
    assert_eq!(metrics, account.sent.frames);
    let traces = receiver.taken().iter().filter(|asked| asked.path == "/v1/traces").count() as u64;
    assert_eq!(traces, account.sent.journeys);
    assert!(account.sent.frames > 0);
}

#[test]
fn one_that_answers_500_is_tried_again_until_the_time_is_up() {
    let (account, _) = played(SECONDS, |_| Manner::Refuse(500));
    assert_eq!(account.sent, Counts::default());
    let said = account.last_failure.unwrap();
    assert_eq!(said, "the receiver answers 500: not now");
}

#[test]
fn what_will_never_be_taken_is_not_tried_again() {
    let (account, receiver) = played(SECONDS, |number| match number {
        0..6 => Manner::Refuse(400),
        _ => Manner::Take(Vec::new()),
    });
    // Metrics and traces take turns.
    assert_eq!(account.dropped, Counts { frames: 3, points: 3 * POINTS, journeys: 3 });
    assert_eq!(receiver.taken().len() as u64, 2 * (SECONDS - 3));
    assert_eq!(account.last_failure.unwrap(), "the receiver answers 400: not now");
}

#[test]
fn one_that_breaks_in_the_middle_is_written_off() {
    let (account, receiver) = played(SECONDS, |_| Manner::Break);
    assert_eq!(account.sent, Counts::default());
    assert_eq!(account.dropped, all(true));
    assert!(receiver.taken().is_empty());
}

#[test]
fn one_that_is_slow_does_not_keep_another_from_its_frames() {
    let slow = Receiver::start(|_| Manner::Stall);
    let quick = Receiver::start(|_| Manner::Take(Vec::new()));
    let target = |receiver: &Receiver| format!("otlp=http://127.0.0.1:{}", receiver.port);
    let mut played = Played::to(&[target(&slow), target(&quick)]);
    for second in 0..SECONDS {
        played.second(second + 1 == SECONDS);
    }
    let accounts = played.end_within(3 * SECOND_NS);
    assert_eq!(accounts[0].sent, Counts::default());
    assert_eq!(accounts[1].sent, all(true));
    assert_eq!(quick.taken().len() as u64, 2 * SECONDS);
}
