//! A polled table.

use std::time::Duration;

use sojourn_broker::{Position, PositionRange, Span, Tap};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::PostgresSource;

use crate::support::{
    Database, Kept, PATIENCE_NS, Session, poll_for, poll_past, poll_until, polled, table,
    wait_until,
};

const OUTBOX: &str = "CREATE TABLE outbox (id bigserial PRIMARY KEY, n int, k text, h jsonb)";

#[test]
fn new_rows_come_as_json_with_key_headers_and_position() {
    let database = Database::new();
    let mut session = database.session();
    session.run(OUTBOX);
    session.run("INSERT INTO outbox (n) SELECT generate_series(1, 5)");
    let mut source = polled("outbox");
    (source.key, source.headers) = (Some("k".to_owned()), Some("h".to_owned()));
    let mut tap =
        sojourn_broker_postgres::PostgresTap::new(&database.channel(PostgresSource::Table(source)))
            .unwrap();
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains("table outbox by id, asked every 5 ms"), "{info:?}");
    session.run("INSERT INTO outbox (n, k, h) VALUES (6, 'key', '{\"type\": \"paid\", \"v\": 2}')");
    session.run("INSERT INTO outbox (n) VALUES (7)");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 2);
    assert_eq!(kept.ids(), [6, 7]);
    let first = &kept.0[0];
    assert_eq!(first.topic, "outbox");
    assert_eq!(first.key.as_deref(), Some(b"key".as_slice()));
    let headers = [("type".to_owned(), b"paid".to_vec()), ("v".to_owned(), b"2".to_vec())];
    // jsonb has an order of its own: by length, then by letter.
    assert_eq!(first.headers.len(), 2);
    assert!(headers.iter().all(|header| first.headers.contains(header)), "{:?}", first.headers);
    assert_eq!(first.json()["n"], 6);
    assert_eq!(first.position, Some(Position { partition: 0, offset: 6 }));
    assert!(kept.0[1].key.is_none() && kept.0[1].headers.is_empty());
}

#[test]
fn rows_that_commit_out_of_order_come_once_each_and_as_soon_as_they_can_be_seen() {
    let database = Database::new();
    database.run(OUTBOX);
    let mut before = database.session();
    before.run("BEGIN; INSERT INTO outbox (n) VALUES (0)");
    let mut tap = database.tap(table("outbox"));
    let (mut slow, mut nested, mut fast, mut undone) =
        (database.session(), database.session(), database.session(), database.session());
    slow.run("BEGIN; INSERT INTO outbox (n) VALUES (1), (2)");
    nested.run("BEGIN; SAVEPOINT s; INSERT INTO outbox (n) VALUES (3); RELEASE s");
    undone.run("BEGIN; INSERT INTO outbox (n) VALUES (4)");
    fast.run("INSERT INTO outbox (n) VALUES (5)");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 1);
    assert_eq!(kept.ids(), [6]);
    nested.run("COMMIT");
    poll_for(&mut tap, &mut kept, 2);
    // An update makes a new version of a row, not a new row.
    fast.run("UPDATE outbox SET n = n + 100");
    undone.run("ROLLBACK");
    fast.run("INSERT INTO outbox (n) VALUES (6)");
    poll_for(&mut tap, &mut kept, 3);
    slow.run("COMMIT");
    poll_for(&mut tap, &mut kept, 5);
    before.run("COMMIT");
    poll_for(&mut tap, &mut kept, 6);
    poll_past(&mut tap, &mut kept, now_ns());
    assert_eq!(kept.ids(), [6, 4, 7, 2, 3, 1]);
    // Late ones have no position: positions only grow.
    let positions: Vec<_> =
        kept.0.iter().map(|seen| seen.position.map(|position| position.offset)).collect();
    assert_eq!(positions, [Some(6), None, Some(7), None, None, None]);
}

#[test]
fn a_transaction_may_run_much_longer_than_gaps_are_awaited() {
    let database = Database::new();
    database.run(OUTBOX);
    let mut tap = database.tap(table("outbox"));
    let (mut slow, mut fast) = (database.session(), database.session());
    slow.run("BEGIN; INSERT INTO outbox (n) VALUES (1)");
    fast.run("INSERT INTO outbox (n) VALUES (2)");
    let mut kept = Kept::default();
    // Gaps are awaited for half a second at the least.
    poll_past(&mut tap, &mut kept, now_ns() + 3 * SECOND_NS);
    assert_eq!(kept.ids(), [2]);
    slow.run("COMMIT");
    poll_for(&mut tap, &mut kept, 2);
    assert_eq!(kept.ids(), [2, 1]);
}

