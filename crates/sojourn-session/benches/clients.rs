//! A million clients in simulated time: what walking through a program costs, without sockets.
//! Prints `name value unit` lines.
//!
//! Clients of the television script arrive at 20,000/s for 50 s of simulated time, and from then on
//! all are there: each asks for a token, checks it, then pings every 30 s at random, with an answer
//! after 100 ms. `cargo bench -p sojourn-session`.
#![allow(clippy::print_stdout, reason = "a bench speaks to the terminal")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, thread_cpu};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase};
use sojourn_plan::Files;
use sojourn_script::Sources;
use sojourn_session::{
    Action, Answer, Budget, Client, Data, Ended, Input, Memory, Program, evaluate,
};

const CLIENTS: u64 = 1_000_000;
const ARRIVAL_GAP_NS: u64 = SECOND_NS / 20_000;
const ANSWER_NS: u64 = 100 * MILLISECOND_NS;
const END_NS: u64 = 110 * SECOND_NS;

const SCRIPT: &str = r#"
definition.setTarget("http://testapp.example:9000");
definition.setArrivalPhases([{ duration: 50, rate: 20000 }]);
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

const TOKEN: &[u8] = br#"{"authorization":{"token":"5ojourn0bench0token"}}"#;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// What a client waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    Pause,
    Token,
    Pong,
}

struct World {
    program: Program,
    memory: Memory,
    clients: Vec<Client>,
    /// (instant, client, what it waits for)
    due: BinaryHeap<Reverse<(u64, u32, Awaited)>>,
    recorder: Recorder,
    responses: SeriesId,
    requests: u64,
}

impl World {
    /// Lets a client go on until it waits.
    fn go(&mut self, client: u32, mut input: Input<'_>, now_ns: u64) {
        loop {
            match self.clients[client as usize].step(&self.program, &mut self.memory, input) {
                Action::Request(outgoing) => {
                    let awaited =
                        if outgoing.number() == 0 { Awaited::Token } else { Awaited::Pong };
                    self.requests += 1;
                    self.due.push(Reverse((now_ns + ANSWER_NS, client, awaited)));
                    return;
                }
                Action::Wait { ns } => {
                    self.due.push(Reverse((now_ns + ns, client, Awaited::Pause)));
                    return;
                }
                Action::Check { is_ok, .. } => assert!(is_ok, "every client has its token"),
                Action::Done(ended) => {
                    assert_eq!(ended, Ended::Completed);
                    return;
                }
                _ => {}
            }
            input = Input::Go;
        }
    }

    fn wake(&mut self, client: u32, awaited: Awaited, now_ns: u64) {
        let body = match awaited {
            Awaited::Pause => return self.go(client, Input::Go, now_ns),
            Awaited::Token => TOKEN,
            Awaited::Pong => b"pong",
        };
        self.recorder.record(self.responses, ANSWER_NS);
        self.go(client, Input::Answer(Answer { status: 200, headers: &[], body }), now_ns);
    }
}

fn main() {
    let sources = Sources { entry_text: Some(SCRIPT.to_owned()), ..Sources::default() };
    let definition = evaluate(Path::new("script.js"), sources, Budget::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let data = Data::load(&definition, &NoFiles).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::compile(&definition, &data).unwrap_or_else(|errors| panic!("{errors}"));
    let before_kb = resident_kb();
    let mut recorder = Recorder::new(0);
    let key = SeriesKey::new("step.response", &[("step", "ping")], SeriesPhase::Steady);
    let responses = recorder.series(Kind::Trend, key);
    let mut world = World {
        program,
        memory: Memory::new(1, 0, 1),
        clients: Vec::new(),
        due: BinaryHeap::new(),
        recorder,
        responses,
        requests: 0,
    };
    let began = thread_cpu();
    while let Some(now_ns) = next_ns(&world) {
        if now_ns >= END_NS {
            break;
        }
        let arrivals = world.clients.len() as u64;
        if arrivals < CLIENTS && arrivals * ARRIVAL_GAP_NS == now_ns {
            world.clients.push(Client::new(&world.program, 0, arrivals));
            world.go(arrivals as u32, Input::Go, now_ns);
        } else if let Some(Reverse((at_ns, client, awaited))) = world.due.pop() {
            world.wake(client, awaited, at_ns);
        }
    }
    let cpu_ns = thread_cpu().cpu_ns - began.cpu_ns;
    let kb = resident_kb() - before_kb;
    println!("session_clients_at_once {} clients", world.clients.len());
    println!("session_requests {} requests", world.requests);
    println!("session_processor_time {:.2} s", cpu_ns as f64 / 1e9);
    println!("session_time_per_request {:.0} ns", cpu_ns as f64 / world.requests as f64);
    println!("session_bytes_per_client {:.0} B", kb * 1024.0 / world.clients.len() as f64);
}

/// When something happens next: an arrival, or somebody goes on.
fn next_ns(world: &World) -> Option<u64> {
    let arrivals = world.clients.len() as u64;
    let arrival_ns = (arrivals < CLIENTS).then_some(arrivals * ARRIVAL_GAP_NS);
    let due_ns = world.due.peek().map(|Reverse((at_ns, ..))| *at_ns);
    arrival_ns.into_iter().chain(due_ns).min()
}

fn resident_kb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
