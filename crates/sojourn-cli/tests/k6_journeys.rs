//! Journeys in k6 scripts: a system with known delays, losses and duplicates, whose own log every
//! count must equal.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use rdkafka::mocking::MockCluster;
use serde_json::Value;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_metrics::names;
use sojourn_record::{Cause, RunFile, Verdict};
use sojourn_testkit::{
    Output, Reply, Request, Responder, Server, TempDir, free_port, response, sojourn, temp_dir,
};

use crate::common::OF_A_BUSY_MACHINE;

/// From a request's arrival to its events.
const CREATED_NS: u64 = 30 * MILLISECOND_NS;
const SHIPPED_NS: u64 = 80 * MILLISECOND_NS;

/// What the system did for a key, in its own words.
#[derive(Debug)]
pub(crate) struct Posted {
    key: String,
    kind: &'static str,
    /// Before and after the webhook's answer: it was received in between.
    between_ns: [u64; 2],
}

/// Whether the k-th request's second event never comes, and whether it comes twice.
pub(crate) fn is_dropped(k: u64) -> bool {
    k % 10 == 3
}

pub(crate) fn is_doubled(k: u64) -> bool {
    k % 10 == 7
}

/// Takes orders and hands their keys to the thread that posts.
struct Orders {
    keys: Sender<(String, u64)>,
}

impl Responder for Orders {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let key = request.path.rsplit('/').next().unwrap_or_default().to_owned();
        self.keys.try_send((key, request.arrival_ns)).expect("fewer requests than places");
        Reply::at(request.arrival_ns, response(202, "application/json", b"{}"))
    }
}

/// The system under test: a server, and a thread that posts webhooks at their times.
struct System {
    server: Server,
    poster: JoinHandle<Vec<Posted>>,
}

impl System {
    fn start(port: u16) -> Self {
        let (keys, to_post) = crossbeam_channel::bounded(10_000);
        let server = Server::start(Orders { keys }).expect("a port");
        let poster = std::thread::spawn(move || post_all(port, &to_post));
        Self { server, poster }
    }

    /// Stops; everything that it posted.
    fn stop(self) -> Vec<Posted> {
        drop(self.server);
        self.poster.join().expect("every webhook was accepted")
    }
}

