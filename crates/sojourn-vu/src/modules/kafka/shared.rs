//! What all users have in common: producers, clients for topics, registries, schemas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::bounded;
use serde_json::Value;
use sojourn_avro::{Registry, Schema};
use sojourn_broker_kafka::client::{Admin, Handle, Producer, TokenSource};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::Server;

use super::super::grpc::Protos;
use super::access::{Cluster, Login};

/// Most clients of a kind, each with settings of its own.
const CLIENTS_MAX: usize = 256;
/// Most schemas remembered.
const SCHEMAS_MAX: usize = 10_000;

/// How long readers have to leave their groups when the test has ended.
const LEAVE_NS_MAX: u64 = 3 * SECOND_NS;

/// Settings that make clients the same.
type Settings = (String, Vec<(String, String)>, Option<Login>);

/// See the module's page.
#[derive(Default)]
pub(crate) struct Kafka {
    producers: Mutex<HashMap<Settings, Arc<Producer>>>,
    admins: Mutex<HashMap<Settings, Arc<Admin>>>,
    /// What lets clients in that have no password.
    tokens: Mutex<HashMap<Login, Arc<TokenSource>>>,
    /// The texts of files that `LoadJKS` has written, by their names.
    pem_files: Mutex<HashMap<String, String>>,
    registries: Mutex<HashMap<String, Arc<Mutex<Registry>>>>,
    /// Parsed, by text.
    schemas: Mutex<HashMap<String, Arc<Schema>>>,
    /// Of Protobuf, by text.
    pub(super) protos: Protos,
    /// A registry's answers that scripts want to be remembered, by registry and question.
    answers: Mutex<HashMap<String, Value>>,
    /// Everybody's readers.
    readers: Mutex<Vec<Handle>>,
}

impl Kafka {
    /// The producer for these settings.
    pub(super) fn producer(&self, cluster: &Cluster) -> Result<Arc<Producer>, String> {
        let tokens = self.tokens(cluster)?;
        client(&self.producers, cluster, || Producer::new(&cluster.kafka, tokens).map_err(told))
    }

    /// The client for topics with these settings.
    pub(super) fn admin(&self, cluster: &Cluster) -> Result<Arc<Admin>, String> {
        let tokens = self.tokens(cluster)?;
        client(&self.admins, cluster, || Admin::new(&cluster.kafka, tokens).map_err(told))
    }

    /// Where tokens for this cluster come from, if it is tokens that let clients in.
    pub(super) fn tokens(&self, cluster: &Cluster) -> Result<Option<Arc<TokenSource>>, String> {
        let Some(login) = &cluster.login else { return Ok(None) };
        let mut known = lock(&self.tokens);
        if let Some(source) = known.get(login) {
            return Ok(Some(Arc::clone(source)));
        }
        check_room(known.len(), CLIENTS_MAX, "logins")?;
        let source = Arc::new(login.source());
        known.insert(login.clone(), Arc::clone(&source));
        Ok(Some(source))
    }

    /// The file that has this text: `STEM.pem`, or one with a number where another key store of
    /// the test has that already. `write` makes it; users with the same text share it.
    pub(super) fn pem_file(
        &self,
        stem: &str,
        text: &str,
        write: impl FnOnce(&str) -> Result<(), String>,
    ) -> Result<String, String> {
        let mut known = lock(&self.pem_files);
        check_room(known.len(), SCHEMAS_MAX, "files of key stores")?;
        let names = (1_u32..).map(|number| match number {
            1 => format!("{stem}.pem"),
            number => format!("{stem}-{number}.pem"),
        });
        for name in names {
            match known.get(&name) {
                Some(had) if had == text => return Ok(name),
                Some(_) => {}
                None => {
                    write(&name)?;
                    known.insert(name.clone(), text.to_owned());
                    return Ok(name);
                }
            }
        }
        Err("there are too many files".to_owned())
    }

