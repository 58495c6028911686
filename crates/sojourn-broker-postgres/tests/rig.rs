//! A database of one's own on a server that may be killed, spoken to by `psql`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use sojourn_broker::Connect;
use sojourn_broker_postgres::Postgres as Connector;
use sojourn_conformance::{Abilities, Message, Rig, Seen, System, Wrong, dead_address};
use sojourn_plan::{Channel, Outbox, PostgresChannel, PostgresSource, Secret};
use sojourn_services::{Postgres, Service, USER};

use crate::support::{Database, Session, notify, plan_channel, polled, publication};

/// The server of the promises, which one test has at a time.
fn server() -> MutexGuard<'static, Postgres> {
    static SERVER: OnceLock<Mutex<Postgres>> = OnceLock::new();
    let server = SERVER.get_or_init(|| Mutex::new(Postgres::start().unwrap()));
    let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
    // A test that failed may have left it dead.
    if server.instance().process().is_none() {
        server.restart().unwrap();
    }
    server
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Notify,
    Table,
    Publication,
}

pub(crate) struct PostgresRig {
    server: MutexGuard<'static, Postgres>,
    database: Database,
    way: Way,
}

impl PostgresRig {
    pub(crate) fn new(way: Way) -> Self {
        let server = server();
        let database = Database::on(server.port());
        database.run(
            "CREATE TABLE outbox (id bigserial PRIMARY KEY, k text, h jsonb, payload text, \
             relayed boolean NOT NULL DEFAULT false); \
             CREATE PUBLICATION events FOR TABLE outbox WITH (publish = 'insert')",
        );
        Self { server, database, way }
    }

    fn source(&self) -> PostgresSource {
        match self.way {
            Way::Notify => notify(&["events"]),
            Way::Publication => publication("events"),
            Way::Table => {
                let mut table = polled("outbox");
                table.key = Some("k".to_owned());
                table.headers = Some("h".to_owned());
                table.payload = Some("payload".to_owned());
                PostgresSource::Table(table)
            }
        }
    }

    fn settings(&self, change: impl FnOnce(&mut PostgresChannel)) -> Channel {
        let mut channel = self.database.channel(self.source());
        change(&mut channel);
        plan_channel(channel)
    }
}

/// A text in SQL.
fn literal(bytes: &[u8]) -> String {
    format!("'{}'", std::str::from_utf8(bytes).unwrap().replace('\'', "''"))
}

