//! The event store: SQLite, one thread, group commit. Its table is the outbox too.
//!
//! An append names the version it expects the stream to have. When another append came first it
//! fails with a conflict, and the caller must load the stream again and decide anew. All commands
//! that wait when the thread comes round share one transaction; answers go out after its commit.

use crate::common::Common;
use crate::counters::bump;
use crate::error::DemoError;
use crate::stage::Stage;
use crate::threads::Thread;
use crate::truth_record::Record;
use rusqlite::{Connection, OptionalExtension, params};
use sojourn_clock::now_ns;
use std::path::Path;
use tokio::sync::{mpsc, oneshot};

/// Commands in the queue; who meets it full waits.
const QUEUE_COMMANDS: usize = 4_096;
/// Commands that share a transaction.
const GROUP_COMMANDS: usize = 256;

/// What a commit outlives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The process, not the machine: nothing ever waits for the disk. For a file that is removed
    /// at the demo's end anyway; else a disk that others keep busy would stop every payment for
    /// seconds, and the demo would show that instead of its own design.
    Process,
    /// A crash of the machine, but for the last commits.
    Machine,
}

/// An event of a stream, as loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredEvent {
    /// Place in the stream, from 1.
    pub(crate) version: u32,
    pub(crate) stage: Stage,
    /// The event's data, JSON.
    pub(crate) data: String,
}

/// An event to append.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) stream: String,
    /// The version the stream has if nobody else appended; 0 for a new stream.
    pub(crate) expected_version: u32,
    pub(crate) stage: Stage,
    pub(crate) data: String,
    /// When it occurred, nanoseconds since the Unix epoch.
    pub(crate) occurred_unix_ns: u64,
}

/// An event in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutboxEvent {
    pub(crate) position: i64,
    pub(crate) stream: String,
    pub(crate) version: u32,
    pub(crate) stage: Stage,
    pub(crate) occurred_unix_ns: u64,
}

/// Why an append did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AppendError {
    /// Someone else appended first: load again and decide anew.
    #[error("stream is at version {actual}, not at {expected}")]
    Conflict { expected: u32, actual: u32 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The store itself failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("event store has stopped")]
    Stopped,
    #[error("event store: {0}")]
    Sqlite(String),
}

/// How the rest of the demo reaches the store.
#[derive(Clone)]
pub(crate) struct StoreHandle {
    to: mpsc::Sender<Command>,
}

impl StoreHandle {
    /// Appends an event; done when it is committed.
    pub(crate) async fn append(&self, event: NewEvent) -> Result<(), AppendError> {
        let (reply, answer) = oneshot::channel();
        self.to.send(Command::Append { event, reply }).await.map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    /// Loads a stream, oldest event first; empty when there is none.
    pub(crate) async fn load(&self, stream: &str) -> Result<Vec<StoredEvent>, StoreError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Load { stream: stream.to_owned(), reply };
        self.to.send(command).await.map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }
}

/// Opens the file and starts the store's thread, which ends when the last handle is gone.
pub(crate) fn start(
    path: &Path,
    durability: Durability,
    common: Common,
) -> Result<(StoreHandle, Thread), DemoError> {
    let connection = open(path, durability)
        .map_err(|source| DemoError::Store { path: path.to_owned(), source })?;
    let (to, from) = mpsc::channel(QUEUE_COMMANDS);
    let thread = Thread::spawn("demo-store", move || run(&connection, from, &common))?;
    Ok((StoreHandle { to }, thread))
}

/// Reads the outbox through a connection of its own, beside the writing one.
pub(crate) struct Outbox {
    connection: Connection,
    /// The newest position when it was opened.
    end: i64,
}

impl Outbox {
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Self, DemoError> {
        open(path, durability)
            .and_then(|connection| {
                let newest = "SELECT coalesce(max(position), 0) FROM events";
                let end = connection.query_row(newest, [], |row| row.get(0))?;
                Ok(Self { connection, end })
            })
            .map_err(|source| DemoError::Store { path: path.to_owned(), source })
    }

    /// The newest position when the outbox was opened; 0 when nothing was ever appended.
    pub(crate) fn end(&self) -> i64 {
        self.end
    }

    /// Events after a position, in the order of their commits. One thread writes, so no event can
    /// appear later before one that was already read.
    pub(crate) fn after(&self, position: i64, limit: u32) -> Result<Vec<OutboxEvent>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT position, stream, version, type, occurred_unix_ns FROM events
                 WHERE position > ?1 ORDER BY position LIMIT ?2",
            )
            .map_err(failed)?;
        let rows = statement.query_map(params![position, limit], |row| {
            Ok(OutboxEvent {
                position: row.get(0)?,
                stream: row.get(1)?,
                version: row.get(2)?,
                stage: stage_column(row, 3)?,
                occurred_unix_ns: row.get::<_, i64>(4)? as u64,
            })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }
}

