//! A server, databases of their own for tests, `psql` sessions, and a sink that keeps what it gets.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sojourn_broker::{Gap, Position, RawMessage, Sink, Tap};
use sojourn_broker_postgres::PostgresTap;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{
    Channel, Connector, Decoder, PostgresChannel, PostgresSource, PostgresTable, Server,
};
use sojourn_services::{Postgres, Service};

/// Longest wait for anything.
pub(crate) const PATIENCE_NS: u64 = 40 * SECOND_NS;

/// The server that most tests share.
pub(crate) fn shared() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(|| Postgres::start().unwrap())
}

/// A database of the test's own.
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) port: u16,
}

impl Database {
    pub(crate) fn new() -> Self {
        Self::on(shared().port())
    }

    pub(crate) fn on(port: u16) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let main = Self { name: "postgres".to_owned(), port };
        main.run(&format!("CREATE DATABASE {name}"));
        Self { name, port }
    }

    pub(crate) fn session(&self) -> Session {
        Session::new(&format!("postgresql://open@127.0.0.1:{}/{}", self.port, self.name))
    }

    /// Runs statements in a session of their own; returns what they answer.
    pub(crate) fn run(&self, sql: &str) -> String {
        self.session().run(sql)
    }

    pub(crate) fn server(&self) -> Server {
        self.server_through(self.port)
    }

    pub(crate) fn server_through(&self, port: u16) -> Server {
        Server {
            host: "127.0.0.1".to_owned(),
            port,
            user: Some("open".to_owned()),
            path: self.name.clone(),
            ..Server::default()
        }
    }

    pub(crate) fn channel(&self, source: PostgresSource) -> PostgresChannel {
        PostgresChannel { server: self.server(), source, outbox: None }
    }

    /// An open tap.
    pub(crate) fn tap(&self, source: PostgresSource) -> PostgresTap {
        let mut tap = PostgresTap::new(&self.channel(source)).unwrap();
        tap.open().unwrap();
        tap
    }
}

pub(crate) fn notify(channels: &[&str]) -> PostgresSource {
    PostgresSource::Notify(channels.iter().map(|name| (*name).to_owned()).collect())
}

pub(crate) fn table(name: &str) -> PostgresSource {
    PostgresSource::Table(polled(name))
}

pub(crate) fn polled(name: &str) -> PostgresTable {
    PostgresTable {
        name: name.to_owned(),
        cursor: "id".to_owned(),
        every_ns: 5_000_000,
        gaps_ns: SECOND_NS / 2,
        key: None,
        headers: None,
        payload: None,
    }
}

pub(crate) fn publication(name: &str) -> PostgresSource {
    PostgresSource::Publication(name.to_owned())
}

pub(crate) fn plan_channel(postgres: PostgresChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: Connector::Postgres(postgres),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

/// A `psql` that is told what to run and answers when it has.
pub(crate) struct Session {
    psql: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u32,
}

impl Session {
    fn new(url: &str) -> Self {
        let mut psql = Command::new("psql")
            .args([url, "--quiet", "--tuples-only", "--no-align", "--no-psqlrc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let input = psql.stdin.take().unwrap();
        let output = BufReader::new(psql.stdout.take().unwrap());
        Self { psql, input, output, asked: 0 }
    }

    /// Runs statements and returns the rows of the answer, one a line.
    pub(crate) fn run(&mut self, sql: &str) -> String {
        self.asked += 1;
        let end = format!("-- end of {}", self.asked);
        writeln!(self.input, "{sql};\n\\echo {end}").unwrap();
        let mut answer = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "psql ended after {sql}");
            if line.trim_end() == end {
                return answer.trim_end().to_owned();
            }
            answer.push_str(&line);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.psql.kill().unwrap();
        self.psql.wait().unwrap();
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) position: Option<Position>,
    pub(crate) stamp_ns: u64,
}

impl Seen {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.payload).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.payload).unwrap()
    }

    /// The number in the column `id` of a row, or of a change's row.
    pub(crate) fn id(&self) -> i64 {
        let json = self.json();
        json.get("row").unwrap_or(&json)["id"].as_i64().unwrap()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Kept(pub(crate) Vec<Seen>);

impl Kept {
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.0.iter().map(Seen::text).collect()
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.0.iter().map(Seen::id).collect()
    }
}

impl Sink for Kept {
    fn message(&mut self, message: &RawMessage<'_>) {
        let headers = message.headers.iter();
        self.0.push(Seen {
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: headers.map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect(),
            payload: message.payload.to_vec(),
            position: message.position,
            stamp_ns: message.stamp_ns,
        });
    }
}

/// Polls until so many messages have come.
#[track_caller]
pub(crate) fn poll_for(tap: &mut PostgresTap, kept: &mut Kept, count: usize) {
    poll_until(tap, kept, |kept| kept.0.len() >= count);
}

#[track_caller]
pub(crate) fn poll_until(tap: &mut PostgresTap, kept: &mut Kept, done: impl Fn(&Kept) -> bool) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !done(kept) {
        assert!(now_ns() < deadline_ns, "{} came", kept.0.len());
        tap.poll(Duration::from_millis(20), kept).unwrap();
    }
}

/// Polls until the watermark has passed this instant: then everything that the tap had received by
/// then has been handed over.
#[track_caller]
pub(crate) fn poll_past(tap: &mut PostgresTap, kept: &mut Kept, instant_ns: u64) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while tap.watermark_ns() <= instant_ns {
        assert!(now_ns() < deadline_ns, "the watermark stands still");
        tap.poll(Duration::from_millis(20), kept).unwrap();
    }
}

/// Polls until a gap has been told of.
#[track_caller]
pub(crate) fn poll_for_gap(tap: &mut PostgresTap, kept: &mut Kept) -> Gap {
    let deadline_ns = now_ns() + PATIENCE_NS;
    loop {
        assert!(now_ns() < deadline_ns, "no gap was told of");
        tap.poll(Duration::from_millis(20), kept).unwrap();
        if let Some(gap) = tap.take_gaps().pop() {
            return gap;
        }
    }
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !done() {
        assert!(now_ns() < deadline_ns, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
