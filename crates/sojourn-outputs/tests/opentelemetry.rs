//! OpenTelemetry's own messages and gRPC's own server: they take what is sent, and read in it what
//! the run had.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_metrics::{Store, names};
use sojourn_services::OpenTelemetry;

use crate::book::{Played, SECONDS, assert_whole, hop, journey_of, steady};

fn list(server: &OpenTelemetry, what: &str) -> Vec<Value> {
    let text = server.list(what).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{what}: {error}: {text}"))
}

/// The latest point of each stream, by its metric; every metric here has one.
fn latest(server: &OpenTelemetry) -> BTreeMap<String, Value> {
    let points = list(server, "points").into_iter();
    points.map(|point| (point["name"].as_str().unwrap().to_owned(), point)).collect()
}

fn check_points(server: &OpenTelemetry, store: &Store, start_unix_ns: u64) {
    let points = latest(server);
    assert_eq!(points.len(), 5, "{:?}", points.keys());
    for point in points.values() {
        let resource = &point["resource"];
        assert_eq!(
            (&resource["run"], &resource["service.name"]),
            (&json!("run-1"), &json!("sojourn"))
        );
        assert_eq!(resource["plan"], "a \"plan\", x=1");
        assert_eq!(point["start_unix_ns"].as_u64(), Some(start_unix_ns));
    }
    let started = &points["sojourn.journeys.started"];
    let count = store.counter(&steady(names::JOURNEYS_STARTED, &[("journey", "order")]));
    assert_eq!((started["value"].as_u64(), &started["unit"]), (Some(count), &json!("1")));
    assert_eq!((&started["is_monotonic"], &started["is_cumulative"]), (&json!(true), &json!(true)));
    let requests = &points["sojourn.step.requests"];
    assert_eq!(requests["value"].as_u64(), Some(SECONDS));
    let attributes =
        json!({ "journey": "order", "status": "201", "step": "a,b c", "phase": "steady" });
    assert_eq!(requests["attributes"], attributes);
    let stall = &points["sojourn.health.stall"];
    assert_eq!(stall["value"].as_f64(), Some(1.5 + (SECONDS - 1) as f64 / 1e3));
    assert_eq!((&stall["kind"], &stall["unit"]), (&json!("gauge"), &json!("s")));
    let (hops, exact) = (&points["sojourn.stage.hop"], store.trend(&hop()).unwrap());
    assert_eq!(hops["count"].as_u64(), Some(exact.count()));
    assert_eq!(hops["sum"].as_f64(), Some(exact.totals().sum as f64 / 1e9));
    assert_eq!(hops["min"].as_f64(), Some(exact.totals().min as f64 / 1e9));
    assert_eq!(hops["max"].as_f64(), Some(exact.totals().max as f64 / 1e9));
    let buckets = hops["buckets"].as_array().unwrap();
    let mut below = 0;
    for (bound, bucket) in hops["bounds"].as_array().unwrap().iter().zip(buckets) {
        below += bucket.as_u64().unwrap();
        let bound_ns = (bound.as_f64().unwrap() * 1e9).round() as u64;
        assert_eq!(below, exact.count_at_most(bound_ns), "at most {bound}");
    }
    let bytes = &points["sojourn.step.received"];
    assert_eq!((bytes["count"].as_u64(), &bytes["unit"]), (Some(SECONDS), &json!("By")));
}

