//! An event queue as small as can be: events in, calls of the application out, a log of both.

use std::{
    collections::HashSet,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::{Value, json};
use sojourn_clock::{Anchor, MILLISECOND_NS, now_ns, sleep_until};
use sojourn_testkit::{Reply, Request, Responder, Server, response};

/// A run's steps: each is one call.
pub(crate) const STEPS: [&str; 3] = ["reserve", "charge", "ship"];
/// Digits of a ULID.
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Calls of one step before its run is given up.
const ATTEMPTS_MAX: u32 = 20;
/// Events and calls that may wait.
const WAITING_MAX: usize = 10_000;

/// How the queue works.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Address of the application.
    pub app: String,
    /// Calls at once; counts steps, not runs.
    pub concurrency: usize,
    /// Least time between the starts of two runs, nanoseconds.
    pub throttle_ns: u64,
    /// Whether an event with an id seen before starts nothing.
    pub dedup: bool,
    /// Runs at once, from their first call to their last one's answer; 0: as many as there are.
    pub runs: usize,
    /// One event in so many is refused, and what follows it in its batch; 0: none is.
    pub refuse_every: u64,
    /// Of one event in so many that are accepted no run is ever started; 0: of none.
    pub lose_every: u64,
    /// Whether the application is told what is done and says what is next, as Inngest has it (status
    /// 206 with a step that it has run), until it has nothing more to do (200).
    pub asks: bool,
    /// What its clock shows.
    pub clock: Clock,
}

/// The queue's clock, which its ULIDs show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// Ahead of this machine's, nanoseconds.
    pub offset_ns: i64,
    /// After so many events it is set forward by so much, nanoseconds.
    pub jump: Option<(u64, i64)>,
    /// One id in so many is no ULID; 0: all are.
    pub spoilt_every: u64,
}

/// An event that was accepted, and its run, at instants of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    /// The event's own id.
    pub id: String,
    pub accepted_ns: u64,
    /// Its run was created and given an id then; 0: it has none of its own, or has not started.
    pub created_ns: u64,
}

/// A call as the queue saw it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub run: u64,
    pub step: usize,
    pub attempt: u32,
    pub status: u16,
    pub sent_ns: u64,
    pub answered_ns: u64,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub accepted: u64,
    /// Requests: how many events each had, and how many of them were accepted.
    pub batches: Vec<(usize, usize)>,
    pub deduplicated: u64,
    /// Ids of accepted events of which no run was started.
    pub lost: Vec<String>,
    pub runs: u64,
    pub calls: Vec<Call>,
    pub events: Vec<Accepted>,
    /// Ids of events and of runs that are no ULIDs.
    pub spoilt: (u64, u64),
    /// Wall time as the queue's clock would show it, were its offset 0.
    pub anchor: Option<Anchor>,
}

struct Task {
    run: u64,
    /// The run's id.
    id: String,
    /// Its event's place in the log.
    place: usize,
    event: Value,
    step: usize,
    attempt: u32,
    /// Of an application that is asked: what it has done.
    done: Vec<String>,
}

