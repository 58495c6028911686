//! Sessions that publish and wait for events: every count must equal the system's own log.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::Sender;
use rdkafka::mocking::MockCluster;
use sojourn_metrics::{SeriesKey, names};
use sojourn_record::{RunFile, Verdict};
use sojourn_testkit::{
    Output, Reply, Request, Responder, Server, TempDir, free_port, response, sojourn, temp_dir,
};

use crate::k6_journeys::{assert_sound, count, is_doubled, is_dropped, opened, post_all};

type Paths = Arc<Mutex<Vec<String>>>;

/// Takes orders and hands their keys to the thread that posts; notes who asks for what else.
struct Shop {
    keys: Sender<(String, u64)>,
    others: Paths,
}

impl Responder for Shop {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        match request.path.strip_prefix("/orders/") {
            Some(key) => {
                let order = (key.to_owned(), request.arrival_ns);
                self.keys.try_send(order).expect("fewer requests than places");
            }
            None => self.others.lock().unwrap().push(request.path.to_owned()),
        }
        Reply::at(request.arrival_ns, response(202, "application/json", b"{}"))
    }
}

/// Runs a script in a folder of its own, with a run file `run.sojourn` in it.
fn run(script: &str, arguments: &[&str]) -> (Output, TempDir) {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("script.js"), script).unwrap();
    let usual = ["session", "run", "script.js", "--quiet", "-o", "run.sojourn"];
    let all = usual.iter().chain(arguments);
    let output = sojourn(all).in_dir(folder.path()).timeout(Duration::from_secs(120)).run();
    (output.unwrap(), folder)
}

/// How many samples a step's trend has.
fn samples(run: &RunFile, metric: &str, journey: &str, step: &str) -> u64 {
    let has = |key: &SeriesKey| {
        let is_own = key.tag("journey") == Some(journey) && key.tag("step") == Some(step);
        key.metric == metric && is_own
    };
    let trends = run.store.series().filter(|(key, _)| has(key));
    trends.filter_map(|(key, _)| run.store.trend(key)).map(|trend| trend.count()).sum()
}

const ORDERS: &str = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 2, rate: 60, max_clients: 60 }]);
definition.addChannel("hooks", { webhook: { listen: "127.0.0.1:PORT", path: "/hooks" }, key: "$.order" });
definition.addStage("created", { on: "hooks", match: { type: "Created" } });
definition.addStage("shipped", { on: "hooks", match: { type: "Shipped" } });
definition.session("order", (session) => {
  session.setVar("id", `o-${session.ds.generate("sequence", { start: 0 })}`);
  const id = session.getVar("id");
  session.post("/orders/:id", { params: { id } });
  session.expect("created", { key: id, within: 5, extraction: { jsonpath: { order: "$.order" } } });
  session.check("its own", session.getVar("order"), "=", id);
  session.expect("shipped", { key: id, within: 1, required: true });
  session.get("/done/:order", { tag: "done", params: { order: session.getVar("order") } });
});
"#;

#[test]
fn counts_equal_the_systems_own_log() {
    orders(&[]);
}

/// Events come to one process and clients wait in another.
#[test]
fn clients_of_other_processes_hear_of_their_events() {
    orders(&["--generators", "2", "--threads", "2"]);
}