enum Command {
    Append { event: NewEvent, reply: oneshot::Sender<Result<(), AppendError>> },
    Load { stream: String, reply: oneshot::Sender<Result<Vec<StoredEvent>, StoreError>> },
}

/// An answer that waits for the commit.
enum Answer {
    Append(NewEvent, Result<(), AppendError>, oneshot::Sender<Result<(), AppendError>>),
    Load(
        Result<Vec<StoredEvent>, StoreError>,
        oneshot::Sender<Result<Vec<StoredEvent>, StoreError>>,
    ),
}

fn open(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Process => "OFF",
        Durability::Machine => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS events (
             position INTEGER PRIMARY KEY AUTOINCREMENT,
             stream TEXT NOT NULL,
             version INTEGER NOT NULL,
             type TEXT NOT NULL,
             data TEXT NOT NULL,
             occurred_unix_ns INTEGER NOT NULL,
             UNIQUE (stream, version)
         )",
    )?;
    Ok(connection)
}

fn run(connection: &Connection, mut from: mpsc::Receiver<Command>, common: &Common) {
    let mut group = Vec::with_capacity(GROUP_COMMANDS);
    let mut answers = Vec::with_capacity(GROUP_COMMANDS);
    while let Some(first) = from.blocking_recv() {
        group.push(first);
        while group.len() < GROUP_COMMANDS
            && let Ok(command) = from.try_recv()
        {
            group.push(command);
        }
        let writes = group.iter().any(|command| matches!(command, Command::Append { .. }));
        let begun = if writes {
            connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)
        } else {
            Ok(())
        };
        for command in group.drain(..) {
            answers.push(execute(connection, command, &begun));
        }
        let committed = begun.and_then(|()| {
            if writes { connection.execute_batch("COMMIT").map_err(failed) } else { Ok(()) }
        });
        if committed.is_err() && !connection.is_autocommit() {
            // Nothing of this group may stay; its callers are told below.
            drop(connection.execute_batch("ROLLBACK"));
        }
        let committed_ns = now_ns();
        for answer in answers.drain(..) {
            send(answer, &committed, committed_ns, common);
        }
    }
}

fn execute(connection: &Connection, command: Command, begun: &Result<(), StoreError>) -> Answer {
    match command {
        Command::Append { event, reply } => {
            let appended = match begun {
                Ok(()) => append(connection, &event),
                Err(error) => Err(AppendError::Store(error.clone())),
            };
            Answer::Append(event, appended, reply)
        }
        Command::Load { stream, reply } => {
            Answer::Load(load(connection, &stream).map_err(failed), reply)
        }
    }
}

fn send(answer: Answer, committed: &Result<(), StoreError>, committed_ns: u64, common: &Common) {
    // A caller that no longer waits (the demo is stopping) needs no answer.
    match answer {
        Answer::Append(event, appended, reply) => {
            let appended = match committed {
                Ok(()) => appended,
                Err(error) => Err(AppendError::Store(error.clone())),
            };
            match appended {
                Ok(()) => common.truth.note(|| Record::Appended {
                    at_ns: committed_ns,
                    key: event.stream,
                    stage: event.stage,
                    version: event.expected_version + 1,
                }),
                Err(AppendError::Conflict { .. }) => bump(&common.counters.append_conflicts),
                Err(AppendError::Store(_)) => {}
            }
            drop(reply.send(appended));
        }
        Answer::Load(loaded, reply) => drop(reply.send(loaded)),
    }
}

fn append(connection: &Connection, event: &NewEvent) -> Result<(), AppendError> {
    let actual = connection
        .prepare_cached(
            "SELECT version FROM events WHERE stream = ?1 ORDER BY version DESC LIMIT 1",
        )
        .and_then(|mut statement| statement.query_row([&event.stream], |row| row.get(0)).optional())
        .map_err(failed)?
        .unwrap_or(0);
    if actual != event.expected_version {
        return Err(AppendError::Conflict { expected: event.expected_version, actual });
    }
    connection
        .prepare_cached(
            "INSERT INTO events (stream, version, type, data, occurred_unix_ns)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                event.stream,
                event.expected_version + 1,
                event.stage.event_type(),
                event.data,
                event.occurred_unix_ns as i64,
            ])
        })
        .map_err(failed)?;
    Ok(())
}

