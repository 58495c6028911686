//! Publishing, and its outcomes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sojourn_broker::{Outcome, Publisher, PublisherSettings};
use sojourn_broker_postgres::PostgresPublisher;
use sojourn_clock::now_ns;
use sojourn_plan::{PostgresChannel, PostgresSource};
use sojourn_services::{CutProxy, Postgres, Service};

use crate::support::{Database, Kept, notify, poll_for, polled, table, wait_until};

fn publisher(channel: &PostgresChannel, queue_max: usize) -> (PostgresPublisher, Arc<AtomicUsize>) {
    let woken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&woken);
    let wake = Arc::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let settings = PublisherSettings { queue_max, wake, ..PublisherSettings::default() };
    (PostgresPublisher::new(channel, settings).unwrap(), woken)
}

/// Waits until so many messages have an outcome.
#[track_caller]
fn outcomes(publisher: &mut PostgresPublisher, count: usize) -> BTreeMap<u64, Option<String>> {
    let mut polled: Vec<Outcome> = Vec::new();
    wait_until("an outcome is missing", || {
        publisher.poll(&mut polled);
        polled.len() >= count
    });
    let by_token: BTreeMap<_, _> =
        polled.iter().map(|outcome| (outcome.token, outcome.error.clone())).collect();
    assert_eq!(by_token.len(), polled.len(), "one outcome each");
    by_token
}

const TABLE: &str = "CREATE TABLE \"Out;box\" (id bigserial PRIMARY KEY, name text NOT NULL \
                     DEFAULT 'none', n numeric(30,2) UNIQUE, doc jsonb, at timestamptz DEFAULT now(), \
                     k text, h jsonb)";