pub(crate) fn post_all(port: u16, keys: &Receiver<(String, u64)>) -> Vec<Posted> {
    let mut due: BTreeMap<(u64, u64), (String, &'static str)> = BTreeMap::new();
    let (mut posted, mut number) = (Vec::new(), 0);
    let mut is_open = true;
    while is_open || !due.is_empty() {
        match keys.recv_timeout(Duration::from_millis(1)) {
            Ok((key, arrival_ns)) => {
                let k: u64 = key.trim_start_matches("o-").parse().expect("a number");
                let mut at = |after_ns: u64, kind| {
                    number += 1;
                    due.insert((arrival_ns + after_ns, number), (key.clone(), kind));
                };
                at(CREATED_NS, "Created");
                if !is_dropped(k) {
                    at(SHIPPED_NS, "Shipped");
                }
                if is_doubled(k) {
                    at(SHIPPED_NS + CREATED_NS, "Shipped");
                }
            }
            Err(error) => is_open &= error.is_timeout(),
        }
        while let Some(entry) = due.first_entry().filter(|entry| entry.key().0 <= now_ns()) {
            let (key, kind) = entry.remove();
            let began_ns = now_ns();
            post(port, &format!(r#"{{"type":"{kind}","order":"{key}"}}"#));
            posted.push(Posted { key, kind, between_ns: [began_ns, now_ns()] });
        }
    }
    posted
}

fn post(port: u16, body: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the webhook listens");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout above zero");
    let length = body.len();
    let head = "POST /hooks HTTP/1.1\r\nhost: h\r\nconnection: close\r\n";
    let request =
        format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("the webhook reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the webhook answers");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Runs a script in a folder of its own, with a run file `run.sojourn` in it.
pub(crate) fn run(script: &str, arguments: &[&str]) -> (Output, TempDir) {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("script.js"), script).unwrap();
    let usual = ["run", "script.js", "--quiet", "--run-file", "run.sojourn"];
    let all = usual.iter().chain(arguments);
    let output = sojourn(all).in_dir(folder.path()).timeout(Duration::from_secs(120)).run();
    (output.unwrap(), folder)
}

pub(crate) fn opened(folder: &TempDir) -> RunFile {
    RunFile::open(&folder.path().join("run.sojourn")).unwrap()
}

/// A counter over its series with these tags.
pub(crate) fn count(run: &RunFile, metric: &str, tags: &[(&str, &str)]) -> u64 {
    let has = |key: &sojourn_metrics::SeriesKey| {
        key.metric == metric && tags.iter().all(|(name, value)| key.tag(name) == Some(*value))
    };
    run.store.series().filter(|(key, _)| has(key)).map(|(key, _)| run.store.counter(key)).sum()
}

/// Not void for a reason that has to do with the books: a busy machine may well be late.
pub(crate) fn assert_sound(run: &RunFile) {
    let summary = run.summary.as_ref().expect("the run file is closed");
    let is_ours = |cause: &&Cause| !OF_A_BUSY_MACHINE.contains(&cause.name.as_str());
    let causes: Vec<_> = summary.causes.iter().filter(is_ours).collect();
    assert!(causes.is_empty(), "{causes:?}");
}

const ORDERS: &str = r#"
import http from 'k6/http';
import { sleep } from 'k6';
import exec from 'k6/execution';
import { journey, tap } from 'sojourn';

const hooks = tap('hooks', {
  webhook: { listen: `127.0.0.1:${__ENV.PORT}`, path: '/hooks' },
  key: '$.order',
});
const created = hooks.stage('created', { where: { type: 'Created' } });
const shipped = hooks.stage('shipped', { where: { type: 'Shipped' } });

export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: 6, iterations: 60 } },
  thresholds: {
    journeys_lost: ['count==5'],
    journey_completed: ['rate>0.9'],
    'journey_duration{journey:order}': ['min>=80', 'max<2000'],
  },
};

export default function () {
  const number = exec.scenario.iterationInTest;
  const id = `o-${number}`;
  const expect = () => {
    // A kind that first appears in the middle.
    if (number % 4 === 3 && number > 30) {
      journey(id).expect([created], { within: '2s', name: 'short' });
    } else {
      journey(id).expect([created, 'shipped'], { within: '2s', name: 'order', label: number % 2 });
    }
  };
  if (number % 2 === 0) expect();
  http.post(`${__ENV.BASE}/orders/${id}`);
  if (number % 2 === 1) {
    // Everything has come by before anybody expects it.
    sleep(0.3);
    expect();
  }
  // What happens to the iteration now is nothing to the journey.
  if (number === 4) throw new Error('on purpose');
}
"#;