#[test]
fn many_writers_at_once_are_accounted_for_exactly() {
    const WRITERS: usize = 4;
    const TRANSACTIONS: usize = 60;
    let database = Database::new();
    database.run(OUTBOX);
    let mut tap = database.tap(table("outbox"));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let mut session = database.session();
            std::thread::spawn(move || {
                for number in 0..TRANSACTIONS {
                    // Some roll back, some are open for a while, of one row or of several.
                    let end = if number % 5 == 4 { "ROLLBACK" } else { "COMMIT" };
                    let rows = 1 + (number * 7 + writer) % 4;
                    let pause = (number * 13 + writer * 5) % 9;
                    session.run(&format!(
                        "BEGIN; INSERT INTO outbox (n) SELECT generate_series(1, {rows}); \
                         SELECT pg_sleep({pause} / 1000.0); \
                         INSERT INTO outbox (n) SELECT generate_series(1, {rows}); {end}"
                    ));
                }
            })
        })
        .collect();
    let mut kept = Kept::default();
    poll_until(&mut tap, &mut kept, |_| writers.iter().all(|writer| writer.is_finished()));
    for writer in writers {
        writer.join().unwrap();
    }
    let truth: Vec<i64> = database
        .run("SELECT id FROM outbox ORDER BY id")
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    poll_for(&mut tap, &mut kept, truth.len());
    poll_past(&mut tap, &mut kept, now_ns() + SECOND_NS);
    let mut got = kept.ids();
    let in_order: Vec<u64> = kept.0.iter().filter_map(|seen| Some(seen.position?.offset)).collect();
    assert!(in_order.is_sorted());
    assert!(in_order.len() < got.len(), "none committed out of order: nothing was tested");
    got.sort_unstable();
    assert_eq!(got, truth);
}

#[test]
fn a_great_many_rows_and_great_ones_come_in_order() {
    let database = Database::new();
    let mut session = database.session();
    session.run("CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY UNIQUE, t text)");
    let mut tap = database.tap(table("log"));
    session.run("INSERT INTO log (t) SELECT 'x' FROM generate_series(1, 5000)");
    session.run("INSERT INTO log (t) SELECT repeat('y', 3000000)");
    session.run("INSERT INTO log (t) VALUES (NULL)");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 5002);
    assert_eq!(kept.ids(), (1..=5002).collect::<Vec<_>>());
    assert_eq!(kept.0[5000].json()["t"].as_str().unwrap().len(), 3_000_000);
}

#[test]
fn rows_of_a_relay_that_deletes_are_left_to_it() {
    let database = Database::new();
    let mut session = database.session();
    session.run(OUTBOX);
    let mut tap = database.tap(table("public.outbox"));
    session.run("INSERT INTO outbox (n) SELECT generate_series(1, 20)");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 20);
    let taken = session.run(
        "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id \
                             FOR UPDATE SKIP LOCKED LIMIT 15) RETURNING id",
    );
    assert_eq!(taken.lines().count(), 15);
    session.run("INSERT INTO outbox (n) VALUES (21)");
    poll_for(&mut tap, &mut kept, 21);
    assert_eq!(kept.ids(), (1..=21).collect::<Vec<_>>());
    let written = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables";
    // The statistics are told of when a transaction ends, some time later.
    wait_until("21 rows came and 15 went", || session.run(written) == "36");
    // Nothing is held open between two looks.
    wait_until("the tap holds a transaction open", || {
        session.run(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sojourn' \
             AND state = 'idle in transaction' AND datname = current_database()",
        ) == "0"
    });
}

#[test]
fn a_stretch_can_be_read_again() {
    let database = Database::new();
    let mut session = database.session();
    session.run(OUTBOX);
    session.run("INSERT INTO outbox (n) SELECT generate_series(1, 2500)");
    let mut tap = database.tap(table("outbox"));
    let span = Span::Positions(vec![PositionRange { partition: 0, from: 3, to: 2400 }]);
    let mut again = Kept::default();
    let count = tap.replay(&span, Duration::from_secs(20), &mut again).unwrap();
    assert_eq!(count, 2397);
    assert_eq!(again.ids(), (3..2400).collect::<Vec<_>>());
    session.run("INSERT INTO outbox (n) VALUES (0)");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 1);
    assert_eq!(kept.ids(), [2501]);
    let dates = Span::Time { from_unix_ms: 0, to_unix_ms: 1 };
    let error = tap.replay(&dates, Duration::from_secs(1), &mut again).unwrap_err();
    assert!(error.message.contains("does not say when"), "{error}");
}

/// A table that was small when the tap opened, as an outbox is, may grow; and the server remembers
/// how it once decided to read it.
#[test]
fn a_look_reads_the_new_rows_alone_however_the_table_grows() {
    let database = Database::new();
    let mut session = database.session();
    // The server would look at the table anew once it had counted its rows.
    session.run(&format!("{OUTBOX} WITH (autovacuum_enabled = off)"));
    let mut tap = database.tap(table("outbox"));
    let mut kept = Kept::default();
    let rows = 20_000;
    for _ in 0..20 {
        session.run(&format!("INSERT INTO outbox (n) SELECT generate_series(1, {})", rows / 20));
        let wanted = kept.0.len() + rows / 20;
        poll_for(&mut tap, &mut kept, wanted);
    }
    let read = |session: &mut Session| {
        let counted = "SELECT coalesce(seq_tup_read, 0), coalesce(idx_tup_fetch, 0) \
                       FROM pg_stat_user_tables WHERE relname = 'outbox'";
        let counted = session.run(counted);
        let (all, by_index) = counted.split_once('|').unwrap();
        (all.parse::<usize>().unwrap(), by_index.parse::<usize>().unwrap())
    };
    // What a connection has read is counted some time later, at the end of a statement.
    let deadline_ns = now_ns() + PATIENCE_NS;
    while read(&mut session).1 < rows {
        let (all, by_index) = read(&mut session);
        assert!(now_ns() < deadline_ns, "{by_index} rows by index, {all} without");
        assert!(all < rows, "{all} rows were read without the index");
        tap.poll(Duration::from_millis(20), &mut kept).unwrap();
    }
    let (all, by_index) = read(&mut session);
    assert!(all < rows && by_index < 2 * rows, "{by_index} rows by index, {all} without");
}
