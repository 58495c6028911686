//! Polled stages of journeys that are begun on other machines.

use sojourn_testkit::{Reply, Request, Responder, response};

use super::*;

/// Answers each state `done` at once.
struct Done;

impl Responder for Done {
    fn respond(&mut self, _request: &Request<'_>) -> Reply {
        Reply::now(response(200, "application/json", br#"{"state":"done"}"#))
    }
}

/// The stage is seen by the coordinator's clock a moment after the root completed by a generator's,
/// whichever of the two is ahead.
#[test]
fn their_states_are_seen_by_the_coordinator() {
    let server = Server::start(Done).unwrap();
    let folder = temp_dir().unwrap();
    let plan = format!(
        "name: polled\ntarget: {}\njourneys:\n  visit:\n    root: {{ http: GET / , key: '{{{{ \
         uuid() }}}}' }}\n    stages: [{{ name: done, poll: {{ http: 'GET /p/{{{{ key }}}}', \
         every: 100ms, budget: 5000/s, until: {{ body.state: done }} }} }}]\n    within: 5s\n\
         load: {{ rate: 200/s, steady: 2s, drain: 10s }}\nhealth: {{ lag_p99_max: 60s }}\n",
        server.url("")
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let mut fleet = Fleet::start(folder, "plan.yaml", &["--generators", "2"]);
    for wrong_ns in ["3700000000", "-7200000000000"] {
        let generator = fleet.generator(fleet.port).env("SOJOURN_TEST_CLOCK_OFFSET_NS", wrong_ns);
        fleet.generators.push(generator.start().unwrap());
    }
    let ended = fleet.end();
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    assert_eq!(ended.report["ledger"]["balanced"], true, "{}", ended.output);
    for class in ["started", "completed"] {
        assert_eq!(whole_run(&ended.report, class), 400, "{class}: {}", ended.output);
    }
    assert_eq!(server.requests(), 800, "{}", ended.output);
}