#[test]
fn counts_equal_the_systems_own_log() {
    let port = free_port().unwrap();
    let system = System::start(port);
    let base = format!("BASE={}", system.server.url(""));
    let listen = format!("PORT={port}");
    let (output, folder) = run(ORDERS, &["-e", &base, "-e", &listen, "--strict"]);
    let posted = system.stop();
    let file = opened(&folder);
    assert_sound(&file);
    let is_void = file.summary.as_ref().is_some_and(|it| it.verdict == Verdict::Void);
    // An exception and lost journeys fail a strict run; thresholds held.
    assert!(!output.stderr.contains("thresholds on metrics"), "{output}");
    assert!(output.code != Some(0) && output.stderr.contains("on purpose"), "{output}");
    if !is_void {
        assert!(output.stderr.contains("5 journeys were lost"), "{output}");
    }
    assert!(output.stdout.contains("JOURNEY order"), "{output}");

    let is_short = |k: u64| k % 4 == 3 && k > 30;
    let numbers = |is_meant: &dyn Fn(u64) -> bool| (0..60).filter(|&k| is_meant(k)).count() as u64;
    let short = numbers(&is_short);
    let order = numbers(&|k| !is_short(k));
    let lost = numbers(&|k| !is_short(k) && is_dropped(k));
    let doubled = numbers(&|k| !is_short(k) && is_doubled(k));
    assert_eq!((short, order, lost), (8, 52, 5), "as the thresholds say");
    let of = |metric: &str, journey: &str| count(&file, metric, &[("journey", journey)]);
    assert_eq!(of(names::JOURNEYS_STARTED, "order"), order);
    assert_eq!(of(names::JOURNEYS_COMPLETED, "order"), order - lost);
    assert_eq!(of(names::JOURNEYS_LOST, "order"), lost);
    assert_eq!(of(names::JOURNEYS_COMPLETED, "short"), short);
    assert_eq!(of(names::JOURNEYS_LOST, "short"), 0);
    let stage = |metric: &str, journey: &str, stage: &str| {
        count(&file, metric, &[("journey", journey), ("stage", stage)])
    };
    assert_eq!(stage(names::STAGE_REACHED, "order", "created"), order);
    assert_eq!(stage(names::STAGE_REACHED, "order", "shipped"), order - lost);
    assert_eq!(stage(names::STAGE_DUPLICATES, "order", "shipped"), doubled);
    assert_eq!(stage(names::STAGE_DUPLICATES, "short", "created"), 0);

    // Every webhook is accounted for once, by the channel as by the system.
    let seen = |metric: &str| count(&file, metric, &[("channel", "hooks")]);
    assert_eq!(seen(names::EVENTS_SEEN), posted.len() as u64);
    assert_eq!(seen(names::EVENTS_DUPLICATE), doubled);
    assert_eq!(seen(names::EVENTS_MATCHED), posted.len() as u64 - doubled);
    assert_eq!(seen(names::EVENTS_UNATTRIBUTED), 0);

    assert_instants_are_true(&file, &posted);
}

/// Of the journeys that were kept, every instant is one at which the system had that event on its
/// way, and none is missing.
fn assert_instants_are_true(file: &RunFile, posted: &[Posted]) {
    let start_ns = file.identity.start_monotonic_ns;
    let mut looked_at = 0;
    for journey in &file.journeys {
        let key = journey.key.as_deref().unwrap_or_default();
        let expected: &[_] =
            if journey.journey == "short" { &["created"] } else { &["created", "shipped"] };
        let names: Vec<&str> = journey.stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, expected);
        for stage in &journey.stages {
            let mut own = posted.iter().filter(|posted| {
                posted.key == key && posted.kind.eq_ignore_ascii_case(&stage.name)
            });
            let first = own.next();
            assert_eq!(stage.seen_ns.is_some(), first.is_some(), "{journey:?}");
            let Some((first, seen_ns)) = first.zip(stage.seen_ns) else { continue };
            let [began_ns, ended_ns] = first.between_ns;
            let seen_ns = start_ns + seen_ns;
            assert!(began_ns <= seen_ns && seen_ns <= ended_ns, "{first:?} seen at {seen_ns}");
            looked_at += 1;
        }
        let is_lost = journey.class == "lost";
        assert_eq!(is_lost, journey.journey == "order" && is_dropped(key[2..].parse().unwrap()));
        if !is_lost {
            let last = journey.stages.iter().filter_map(|stage| stage.seen_ns).max();
            assert_eq!(Some(journey.end_ns), last, "a journey ends with its last event");
        }
    }
    assert!(looked_at > 80, "{looked_at} instants");
}

const QUEUE: &str = r#"
import { check } from 'k6';
import { events, journey, publish, tap } from 'sojourn';

const orders = tap('orders', {
  kafka: { brokers: __ENV.KAFKA, topics: ['orders'] },
  key: 'key',
});
const big = orders.stage('big', { where: { '$.amount': { greater: 10 } } });
const hooks = tap('hooks', { webhook: { listen: `127.0.0.1:${__ENV.PORT}` } });