impl Rig for PostgresRig {
    fn connector(&self) -> &dyn Connect {
        &Connector
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let port = through.map_or(self.database.port, |address| address.port());
        self.settings(|channel| channel.server.port = port)
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port()))
    }

    fn kill(&mut self) {
        // What other tests wrote need not be recovered too: the tap waits half a minute.
        self.database.run("CHECKPOINT");
        self.server.kill();
    }

    fn restart(&mut self) {
        self.server.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        let mut session = self.database.session();
        for part in messages.chunks(500) {
            let mut sql = String::new();
            for Message { key, headers, payload, .. } in part {
                let payload = literal(payload);
                if self.way == Way::Notify {
                    sql.push_str(&format!("SELECT pg_notify('events', {payload});\n"));
                    continue;
                }
                let headers: serde_json::Map<String, Value> = headers
                    .iter()
                    .map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into()))
                    .collect();
                let headers = literal(Value::Object(headers).to_string().as_bytes());
                let key = literal(key.as_bytes());
                sql.push_str(&format!(
                    "INSERT INTO outbox (k, h, payload) VALUES ({key}, {headers}, {payload});\n"
                ));
            }
            session.run(&format!("BEGIN;\n{sql}COMMIT"));
        }
    }

    fn abilities(&self) -> Abilities {
        let table = self.way == Way::Table;
        Abilities {
            keeps_a_past: table,
            keys: table,
            headers: table,
            binary: false,
            payload_bytes_max: if self.way == Way::Notify { 7_900 } else { 500_000 },
            // The whole past is in the table: what comes is bounded by what is asked for.
            ..Abilities::default()
        }
    }

    fn number(&self, seen: &Seen) -> Option<u64> {
        if self.way != Way::Publication {
            return seen.number();
        }
        let change: Value = serde_json::from_slice(&seen.payload).ok()?;
        number(change["row"]["payload"].as_str()?)
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let address = self.address().to_string();
        let wrong = |what, channel, says: &[&str]| Wrong {
            what,
            channel,
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            secret: Some("hunter2".to_owned()),
        };
        let dead = dead_address();
        vec![
            wrong(
                "the password",
                self.settings(|channel| {
                    channel.server.user = Some(USER.to_owned());
                    channel.server.password = Some(Secret::new("hunter2"));
                }),
                &["postgres", &address, USER, "password"],
            ),
            wrong(
                "the database",
                self.settings(|channel| channel.server.path = "absent".to_owned()),
                &["postgres", &address, "absent"],
            ),
            wrong(
                "the address",
                self.settings(|channel| channel.server.port = dead.port()),
                &["postgres", &dead.to_string()],
            ),
            wrong(
                "the publication",
                self.settings(|channel| channel.source = publication("event")),
                &["postgres", &address, "`event`", "`events`"],
            ),
            wrong(
                "the table",
                self.settings(|channel| channel.source = PostgresSource::Table(polled("outbax"))),
                &["postgres", &address, "`outbax`", "`outbox`"],
            ),
        ]
    }

    /// Nothing is published to a publication, which is said of any.
    fn stops_publishers(&self, wrong: &Wrong) -> bool {
        wrong.what != "the publication"
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        let mut session = self.database.session();
        Some(match self.way {
            Way::Notify => {
                session.run("LISTEN events");
                Box::new(Listening { session, kept: Vec::new() })
            }
            _ => Box::new(Relay(session)),
        })
    }

    fn footprint(&mut self) -> Vec<String> {
        let said = self.database.run(
            "SELECT 'slot ' || slot_name FROM pg_replication_slots \
             WHERE database = current_database() UNION ALL \
             SELECT 'session ' || application_name FROM pg_stat_activity \
             WHERE datname = current_database() AND application_name = 'sojourn' UNION ALL \
             SELECT 'table ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace \
             UNION ALL SELECT 'publication ' || pubname FROM pg_publication ORDER BY 1",
        );
        said.lines().map(str::to_owned).collect()
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        let said = (self.way == Way::Table)
            .then(|| self.database.run("SELECT payload FROM outbox ORDER BY id"))?;
        Some(said.lines().filter_map(number).collect())
    }

    fn backlog(&self) -> Option<String> {
        (self.way == Way::Table).then(|| "outbox".to_owned())
    }

    /// The outbox is no name of a backlog, which are replication slots here.
    fn channel_with_backlog(&self, name: &str) -> Channel {
        let waiting = Some("NOT relayed".to_owned());
        let outbox = Outbox { table: name.to_owned(), waiting, written: None };
        self.settings(|channel| channel.outbox = Some(outbox))
    }
}

fn number(payload: &str) -> Option<u64> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    payload.get("n")?.as_u64()
}

/// The system's relay: takes rows, one after the other, and marks them. (One that deletes may be
/// sooner than a tap that polls, as the page says.)
struct Relay(Session);

impl System for Relay {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        sojourn_conformance::wait_until("rows for the relay", || {
            let left = count - numbers.len();
            let taken = self.0.run(&format!(
                "WITH taken AS (UPDATE outbox SET relayed = true WHERE id IN (SELECT id FROM outbox \
                 WHERE NOT relayed ORDER BY id FOR UPDATE SKIP LOCKED LIMIT {left}) \
                 RETURNING id, payload) \
                 SELECT payload FROM taken ORDER BY id"
            ));
            numbers.extend(taken.lines().filter_map(number));
            numbers.len() >= count
        });
        numbers
    }
}

/// The system's own listener. `psql` tells of what came after its next statement.
struct Listening {
    session: Session,
    kept: Vec<u64>,
}

impl System for Listening {
    fn take(&mut self, count: usize) -> Vec<u64> {
        sojourn_conformance::wait_until("notifications for the system", || {
            let said = self.session.run("SELECT 1");
            let payloads = said.lines().filter_map(|line| {
                let begin = line.find("with payload \"")? + "with payload \"".len();
                number(&line[begin..line.rfind("\" received")?])
            });
            self.kept.extend(payloads);
            self.kept.len() >= count
        });
        self.kept.drain(..count).collect()
    }
}
