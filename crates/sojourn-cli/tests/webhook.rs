//! Webhooks as events: a system with known delays posts them, and every count must be exact.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::Verdict;
use sojourn_testkit::{Reply, Request, Responder, Server, free_port, response};

use crate::common::{Run, plan, run};

/// The run id of [`run`].
const OUR_RUN: &str = "test-run";
/// From a request's arrival to its webhook.
const DELAY_NS: u64 = 80 * MILLISECOND_NS;
const JSON: &str = "content-type: application/json\r\n";

/// One webhook: header lines, each with its line end, and a body.
struct Post {
    headers: String,
    body: String,
    /// The status that the webhook must answer.
    answered: u16,
}

impl Post {
    fn json(body: String) -> Self {
        Self { headers: JSON.to_owned(), body, answered: 204 }
    }

    fn settled(key: &str) -> Self {
        Self::json(format!(r#"{{"type":"Settled","paymentId":"{key}"}}"#))
    }

    fn marked(self, run_id: &str) -> Self {
        Self { headers: format!("{}sojourn-run: {run_id}\r\n", self.headers), ..self }
    }

    /// A CloudEvent in one document.
    fn structured(key: &str, id: &str) -> Self {
        let body = format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"/payments","type":"Settled",
                "datacontenttype":"application/json","data":{{"paymentId":"{key}"}}}}"#
        );
        let headers = "content-type: application/cloudevents+json\r\n".to_owned();
        Self { headers, body, answered: 204 }
    }

    /// A CloudEvent whose attributes are headers.
    fn binary(key: &str, id: &str) -> Self {
        let headers = format!(
            "{JSON}ce-specversion: 1.0\r\nce-source: /payments\r\nce-type: Settled\r\n\
             ce-id: {id}\r\n"
        );
        Self { headers, body: format!(r#"{{"paymentId":"{key}"}}"#), answered: 204 }
    }

    /// GitHub's documented example of a signed body; the key is a header.
    fn signed(key: &str) -> Self {
        let signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let headers = format!("x-payment: {key}\r\nx-hub-signature-256: sha256={signature}\r\n");
        Self { headers, body: "Hello, World!".to_owned(), answered: 204 }
    }

    fn forged(self) -> Self {
        Self { body: "Hello, Mallory!".to_owned(), answered: 401, ..self }
    }

    /// Sends it over a connection of its own; it must be answered as expected.
    fn send(&self, port: u16) {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the webhook listens");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout above zero");
        let request = format!(
            "POST /hooks/payments HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\
             {}content-length: {}\r\n\r\n{}",
            self.headers,
            self.body.len(),
            self.body
        );
        stream.write_all(request.as_bytes()).expect("the webhook reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the webhook answers");
        assert!(answer.starts_with(&format!("HTTP/1.1 {} ", self.answered)), "{answer}");
    }
}

/// What the system posts for its k-th request, which got this key.
type Posts = fn(k: u64, key: &str) -> Vec<Post>;

/// A CloudEvent of a key with an id, in one of the modes.
type Mode = fn(key: &str, id: &str) -> Post;

/// Answers with a key and hands it to the thread that posts.
struct Payments {
    keys: Sender<(String, u64)>,
    count: u64,
    answer_after_ns: u64,
}

impl Responder for Payments {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let key = format!("p-{}", self.count);
        self.count += 1;
        let body = format!(r#"{{"paymentId":"{key}"}}"#);
        self.keys.try_send((key, request.arrival_ns)).expect("fewer requests than places");
        let answer = response(200, "application/json", body.as_bytes());
        Reply::at(request.arrival_ns + self.answer_after_ns, answer)
    }
}

/// The system under test: a server, and a thread that posts webhooks.
struct System {
    server: Server,
    poster: JoinHandle<u64>,
}

impl System {
    fn start(port: u16, answer_after_ns: u64, posts: Posts) -> Self {
        let (keys, to_post) = crossbeam_channel::bounded(1_000);
        let server = Server::start(Payments { keys, count: 0, answer_after_ns }).expect("a port");
        let poster = std::thread::spawn(move || post_all(port, &to_post, posts));
        Self { server, poster }
    }

    /// Stops; returns how many webhooks were accepted.
    fn stop(self) -> u64 {
        // The poster ends when the server has dropped its end of the channel.
        drop(self.server);
        self.poster.join().expect("every webhook was accepted")
    }
}

fn post_all(port: u16, keys: &Receiver<(String, u64)>, posts: Posts) -> u64 {
    let mut sent = 0;
    for (k, (key, arrival_ns)) in (0..).zip(keys.iter()) {
        let wait_ns = (arrival_ns + DELAY_NS).saturating_sub(now_ns());
        std::thread::sleep(Duration::from_nanos(wait_ns));
        for post in posts(k, &key) {
            post.send(port);
            sent += 1;
        }
    }
    sent
}