export const options = { vus: 3, iterations: 30, thresholds: { checks: ['rate==1'], journeys_lost: ['count==0'] } };

const thrown = (call) => {
  try {
    call();
    return 'nothing';
  } catch (error) {
    return error.message;
  }
};

export function setup() {
  publish(orders, { key: 'early', body: 'x', topic: 'orders' });
  return events.wait(orders, { key: 'early' }).body;
}

export default function (data) {
  const key = `k-${__VU}-${__ITER}`;
  const amount = __ITER % 2 ? 5 : 50;
  if (__ITER % 3 === 0) journey(key).expect([orders], { within: '20s' });
  const before = Date.now();
  publish('orders', { key, body: { amount, name: 'ö' }, headers: { tenant: 7 } });
  const event = events.wait(orders, { key, timeout: '20s' });
  if (__ITER % 3 === 1) journey(key).expect([orders], { within: '20s' });
  const again = events.wait('orders', { key });
  const told = thrown(() => events.wait(big, { key: `${key}-other`, timeout: 50 }));
  check(event, {
    'key': (it) => it.key === key,
    'content': (it) => it.json().amount === amount && it.json().name === 'ö',
    'body': (it) => it.body === JSON.stringify({ amount, name: 'ö' }),
    'headers': (it) => it.headers.tenant === '7' && it.headers['sojourn-run'].length > 5,
    'instant': (it) => it.at >= before - 5 && it.at <= Date.now() + 5,
    'is the same again': () => again.body === event.body && again.at === event.at,
    'setup has waited': () => data === 'x',
    'none in time': () => told.includes('no event "big" with the key') && told.includes('0.05 s'),
  });
  if (amount > 10) check(events.wait(big, { key }), { 'big': (it) => it.json().amount === 50 });
  if (__ITER === 0) {
    const once = thrown(() => publish(hooks, { body: 'x' }));
    const twice = thrown(() => journey(key).expect([orders], { within: '20s' }));
    const other = thrown(() => journey('o').expect([orders, big], { within: 1000, name: 'orders' }));
    check(null, {
      'a webhook only listens': () => once.includes('can only listen'),
      'a journey is expected once': () => twice.includes('expected twice in one iteration'),
      'a name means one kind': () => other.includes('give this one a name of its own'),
    });
  }
}
"#;

#[test]
fn messages_are_published_waited_for_and_followed_through_kafka() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders", 3, 1).unwrap();
    let kafka = format!("KAFKA={}", cluster.bootstrap_servers());
    let port = format!("PORT={}", free_port().unwrap());
    let arguments =
        ["-e", &kafka, "-e", &port, "--report", "r.json", "--report", "r.html", "--strict"];
    let (output, folder) = run(QUEUE, &arguments);
    let file = opened(&folder);
    assert_sound(&file);
    let is_void = file.summary.as_ref().is_some_and(|it| it.verdict == Verdict::Void);
    // Thresholds held, and nothing was lost: only a machine too busy fails a strict run then.
    let is_void = is_void || output.stderr.contains("the run is void: ");
    assert_eq!(output.code, Some(if is_void { 109 } else { 0 }), "{output}");
    let orders = |metric| count(&file, metric, &[("journey", "orders")]);
    let started = orders(names::JOURNEYS_STARTED);
    assert!((15..=25).contains(&started), "{started}");
    assert_eq!(orders(names::JOURNEYS_COMPLETED), started);
    let seen = |metric: &str| count(&file, metric, &[("channel", "orders")]);
    assert_eq!(seen(names::EVENTS_SEEN), 31);
    assert_eq!(seen(names::EVENTS_MATCHED), started);
    // What nobody expects bears the run's mark: this run has caused it.
    assert_eq!(seen(names::EVENTS_ORPHAN), 31 - started);
    let json = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["journeys"][0]["name"], "orders");
    assert_eq!(report["journeys"][0]["started"], started);
    assert!(folder.path().join("r.html").exists());
}