fn check_spans(server: &OpenTelemetry, start_unix_ns: u64) {
    let spans = list(server, "spans");
    let mut traces: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for span in &spans {
        traces.entry(span["trace"].as_str().unwrap()).or_default().push(span);
    }
    assert_eq!((traces.len() as u64, spans.len() as u64), (SECONDS, SECONDS * 4));
    for second in 0..SECONDS {
        let journey = journey_of(second);
        let has_key = |spans: &&Vec<&Value>| {
            spans.iter().any(|span| span["attributes"]["key"] == *journey.key.as_ref().unwrap())
        };
        let own: Vec<_> = traces.values().filter(has_key).collect();
        assert_eq!(own.len(), 1, "second {second}");
        let own = own[0];
        let parents: Vec<_> = own.iter().filter(|span| span["parent"] == "").collect();
        assert_eq!(parents.len(), 1, "{own:?}");
        let parent = parents[0];
        let kind_and_name = (&parent["kind"], &parent["name"]);
        assert_eq!(kind_and_name, (&json!("SPAN_KIND_INTERNAL"), &json!("order")));
        if let Some(trace) = &journey.trace_id {
            assert_eq!(&parent["trace"], trace);
        }
        let lost = journey.class == "lost";
        let status = if lost { "STATUS_CODE_ERROR" } else { "STATUS_CODE_OK" };
        assert_eq!(parent["status"], status);
        assert_eq!(parent["events"][0]["attributes"]["kind"], "redelivery");
        let at = |ns: u64| json!(start_unix_ns + ns);
        assert_eq!(parent["start_unix_ns"], at(journey.t0_ns));
        assert_eq!(parent["end_unix_ns"], at(journey.end_ns));
        let seen = |stage: usize| journey.stages[stage].seen_ns.unwrap();
        // One whose predecessor was not seen has no hop.
        let expected = [
            ("step place", journey.t1_ns, journey.t2_ns.unwrap(), "SPAN_KIND_CLIENT"),
            ("hop to accepted", journey.t1_ns, seen(0), "SPAN_KIND_CONSUMER"),
            ("hop to shipped", seen(0), seen(3), "SPAN_KIND_CONSUMER"),
        ];
        for (name, start_ns, end_ns, kind) in expected {
            let span = own.iter().find(|span| span["name"] == name).unwrap();
            assert_eq!(span["parent"], parent["span"], "{name}");
            assert_eq!(span["start_unix_ns"], at(start_ns), "{name}");
            assert_eq!(span["end_unix_ns"], at(end_ns), "{name}");
            assert_eq!(span["kind"], kind, "{name}");
        }
    }
}

/// Both ways of a played run at once, each to a server of its own.
#[test]
fn its_own_messages_say_what_the_run_had() {
    let (over_http, over_grpc) = (OpenTelemetry::start().unwrap(), OpenTelemetry::start().unwrap());
    let targets =
        [format!("otlp={}", over_http.http_url()), format!("otlp-grpc={}", over_grpc.grpc_url())];
    let (accounts, store) = Played::to(&targets).whole();
    for (server, (account, over)) in
        [&over_http, &over_grpc].into_iter().zip(accounts.iter().zip(["http", "grpc"]))
    {
        assert_eq!(server.list("refused").unwrap(), "[]");
        assert_eq!(account.last_failure, None);
        assert_whole(account, true);
        let requests = list(server, "requests");
        assert_eq!(requests.len() as u64, SECONDS * 2);
        assert!(requests.iter().all(|request| request["over"] == over), "{requests:?}");
        let first = list(server, "points").swap_remove(0);
        let start_unix_ns = first["start_unix_ns"].as_u64().unwrap();
        check_points(server, &store, start_unix_ns);
        check_spans(server, start_unix_ns);
    }
}

/// What it refuses is told, with its reason, and counted.
#[test]
fn its_refusal_is_told() {
    let server = OpenTelemetry::start().unwrap();
    for url in [format!("otlp={}", server.http_url()), format!("otlp-grpc={}", server.grpc_url())] {
        // The same journeys twice: spans with ids that are there already.
        let mut failures = Vec::new();
        for _ in 0..2 {
            let (accounts, _) = Played::to(std::slice::from_ref(&url)).whole();
            failures.push((accounts[0].dropped.journeys, accounts[0].last_failure.clone()));
        }
        let (dropped, said) = failures.swap_remove(1);
        assert_eq!(dropped, SECONDS, "{said:?}");
        assert!(said.is_some_and(|said| said.contains("twice")));
    }
}
