//! Sixty thousand clients at once: four processes against four targets.

use std::time::Duration;

use sojourn_testkit::Running;

use super::*;

const PROCESSES: usize = 4;

/// Clients come at 1,050/s for a minute and ping three times a minute each, which two cores carry
/// on both sides.
const SCRIPT: &str = r#"
const targets = TARGETS;
definition.setTargets(targets);
definition.setArrivalPhases([{ duration: 60, rate: 1050 }, { duration: 15, rate: 0 }]);
targets.forEach((target, number) => definition.session("television " + number, (session) => {
  const station = session.ds.pickFrom(session.ds.loadStructured("stations.csv"));
  session.post(target + "/random/get_token?station=:id", {
    tag: "token", params: { id: station.get("id") }, extraction: { jsonpath: { token: "$.token" } },
  });
  session.assert("token", session.getVar("token"), "!=", "");
  session.forEver((loop) => {
    loop.waitExp(20);
    loop.get(target + "/ping?token=:token&delay=100", {
      tag: "ping", params: { token: session.getVar("token") },
    });
  });
}));
"#;

fn mock() -> (Running, String) {
    let address = format!("127.0.0.1:{}", free_port().unwrap());
    // It outlasts the clients.
    let mock = sojourn(["mock", "--listen", &address]).timeout(Duration::from_secs(300));
    let mock = mock.start().unwrap();
    until("the mock listens", || std::net::TcpStream::connect(&address).is_ok());
    (mock, address)
}

/// A counter of the mock's own figures.
fn counted(address: &str, metric: &str) -> u64 {
    let url = format!("http://{address}/_sojourn/metrics");
    let output = Program::new("curl").args(["-s", &url]).run().unwrap();
    let line = output.stdout.lines().find(|line| line.starts_with(&format!("{metric} ")));
    line.and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap()
}

#[test]
fn sixty_thousand_clients_at_once() {
    if !crate::several::is_full() {
        eprintln!("SKIPPED: sixty thousand clients at once; SOJOURN_TESTS=full has them");
        return;
    }
    let mocks: Vec<_> = (0..PROCESSES).map(|_| mock()).collect();
    let targets: Vec<_> = mocks.iter().map(|(_, address)| format!("http://{address}")).collect();
    let folder = temp_dir().unwrap();
    let script = SCRIPT.replace("TARGETS", &serde_json::to_string(&targets).unwrap());
    std::fs::write(folder.path().join("tv.js"), script).unwrap();
    std::fs::write(folder.path().join("stations.csv"), "id,name\n7,Seven\n12,Twelve\n").unwrap();
    let words = ["session", "run", "tv.js", "--quiet", "--format", "json", "--report", "r.json"];
    let flags = ["--generators", "4"];
    let run = sojourn(words.iter().chain(&flags)).in_dir(folder.path());
    let output = run.timeout(Duration::from_secs(300)).run().unwrap();
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let journeys = report["journeys"].as_array().unwrap();
    let mut at_once = 0;
    for (number, (mock, address)) in mocks.into_iter().enumerate() {
        let name = format!("television {number}");
        let journey = journeys.iter().find(|journey| journey["name"] == *name).unwrap();
        let steps = journey["steps"].as_array().unwrap();
        let requests: u64 = steps.iter().map(|step| step["requests"].as_u64().unwrap()).sum();
        let answered = counted(&address, "sojourn_mock_requests_total");
        assert_eq!(requests, answered, "{name}");
        // One connection each, but for ours that looked whether it listens and what it counts.
        let clients = journey["started"].as_u64().unwrap();
        let connections = counted(&address, "sojourn_mock_connections_total");
        assert!((clients..=clients + 4).contains(&connections), "{clients}, {connections}");
        at_once += journey["in_flight_max"].as_f64().unwrap() as u64;
        mock.terminate().unwrap();
        mock.wait().unwrap();
    }
    assert!(at_once >= 60_000, "{at_once}");
    assert_eq!(report["checks"][0]["failed"], 0, "every client has its token");
}