fn load(connection: &Connection, stream: &str) -> rusqlite::Result<Vec<StoredEvent>> {
    let mut statement = connection.prepare_cached(
        "SELECT version, type, data FROM events WHERE stream = ?1 ORDER BY version",
    )?;
    let rows = statement.query_map([stream], |row| {
        Ok(StoredEvent { version: row.get(0)?, stage: stage_column(row, 1)?, data: row.get(2)? })
    })?;
    rows.collect()
}

fn stage_column(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Stage> {
    let text = row.get_ref(column)?.as_str()?;
    Stage::of_event_type(text).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            format!("unknown event type {text:?}").into(),
        )
    })
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Sqlite(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::join_all;
    use crate::truth::TruthSink;
    use proptest::prelude::*;

    fn event(stream: &str, expected_version: u32) -> NewEvent {
        NewEvent {
            stream: stream.to_owned(),
            expected_version,
            stage: Stage::ALL[expected_version as usize % 4],
            data: "{}".into(),
            occurred_unix_ns: 1,
        }
    }

    fn with_store<T>(body: impl AsyncFnOnce(StoreHandle, Outbox) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.db");
        let common = Common::new(TruthSink::none(), None);
        let (store, thread) = start(&path, Durability::Process, common).unwrap();
        let outbox = Outbox::open(&path, Durability::Process).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(body(store, outbox));
        join_all(&mut vec![thread]).unwrap();
        result
    }

    #[test]
    fn of_two_appends_one_wins_and_the_other_reloads() {
        with_store(async |store, outbox| {
            for round in 0..200 {
                let stream = format!("pay:{round}");
                let (one, two) =
                    tokio::join!(store.append(event(&stream, 0)), store.append(event(&stream, 0)));
                let loser = if one.is_ok() { two } else { one };
                let conflict = AppendError::Conflict { expected: 0, actual: 1 };
                assert_eq!(loser, Err(conflict));
                let version = store.load(&stream).await.unwrap().len() as u32;
                store.append(event(&stream, version)).await.unwrap();
                assert_eq!(store.load(&stream).await.unwrap().len(), 2);
            }
            assert_eq!(outbox.after(0, 1_000).unwrap().len(), 400);
        });
    }

    #[test]
    fn outbox_is_read_in_order_and_in_batches() {
        with_store(async |store, outbox| {
            for version in 0..7 {
                store.append(event("pay:a", version)).await.unwrap();
            }
            let first = outbox.after(0, 5).unwrap();
            let rest = outbox.after(first[4].position, 5).unwrap();
            let versions: Vec<_> = first.iter().chain(&rest).map(|it| it.version).collect();
            assert_eq!(versions, [1, 2, 3, 4, 5, 6, 7]);
            assert!(outbox.after(rest[1].position, 5).unwrap().is_empty());
        });
    }

    /// SQLite's numbers: 0 never waits for the disk, 1 does when it moves the log to the database.
    #[test]
    fn only_a_file_that_is_kept_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        for (durability, expected) in [(Durability::Process, 0), (Durability::Machine, 1)] {
            let connection = open(&folder.path().join("events.db"), durability).unwrap();
            let synchronous: i32 =
                connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(synchronous, expected, "{durability:?}");
        }
    }

    #[test]
    fn a_file_that_can_not_be_opened_is_named() {
        let common = Common::new(TruthSink::none(), None);
        let error = start(Path::new("/nowhere/events.db"), Durability::Machine, common).err();
        assert!(error.unwrap().to_string().contains("/nowhere/events.db"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Whatever writers race, versions are gapless, unique, and each success is one event.
        #[test]
        fn versions_stay_gapless(
            attempts in prop::collection::vec((0u8..4, 0u32..6), 1..120),
        ) {
            with_store(async |store, outbox| {
                let set = tokio::task::LocalSet::new();
                let mut tasks = Vec::new();
                for (stream, expected) in attempts {
                    let (store, event) = (store.clone(), event(&format!("pay:{stream}"), expected));
                    let append = async move { (stream, store.append(event).await.is_ok()) };
                    tasks.push(set.spawn_local(append));
                }
                let mut won = [0usize; 4];
                set.run_until(async {
                    for task in tasks {
                        let (stream, ok) = task.await.unwrap();
                        won[stream as usize] += usize::from(ok);
                    }
                }).await;
                for (stream, won) in won.into_iter().enumerate() {
                    let events = store.load(&format!("pay:{stream}")).await.unwrap();
                    let versions: Vec<_> = events.iter().map(|it| it.version).collect();
                    assert_eq!(versions, (1..=won as u32).collect::<Vec<_>>());
                }
                assert_eq!(outbox.after(0, 1_000).unwrap().len(), won.iter().sum::<usize>());
            });
        }
    }
}