/// What is wrong is said where it is written, in words that say what to do.
#[test]
fn misuse_is_said() {
    const TAP: &str = "const t = tap('t', { webhook: { listen: '127.0.0.1:0' }, key: '$.id' });";
    for (script, expected) in [
        ("tap('t', {}); DEFAULT", "tap \"t\": channel `t` does not say where it is"),
        ("tap('t', { kafka: { broker: 'x' } }); DEFAULT", "did you mean `brokers`"),
        ("tap('t', { webhook: {}, key: 'id' }); DEFAULT", "did you mean `$.id`"),
        ("TAP tap('t', { webhook: { path: '/x' } }); DEFAULT", "declared twice, and not the same"),
        ("TAP t.stage('s', { were: {} }); DEFAULT", "there is no \"were\", only where and key"),
        (
            "TAP t.stage('s', { where: { typ: 1 } }); DEFAULT",
            "stage \"s\": `typ` is not a selector",
        ),
        ("TAP if (__VU > 0) tap('u', { webhook: {} }); DEFAULT", "was not declared when"),
        (
            "const t = journey('x').expect(['t'], { within: 1 }); DEFAULT",
            "only be called in an iteration",
        ),
        ("TAP export default () => tap('u', {});", "must be called in the init context"),
        ("TAP export default () => journey('').expect([t], { within: 1 });", "a key is a text"),
        ("TAP export default () => journey('x').expect([t]);", "say by when"),
        (
            "TAP export default () => journey('x').expect(['s'], { within: 1 });",
            "there is no stage \"s\"",
        ),
        (
            "TAP export default () => journey('x').expect([{ tap: t, where: { type: 'A' } }], { within: 1 });",
            "declare it at the script's top level",
        ),
        (
            "TAP export default () => journey('x').expect([t, t], { within: 1 });",
            "is expected twice",
        ),
        ("TAP export default () => journey('x').expect([t], { within: 'soon' });", "write '500ms'"),
        ("TAP export default () => events.wait(t, { key: 1, where: {} });", "declare a stage"),
        ("TAP export default () => publish('u', { body: 'x' });", "there is no tap \"u\""),
    ] {
        let script = script.replace("TAP", TAP).replace("DEFAULT", "export default () => {};");
        let script =
            format!("import {{ events, journey, publish, tap }} from 'sojourn';\n{script}");
        let (output, _folder) = run(&script, &[]);
        let told = output.stderr.replace("\\\"", "\"");
        assert!(told.contains(expected), "{script}\n{output}");
    }
    // Too many stages.
    let stages: String = (0..32).map(|n| format!("t.stage('s{n}', {{}});")).collect();
    let script =
        format!("import {{ tap }} from 'sojourn';\n{TAP}\n{stages}\nexport default () => {{}};");
    let (output, _folder) = run(&script, &[]);
    assert!(output.stderr.contains("at most 32"), "{output}");
}

/// The example of the documentation runs as it stands there.
#[test]
fn the_example_runs() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    let hooks = format!("http://127.0.0.1:{}", free_port().unwrap());
    let mock = crate::mock::Mocked::start(
        &[("orders-mock.yaml", &read("orders-mock.yaml"))],
        &["orders-mock.yaml", "-e", &format!("HOOKS={hooks}")],
    );
    let script = read("orders.js");
    let base = format!("BASE=http://{}", mock.address);
    let listen = format!("LISTEN={}", hooks.trim_start_matches("http://"));
    let (output, folder) = run(&script, &["-e", &base, "-e", &listen, "-i", "20", "-u", "4"]);
    let file = opened(&folder);
    assert_sound(&file);
    let of = |metric| count(&file, metric, &[("journey", "order")]);
    assert_eq!(of(names::JOURNEYS_STARTED), 20, "{output}");
    assert_eq!(of(names::JOURNEYS_COMPLETED), 20, "{output}");
    assert!(output.stdout.contains("journey_duration"), "{output}");
}