/// A running queue.
pub(crate) struct Simulator {
    server: Server,
    log: Arc<Mutex<Log>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Simulator {
    pub(crate) fn start(settings: &Settings) -> Self {
        let (log, stop) = (Arc::<Mutex<Log>>::default(), Arc::<AtomicBool>::default());
        let (events, triggered) = bounded::<Task>(WAITING_MAX);
        let (tasks, ready) = bounded::<Task>(WAITING_MAX);
        let api = Api {
            events,
            known: HashSet::new(),
            log: Arc::clone(&log),
            dedup: settings.dedup,
            refuse_every: settings.refuse_every,
            lose_every: settings.lose_every,
            looked_at: 0,
            mint: Mint { clock: settings.clock, anchor: Anchor::now(), made: 0 },
        };
        let api_mint = api.mint;
        log.lock().unwrap().anchor = Some(api_mint.anchor);
        let server = Server::start(api).unwrap();
        let mut threads = Vec::new();
        let running = Arc::<AtomicUsize>::default();
        for _ in 0..settings.concurrency {
            let worker = Worker {
                app: settings.app.clone(),
                asks: settings.asks,
                tasks: tasks.clone(),
                ready: ready.clone(),
                log: Arc::clone(&log),
                stop: Arc::clone(&stop),
                running: Arc::clone(&running),
            };
            threads.push(std::thread::spawn(move || worker.work()));
        }
        let (throttle_ns, runs, stopped) = (settings.throttle_ns, settings.runs, Arc::clone(&stop));
        let (mut mint, book) = (Mint { made: 0, ..api_mint }, Arc::clone(&log));
        threads.push(std::thread::spawn(move || {
            let mut next_ns = 0;
            for mut task in triggered {
                let is_full = || runs > 0 && running.load(Ordering::SeqCst) >= runs;
                while is_full() && !stopped.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                running.fetch_add(1, Ordering::SeqCst);
                sleep_until(next_ns);
                let created_ns = now_ns();
                next_ns = created_ns + throttle_ns;
                let mut log = book.lock().unwrap();
                let spoilt;
                (task.id, spoilt) = mint.ulid(created_ns, task.place as u64);
                log.events[task.place].created_ns = created_ns;
                log.spoilt.1 += u64::from(spoilt);
                drop(log);
                tasks.try_send(task).unwrap();
            }
        }));
        Self { server, log, stop, threads }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url("")
    }

    /// Ends it; what happened.
    pub(crate) fn stop(self) -> Log {
        drop(self.server);
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.log.lock().unwrap().clone()
    }
}

/// `POST /e/KEY`.
struct Api {
    events: Sender<Task>,
    known: HashSet<String>,
    log: Arc<Mutex<Log>>,
    dedup: bool,
    refuse_every: u64,
    lose_every: u64,
    looked_at: u64,
    mint: Mint,
}

/// Makes ids.
#[derive(Clone, Copy)]
struct Mint {
    clock: Clock,
    anchor: Anchor,
    made: u64,
}

impl Mint {
    /// An id made at an instant, when so many events had been accepted; and whether it is spoilt.
    fn ulid(&mut self, at_ns: u64, accepted: u64) -> (String, bool) {
        let Clock { offset_ns, jump, spoilt_every } = self.clock;
        self.made += 1;
        if spoilt_every > 0 && self.made.is_multiple_of(spoilt_every) {
            return (format!("evt-{:06}", self.made), true);
        }
        let jumped_ns = jump.map_or(0, |(after, by_ns)| if accepted >= after { by_ns } else { 0 });
        let shown_ns = self.anchor.unix_ns_at(at_ns) as i64 + offset_ns + jumped_ns;
        // The time is 48 bits; what follows need only differ.
        let bits = u128::from(shown_ns as u64 / MILLISECOND_NS) << 80 | u128::from(self.made);
        let digit = |at: u32| char::from(CROCKFORD[(bits >> (5 * at)) as usize & 31]);
        ((0..26).rev().map(digit).collect(), false)
    }
}

impl Responder for Api {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        1 << 20
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let (status, body) = self.accept(request);
        let answer = response(status, "application/json", body.to_string().as_bytes());
        Reply::at(request.arrival_ns, answer)
    }
}

impl Api {
    /// One event, or several. A batch is accepted up to its first wrong event.
    fn accept(&mut self, request: &Request<'_>) -> (u16, Value) {
        let events = match serde_json::from_slice(request.body) {
            Ok(Value::Array(events)) => events,
            Ok(event) => vec![event],
            Err(error) => return (400, json!({ "ids": [], "error": error.to_string() })),
        };
        let sent = events.len();
        let answer = self.take(events);
        let accepted = answer.1["ids"].as_array().map_or(0, Vec::len);
        self.log.lock().unwrap().batches.push((sent, accepted));
        answer
    }

