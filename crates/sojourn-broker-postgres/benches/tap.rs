//! What a message costs the tap, over a real PostgreSQL: of notifications, of a polled table, of a
//! publication (beside `pg_recvlogical`). `cargo bench -p sojourn-broker-postgres`;
//! `sojourn-tap-cost` says what the figures are.
//!
//! The messages are in the server before they are read.
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::io::Write;
use std::process::{Command, Stdio};

use sojourn_broker_postgres::Postgres as PostgresConnector;
use sojourn_plan::{
    Connector, Plan, PostgresChannel, PostgresSource, PostgresTable, Selector, Server,
};
use sojourn_services::{Postgres, Service};
use sojourn_tap_cost::{
    Cost, Order, Publisher, Round, Used, When, body, missing, on_path, plan, plan_at,
    publish_if_asked, tool,
};

const MESSAGES: u64 = 100_000;
const EVENT: &str = "json_build_object('type', 'PaymentSettled', 'aggregateId', \
                     'pay:00000000-0000-4000-8000-' || lpad(i::text, 12, '0'), 'amount', i, \
                     'currency', 'GBP', 'occurredAt', '2026-01-01T00:00:00.000Z')";

fn main() {
    publish_if_asked(publish);
    let server = Postgres::start().unwrap();
    run(
        &server.url(),
        "CREATE TABLE t (id bigserial PRIMARY KEY, type text, data json); \
         CREATE PUBLICATION p FOR TABLE t",
    );
    let publishing = |what| {
        let address = format!("{what} {}", server.url());
        Publisher { address, when: When::Before }
    };
    let (notifications, rows) = (publishing("notifications"), publishing("rows"));

    let of_notifications = plan(connector(&server, PostgresSource::Notify(vec!["c".to_owned()])));
    let mut cost = Cost::new("postgres-notify", MESSAGES);
    cost.taps(&PostgresConnector, &of_notifications, &notifications);
    cost.run();

    let table = PostgresTable {
        name: "t".to_owned(),
        cursor: "id".to_owned(),
        every_ns: 1_000_000,
        gaps_ns: 1_000_000_000,
        ..PostgresTable::default()
    };
    let of_table = connector(&server, PostgresSource::Table(table));
    let of_table = plan_at(of_table, body(&["type"]), &["data", "aggregateId"]);
    let mut cost = Cost::new("postgres-table", MESSAGES);
    cost.taps(&PostgresConnector, &of_table, &rows);
    cost.run();

    let of_changes = connector(&server, PostgresSource::Publication("p".to_owned()));
    let event_type: Selector = body(&["row", "type"]);
    let of_changes: Plan = plan_at(of_changes, event_type, &["row", "data", "aggregateId"]);
    let mut cost = Cost::new("postgres-publication", MESSAGES);
    cost.taps(&PostgresConnector, &of_changes, &rows);
    match on_path(&["pg_recvlogical"]) {
        None => missing("postgres", "`pg_recvlogical` is not on PATH (Debian: postgresql-client)"),
        Some(_) => cost.way("pg_recvlogical", |round| receive(&server.url(), &rows, round)),
    }
    cost.run();
}

/// `pg_recvlogical` reading the same publication, from a slot of its own.
fn receive(url: &str, publisher: &Publisher, round: Round) -> Used {
    let command = |words: &[&str]| {
        let mut command = Command::new("pg_recvlogical");
        command.args(["--dbname", url, "--slot", "bench"]).args(words);
        command
    };
    tool(&mut command(&["--create-slot", "--plugin", "pgoutput"]), || ());
    publisher.start(round.messages).finish();
    let end = run(url, "SELECT pg_current_wal_lsn()");
    let used =
        tool(
            command(&["--start", "--no-loop", "--file", "/dev/null", "--endpos", end.trim()])
                .args(["-o", "proto_version=1", "-o", "publication_names=p"]),
            || (),
        );
    tool(&mut command(&["--drop-slot"]), || ());
    used
}

fn publish(order: &Order) {
    let (what, url) = order.address.split_once(' ').unwrap();
    let numbers = format!("generate_series(1, {}) i", order.messages);
    let sql = match what {
        "rows" => format!("INSERT INTO t (type, data) SELECT 'PaymentSettled', {EVENT}"),
        _ => format!("SELECT pg_notify('c', ({EVENT})::text)"),
    };
    run(url, &format!("{sql} FROM {numbers}"));
}

fn connector(server: &Postgres, source: PostgresSource) -> Connector {
    let server = Server {
        host: "127.0.0.1".to_owned(),
        port: server.port(),
        user: Some("open".to_owned()),
        path: "postgres".to_owned(),
        ..Server::default()
    };
    Connector::Postgres(PostgresChannel { server, source, outbox: None })
}

/// What it answers.
fn run(url: &str, sql: &str) -> String {
    let mut psql = Command::new("psql")
        .args([url, "--quiet", "--tuples-only", "--no-align"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(psql.stdin.take().unwrap(), "{sql};").unwrap();
    let output = psql.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