#[test]
fn rows_are_inserted_with_the_fields_they_have_and_the_others_defaults() {
    let database = Database::new();
    database.run(TABLE);
    let mut source = polled("Out;box");
    (source.key, source.headers) = (Some("k".to_owned()), Some("h".to_owned()));
    let channel = database.channel(PostgresSource::Table(source));
    let (mut publisher, woken) = publisher(&channel, 100);
    let mut send = |token, key: Option<&[u8]>, headers: &[(&str, &[u8])], payload: &str| {
        publisher.try_publish(token, "Out;box", key, headers, payload.as_bytes()).unwrap();
    };
    let began_ns = now_ns();
    send(1, None, &[], r#"{"name": "é\"'; DROP TABLE x; --", "n": 1234567890123456789012345.67}"#);
    send(2, Some(b"key"), &[("type", b"paid"), ("sojourn-run", b"r")], r#"{"doc": {"a": [1]}}"#);
    send(3, None, &[], "{}");
    send(4, None, &[], r#"{"n": 1234567890123456789012345.67}"#);
    send(5, None, &[], r#"{"nme": "x"}"#);
    send(6, None, &[], r#"{"name": null}"#);
    send(7, None, &[], "[]");
    send(8, None, &[], r#"{"n": "many"}"#);
    send(9, None, &[], r#"{"name\" ) SELECT 1; --": 1}"#);
    publisher.try_publish(10, "absent", None, &[], b"{\"a\": 1}").unwrap();
    let mut polled = Vec::new();
    wait_until("an outcome is missing", || {
        publisher.poll(&mut polled);
        polled.len() == 10
    });
    assert!(polled.iter().all(|outcome| (began_ns..now_ns()).contains(&outcome.acked_ns)));
    assert!(woken.load(Ordering::Relaxed) > 0);
    let errors: BTreeMap<_, _> =
        polled.iter().map(|outcome| (outcome.token, outcome.error.as_deref())).collect();
    let expected = [
        (1, None),
        (2, None),
        (3, None),
        (4, Some("unique violation (23505)")),
        (5, Some("undefined column (42703)")),
        (6, Some("not null violation (23502)")),
        (7, Some("the payload is not a JSON object, as a row must be")),
        (8, Some("data exception (22P02)")),
        (9, Some("undefined column (42703)")),
        (10, Some("undefined table (42P01)")),
    ];
    assert_eq!(errors, BTreeMap::from(expected));
    let rows =
        database.run("SELECT name, n, doc, at IS NOT NULL, k, h FROM \"Out;box\" ORDER BY id");
    assert_eq!(
        rows.lines().collect::<Vec<_>>(),
        [
            "é\"'; DROP TABLE x; --|1234567890123456789012345.67||t||",
            "none||{\"a\": [1]}|t|key|{\"type\": \"paid\", \"sojourn-run\": \"r\"}",
            "none|||t||",
        ]
    );
}

#[test]
fn an_outcome_means_committed_and_order_is_kept() {
    let database = Database::new();
    database.run("CREATE TABLE t (id bigserial PRIMARY KEY, n int)");
    let channel = database.channel(table("t"));
    let mut tap = database.tap(table("t"));
    let (mut publisher, _) = publisher(&channel, 10_000);
    for token in 0..2_000 {
        let row = format!("{{\"n\": {token}}}");
        publisher.try_publish(token, "t", None, &[], row.as_bytes()).unwrap();
    }
    let told = outcomes(&mut publisher, 2_000);
    assert!(told.values().all(Option::is_none));
    assert_eq!(database.run("SELECT count(*) FROM t"), "2000");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 2_000);
    let numbers: Vec<_> = kept.0.iter().map(|seen| seen.json()["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
}

#[test]
fn a_violation_that_shows_at_the_commit_is_an_error() {
    let database = Database::new();
    database.run(
        "CREATE TABLE p (id int PRIMARY KEY); \
         CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    let (mut publisher, _) = publisher(&database.channel(table("c")), 10);
    for (token, row) in [(1, &br#"{"id": 1, "p": 7}"#[..]), (2, br#"{"id": 2}"#)] {
        publisher.try_publish(token, "c", None, &[], row).unwrap();
    }
    let told = outcomes(&mut publisher, 2);
    assert_eq!(told[&1].as_deref(), Some("foreign key violation (23503)"));
    assert_eq!(told[&2], None);
    assert_eq!(database.run("SELECT id FROM c"), "2");
}

#[test]
fn a_table_may_change_while_it_is_published_to() {
    let database = Database::new();
    database.run("CREATE TABLE t (id bigserial PRIMARY KEY, a int)");
    let (mut publisher, _) = publisher(&database.channel(table("t")), 10);
    for (token, change, expected) in [
        (1, "", None),
        (2, "", None),
        (3, "", None),
        (4, "ALTER TABLE t DROP COLUMN a", Some("undefined column (42703)")),
        (5, "", Some("undefined column (42703)")),
        (6, "ALTER TABLE t ADD COLUMN a text", None),
        (7, "", None),
        (8, "", None),
    ] {
        database.run(change);
        publisher.try_publish(token, "t", None, &[], b"{\"a\": 1}").unwrap();
        let told = outcomes(&mut publisher, 1);
        assert_eq!(told[&token].as_deref(), expected, "{token} {change}");
    }
    assert_eq!(database.run("SELECT count(*) FROM t"), "6");
}

#[test]
fn notifications_are_sent() {
    let database = Database::new();
    let mut tap = database.tap(notify(&["a", "b'; --"]));
    let (mut publisher, _) = publisher(&database.channel(notify(&["a"])), 10);
    let big = vec![b'x'; 8_001];
    for (token, topic, payload) in
        [(1, "a", "one".as_bytes()), (2, "b'; --", b"two"), (3, "a", b""), (4, "a", &big)]
    {
        publisher.try_publish(token, topic, None, &[("sojourn-run", b"r")], payload).unwrap();
    }
    let told = outcomes(&mut publisher, 4);
    assert!((1..=3).all(|token| told[&token].is_none()), "{told:?}");
    assert_eq!(told[&4].as_deref(), Some("data exception (22023)"));
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 3);
    assert_eq!(kept.texts(), ["one", "two", ""]);
}

#[test]
fn a_full_queue_refuses_and_a_lost_connection_is_an_outcome() {
    let mut server = Postgres::start().unwrap();
    let database = Database::on(server.port());
    database.run("CREATE TABLE t (id bigserial PRIMARY KEY, n int)");
    let proxy = CutProxy::start(([127, 0, 0, 1], server.port()).into()).unwrap();
    let mut channel = database.channel(table("t"));
    channel.server = database.server_through(proxy.port());
    let (mut publisher, _) = publisher(&channel, 3);
    publisher.try_publish(1, "t", None, &[], b"{\"n\": 1}").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[&1], None);
    let mut lock = database.session();
    lock.run("BEGIN; LOCK TABLE t");
    for token in 2..5 {
        publisher.try_publish(token, "t", None, &[], b"{\"n\": 1}").unwrap();
    }
    let full = publisher.try_publish(5, "t", None, &[], b"{}").unwrap_err();
    assert_eq!(full, "3 messages wait for the server");
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    wait_until("nobody waits for the lock", || database.run(waiting) == "1");
    assert_eq!(proxy.cut(), 1);
    let told = outcomes(&mut publisher, 3);
    let lost = told.values().flatten().filter(|why| *why == "connection lost before the answer");
    assert_eq!(lost.count(), 3);
    lock.run("ROLLBACK");
    // Not sent again: whether the server still did them is its affair.
    publisher.try_publish(6, "t", None, &[], b"{\"n\": 6}").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[&6], None);
    server.kill();
    publisher.try_publish(7, "t", None, &[], b"{\"n\": 7}").unwrap();
    assert!(outcomes(&mut publisher, 1)[&7].is_some());
    server.restart().unwrap();
    wait_until("the publisher does not come back", || {
        publisher.try_publish(8, "t", None, &[], b"{\"n\": 8}").unwrap();
        outcomes(&mut publisher, 1)[&8].is_none()
    });
    assert_eq!(database.run("SELECT count(*) FROM t WHERE n >= 6"), "2");
}
