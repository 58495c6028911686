//! Whole runs in no time, whose truth is known.

use std::path::Path;

use sojourn_clock::MILLISECOND_NS;
use sojourn_metrics::{Histogram, SeriesPhase, names};
use sojourn_plan::Files;
use sojourn_script::Sources;
use sojourn_session::{Budget, Channels, Data, Program, evaluate, session_load};

use super::*;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// Runs a session's steps with some 100 clients in 10 s; answers come after 20 ms, events after
/// 50 ms.
fn run(steps: &str, answer: &mut dyn FnMut(&[u8]) -> Answered) -> (Result<Simulated, String>, u64) {
    let text = format!(
        "definition.setTarget('http://a.example');
         definition.setArrivalPhases([{{ duration: 10, rate: 10 }}]);
         const kafka = {{ brokers: 'b:1', topics: ['orders'] }};
         definition.addChannel('orders', {{ kafka, key: '$.id' }});
         definition.session('s', (session) => {{ {steps} }});"
    );
    let sources = Sources { entry_text: Some(text.clone()), ..Sources::default() };
    let definition = evaluate(Path::new("script.js"), sources, Budget::default()).unwrap();
    let channels = Channels::load(&definition, &NoFiles).unwrap();
    let program = Program::compile(&definition, &Data::default()).unwrap();
    let load = session_load("test", text, &definition, (&program, &channels), SECOND_NS);
    let sessions = Sessions {
        program: Arc::new(program),
        mixes: load.mixes,
        steps: load.steps,
        events: load.events,
        timeout_ns: SECOND_NS,
        redirects_max: 10,
        user_agent: "test".to_owned(),
        cookies: true,
        log: None,
        trace: None,
    };
    let (answer_ns, event_ns) = (20 * MILLISECOND_NS, 50 * MILLISECOND_NS);
    let mut seconds = 0;
    let peer = Peer { answer, answer_ns, event_ns };
    let ended = simulate(load.plan, sessions, peer, &mut |second| seconds = second);
    (ended, seconds)
}

fn sum(ended: &Simulated, metric: &str, tags: &[(&str, &str)]) -> u64 {
    ended.figures.sum(metric, tags, SeriesPhase::Steady)
}

/// The least and the most of a distribution, milliseconds, to a tenth.
fn extent(times: &Histogram) -> (f64, f64) {
    let ms = |q| (times.quantile(q).unwrap() as f64 / 1e5).round() / 10.0;
    (ms(0.0), ms(1.0))
}

#[test]
fn every_request_is_in_the_books_with_its_exact_time() {
    let mut asked = 0;
    let steps = "session.post('/a', { extraction: { jsonpath: { n: 'n' } } });
        session.check('n', session.getVar('n'), '=', 7);
        session.times(3, (it) => { it.get('/b'); it.wait(1); });";
    let (ended, seconds) = run(steps, &mut |_| {
        asked += 1;
        Answered { body: b"{\"n\":7}".to_vec(), causes: None }
    });
    let ended = ended.unwrap();
    let clients = sum(&ended, names::JOURNEYS_STARTED, &[]);
    assert!((60..140).contains(&clients), "{clients}");
    assert_eq!(sum(&ended, names::JOURNEYS_COMPLETED, &[]), clients);
    assert_eq!(sum(&ended, names::CHECKS, &[(names::RESULT, names::CHECK_OK)]), clients);
    assert_eq!(asked, 4 * clients);
    let times = ended.figures.merged(names::STEP_RESPONSE, &[], SeriesPhase::Steady);
    assert_eq!(times.count(), asked);
    assert_eq!(extent(&times), (20.0, 20.0));
    // The last client comes at 10 s at the latest and stays for three more and four answers.
    assert!((10..=13).contains(&seconds), "{seconds}");
}

#[test]
fn the_ledger_follows_what_requests_cause() {
    let mut asked = 0;
    let steps = "session.setVar('id', session.ds.generate('random_uuid'));
        session.post('/a', { payload: session.getVar('id') });
        session.expect('orders', { key: session.getVar('id'), within: 2 });";
    // Every fourth order comes to nothing.
    let (ended, _) = run(steps, &mut |message| {
        asked += 1;
        let key = message[message.len() - 36..].to_vec();
        Answered { body: Vec::new(), causes: (asked % 4 > 0).then_some((0, key)) }
    });
    let ended = ended.unwrap();
    let lines = ended.balance.journeys;
    assert!(asked > 60, "{asked}");
    assert_eq!((lines.started, lines.completed), (asked, asked - asked / 4));
    assert_eq!(lines.lost + lines.in_flight, asked / 4);
    let seen = sum(&ended, names::STEP_REQUESTS, &[(names::STATUS, "seen")]);
    assert_eq!(seen, lines.completed);
    // An event comes 30 ms after the answer from which on it was waited for.
    let waits = [(names::STEP, "expect orders")];
    let waits = ended.figures.merged(names::STEP_RESPONSE_OK, &waits, SeriesPhase::Steady);
    assert_eq!(extent(&waits), (30.0, 30.0));
}

#[test]
fn there_is_no_broker() {
    let (ended, _) =
        run("session.publish('orders', { payload: 'x' });", &mut |_| Answered::default());
    let why = ended.err().unwrap();
    assert!(why.contains("broker"), "{why}");
}

/// A client that comes to its endless loop only when the test is over would pause there once more.
#[test]
fn a_loop_that_is_come_to_after_the_end_is_not_begun() {
    let steps = "session.wait(9.9);
        session.setVar('a', '1');
        session.forEver((it) => { it.wait(1000); it.get('/never'); });";
    let mut asked = 0;
    let (ended, seconds) = run(steps, &mut |_| {
        asked += 1;
        Answered::default()
    });
    let ended = ended.unwrap();
    let clients = sum(&ended, names::JOURNEYS_STARTED, &[]);
    assert_eq!((sum(&ended, names::JOURNEYS_COMPLETED, &[]), asked), (clients, 0));
    assert!((10..20).contains(&seconds), "{seconds}");
}
