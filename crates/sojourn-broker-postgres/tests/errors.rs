//! What is said when it can't work, and that no password is in it.

use std::path::PathBuf;

use sojourn_broker::{BrokerError, Connect, Registry, Start, Tap};
use sojourn_broker_postgres::{FEATURE, Postgres as Connector, PostgresTap};
use sojourn_plan::{PostgresChannel, PostgresSource, Secret, Tls};
use sojourn_services::{PASSWORD, Postgres, Service, USER, closed_port};

use crate::support::{
    Database, Kept, notify, plan_channel, poll_for, polled, publication, shared, table,
};

#[track_caller]
fn refused(channel: &PostgresChannel, message: &str, hint: &str) {
    let error = match PostgresTap::new(channel) {
        Ok(mut tap) => tap.open().unwrap_err(),
        Err(error) => error,
    };
    check(&error, message, hint);
}

#[track_caller]
fn check(error: &BrokerError, message: &str, hint: &str) {
    assert!(error.message.contains(message), "{error:?} has no {message}");
    assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{error:?} has no {hint}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let database = Database::new();
    let mut channel = database.channel(notify(&["c"]));
    channel.server.user = Some(USER.to_owned());
    channel.server.password = Some(Secret::new("hunter2"));
    let address = format!("127.0.0.1:{}", database.port);
    refused(&channel, &format!("postgres at {address} does not let user `{USER}` in"), "the URL");
    channel.server.password = None;
    refused(&channel, "wrong password", "USER:PASSWORD@");
    channel.server.password = Some(Secret::new(PASSWORD));
    PostgresTap::new(&channel).unwrap().open().unwrap();
    channel.server.user = Some("nobody".to_owned());
    refused(&channel, "pg_hba.conf", "pg_hba.conf");
    channel.server.user = Some("open".to_owned());
    channel.server.path = "absent".to_owned();
    refused(&channel, "database \"absent\" does not exist", "path of the URL");
    channel.server.port = closed_port().unwrap();
    let port = channel.server.port;
    refused(&channel, &format!("cannot reach postgres at 127.0.0.1:{port}"), "running");
}

#[test]
fn tls_is_verified_and_says_what_is_wrong() {
    let database = Database::new();
    let ca = shared().ca_file();
    let mut channel = database.channel(notify(&["c"]));
    channel.server.tls = true;
    channel.server.host = "localhost".to_owned();
    channel.server.user = Some(USER.to_owned());
    channel.server.password = Some(Secret::new(PASSWORD));
    channel.server.trust = Tls { ca: ca.clone(), ..Tls::default() };
    let mut tap = PostgresTap::new(&channel).unwrap();
    tap.open().unwrap();
    let big = "x".repeat(7_000);
    database.run(&format!("SELECT pg_notify('c', '{big}') FROM generate_series(1, 3)"));
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE application_name = 'sojourn' AND datname = current_database()";
    assert_eq!(database.run(encrypted), "t");
    let mut kept = Kept::default();
    poll_for(&mut tap, &mut kept, 1);
    assert_eq!(kept.texts(), [&big]);
    channel.server.trust.name = Some("db.example".to_owned());
    refused(&channel, "TLS:", "tls: { name");
    channel.server.trust = Tls::default();
    refused(&channel, "TLS:", "tls: { ca");
    channel.server.trust.insecure = true;
    PostgresTap::new(&channel).unwrap().open().unwrap();
    channel.server.trust = Tls { ca: Some(PathBuf::from("/absent/ca.pem")), ..Tls::default() };
    refused(&channel, "/absent/ca.pem", "");
}

#[test]
fn a_table_that_can_not_be_followed_is_refused_with_what_to_do() {
    let database = Database::new();
    database.run(
        "CREATE TABLE outbox (id bigserial PRIMARY KEY, created timestamptz UNIQUE, n int, u int); \
         CREATE INDEX ON outbox (n); CREATE SCHEMA s; CREATE TABLE s.orders (id int PRIMARY KEY); \
         CREATE VIEW v AS SELECT id FROM outbox",
    );
    let with = |name: &str, cursor: &str| {
        let mut polled = polled(name);
        polled.cursor = cursor.to_owned();
        database.channel(PostgresSource::Table(polled))
    };
    refused(&with("outbux", "id"), "there is no table `outbux`", "`outbox`");
    refused(&with("orders", "id"), "there is no table `orders`", "`s.orders`");
    refused(&with("outbox", "ids"), "outbox has no column `ids`", "it has `id`");
    refused(&with("outbox", "created"), "type timestamp with time zone", "`publication`");
    refused(&with("outbox", "u"), "no index begins with `u`", "CREATE UNIQUE INDEX");
    refused(&with("outbox", "n"), "`n` is not unique", "CREATE UNIQUE INDEX");
    refused(&with("a.b.c", "id"), "`a.b.c` is not the name of a table", "");
    PostgresTap::new(&with("v", "id")).unwrap().open().unwrap();
    PostgresTap::new(&with("s.orders", "id")).unwrap().open().unwrap();
}

#[test]
fn a_publication_that_can_not_be_read_is_refused_with_what_to_do() {
    let database = Database::new();
    database.run("CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION payments FOR TABLE t");
    let channel = |name: &str| database.channel(publication(name));
    refused(&channel("payment"), "there is no publication `payment`", "`payments`");
    let mut own = Postgres::start().unwrap();
    let main = Database { name: "postgres".to_owned(), port: own.port() };
    main.run(&format!("ALTER ROLE {USER} NOSUPERUSER NOREPLICATION"));
    main.run("CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t");
    let mut weak = main.channel(publication("p"));
    weak.server.user = Some(USER.to_owned());
    weak.server.password = Some(Secret::new(PASSWORD));
    refused(&weak, "postgres at", &format!("ALTER ROLE \"{USER}\" REPLICATION"));
    weak.source = table("t");
    refused(&weak, "permission denied for table t", "GRANT");
    main.run("ALTER SYSTEM SET wal_level = replica");
    own.stop();
    own.restart().unwrap();
    refused(&main.channel(publication("p")), "wal_level is `replica`", "wal_level = logical");
}

#[test]
fn settings_that_can_not_work_are_said_before_connecting() {
    let database = Database::new();
    let long = "x".repeat(64);
    let error = PostgresTap::new(&database.channel(notify(&[&long]))).unwrap_err();
    check(&error, "cuts names off after 63 bytes", "");
    let registry = Registry::new().with(FEATURE, Connector);
    let channel = plan_channel(database.channel(publication("p")));
    let connector = registry.of(&channel).unwrap();
    let error = connector.publisher(&channel, sojourn_broker::PublisherSettings::default());
    check(&error.err().unwrap(), "nothing can be published to a publication", "`table`");
    let error = Connector.consumer(&channel, "group", Start::Latest).err().unwrap();
    check(&error, "no consumer groups", "tap");
    assert!(connector.backlog(&channel).unwrap().is_none());
    let mut tap = connector.tap(&channel).unwrap();
    let error = tap.poll(std::time::Duration::ZERO, &mut Kept::default()).unwrap_err();
    check(&error, "not open", "");
}
