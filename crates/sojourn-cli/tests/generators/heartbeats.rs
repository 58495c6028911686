//! The television scenario at as many clients as one process may have: what the target saw of them.

use std::time::Duration;

use sojourn_clock::MILLISECOND_NS;

use super::*;
use crate::common::assert_exponential;

/// The script that users know: a station from a file, a token for it, and 280 to 320 pings with
/// exponential gaps of a second. 27.5 clients come in each second for eleven minutes, so that after
/// half of them some 9,000 are there, and stay as many.
const SCRIPT: &str = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 660, rate: 27.5 }]);
definition.session("television", function (session) {
  var station = session.ds.pickFrom(session.ds.loadStructured("stations.csv"));
  session.post("/token?id=:id", {
    tag: "token", params: { id: station.get("id") }, extraction: { jsonpath: { token: "$.token" } },
  });
  session.assert("token", session.getVar("token"), "!=", "");
  session.times(session.ds.generate("random_number", { range: [280, 320] }), function (context) {
    context.get("/ping?token=:token", { tag: "ping", params: { token: session.getVar("token") } });
    context.waitExp(1);
  });
});
"#;
const CLIENTS_PER_S: f64 = 27.5;
const SECONDS: f64 = 660.0;

/// What the target saw.
#[derive(Default)]
struct Book {
    /// When clients came.
    arrivals_ns: Vec<u64>,
    /// Of each token: its connection, and when each ping came.
    pings: Vec<(u64, Vec<u64>)>,
    /// Pings with a token that another connection was given, or none.
    strangers: u64,
}

/// Answers after 100 ms.
#[derive(Clone, Default)]
struct Station(Arc<Mutex<Book>>);

impl Responder for Station {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut book = self.0.lock().unwrap();
        let (at_ns, connection) = (request.arrival_ns, request.connection);
        let body = if request.path.starts_with("/token?id=") {
            book.arrivals_ns.push(at_ns);
            book.pings.push((connection, Vec::new()));
            format!(r#"{{"token":"{}"}}"#, book.pings.len() - 1)
        } else {
            let token = request.path.strip_prefix("/ping?token=");
            let token: Option<usize> = token.and_then(|token| token.parse().ok());
            match token.and_then(|token| book.pings.get_mut(token)) {
                Some((owner, pings)) if *owner == connection => pings.push(at_ns),
                _ => book.strangers += 1,
            }
            "pong".to_owned()
        };
        let answer = response(200, "application/json", body.as_bytes());
        Reply::at(at_ns + 100 * MILLISECOND_NS, answer)
    }
}

fn gaps_s(instants_ns: &[u64]) -> impl Iterator<Item = f64> {
    instants_ns.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9)
}

#[test]
fn nine_thousand_televisions() {
    if !crate::several::is_full() {
        eprintln!("SKIPPED: nine thousand televisions; SOJOURN_TESTS=full has them");
        return;
    }
    let station = Station::default();
    let server = Server::start(station.clone()).unwrap();
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("tv.js"), SCRIPT.replace("BASE", &server.url(""))).unwrap();
    std::fs::write(folder.path().join("stations.csv"), "id,name\n7,Seven\n12,Twelve\n").unwrap();
    let words = ["session", "run", "tv.js", "--quiet", "--format", "json", "--report", "r.json"];
    let run = sojourn(words).in_dir(folder.path()).timeout(Duration::from_secs(1_500));
    let output = run.run().unwrap();
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut book = std::mem::take(&mut *station.0.lock().unwrap());

    // The report counts what the target saw.
    let clients = book.arrivals_ns.len();
    let pings: usize = book.pings.iter().map(|(_, pings)| pings.len()).sum();
    let steps = report["journeys"][0]["steps"].as_array().unwrap();
    let requests = |name: &str| {
        let step = steps.iter().find(|step| step["name"] == name).unwrap();
        step["requests"].as_u64().unwrap() as usize
    };
    assert_eq!((requests("token"), requests("ping")), (clients, pings));
    assert_eq!(whole_run(&report, "completed"), clients);
    assert!(report["journeys"][0]["in_flight_max"].as_f64().unwrap() >= 8_500.0);
    // Everybody pings with the own token alone, as often as drawn, and all numbers are drawn.
    assert_eq!(book.strangers, 0);
    let mut drawn = [0usize; 41];
    for (_, pings) in &book.pings {
        drawn[pings.len().checked_sub(280).unwrap()] += 1;
    }
    let expected = clients as f64 / 41.0;
    assert!(drawn.iter().all(|&count| (count as f64 - expected).abs() < 5.0 * expected.sqrt()));
    // Clients come as a Poisson process.
    let mean = CLIENTS_PER_S * SECONDS;
    assert!((clients as f64 - mean).abs() < 4.0 * mean.sqrt(), "{clients}");
    book.arrivals_ns.sort_unstable();
    assert_exponential(&gaps_s(&book.arrivals_ns).collect::<Vec<_>>(), 0.02);
    // A pause is exponential of mean 1 s, and follows the answer, which takes 100 ms.
    let mut pauses = Vec::new();
    for (_, pings) in &mut book.pings {
        pings.sort_unstable();
        pauses.extend(gaps_s(pings).map(|gap| gap - 0.1));
    }
    let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
    assert!((0.98..1.03).contains(&mean), "{mean}");
    assert_exponential(&pauses, 0.01);
}
