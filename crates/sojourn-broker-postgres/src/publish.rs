//! Publishing: one connection on a thread of its own, statements pipelined, each its own
//! transaction.

use std::collections::{HashMap, VecDeque};
use std::os::fd::AsFd;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use sojourn_broker::{
    Backoff, BrokerError, FirstAttempt, Handover, Outcome, Publisher, PublisherSettings, Readiness,
};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::PostgresChannel;
use sojourn_socket::Bell;

use crate::catalog::find_table;
use crate::config::Target;
use crate::connection::{Connection, Incoming, Purpose};
use crate::failure::{Failure, Refusal};
use crate::identifier::TableName;
use crate::statement::{Destination, Statement};

/// Most statements sent and not answered.
const IN_FLIGHT_MAX: usize = 256;
/// Most shapes of statements that are kept prepared.
const SHAPES_MAX: usize = 256;
/// How long an answer may take.
const ANSWER_NS_MAX: u64 = 30 * SECOND_NS;
/// What is said of messages whose answer never came: they may have been committed or not.
const LOST: &str = "connection lost before the answer";

/// Inserts rows or sends notifications. An outcome comes when the server says that the message is
/// committed.
pub struct PostgresPublisher {
    handover: Handover<Request>,
    readiness: Readiness,
    target: Target,
    is_table: bool,
    doorbell: Arc<Bell>,
}

struct Request {
    token: u64,
    topic: String,
    key: Option<Vec<u8>>,
    headers: Vec<(String, Vec<u8>)>,
    payload: Vec<u8>,
}

impl PostgresPublisher {
    /// A publisher, which connects in the background. Errs on a channel to which nothing can be
    /// published, and on settings that can't work.
    pub fn new(postgres: &PostgresChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let Some(destination) = Destination::of(&postgres.source) else {
            return Err(BrokerError::new("nothing can be published to a publication")
                .with_hint("declare a channel with the `table` and publish to that"));
        };
        let target = Target::new(&postgres.server)?;
        let (handover, taken, told) = Handover::new(how.queue_max, "the server");
        let failed = |error: &dyn std::fmt::Display| target.error(format!("publisher: {error}"));
        let doorbell = Arc::new(Bell::new().map_err(|error| failed(&error))?);
        let is_table = matches!(destination, Destination::Table(_));
        let (readiness, first) = Readiness::new();
        let worker = Worker {
            requests: taken,
            outcomes: told,
            wake: how.wake,
            doorbell: Arc::clone(&doorbell),
            destination,
            target: target.clone(),
            in_flight: VecDeque::new(),
            shapes: HashMap::new(),
            statements: 0,
            first,
        };
        std::thread::Builder::new()
            .name("postgres publisher".to_owned())
            .spawn(move || worker.run())
            .map_err(|error| failed(&error))?;
        Ok(Self { handover, readiness, target, is_table, doorbell })
    }
}

impl Publisher for PostgresPublisher {
    fn ready(&mut self, topics: &[String]) -> Result<(), BrokerError> {
        self.readiness.wait()?;
        if !self.is_table {
            return Ok(());
        }
        let target = &self.target;
        let connection = Connection::open(target, Purpose::Statements);
        let mut connection = connection.map_err(|failure| target.explain(&failure))?;
        for topic in topics {
            let table = TableName::parse(topic)
                .ok_or_else(|| target.error(format!("`{topic}` is not the name of a table")))?;
            find_table(target, &mut connection, &table)?;
        }
        Ok(())
    }

    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        self.handover.check_room()?;
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.to_vec()));
        self.handover.send(Request {
            token,
            topic: topic.to_owned(),
            key: key.map(<[u8]>::to_vec),
            headers: headers.collect(),
            payload: payload.to_vec(),
        })?;
        self.doorbell.ring();
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        self.handover.poll(outcomes);
    }
}

impl Drop for PostgresPublisher {
    fn drop(&mut self) {
        // The worker finds its queue closed.
        self.handover.close();
        self.doorbell.ring();
    }
}

