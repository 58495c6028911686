//! What waits, compared with what was put there.

use std::time::Duration;

use sojourn_broker::{Backlog, Connect, Figure, Reading};
use sojourn_broker_postgres::{Postgres, PostgresBacklog};
use sojourn_plan::{Outbox, PostgresChannel};

use crate::support::{Database, notify, plan_channel};

fn channel(database: &Database, outbox: Outbox) -> PostgresChannel {
    PostgresChannel { outbox: Some(outbox), ..database.channel(notify(&["c"])) }
}

fn read(backlog: &mut dyn Backlog) -> Vec<Reading> {
    let mut readings = Vec::new();
    backlog.read(Duration::from_secs(20), &mut readings).unwrap();
    readings
}

#[test]
fn the_outbox_is_counted_with_its_oldest_age() {
    let database = Database::new();
    let mut session = database.session();
    session.run(
        "CREATE SCHEMA s; CREATE TABLE s.outbox (id serial PRIMARY KEY, \
         sent timestamptz, written timestamptz NOT NULL)",
    );
    let outbox = Outbox {
        table: "s.outbox".to_owned(),
        waiting: Some("sent IS NULL -- not yet".to_owned()),
        written: Some("written".to_owned()),
    };
    let planned = plan_channel(channel(&database, outbox));
    let mut backlog = Postgres.backlog(&planned).unwrap().unwrap();
    let of = |figure, value| Reading { of: "s.outbox".to_owned(), figure, value };
    let empty = [of(Figure::Waiting, 0.0), of(Figure::OldestAgeMs, 0.0)];
    assert_eq!(read(backlog.as_mut()), empty);
    session.run(
        "INSERT INTO s.outbox (written, sent) SELECT now() - i * interval '1 minute', \
         CASE WHEN i > 7 THEN now() END FROM generate_series(1, 10) i",
    );
    let readings = read(backlog.as_mut());
    assert_eq!(readings[0], of(Figure::Waiting, 7.0));
    // The oldest that waits is seven minutes old, and as much older as the test is slow.
    assert!((420_000.0..480_000.0).contains(&readings[1].value), "{readings:?}");
    let state = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sojourn' \
                 AND datname = current_database() AND state LIKE 'idle in%'";
    assert_eq!(session.run(state), "0");
}

#[test]
fn a_slots_log_is_counted_in_bytes() {
    let database = Database::new();
    let mut session = database.session();
    session.run("CREATE TABLE t (x text)");
    session.run("SELECT pg_create_logical_replication_slot('relay_of_test', 'test_decoding')");
    let channel = database.channel(notify(&["c"]));
    let mut backlog = PostgresBacklog::new(&channel, &["relay_of_test".to_owned()]).unwrap();
    let before = read(&mut backlog)[0].clone();
    assert_eq!((before.of.as_str(), before.figure), ("relay_of_test", Figure::WaitingBytes));
    session.run("INSERT INTO t SELECT repeat(md5(i::text), 10) FROM generate_series(1, 5000) i");
    let after = read(&mut backlog)[0].value;
    assert!(after - before.value > 5_000.0 * 320.0, "{before:?} {after}");
    session.run("SELECT count(*) FROM pg_logical_slot_get_changes('relay_of_test', NULL, NULL)");
    let confirmed = read(&mut backlog)[0].value;
    assert!(confirmed < after / 2.0, "{after} {confirmed}");
    session.run("SELECT pg_drop_replication_slot('relay_of_test')");
    session.run("SELECT pg_create_logical_replication_slot('relay_2_of_test', 'test_decoding')");
    let error = backlog.read(Duration::from_secs(20), &mut Vec::new()).unwrap_err();
    assert!(error.message.contains("no replication slot `relay_of_test`"), "{error}");
    assert!(error.hint.unwrap().contains("`relay_2_of_test`"));
    session.run("SELECT pg_drop_replication_slot('relay_2_of_test')");
}

#[test]
fn a_missing_table_is_named_with_one_like_it_and_nothing_can_be_written() {
    let database = Database::new();
    let mut session = database.session();
    session.run("CREATE TABLE outbox (id serial PRIMARY KEY); INSERT INTO outbox DEFAULT VALUES");
    let with = |table: &str, waiting: Option<&str>| {
        let waiting = waiting.map(str::to_owned);
        let outbox = Outbox { table: table.to_owned(), waiting, written: None };
        PostgresBacklog::new(&channel(&database, outbox), &[]).unwrap()
    };
    let error = |mut backlog: PostgresBacklog| {
        backlog.read(Duration::from_secs(20), &mut Vec::new()).unwrap_err()
    };
    let missing = error(with("outbix", None));
    assert!(missing.message.contains("there is no table `outbix`"), "{missing}");
    assert!(missing.hint.unwrap().contains("`outbox`"));
    let writes = "nextval('outbox_id_seq') > 0";
    assert!(error(with("outbox", Some(writes))).message.contains("read-only"));
    // A condition that takes for ever is ended by the time that the asker has.
    let mut slow = with("outbox", Some("pg_sleep(600) IS NULL"));
    let ended = slow.read(Duration::from_secs(2), &mut Vec::new());
    assert!(ended.is_err());
    assert_eq!(read(&mut with("outbox", None))[0].value, 1.0);
}