/// Runs them, with these words besides, and holds every figure against the system's own log.
fn orders(arguments: &[&str]) {
    let port = free_port().unwrap();
    let (keys, to_post) = crossbeam_channel::bounded(10_000);
    let others = Paths::default();
    let server = Server::start(Shop { keys, others: Arc::clone(&others) }).unwrap();
    let poster = std::thread::spawn(move || post_all(port, &to_post));
    let script = ORDERS.replace("BASE", &server.url("")).replace("PORT", &port.to_string());
    let (output, folder) = run(&script, arguments);
    drop(server);
    let posted = poster.join().expect("every webhook was accepted");
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let file = opened(&folder);
    assert_sound(&file);

    let numbers = |is_meant: fn(u64) -> bool| (0..60).filter(|&k| is_meant(k)).count() as u64;
    let (lost, doubled) = (numbers(is_dropped), numbers(is_doubled));
    let of = |metric: &str, journey: &str| count(&file, metric, &[("journey", journey)]);
    // The clients' own book: those whose order is never shipped end there.
    assert_eq!(of(names::JOURNEYS_STARTED, "order"), 60);
    assert_eq!(of(names::JOURNEYS_FAILED, "order"), lost);
    assert_eq!(of(names::JOURNEYS_COMPLETED, "order"), 60 - lost);
    let mut done: Vec<String> =
        (0..60).filter(|&k| !is_dropped(k)).map(|k| format!("/done/o-{k}")).collect();
    done.sort();
    let mut asked = others.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked, done, "what was in the event is in the next request");
    let status = |step: &str, status: &str| {
        let tags = [("journey", "order"), ("step", step), ("status", status)];
        count(&file, names::STEP_REQUESTS, &tags)
    };
    assert_eq!(status("expect created", "seen"), 60);
    let shipped = (status("expect shipped", "seen"), status("expect shipped", "missed"));
    assert_eq!(shipped, (60 - lost, lost));
    assert_eq!(samples(&file, names::STEP_RESPONSE_OK, "order", "expect shipped"), 60 - lost);
    assert_eq!(samples(&file, names::STEP_RESPONSE_FAILED, "order", "expect shipped"), lost);

    // The ledger's book of their events.
    let events = "order (created-shipped)";
    assert_eq!(of(names::JOURNEYS_STARTED, events), 60);
    assert_eq!(of(names::JOURNEYS_COMPLETED, events), 60 - lost);
    assert_eq!(of(names::JOURNEYS_LOST, events), lost);
    let stage =
        |metric: &str, stage: &str| count(&file, metric, &[("journey", events), ("stage", stage)]);
    assert_eq!(stage(names::STAGE_REACHED, "created"), 60);
    assert_eq!(stage(names::STAGE_REACHED, "shipped"), 60 - lost);
    assert_eq!(stage(names::STAGE_DUPLICATES, "shipped"), doubled);
    let seen = |metric: &str| count(&file, metric, &[("channel", "hooks")]);
    assert_eq!(seen(names::EVENTS_SEEN), posted.len() as u64);
    assert_eq!(seen(names::EVENTS_DUPLICATE), doubled);
    assert_eq!(seen(names::EVENTS_MATCHED), posted.len() as u64 - doubled);
}

const QUEUE: &str = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 1, rate: 100, max_clients: 20 }]);
definition.setSessionWeights({ loop: 1, silent: 1 });
definition.setChannels({ orders: { kafka: { brokers: "KAFKA", topics: ["orders"] } } });
definition.setStages({
  order: { on: "orders", match: { type: "order" }, key: "key" },
  parts: { on: "orders", match: { type: "part" }, key: "$.id", member: "$.n" },
});
definition.session("loop", (session) => {
  session.times(3, (ctx) => {
    ctx.setVar("id", session.ds.generate("random_uuid"));
    const id = session.getVar("id");
    ctx.publish("orders", { key: id, payload: { type: "order", amount: 7 }, headers: { tenant: "t1" }, tag: "new" });
    // What comes before it is expected is not lost.
    ctx.wait(0.2);
    ctx.expect("order", {
      key: id, within: 20, required: true,
      extraction: { jsonpath: { amount: "$.amount" }, header: { tenant: "Tenant" } },
    });
    ctx.get(`/amount/${session.getVar("amount")}/${session.getVar("tenant")}`);
    [1, 2].forEach((n) => ctx.publish("orders", { payload: { type: "part", id, n } }));
    ctx.expect("parts", { key: id, count: 2, within: 20, required: true });
  });
});
definition.session("silent", (session) => {
  session.expect("order", { key: "nobody", within: 0.2, tag: "in vain" });
  session.get("/went-on");
});
"#;