impl std::fmt::Debug for PostgresPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresPublisher")
            .field("pending", &self.handover.pending())
            .finish_non_exhaustive()
    }
}

/// The publisher's thread.
struct Worker {
    requests: Receiver<Request>,
    outcomes: Sender<Outcome>,
    wake: Arc<dyn Fn() + Send + Sync>,
    doorbell: Arc<Bell>,
    destination: Destination,
    target: Target,
    in_flight: VecDeque<InFlight>,
    /// What is known of statements, by their text.
    shapes: HashMap<String, Shape>,
    /// Statements named so far.
    statements: u64,
    first: FirstAttempt,
}

struct InFlight {
    token: u64,
    sql: String,
    sent_ns: u64,
    refusal: Option<Refusal>,
}

/// What is known of a statement. One is prepared under a name only after it has worked once: if it
/// can't be prepared, each message that needs it must be told so.
enum Shape {
    Worked,
    Prepared(String),
}

/// The publisher was dropped.
struct Ended;

impl Worker {
    fn run(mut self) {
        let mut backoff = Backoff::new(now_ns());
        loop {
            let failure = match Connection::open(&self.target, Purpose::Statements) {
                Ok(mut connection) => {
                    self.first.tell(Ok(()));
                    match self.serve(&mut connection) {
                        Ok(Ended) => return,
                        Err(failure) => {
                            self.abandon();
                            backoff = Backoff::new(now_ns());
                            failure
                        }
                    }
                }
                Err(failure) => {
                    self.first.tell(Err(self.target.explain(&failure)));
                    failure
                }
            };
            if self.refuse_all(&words(&failure)).is_err() {
                return;
            }
            // A publisher never gives up: each message is told, and the pauses stay at a second.
            let pause = backoff.pause(backoff.lost_ns()).unwrap_or_default();
            std::thread::sleep(pause);
        }
    }

    /// Sends and receives until the connection is lost.
    fn serve(&mut self, connection: &mut Connection) -> Result<Ended, Failure> {
        self.shapes.clear();
        loop {
            let ended = self.take_requests(connection)?;
            connection.flush()?;
            let told = self.take_answers(connection)?;
            if ended && self.in_flight.is_empty() {
                return Ok(Ended);
            }
            if told {
                (self.wake)();
                continue;
            }
            let now = now_ns();
            let oldest_ns = self.in_flight.front().map(|oldest| oldest.sent_ns + ANSWER_NS_MAX);
            match oldest_ns {
                Some(late_ns) if now >= late_ns => {
                    return Err(Failure::timed_out("no answer in 30 s"));
                }
                _ => {}
            }
            // With a full pipeline the doorbell has nothing to say; an ended one rings for ever.
            let may_take = !ended && self.in_flight.len() < IN_FLIGHT_MAX;
            let bell = may_take.then(|| self.doorbell.as_fd());
            let deadline_ns = oldest_ns.unwrap_or(now + ANSWER_NS_MAX);
            connection.wait(deadline_ns, bell)?;
            if may_take {
                self.doorbell.hush();
            }
        }
    }

    /// Puts what was asked for on its way, as far as the pipeline has room; whether the publisher
    /// has been dropped.
    fn take_requests(&mut self, connection: &mut Connection) -> Result<bool, Failure> {
        let mut told = false;
        let ended = loop {
            if self.in_flight.len() >= IN_FLIGHT_MAX {
                break false;
            }
            let request = match self.requests.try_recv() {
                Ok(request) => request,
                Err(TryRecvError::Empty) => break false,
                Err(TryRecvError::Disconnected) => break true,
            };
            let headers: Vec<_> =
                request.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
            let key = request.key.as_deref();
            match self.destination.statement(&request.topic, key, &headers, &request.payload) {
                Ok(statement) => self.send(connection, request.token, statement)?,
                Err(why) => {
                    self.tell(request.token, Some(why));
                    told = true;
                }
            }
        };
        if told {
            (self.wake)();
        }
        Ok(ended)
    }

