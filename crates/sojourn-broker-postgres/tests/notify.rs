//! Notifications.

use std::time::Duration;

use sojourn_broker::Tap;

use crate::support::{Database, Kept, notify, poll_for};

#[test]
fn what_is_notified_after_opening_comes_as_it_was_sent() {
    let database = Database::new();
    let mut session = database.session();
    let mut tap = sojourn_broker_postgres::PostgresTap::new(&database.channel(notify(&[
        "orders",
        "Odd \"name\"; --",
        "orders",
    ])))
    .unwrap();
    session.run("SELECT pg_notify('orders', 'too early')");
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains("channels orders Odd"), "{}", info.listens_to);
    let big = "x".repeat(7_999);
    session.run("SELECT pg_notify('orders', 'first')");
    session.run("SELECT pg_notify('Odd \"name\"; --', '{\"é\": 1}')");
    session.run("SELECT pg_notify('other', 'not ours')");
    session.run("SELECT pg_notify('orders', '')");
    session.run(&format!("SELECT pg_notify('orders', '{big}')"));
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 4);
    assert_eq!(kept.texts(), ["first", "{\"é\": 1}", "", &big]);
    let topics: Vec<_> = kept.0.iter().map(|seen| seen.topic.as_str()).collect();
    assert_eq!(topics, ["orders", "Odd \"name\"; --", "orders", "orders"]);
    assert!(kept.0.iter().all(|seen| seen.key.is_none() && seen.position.is_none()));
    assert!(kept.0.is_sorted_by_key(|seen| seen.stamp_ns));
}

#[test]
fn the_watermark_follows_while_nothing_comes() {
    let database = Database::new();
    let mut tap = database.tap(notify(&["quiet"]));
    let opened_ns = tap.watermark_ns();
    let mut kept = Kept::default();
    crate::support::poll_past(&mut tap, &mut kept, opened_ns + 3_000_000_000);
    assert!(kept.0.is_empty() && tap.take_gaps().is_empty());
    // A poll returns when its time is over, or before.
    tap.poll(Duration::ZERO, &mut kept).unwrap();
}

#[test]
fn the_systems_own_listeners_get_what_they_would_get_without_a_tap() {
    let database = Database::new();
    let (mut own, mut sender) = (database.session(), database.session());
    own.run("LISTEN jobs");
    let mut tap = database.tap(notify(&["jobs"]));
    for number in 0..20 {
        sender.run(&format!("SELECT pg_notify('jobs', '{number}')"));
    }
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 20);
    // psql prints what it was notified of after its next statement.
    let told = own.run("SELECT 1");
    assert_eq!(told.matches("Asynchronous notification \"jobs\"").count(), 20, "{told}");
    let listeners = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sojourn' \
                     AND datname = current_database() AND state <> 'idle'";
    assert_eq!(sender.run(listeners), "0");
}
