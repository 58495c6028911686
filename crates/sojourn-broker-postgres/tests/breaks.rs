//! Connections cut, stalled and slow; a server killed and started again.

use std::time::Duration;

use sojourn_broker::{Recovery, Tap};
use sojourn_broker_postgres::PostgresTap;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::PostgresSource;
use sojourn_services::{CutProxy, Postgres, Service};

use crate::support::{
    Database, Kept, notify, poll_for, poll_for_gap, poll_past, poll_until, publication, shared,
    table,
};

const TABLES: &str = "CREATE TABLE t (id bigserial PRIMARY KEY, n int); \
                      CREATE PUBLICATION p FOR TABLE t";
const INSERT: &str = "INSERT INTO t (n) VALUES (0)";
const NOTIFY: &str = "SELECT pg_notify('c', '{\"id\": 0}')";

/// The three ways to listen, what makes a message, and whether the past is kept.
fn ways() -> [(PostgresSource, &'static str, bool); 3] {
    [(notify(&["c"]), NOTIFY, false), (table("t"), INSERT, true), (publication("p"), INSERT, false)]
}

fn open_through(proxy: &CutProxy, database: &Database, source: PostgresSource) -> PostgresTap {
    let mut channel = database.channel(source);
    channel.server = database.server_through(proxy.port());
    let mut tap = PostgresTap::new(&channel).unwrap();
    tap.open().unwrap();
    tap
}

fn proxy() -> CutProxy {
    CutProxy::start(([127, 0, 0, 1], shared().port()).into()).unwrap()
}

#[test]
fn a_cut_connection_is_made_again_and_the_gap_told_of() {
    for (source, message, kept_by_server) in ways() {
        let database = Database::new();
        let mut session = database.session();
        session.run(TABLES);
        let proxy = proxy();
        let mut tap = open_through(&proxy, &database, source.clone());
        let mut kept = Kept::default();
        session.run(message);
        poll_for(&mut tap, &mut kept, 1);
        proxy.refuse();
        assert_eq!(proxy.cut(), 1);
        let cut_ns = now_ns();
        session.run(message);
        session.run(message);
        for _ in 0..10 {
            tap.poll(Duration::from_millis(20), &mut kept).unwrap();
            assert!(tap.watermark_ns() <= cut_ns, "{source:?}: time went on without a connection");
        }
        proxy.admit().unwrap();
        let gap = poll_for_gap(&mut tap, &mut kept);
        assert!(gap.from_ns >= cut_ns && gap.to_ns > gap.from_ns, "{gap:?}");
        session.run(message);
        let expected = if kept_by_server {
            assert_eq!(gap.recovery, Recovery::Resumed { messages: 2 });
            4
        } else {
            assert_eq!(gap.recovery, Recovery::Missed);
            2
        };
        poll_for(&mut tap, &mut kept, expected);
        poll_past(&mut tap, &mut kept, now_ns());
        assert_eq!(kept.0.len(), expected, "{source:?}");
        assert!(tap.take_gaps().is_empty());
    }
}

#[test]
fn a_stalled_connection_is_noticed() {
    for (source, message, _) in ways() {
        let database = Database::new();
        let mut session = database.session();
        session.run(TABLES);
        let proxy = proxy();
        let mut tap = open_through(&proxy, &database, source.clone());
        let mut kept = Kept::default();
        poll_past(&mut tap, &mut kept, now_ns());
        proxy.stall();
        session.run(message);
        let stalled_ns = now_ns();
        // Nobody says that the connection is gone; a new one is tried, which stalls too.
        poll_until(&mut tap, &mut kept, |_| proxy.figures().accepted >= 2);
        assert!(kept.0.is_empty());
        // Until the silence was noticed time went on; not by much more than it may last.
        assert!(tap.watermark_ns() < stalled_ns + 10 * SECOND_NS);
        proxy.resume();
        proxy.cut();
        let gap = poll_for_gap(&mut tap, &mut kept);
        assert!(gap.to_ns > stalled_ns && gap.to_ns > gap.from_ns);
        let before = kept.0.len();
        session.run(message);
        poll_for(&mut tap, &mut kept, before + 1);
    }
}

#[test]
fn a_killed_server_loses_no_row_of_a_table() {
    let mut server = Postgres::start().unwrap();
    let database = Database::on(server.port());
    database.run(TABLES);
    let mut rows = database.tap(table("t"));
    let mut changes = database.tap(publication("p"));
    let (mut seen_rows, mut seen_changes) = (Kept::default(), Kept::default());
    database.run("INSERT INTO t (n) SELECT generate_series(1, 300)");
    let mut open = database.session();
    open.run("BEGIN; INSERT INTO t (n) VALUES (0)");
    database.run("INSERT INTO t (n) SELECT generate_series(1, 300)");
    poll_for(&mut rows, &mut seen_rows, 100);
    poll_for(&mut changes, &mut seen_changes, 600);
    server.kill();
    for _ in 0..5 {
        rows.poll(Duration::from_millis(20), &mut seen_rows).unwrap();
        changes.poll(Duration::from_millis(20), &mut seen_changes).unwrap();
    }
    let before = seen_rows.0.len() as u64;
    server.restart().unwrap();
    database.run("INSERT INTO t (n) SELECT generate_series(1, 50)");
    let gap = poll_for_gap(&mut rows, &mut seen_rows);
    let Recovery::Resumed { messages } = gap.recovery else { panic!("{gap:?}") };
    assert_eq!(messages, seen_rows.0.len() as u64 - before);
    let truth = database.run("SELECT id FROM t ORDER BY id");
    let truth: Vec<i64> = truth.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(truth.len(), 650);
    poll_for(&mut rows, &mut seen_rows, 650);
    poll_past(&mut rows, &mut seen_rows, now_ns());
    assert_eq!(seen_rows.ids(), truth);
    let gap = poll_for_gap(&mut changes, &mut seen_changes);
    assert_eq!(gap.recovery, Recovery::Missed);
    database.run(INSERT);
    poll_until(&mut changes, &mut seen_changes, |kept| {
        kept.0.last().is_some_and(|last| last.json()["row"]["n"] == 0)
    });
    let offsets: Vec<u64> =
        seen_changes.0.iter().map(|seen| seen.position.unwrap().offset).collect();
    assert!(offsets.is_sorted_by(|left, right| left < right));
}

#[test]
fn a_reader_that_stops_for_a_while_misses_nothing() {
    for (source, _, _) in ways() {
        let database = Database::new();
        let mut session = database.session();
        session.run(TABLES);
        let mut tap = database.tap(source.clone());
        // More than the buffers of a socket hold.
        let many = match source {
            PostgresSource::Notify(_) => {
                "SELECT pg_notify('c', json_build_object('id', i, 'x', repeat('x', 4000))::text) \
                 FROM generate_series(1, 2500) i"
            }
            _ => "INSERT INTO t (n) SELECT generate_series(1, 200000)",
        };
        session.run(many);
        let count = if matches!(source, PostgresSource::Notify(_)) { 2_500 } else { 200_000 };
        let mut kept = Kept::default();
        poll_for(&mut tap, &mut kept, count);
        assert!(kept.ids().into_iter().eq(1..=count as i64), "{source:?}");
        assert!(tap.take_gaps().is_empty());
    }
}

#[test]
fn a_server_that_does_not_come_back_loses_the_tap() {
    let database = Database::new();
    let proxy = proxy();
    let mut tap = open_through(&proxy, &database, notify(&["c"]));
    let address = proxy.address();
    drop(proxy);
    let deadline_ns = now_ns() + 90 * SECOND_NS;
    let error = loop {
        assert!(now_ns() < deadline_ns, "it never gives up");
        if let Err(error) = tap.poll(Duration::from_millis(500), &mut Kept::default()) {
            break error;
        }
    };
    assert!(error.message.contains(&format!("cannot reach postgres at {address}")), "{error}");
}