    fn send(
        &mut self,
        connection: &mut Connection,
        token: u64,
        statement: Statement,
    ) -> Result<(), Failure> {
        let output = &mut connection.output;
        let name = match self.shapes.get_mut(&statement.sql) {
            Some(Shape::Prepared(name)) => name.clone(),
            Some(known @ Shape::Worked) => {
                self.statements += 1;
                let name = format!("s{}", self.statements);
                frontend::parse(&name, &statement.sql, [], output)?;
                *known = Shape::Prepared(name.clone());
                name
            }
            None => {
                frontend::parse("", &statement.sql, [], output)?;
                String::new()
            }
        };
        let bound = frontend::bind(
            "",
            &name,
            [],
            &statement.values,
            |value, buffer| {
                buffer.extend_from_slice(value);
                Ok(IsNull::No)
            },
            [],
            output,
        );
        // Only a value of more than 2 GiB can't be sent.
        bound.map_err(|_| Failure::protocol("a message of more than 2 GiB"))?;
        frontend::execute("", 0, output)?;
        frontend::sync(output);
        let sent_ns = now_ns();
        self.in_flight.push_back(InFlight { token, sql: statement.sql, sent_ns, refusal: None });
        Ok(())
    }

    /// Reads what is there; whether a message has got its outcome.
    fn take_answers(&mut self, connection: &mut Connection) -> Result<bool, Failure> {
        let mut told = false;
        while let Some(incoming) = connection.try_next()? {
            match incoming {
                Incoming::Message(Message::ErrorResponse(body)) => {
                    let refusal = Refusal::new(&body);
                    match self.in_flight.front_mut() {
                        Some(first) => first.refusal = Some(refusal),
                        // The server is going down.
                        None => return Err(Failure::Refused(refusal)),
                    }
                }
                // The end of a transaction: only now is it committed.
                Incoming::Message(Message::ReadyForQuery(_)) => {
                    if let Some(done) = self.in_flight.pop_front() {
                        self.learn(&done, connection)?;
                        self.tell(done.token, done.refusal.map(|refusal| refusal.words()));
                        told = true;
                    }
                }
                _ => {}
            }
        }
        Ok(told)
    }

    /// A statement that worked may be prepared; one that the server will not have any more, as
    /// after a change of the table, begins anew.
    fn learn(&mut self, done: &InFlight, connection: &mut Connection) -> Result<(), Failure> {
        match &done.refusal {
            Some(Refusal { code, .. }) => {
                let outdated = ["0A", "26", "42"].iter().any(|class| code.starts_with(class));
                if outdated && let Some(Shape::Prepared(name)) = self.shapes.remove(&done.sql) {
                    frontend::close(b'S', &name, &mut connection.output)?;
                }
            }
            None if self.shapes.len() < SHAPES_MAX && !self.shapes.contains_key(&done.sql) => {
                self.shapes.insert(done.sql.clone(), Shape::Worked);
            }
            None => {}
        }
        Ok(())
    }

    fn tell(&self, token: u64, error: Option<String>) {
        // Room for every pending message; it only fails when the publisher is being dropped.
        let _dropped = self.outcomes.try_send(Outcome { token, acked_ns: now_ns(), error });
    }

    /// The connection is gone: what was sent and not answered may be committed or not.
    fn abandon(&mut self) {
        for lost in std::mem::take(&mut self.in_flight) {
            self.tell(lost.token, Some(LOST.to_owned()));
        }
        (self.wake)();
    }

    /// Tells what waits that there is no connection.
    fn refuse_all(&mut self, why: &str) -> Result<(), Ended> {
        let mut told = false;
        loop {
            match self.requests.try_recv() {
                Ok(request) => {
                    self.tell(request.token, Some(why.to_owned()));
                    told = true;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(Ended),
            }
        }
        if told {
            (self.wake)();
        }
        Ok(())
    }
}

/// Why there is no connection, in stable words.
fn words(failure: &Failure) -> String {
    match failure {
        Failure::Lost(error) => format!("not connected: {}", error.kind()),
        Failure::Refused(refusal) => format!("not connected: {}", refusal.words()),
    }
}
