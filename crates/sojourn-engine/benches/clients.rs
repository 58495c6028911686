//! A million clients in simulated time: the whole generator of sessions with its accounts, the
//! observer with its ledger and the figures' store, without sockets. Prints `name value unit`
//! lines.
//!
//! Clients arrive as a Poisson process of 20,000/s for 52 s of simulated time, a million at most,
//! and from then on all are there. Those of the television ask for a token, check it, then ping
//! every 30 s at random, with an answer after 100 ms. Those of the orders wait besides for an event
//! that their request causes, so that the ledger follows a journey of each. `cargo bench -p
//! sojourn-engine`.
#![allow(clippy::print_stdout, reason = "a bench speaks to the terminal")]

use std::path::Path;
use std::sync::Arc;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns, thread_cpu};
use sojourn_engine::{
    Sessions,
    simulated::{Answered, Peer, Simulated, simulate},
};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_plan::Files;
use sojourn_script::Sources;
use sojourn_session::{Budget, Channels, Data, Program, evaluate, session_load};

const CLIENTS: u64 = 1_000_000;
const ANSWER_NS: u64 = 100 * MILLISECOND_NS;
const EVENT_NS: u64 = 300 * MILLISECOND_NS;
const TIMEOUT_NS: u64 = 30 * SECOND_NS;
/// The second whose end finds all clients there, a second before they leave.
const LOOK_S: u64 = 109;
const TOKEN: &[u8] = br#"{"authorization":{"token":"5ojourn0bench0token"}}"#;
/// Length of the key that an order's body ends with.
const KEY_BYTES: usize = 36;

const LOAD: &str = r#"
definition.setTarget("http://testapp.example:9000");
definition.setArrivalPhases([
  { duration: 52, rate: 20000, max_clients: 1000000 }, { duration: 58, rate: 0 },
]);
"#;

const TELEVISION: &str = r#"
definition.session("television", function (session) {
  session.post("/data/token.json", {
    extraction: { jsonpath: { token: "$.authorization.token" } },
  });
  session.assert("token", session.getVar("token"), "!=", "");
  session.forEver(function (context) {
    context.get("/ping?token=:token", { tag: "ping", params: { token: session.getVar("token") } });
    context.waitExp(30);
  });
});
"#;

const ORDERS: &str = r#"
definition.addChannel("orders", { webhook: {}, key: "$.id" });
definition.session("orders", function (session) {
  session.setVar("id", session.ds.generate("random_uuid"));
  session.post("/orders", { payload: { id: session.getVar("id") } });
  session.expect("orders", { key: session.getVar("id"), within: 5, required: true });
  session.forEver(function (context) {
    context.get("/ping", { tag: "ping" });
    context.waitExp(30);
  });
});
"#;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

fn main() {
    // In this order: what the second frees and the first may use again would not be counted.
    measure(
        ("session", "television", TELEVISION),
        &mut |message| match message.starts_with(b"POST") {
            true => Answered { body: TOKEN.to_vec(), causes: None },
            false => Answered { body: b"pong".to_vec(), causes: None },
        },
    );
    measure(("session_events", "orders", ORDERS), &mut |message| {
        let key = message.len().checked_sub(KEY_BYTES).map(|at| message[at..].to_vec());
        let causes = key.filter(|_| message.starts_with(b"POST")).map(|key| (0, key));
        Answered { body: Vec::new(), causes }
    });
}

/// Runs a script with one session and prints what it took.
fn measure((name, session, steps): (&str, &str, &str), answer: &mut dyn FnMut(&[u8]) -> Answered) {
    let text = format!("{LOAD}{steps}");
    let sources = Sources { entry_text: Some(text.clone()), ..Sources::default() };
    let definition = evaluate(Path::new("script.js"), sources, Budget::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let channels = Channels::load(&definition, &NoFiles).unwrap_or_else(|it| panic!("{it}"));
    let data = Data::load(&definition, &NoFiles).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::compile(&definition, &data).unwrap_or_else(|errors| panic!("{errors}"));
    let load = session_load(name, text, &definition, (&program, &channels), TIMEOUT_NS);
    let sessions = Sessions {
        program: Arc::new(program),
        mixes: load.mixes,
        steps: load.steps,
        events: load.events,
        timeout_ns: TIMEOUT_NS,
        redirects_max: 10,
        user_agent: "sojourn/bench".to_owned(),
        cookies: true,
        log: None,
        trace: None,
    };
    let before_kb = resident_kb();
    let mut kb = 0.0;
    let (began_ns, began) = (now_ns(), thread_cpu());
    let peer = Peer { answer, answer_ns: ANSWER_NS, event_ns: EVENT_NS };
    let ended = simulate(load.plan, sessions, peer, &mut |second| {
        if second == LOOK_S {
            kb = resident_kb() - before_kb;
        }
    });
    let wall_ns = now_ns() - began_ns;
    let cpu_ns = thread_cpu().cpu_ns - began.cpu_ns;
    let ended = ended.unwrap_or_else(|why| panic!("{name}: {why}"));
    let (clients, requests) = believed(session, &ended);
    println!("{name}_clients_at_once {clients} clients");
    println!("{name}_requests {requests} requests");
    println!("{name}_wall_time {:.2} s", wall_ns as f64 / 1e9);
    println!("{name}_processor_time {:.2} s", cpu_ns as f64 / 1e9);
    println!("{name}_time_per_request {:.0} ns", cpu_ns as f64 / requests as f64);
    println!("{name}_bytes_per_client {:.0} B", kb * 1024.0 / clients as f64);
}

/// How many clients came and how many requests were answered, once the books of the run show that
/// nothing else happened.
fn believed(session: &str, ended: &Simulated) -> (u64, u64) {
    let Simulated { figures, balance } = ended;
    let tags = [(names::JOURNEY, session)];
    let count = |metric: &str| figures.sum(metric, &tags, SeriesPhase::Steady);
    let samples = |metric: &str| figures.merged(metric, &tags, SeriesPhase::Steady).count();
    let clients = count(names::JOURNEYS_STARTED);
    assert_eq!((clients, count(names::JOURNEYS_COMPLETED)), (CLIENTS, CLIENTS));
    assert_eq!(samples(names::STEP_RESPONSE_FAILED), 0);
    let lines = balance.journeys;
    assert_eq!(lines.started, lines.completed, "journeys of events that the ledger followed");
    (clients, samples(names::STEP_RESPONSE_BY_STATUS))
}

fn resident_kb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
