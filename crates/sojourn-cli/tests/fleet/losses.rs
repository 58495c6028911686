//! Generators that are lost, and coordinators.

use super::*;
use crate::generators::kill;

const RATE: usize = 60;

/// Two generators, of which the one that came second is killed once the load has begun.
fn one_is_killed(steady: &str, flags: &[&str]) -> (Ended, usize) {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let plan = plan(&server.url(""), &format!("rate: {RATE}/s, steady: {steady}, drain: 5s"));
    let flags: Vec<_> =
        ["--generators", "2", "--reconnect-within", "2s"].iter().chain(flags).copied().collect();
    let mut fleet = Fleet::start(folder(&plan), "plan.yaml", &flags).join(2);
    until("the load has begun", || target.0.lock().unwrap().len() > 2 * RATE);
    let killed = fleet.generators.remove(1);
    kill(killed.pid());
    drop(killed);
    let ended = fleet.end();
    assert_eq!(ended.generators[0].code, Some(0), "{}", ended.generators[0]);
    (ended, target.sorted().len() - 1)
}

/// The report names who was lost, the book adds up, and what was started was asked for: but for at
/// most what the one that was killed had begun and not yet told.
fn is_whole(ended: &Ended, asked: usize) {
    let Ended { output, report, .. } = ended;
    assert_eq!(report["ledger"]["balanced"], true, "{output}");
    let of = |class: &str| whole_run(report, class).as_u64().unwrap() as usize;
    let (started, completed) = (of("started"), of("completed"));
    assert!(started <= asked && asked - started <= RATE, "{started} of {asked}: {output}");
    let under_way = of("in_flight_at_cutoff");
    assert_eq!(completed + under_way, started, "{output}");
    assert!(under_way <= RATE / 2, "{output}");
}

#[test]
fn a_killed_generator_makes_the_run_void_and_the_rest_goes_on_to_the_end() {
    let (ended, asked) = one_is_killed("8s", &[]);
    assert_eq!(ended.output.code, Some(3), "{}", ended.output);
    assert_eq!(ended.causes(), ["generator lost"], "{}", ended.output);
    let causes = ended.report["verdict"]["causes"].to_string();
    assert!(causes.contains("generator process "), "{causes}");
    assert!(causes.contains("no connection for 2 s"), "{causes}");
    assert!(causes.contains("journeys started, and figures up to second "), "{causes}");
    is_whole(&ended, asked);
    // The other one made its half to the end.
    assert!(asked >= 8 * RATE / 2, "{asked}");
}

#[test]
fn a_run_may_go_on_without_and_says_what_is_missing() {
    let (ended, asked) = one_is_killed("8s", &["--on-loss", "continue"]);
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    let notes = ended.notes();
    assert!(notes.contains("lost: generator process "), "{notes}");
    assert!(notes.contains("its share of the load is missing since"), "{notes}");
    is_whole(&ended, asked);
}

#[test]
fn a_run_may_end_with_the_first_loss() {
    let (ended, asked) = one_is_killed("50s", &["--on-loss", "abort"]);
    assert_eq!(ended.output.code, Some(3), "{}", ended.output);
    assert_eq!(ended.causes(), ["generator lost"], "{}", ended.output);
    // Fifty seconds would have been 1,500 of the other one alone.
    assert!(asked < 25 * RATE, "{asked}");
    is_whole(&ended, asked);
}

/// Nobody waits for one that says it goes.
#[test]
fn a_generator_that_is_asked_to_end_leaves_at_once_with_all_it_had() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let plan = plan(&server.url(""), "rate: 60/s, steady: 6s, drain: 5s");
    let flags = ["--generators", "2", "--reconnect-within", "10m"];
    let fleet = Fleet::start(folder(&plan), "plan.yaml", &flags).join(2);
    until("the load has begun", || target.0.lock().unwrap().len() > 100);
    fleet.generators[0].terminate().unwrap();
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(3), "{}", ended.output);
    assert_eq!(ended.causes(), ["generator lost"], "{}", ended.output);
    let causes = ended.report["verdict"]["causes"].to_string();
    assert!(causes.contains("it was asked to end"), "{causes}");
    assert_eq!(ended.generators[0].code, Some(105), "{}", ended.generators[0]);
    assert_eq!(ended.generators[1].code, Some(0), "{}", ended.generators[1]);
    assert_eq!(ended.report["ledger"]["balanced"], true);
    let asked = target.sorted().len() - 1;
    assert_eq!(whole_run(&ended.report, "started"), asked, "{}", ended.output);
}

