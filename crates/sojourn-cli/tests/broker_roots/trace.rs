//! Trace context from a journey's message, by way of a relay on a real NATS that may drop it, to the
//! sentence in the report.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::bounded;
use sojourn_broker::{Publisher, PublisherSettings, RawMessage, Sink, Start};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_plan::Channel;
use sojourn_record::RunFile;
use sojourn_testkit::{Output, services::Nats, sojourn, temp_dir};

use crate::common::{alone, plan, registry};

const ORDERS: u64 = 20;
const BILLED: &str = "trace.billed";
const PLAN: &str = r#"
name: trace
trace: true
channels:
  orders: { nats: { url: "URL", subjects: [trace.placed] } }
  events: { nats: { url: "URL", subjects: [trace.placed, trace.billed] } }
journeys:
  order:
    root:
      key: "{{ uuid() }}"
      publish: { to: orders, headers: { type: Placed }, json: { id: "{{ key }}" } }
    stages:
      - { name: placed, on: events, match: { type: Placed }, key: $.id }
      - { name: billed, on: events, match: { type: Billed }, key: $.id }
    within: 20s
load:
  - { rate: 20/s, steady: 1s, drain: 30s }
thresholds: [lost == 0, duplicates == 0]
health: { lag_p99_max: 30s, tap_behind_max: 30s, silent_max: 30s, missed_max: 100% }
"#;

/// Takes orders as a member of a group and tells that they are billed, in the context of the trace
/// that they came with or without any.
struct Relay {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<BTreeSet<String>>,
}

/// What a relay was given: payloads, and the context of each.
#[derive(Default)]
struct Taken(Vec<(Vec<u8>, String)>);

impl Sink for Taken {
    fn message(&mut self, message: &RawMessage<'_>) {
        let context = message.header("traceparent").expect("the run's messages have a context");
        let context = String::from_utf8(context.to_vec()).unwrap();
        self.0.push((message.payload.to_vec(), context));
    }
}

impl Relay {
    /// Starts one that is ready. `passes_on`: whether it keeps the context of the order with this
    /// number, in the order in which they come.
    fn start(channel_of_orders: &Channel, passes_on: fn(u64) -> bool) -> Self {
        let (registry, orders) = (registry(), channel_of_orders);
        let connector = registry.of(orders).unwrap();
        let mut member = connector.consumer(orders, "billing", Start::Latest).unwrap();
        let mut publisher = connector.publisher(orders, PublisherSettings::default()).unwrap();
        publisher.ready(&[BILLED.to_owned()]).unwrap();
        let (stop, (joined, is_there)) = (Arc::new(AtomicBool::new(false)), bounded(1));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (mut contexts, mut number) = (BTreeSet::new(), 0);
            while !stopped.load(Ordering::Relaxed) {
                let mut taken = Taken::default();
                member.consume(100, Duration::from_millis(5), &mut taken).unwrap();
                if member.assigned() > 0 {
                    // Whoever waited has gone on after the first time.
                    let _heard = joined.try_send(());
                }
                for (payload, context) in taken.0 {
                    tell(&mut *publisher, number, &payload, passes_on(number).then_some(&context));
                    contexts.insert(context);
                    number += 1;
                }
            }
            member.leave();
            contexts
        });
        is_there.recv().unwrap();
        Self { stop, thread }
    }

    /// Ends it; the contexts that it was given.
    fn end(self) -> BTreeSet<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Publishes, and takes note of what became of those before.
fn tell(publisher: &mut dyn Publisher, number: u64, payload: &[u8], context: Option<&String>) {
    let mut headers: Vec<(&str, &[u8])> = vec![("type", b"Billed")];
    headers.extend(context.map(|context| ("traceparent", context.as_bytes())));
    publisher.try_publish(number, BILLED, None, &headers, payload).unwrap();
    let mut outcomes = Vec::new();
    publisher.poll(&mut outcomes);
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()), "{outcomes:?}");
}

/// A run with such a relay: its journeys complete, and the events of the second stage are so many
/// in their own trace, the others in none. What the command prints.
#[track_caller]
fn traced(passes_on: fn(u64) -> bool, own: u64) -> Output {
    let nats = Nats::start().unwrap();
    let text = PLAN.replace("URL", &nats.url());
    let orders = plan(&text, &[]).channels.remove(0);
    let relay = Relay::start(&orders, passes_on);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let output = {
        let _turn = alone();
        let words = ["run", "plan.yaml", "--quiet", "--keep", "all", "--output", "run.sojourn"];
        sojourn(words).in_dir(folder.path()).run().unwrap()
    };
    let contexts = relay.end();
    let opened = RunFile::open(&folder.path().join("run.sojourn"));
    let file = opened.unwrap_or_else(|error| panic!("{error}: {output}"));
    assert_eq!(output.code, Some(0), "{output}");
    let sum = |metric, tags: &[_]| file.store.sum(metric, tags, SeriesPhase::Steady);
    assert_eq!(sum(names::JOURNEYS_COMPLETED, &[]), ORDERS, "{output}");
    let of = |stage, context| {
        sum(names::STAGE_TRACE, &[(names::STAGE, stage), (names::CONTEXT, context)])
    };
    let placed = ["own", "other", "none"].map(|context| of("placed", context));
    assert_eq!(placed, [ORDERS, 0, 0], "{output}");
    let billed = ["own", "other", "none"].map(|context| of("billed", context));
    assert_eq!(billed, [own, 0, ORDERS - own], "{output}");
    // Each journey has a trace of its own, and it is the one that its message carried.
    let of_messages =
        contexts.iter().map(|context| match *context.split('-').collect::<Vec<_>>() {
            ["00", trace, parent, "01"] if trace.len() == 32 && parent.len() == 16 => {
                trace.to_owned()
            }
            _ => panic!("{context}"),
        });
    let of_journeys = file.journeys.iter().map(|journey| journey.trace_id.clone().unwrap());
    let (of_messages, of_journeys): (BTreeSet<_>, BTreeSet<_>) =
        (of_messages.collect(), of_journeys.collect());
    assert_eq!(of_messages, of_journeys);
    assert_eq!(of_journeys.len() as u64, ORDERS);
    output
}

/// The report as one line: sentences are broken where the width ends.
fn report(output: &Output) -> String {
    output.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_relay_that_drops_the_context_is_where_the_trace_is_lost() {
    let output = traced(|_| false, 0);
    let said = "trace context is lost at hop placed → billed (0 of 20 events carry it)";
    assert!(report(&output).contains(said), "{output}");
    assert!(
        report(&output).contains("trace carried by placed 20 of 20 · billed 0 of 20"),
        "{output}"
    );
}

#[test]
fn a_relay_that_drops_some_contexts_loses_the_trace_in_part() {
    let output = traced(|number| number % 4 == 0, 5);
    let said = "trace context is lost in part at hop placed → billed (5 of 20 events carry it)";
    assert!(report(&output).contains(said), "{output}");
}

#[test]
fn a_relay_that_passes_the_context_on_loses_nothing() {
    let output = traced(|_| true, ORDERS);
    assert!(!output.stdout.contains("trace context is lost"), "{output}");
    assert!(report(&output).contains("billed 20 of 20"), "{output}");
}