#[test]
fn messages_are_published_and_events_come_back_through_kafka() {
    through_kafka(&["--threads", "2"]);
}

#[test]
fn messages_of_other_processes_come_back_to_them() {
    through_kafka(&["--generators", "2"]);
}

fn through_kafka(arguments: &[&str]) {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders", 3, 1).unwrap();
    let (keys, _nobody) = crossbeam_channel::bounded(1);
    let others = Paths::default();
    let server = Server::start(Shop { keys, others: Arc::clone(&others) }).unwrap();
    let script = QUEUE.replace("BASE", &server.url(""));
    let script = script.replace("KAFKA", &cluster.bootstrap_servers());
    let (output, folder) = run(&script, arguments);
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let file = opened(&folder);
    assert_sound(&file);
    let of = |metric: &str, journey: &str| count(&file, metric, &[("journey", journey)]);
    let (looped, silent) =
        (of(names::JOURNEYS_STARTED, "loop"), of(names::JOURNEYS_STARTED, "silent"));
    assert!(looped + silent == 20 && looped > 2 && silent > 2, "{looped} {silent}");
    assert_eq!(of(names::JOURNEYS_COMPLETED, "loop"), looped, "{output}");
    assert_eq!(of(names::JOURNEYS_COMPLETED, "silent"), silent);
    let path = |wanted: &str| others.lock().unwrap().iter().filter(|path| *path == wanted).count();
    assert_eq!(path("/amount/7/t1") as u64, 3 * looped);
    assert_eq!(path("/went-on") as u64, silent);
    for journey in ["loop (order)", "loop (parts)"] {
        assert_eq!(of(names::JOURNEYS_STARTED, journey), 3 * looped);
        assert_eq!(of(names::JOURNEYS_COMPLETED, journey), 3 * looped);
    }
    let step = |step: &str, status: &str| {
        count(&file, names::STEP_REQUESTS, &[("step", step), ("status", status)])
    };
    assert_eq!(step("new", "acknowledged"), 3 * looped);
    assert_eq!(step("publish orders", "acknowledged"), 6 * looped);
    assert_eq!((step("in vain", "seen"), step("in vain", "missed")), (0, silent));
    assert_eq!(samples(&file, names::STEP_RESPONSE_OK, "loop", "new"), 3 * looped);
    let seen = |metric: &str| count(&file, metric, &[("channel", "orders")]);
    assert_eq!(seen(names::EVENTS_SEEN), 9 * looped);
    assert_eq!(seen(names::EVENTS_MATCHED), 9 * looped);
    // One key is in flight once: the others of it are told.
    let waited = of(names::JOURNEYS_LOST, "silent (order)");
    let refused = of(names::JOURNEYS_ROOT_FAILED, "silent (order)");
    assert_eq!(waited + refused, silent);
}

/// The example of the documentation runs as it stands there.
#[test]
fn the_example_runs() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    let hooks = format!("127.0.0.1:{}", free_port().unwrap());
    let mock = crate::mock::Mocked::start(
        &[("orders-mock.yaml", &read("orders-mock.yaml"))],
        &["orders-mock.yaml", "-e", &format!("HOOKS=http://{hooks}")],
    );
    let script = read("session-orders.js");
    let script = script.replace("127.0.0.1:8080", &mock.address.to_string());
    let script = script.replace("127.0.0.1:9000", &hooks);
    let (output, folder) = run(&script, &["--strict"]);
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let file = opened(&folder);
    assert_sound(&file);
    let is_void = file.summary.as_ref().is_some_and(|it| it.verdict == Verdict::Void);
    let of = |metric, journey| count(&file, metric, &[("journey", journey)]);
    let started = of(names::JOURNEYS_STARTED, "order");
    assert!(started > 20, "{output}");
    assert_eq!(of(names::JOURNEYS_STARTED, "order (paid-shipped)"), started, "{output}");
    if !is_void {
        assert_eq!(of(names::JOURNEYS_COMPLETED, "order (paid-shipped)"), started, "{output}");
    }
}
