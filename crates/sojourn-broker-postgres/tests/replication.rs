//! A publication's changes.

use serde_json::json;
use sojourn_broker::Tap;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::support::{Database, Kept, poll_for, poll_past, publication, wait_until};

#[test]
fn every_change_comes_in_the_order_of_commits() {
    let database = Database::new();
    let mut session = database.session();
    session.run(
        "CREATE SCHEMA s; CREATE TABLE orders (id int PRIMARY KEY, name text, n numeric, ok bool, \
         doc jsonb, at timestamptz); CREATE TABLE s.t (id int PRIMARY KEY); \
         CREATE TABLE other (id int); CREATE PUBLICATION \"Odd pub\" FOR TABLE orders, s.t; \
         INSERT INTO orders (id) VALUES (0)",
    );
    let mut tap = database.tap(publication("Odd pub"));
    let (mut first, mut second) = (database.session(), database.session());
    first.run("BEGIN; INSERT INTO orders VALUES (1, E'a\"\\n', 1.50, true, '{\"k\": [1]}', NULL)");
    second.run("BEGIN; INSERT INTO orders (id, name) VALUES (2, 'é'); INSERT INTO s.t VALUES (9)");
    second.run("INSERT INTO other VALUES (1); COMMIT");
    first.run("UPDATE orders SET id = 3 WHERE id = 1; COMMIT");
    session.run("DELETE FROM orders WHERE id = 3");
    session.run("BEGIN; INSERT INTO orders (id) VALUES (77); ROLLBACK");
    session.run("TRUNCATE orders, s.t");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 7);
    poll_past(&mut tap, &mut kept, now_ns());
    let nothing = json!(null);
    let row = |id: i64| json!({"id": id, "name": "a\"\n", "n": 1.5, "ok": true, "doc": {"k": [1]}, "at": nothing});
    let second_row = json!({
        "id": 2, "name": "é", "n": nothing, "ok": nothing, "doc": nothing, "at": nothing,
    });
    let got: Vec<_> = kept.0.iter().map(|seen| seen.json()).collect();
    assert_eq!(
        got,
        [
            json!({"table": "orders", "op": "insert", "row": second_row}),
            json!({"table": "s.t", "op": "insert", "row": {"id": 9}}),
            json!({"table": "orders", "op": "insert", "row": row(1)}),
            json!({"table": "orders", "op": "update", "old": {"id": 1}, "row": row(3)}),
            json!({"table": "orders", "op": "delete", "row": {"id": 3}}),
            json!({"table": "orders", "op": "truncate"}),
            json!({"table": "s.t", "op": "truncate"}),
        ]
    );
    assert_eq!(kept.0[2].text().matches("\"n\":1.50").count(), 1, "numbers keep their digits");
    assert_eq!(kept.0[1].topic, "s.t");
    let offsets: Vec<u64> = kept.0.iter().map(|seen| seen.position.unwrap().offset).collect();
    assert!(offsets.is_sorted_by(|left, right| left < right), "{offsets:?}");
}

#[test]
fn the_slot_keeps_no_log_back_and_goes_with_its_connection() {
    let database = Database::new();
    let mut session = database.session();
    session.run("CREATE TABLE t (id serial PRIMARY KEY, x text); CREATE PUBLICATION p FOR TABLE t");
    session.run("CREATE TABLE silent (x text)");
    let mut tap = database.tap(publication("p"));
    let slots = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()";
    assert_eq!(session.run(slots), "1");
    // Log of a table that nobody listens to must not be kept either.
    session
        .run("INSERT INTO silent SELECT repeat(md5(i::text), 30) FROM generate_series(1, 5000) i");
    session
        .run("INSERT INTO t (x) SELECT repeat(md5(i::text), 30) FROM generate_series(1, 2000) i");
    let target = session.run("SELECT pg_current_wal_lsn()");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 2000);
    assert_eq!(kept.ids(), (1..=2000).collect::<Vec<_>>());
    let confirmed = format!(
        "SELECT bool_and(confirmed_flush_lsn >= '{target}') FROM pg_replication_slots \
         WHERE database = current_database()"
    );
    let deadline_ns = now_ns() + 20 * SECOND_NS;
    while session.run(&confirmed) != "t" {
        assert!(now_ns() < deadline_ns, "the slot holds the log back");
        tap.poll(std::time::Duration::from_millis(50), &mut kept).unwrap();
    }
    drop(tap);
    wait_until("the slot is still there", || session.run(slots) == "0");
}

#[test]
fn a_great_transaction_comes_whole() {
    let database = Database::new();
    let mut session = database.session();
    session.run("CREATE TABLE t (id serial PRIMARY KEY, x text); CREATE PUBLICATION p FOR TABLE t");
    let mut tap = database.tap(publication("p"));
    session.run("INSERT INTO t (x) SELECT 'x' FROM generate_series(1, 30000)");
    session.run("INSERT INTO t (x) SELECT repeat('y', 3000000)");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 30_001);
    assert_eq!(kept.ids(), (1..=30_001).collect::<Vec<_>>());
    assert_eq!(kept.0[30_000].json()["row"]["x"].as_str().unwrap().len(), 3_000_000);
}