/// A run of `rate` journeys within one second against such a system; all of them must complete.
fn observe(rate: u64, answer_after_ns: u64, posts: Posts) -> Run {
    let stage = "match: { type: Settled }, key: $.paymentId";
    observe_with("", stage, rate, answer_after_ns, posts)
}

/// The same with more settings of the webhook, and where the stage finds its events.
fn observe_with(settings: &str, stage: &str, rate: u64, answer_after_ns: u64, posts: Posts) -> Run {
    let run = observe_for("10s", settings, stage, rate, answer_after_ns, posts);
    assert_eq!(journeys(&run, names::JOURNEYS_COMPLETED), rate);
    assert_eq!(events(&run, names::EVENTS_MATCHED), rate);
    run
}

/// The same, of journeys that need not complete, each within so long.
fn observe_for(
    within: &str,
    settings: &str,
    stage: &str,
    rate: u64,
    answer_after_ns: u64,
    posts: Posts,
) -> Run {
    let port = free_port().expect("a port");
    let system = System::start(port, answer_after_ns, posts);
    let text = format!(
        r#"
target: {target}
channels:
  hooks: {{ webhook: {{ listen: "127.0.0.1:{port}", path: /hooks/*, respond: 204{settings} }} }}
journeys:
  payment:
    root:
      http: {{ method: POST, url: /pay, timeout: 2s }}
      key: body.paymentId
    stages:
      - {{ name: settled, on: hooks, {stage} }}
    within: {within}
load:
  - {{ rate: {rate}/s, steady: 1s }}
health: {{ lag_p99_max: 1s, tap_behind_max: 5s, silent_max: 5s }}
"#,
        target = system.server.url("")
    );
    let run = run(&plan(&text, &[]), |_| {});
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    assert_eq!(journeys(&run, names::JOURNEYS_STARTED), rate);
    assert_eq!(system.server.requests(), rate);
    assert_eq!(events(&run, names::EVENTS_SEEN), system.stop());
    run
}

fn journeys(run: &Run, metric: &str) -> u64 {
    run.file.store.sum(metric, &[], SeriesPhase::Steady)
}

fn events(run: &Run, metric: &str) -> u64 {
    run.file.store.sum(metric, &[("channel", "hooks")], SeriesPhase::Any)
}

fn duplicates(run: &Run, kind: &str) -> u64 {
    let tags = [("channel", "hooks"), ("kind", kind)];
    run.file.store.sum(names::EVENTS_DUPLICATE, &tags, SeriesPhase::Any)
}

#[test]
fn a_webhook_ends_its_journey_no_earlier_than_it_was_posted() {
    let run = observe(40, 0, |_, key| vec![Post::settled(key)]);
    let tags = [("stage", "settled")];
    let hops = run.file.store.merged(names::STAGE_HOP, &tags, SeriesPhase::Steady);
    assert_eq!(hops.count(), 40);
    // The system counts from the request's arrival, which follows t1.
    assert!(hops.totals().min >= DELAY_NS, "{} ns", hops.totals().min);
    let negative = run.file.store.merged(names::STAGE_HOP_NEGATIVE, &tags, SeriesPhase::Steady);
    assert_eq!(negative.count(), 0);
    assert_eq!(events(&run, names::EVENTS_DUPLICATE), 0);
}

/// Six journeys for each of both modes and four fates.
#[test]
fn the_id_of_a_cloud_event_tells_redelivery_from_republication() {
    let run = observe(48, 0, |k, key| {
        let (first, other): (Mode, Mode) = match k % 2 {
            0 => (Post::structured, Post::binary),
            _ => (Post::binary, Post::structured),
        };
        let (id, new_id) = (format!("{key}-a"), format!("{key}-b"));
        let mut posts = vec![first(key, &id)];
        match k / 2 % 4 {
            0 => {}
            1 => posts.push(first(key, &id)),
            2 => posts.push(first(key, &new_id)),
            // The mode is no part of an event's identity.
            _ => posts.push(other(key, &id)),
        }
        posts
    });
    assert_eq!(duplicates(&run, "redelivery"), 24);
    assert_eq!(duplicates(&run, "republication"), 12);
    assert_eq!(duplicates(&run, "unknown"), 0);
}

#[test]
fn without_an_id_a_repeated_webhook_is_of_unknown_kind() {
    let run = observe(20, 0, |_, key| vec![Post::settled(key), Post::settled(key)]);
    assert_eq!(duplicates(&run, "unknown"), 20);
    assert_eq!(events(&run, names::EVENTS_DUPLICATE), 20);
}

#[test]
fn a_webhook_before_the_answer_is_matched_back() {
    let answer_after_ns = DELAY_NS + 300 * MILLISECOND_NS;
    let run = observe(40, answer_after_ns, |_, key| vec![Post::settled(key)]);
    let hops =
        run.file.store.merged(names::STAGE_HOP, &[("stage", "settled")], SeriesPhase::Steady);
    assert_eq!(hops.count(), 40);
    assert!(hops.totals().min >= DELAY_NS, "{} ns", hops.totals().min);
    // Matched back with its own instant, not with the answer's.
    let p50_ns = hops.quantile(0.5).expect("40 samples");
    assert!(p50_ns < answer_after_ns, "{p50_ns} ns");
    let durations = run.file.store.merged(names::JOURNEY_DURATION, &[], SeriesPhase::Steady);
    assert!(durations.totals().min >= answer_after_ns, "{} ns", durations.totals().min);
}

#[test]
fn the_run_marker_decides_what_an_event_without_a_journey_is() {
    let run = observe(40, 0, |k, key| {
        let stray = Post::settled(&format!("nobody-{k}"));
        let stray = match k % 8 {
            0 => stray.marked(OUR_RUN),
            1 | 2 => stray.marked("another-run"),
            3..=5 => stray,
            _ => return vec![Post::settled(key)],
        };
        vec![Post::settled(key), stray]
    });
    assert_eq!(events(&run, names::EVENTS_ORPHAN), 5);
    assert_eq!(events(&run, names::EVENTS_FOREIGN), 10);
    assert_eq!(events(&run, names::EVENTS_UNATTRIBUTED), 15);
    assert_eq!(events(&run, names::EVENTS_UNDECODABLE), 0);
}

#[test]
fn what_cannot_be_read_is_counted_and_shown() {
    let run = observe(20, 0, |k, key| {
        let mut posts = vec![Post::settled(key)];
        match k % 5 {
            0 => posts.push(Post::json(r#"{"type":"Settled","#.to_owned())),
            1 => posts.push(Post::json(r#"{"type":"Settled","payment":"keyless"}"#.to_owned())),
            // Readable, and of no stage: not ours to read.
            2 => posts.push(Post::json(r#"{"type":"Opened"}"#.to_owned())),
            _ => {}
        }
        posts
    });
    assert_eq!(events(&run, names::EVENTS_UNDECODABLE), 8);
    assert_eq!(events(&run, names::EVENTS_UNATTRIBUTED), 4);
    let is_sample = |note: &&String| note.starts_with("undecodable on hooks: ");
    assert_eq!(run.summary.notes.iter().filter(is_sample).count(), 3, "{:?}", run.summary.notes);
}

#[test]
fn what_is_not_signed_is_no_event_and_told() {
    let settings = r#", signature: { hmac: { header: X-Hub-Signature-256, prefix: "sha256=",
        secret: "It's a Secret to Everybody" } }"#;
    let run = observe_with(settings, "key: header.x-payment", 20, 0, |k, key| match k % 4 {
        // A forged one first: it reaches nothing.
        0 => vec![Post::signed(key).forged(), Post::signed(key)],
        1 => vec![Post::signed(key), Post { answered: 401, ..Post::settled(key) }],
        _ => vec![Post::signed(key)],
    });
    assert_eq!(events(&run, names::EVENTS_UNDECODABLE), 10);
    assert_eq!(events(&run, names::EVENTS_DUPLICATE), 0);
    let notes = run.summary.notes.join("\n");
    assert!(notes.contains("undecodable on hooks: /hooks/payments: the signature is wrong: Hello"));
    assert!(notes.contains("no signature, or several"), "{notes}");
    let kept = format!("{notes}{:?}", run.file.identity);
    assert!(!kept.contains("Secret to Everybody"), "{kept}");
}

/// Who signs with another secret is answered 401: no journey goes on by it, and each is accounted.
#[test]
fn what_is_signed_with_another_secret_reaches_nothing() {
    let settings = r#", signature: { hmac: { header: X-Hub-Signature-256, prefix: "sha256=",
        secret: "It's no Secret at all" } }"#;
    let within = "300ms\n    linger: 100ms";
    let run = observe_for(within, settings, "key: header.x-payment", 20, 0, |_, key| {
        vec![Post { answered: 401, ..Post::signed(key) }]
    });
    assert_eq!(journeys(&run, names::JOURNEYS_LOST), 20);
    assert_eq!((events(&run, names::EVENTS_SEEN), events(&run, names::EVENTS_MATCHED)), (20, 0));
    assert_eq!(events(&run, names::EVENTS_UNDECODABLE), 20);
    let notes = run.summary.notes.join("\n");
    assert!(notes.contains("/hooks/payments: the signature is wrong: Hello, World!"), "{notes}");
}