#[test]
fn generators_end_when_their_coordinator_is_lost() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let plan = plan(&server.url(""), "rate: 50/s, steady: 60s, drain: 5s");
    let flags = ["--generators", "2", "--reconnect-within", "2s"];
    let fleet = Fleet::start(folder(&plan), "plan.yaml", &flags).join(2);
    until("the load has begun", || target.0.lock().unwrap().len() > 30);
    kill(fleet.coordinator.pid());
    for generator in fleet.generators {
        let output = generator.wait().unwrap();
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains("the coordinator was lost"), "{output}");
    }
}

/// Every charge is called back within its second. Nothing is heard of one generator for two, until
/// it is lost: no journey of anybody counts as lost by that, and each event has its place.
#[test]
fn the_target_is_not_blamed_for_journeys_of_a_lost_generator() {
    let (hooks, listen) = (free_port().unwrap(), free_port().unwrap());
    let folder = temp_dir().unwrap();
    let mock = format!(
        "seed: 1\nroutes:\n  - route: POST /charges/{{id}}\n    status: 202\n    callbacks:\n      \
         - after: uniform(100ms, 300ms)\n        http: {{ url: 'http://127.0.0.1:{hooks}/hooks', \
         json: {{ type: Settled, id: '{{{{ path.id }}}}' }} }}\n"
    );
    std::fs::write(folder.path().join("mock.yaml"), mock).unwrap();
    let plan = format!(
        "name: charges\ntarget: http://127.0.0.1:{listen}\nchannels:\n  hooks: {{ webhook: {{ \
         listen: 127.0.0.1:{hooks} }} }}\njourneys:\n  charge:\n    root: {{ http: 'POST \
         /charges/{{{{ key }}}}', expect: {{ status: 202 }}, key: '{{{{ uuid() }}}}' }}\n    \
         stages: [{{ name: settled, on: hooks, match: {{ type: Settled }}, key: $.id }}]\n    \
         within: 1s\nload:\n  - {{ journey: charge, rate: {RATE}/s, steady: 8s, drain: 5s }}\n\
         health: {{ lag_p99_max: 60s, silent_max: 60s, tap_behind_max: 60s }}\n"
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let address = format!("127.0.0.1:{listen}");
    let mock = sojourn(["mock", "mock.yaml", "--listen", &address]).in_dir(folder.path());
    let mock = mock.start().unwrap();
    until("the mock listens", || std::net::TcpStream::connect(&address).is_ok());
    let flags = ["--generators", "2", "--reconnect-within", "2s", "--on-loss", "continue"];
    let mut fleet = Fleet::start(folder, "plan.yaml", &flags).join(2);
    let url = format!("http://{address}/_sojourn/metrics");
    until("the load has begun", || {
        let metrics = Program::new("curl").args(["-s", &url]).run().unwrap();
        let line = metrics.stdout.lines().find(|it| it.starts_with("sojourn_mock_requests_total "));
        let asked = line.and_then(|it| it.split(' ').nth(1)?.parse::<usize>().ok());
        asked.is_some_and(|asked| asked > 2 * RATE)
    });
    let killed = fleet.generators.remove(1);
    kill(killed.pid());
    drop(killed);
    let ended = fleet.end();
    mock.terminate().unwrap();
    mock.wait().unwrap();
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    assert_eq!(ended.report["ledger"]["balanced"], true, "{}", ended.output);
    let of = |class: &str| whole_run(&ended.report, class).as_u64().unwrap() as usize;
    assert_eq!((of("lost"), of("root_failed")), (0, 0), "{}", ended.output);
    assert_eq!(of("completed") + of("late") + of("in_flight_at_cutoff"), of("started"));
    assert!(of("in_flight_at_cutoff") <= RATE / 2, "{}", ended.output);
    // What the other one made to the end, and something of the one that was killed.
    assert!(of("started") > 8 * RATE / 2, "{}", ended.output);
}