    /// The registry at a server.
    pub(super) fn registry(&self, server: &Server) -> Result<Arc<Mutex<Registry>>, String> {
        let password = server.password.as_ref().map(sojourn_plan::Secret::reveal);
        let key = format!("{server:?} {password:?}");
        let mut known = lock(&self.registries);
        if let Some(registry) = known.get(&key) {
            return Ok(Arc::clone(registry));
        }
        check_room(known.len(), CLIENTS_MAX, "schema registries of different settings")?;
        let registry = Registry::new(server).map_err(|error| error.message)?;
        let registry = Arc::new(Mutex::new(registry));
        known.insert(key, Arc::clone(&registry));
        Ok(registry)
    }

    /// Remembers a reader until the test ends.
    pub(super) fn note_reader(&self, reader: Handle) {
        let mut readers = lock(&self.readers);
        if readers.len() == readers.capacity() {
            readers.retain(Handle::is_alive);
        }
        readers.push(reader);
    }

    /// The test has ended: readers leave their groups, for which they have a moment, so that the
    /// next test's need not wait until the broker misses these.
    pub(crate) fn leave_groups(&self) {
        let readers = std::mem::take(&mut *lock(&self.readers));
        let (left, leaving) = bounded(readers.len().max(1));
        let close = |reader: &Handle| {
            let left = left.clone();
            // There is room for each.
            reader.close(Box::new(move |_| {
                left.try_send(()).ok();
            }))
        };
        let asked = readers.iter().filter(|reader| close(reader)).count();
        let deadline_ns = now_ns() + LEAVE_NS_MAX;
        for _ in 0..asked {
            let left_ns = deadline_ns.saturating_sub(now_ns());
            if leaving.recv_timeout(Duration::from_nanos(left_ns)).is_err() {
                return;
            }
        }
    }

    /// A schema by its text, parsed once.
    pub(super) fn schema(&self, text: &str) -> Result<Arc<Schema>, String> {
        if let Some(schema) = lock(&self.schemas).get(text) {
            return Ok(Arc::clone(schema));
        }
        self.keep_schema(text, Schema::parse(text)?)
    }

    /// Remembers a schema whose references are in it.
    pub(super) fn keep_schema(&self, text: &str, schema: Schema) -> Result<Arc<Schema>, String> {
        let schema = Arc::new(schema);
        let mut known = lock(&self.schemas);
        check_room(known.len(), SCHEMAS_MAX, "schemas")?;
        known.insert(text.to_owned(), Arc::clone(&schema));
        Ok(schema)
    }

    /// An answer that is remembered.
    pub(super) fn remembered(&self, question: &str) -> Option<Value> {
        lock(&self.answers).get(question).cloned()
    }

    /// Remembers an answer, while there is room.
    pub(super) fn remember(&self, question: String, answer: &Value) {
        let mut known = lock(&self.answers);
        if known.len() < SCHEMAS_MAX {
            known.insert(question, answer.clone());
        }
    }
}

fn client<C>(
    known: &Mutex<HashMap<Settings, Arc<C>>>,
    cluster: &Cluster,
    make: impl FnOnce() -> Result<C, String>,
) -> Result<Arc<C>, String> {
    let Cluster { kafka, login } = cluster;
    let key = (kafka.brokers.clone(), kafka.properties.clone(), login.clone());
    let mut known = lock(known);
    if let Some(client) = known.get(&key) {
        return Ok(Arc::clone(client));
    }
    check_room(known.len(), CLIENTS_MAX, "clients of different settings")?;
    let client = Arc::new(make()?);
    known.insert(key, Arc::clone(&client));
    Ok(client)
}

/// What is wrong, and what to do about it.
pub(super) fn told(error: sojourn_broker::BrokerError) -> String {
    match error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message,
    }
}

fn check_room(count: usize, most: usize, what: &str) -> Result<(), String> {
    match count < most {
        true => Ok(()),
        false => Err(format!("there are {count} {what} already, which is the most there may be")),
    }
}

/// A panic of another thread leaves nothing half done here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