    fn take(&mut self, events: Vec<Value>) -> (u16, Value) {
        let mut ids = Vec::new();
        for event in events {
            self.looked_at += 1;
            let refused = self.refuse_every > 0 && self.looked_at.is_multiple_of(self.refuse_every);
            if !event["name"].is_string() || refused {
                let error = "an event without a name";
                return (400, json!({ "ids": ids, "status": 400, "error": error }));
            }
            let mut log = self.log.lock().unwrap();
            let accepted_ns = now_ns();
            let (id, spoilt) = self.mint.ulid(accepted_ns, log.accepted);
            ids.push(id);
            log.spoilt.0 += u64::from(spoilt);
            let id = event["id"].as_str().unwrap_or_default().to_owned();
            log.events.push(Accepted { id, accepted_ns, created_ns: 0 });
            let place = log.events.len() - 1;
            log.accepted += 1;
            let is_new = match event["id"].as_str() {
                Some(id) => self.known.insert(id.to_owned()),
                None => true,
            };
            if self.dedup && !is_new {
                log.deduplicated += 1;
                continue;
            }
            let triggers = log.runs + log.lost.len() as u64 + 1;
            if self.lose_every > 0 && triggers.is_multiple_of(self.lose_every) {
                log.lost.push(event["id"].as_str().unwrap_or_default().to_owned());
                continue;
            }
            let run = log.runs;
            log.runs += 1;
            let id = String::new();
            let task = Task { run, id, place, event, step: 0, attempt: 0, done: Vec::new() };
            self.events.try_send(task).unwrap();
        }
        (200, json!({ "ids": ids, "status": 200 }))
    }
}

/// One of the calls at once.
struct Worker {
    app: String,
    asks: bool,
    tasks: Sender<Task>,
    ready: Receiver<Task>,
    log: Arc<Mutex<Log>>,
    stop: Arc<AtomicBool>,
    running: Arc<AtomicUsize>,
}

impl Worker {
    fn work(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let Ok(task) = self.ready.recv_timeout(Duration::from_millis(20)) else {
                continue;
            };
            let (call, told) = self.call(&task);
            let status = call.status;
            self.log.lock().unwrap().calls.push(call);
            let mut next = Task { step: task.step + 1, attempt: 0, ..task };
            let is_over = match (self.asks, status) {
                (true, 206) => {
                    next.done.push(told[0]["id"].as_str().unwrap().to_owned());
                    false
                }
                (true, 200) => true,
                (false, 200) => next.step >= STEPS.len(),
                _ => {
                    next = Task { step: next.step - 1, attempt: task.attempt + 1, ..next };
                    next.attempt >= ATTEMPTS_MAX
                }
            };
            if !is_over {
                self.tasks.try_send(next).unwrap();
            } else {
                self.running.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// The application's turn; what it says.
    fn call(&self, task: &Task) -> (Call, Value) {
        let (step, run) = (if self.asks { "step" } else { STEPS[task.step] }, &task.id);
        let done: serde_json::Map<_, _> =
            task.done.iter().map(|id| (id.clone(), json!({ "data": null }))).collect();
        let context =
            json!({ "fn_id": "order", "run_id": run, "step_id": step, "attempt": task.attempt });
        let body = json!({ "event": task.event, "steps": done, "ctx": context }).to_string();
        let sent_ns = now_ns();
        let mut stream = TcpStream::connect(&self.app).unwrap();
        write!(
            stream,
            "POST /api/queue?fnId=order&stepId={step} HTTP/1.1\r\nhost: app\r\n\
             connection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, told) = answer.split_once("\r\n\r\n").unwrap();
        let told = serde_json::from_str(told).unwrap_or_default();
        let (run, step, attempt) = (task.run, task.step, task.attempt);
        (Call { run, step, attempt, status, sent_ns, answered_ns: now_ns() }, told)
    }
}
