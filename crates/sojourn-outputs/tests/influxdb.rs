//! InfluxDB: a real one of version 1, and what one of version 2 would get.

use serde_json::Value;
use sojourn_metrics::names;
use sojourn_services::{InfluxDb, PASSWORD, USER};

use crate::{
    book::{Played, SECONDS, assert_whole, hop, steady},
    receiver::{Manner, Receiver},
};

/// The first field of the first row.
fn first(server: &InfluxDb, query: &str) -> f64 {
    let text = server.query("load tests", query).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let value = answer["results"][0]["series"][0]["values"][0][1].as_f64();
    value.unwrap_or_else(|| panic!("{query} yields {text}"))
}

#[test]
fn a_real_server_has_what_there_was() {
    let server = InfluxDb::start().unwrap();
    let (accounts, store) =
        Played::to(&[format!("influxdb={}/load%20tests", server.url_with_password())]).whole();
    assert_whole(&accounts[0], false);
    assert_eq!(accounts[0].last_failure, None);
    assert!(!accounts[0].what.contains(PASSWORD) && !accounts[0].what.contains(USER));
    let sum = |measurement: &str, field: &str| -> f64 {
        let query = format!("SELECT SUM({field}) FROM {measurement}");
        first(&server, &query)
    };
    let started = store.counter(&steady(names::JOURNEYS_STARTED, &[("journey", "order")]));
    assert_eq!(sum("sojourn_journeys_started_total", "added"), started as f64);
    let hops = store.trend(&hop()).unwrap();
    assert_eq!(sum("sojourn_stage_hop_seconds", "added"), hops.count() as f64);
    let total_s = hops.totals().sum as f64 / 1e9;
    assert!((sum("sojourn_stage_hop_seconds", "sum") - total_s).abs() < 1e-9 * total_s);
    let query = "SELECT LAST(value) FROM sojourn_health_stall_seconds";
    let last = first(&server, query);
    assert_eq!(last, 1.5 + (SECONDS - 1) as f64 / 1e3);
    // Tags with commas, spaces and equals signs come back as they were.
    let query = "SELECT COUNT(total) FROM sojourn_step_requests_total \
                 WHERE step = 'a,b c' AND plan = 'a \"plan\", x=1' AND run = 'run-1'";
    assert_eq!(first(&server, query), SECONDS as f64);
}

#[test]
fn one_of_version_2_gets_its_bucket_and_lines() {
    let receiver = Receiver::start(|_| Manner::Take(Vec::new()));
    let target =
        format!("influxdb2=http://me:s3cret@127.0.0.1:{}?org=o%20o&bucket=b", receiver.port);
    let (accounts, _) = Played::to(&[target]).whole();
    assert_whole(&accounts[0], false);
    let asked = receiver.taken();
    assert_eq!(asked.len() as u64, SECONDS);
    assert_eq!(asked[0].path, "/api/v2/write?org=o+o&bucket=b&precision=ns");
    assert_eq!(asked[0].header("authorization"), Some("Basic bWU6czNjcmV0"));
    let text = String::from_utf8(asked[0].body.clone()).unwrap();
    assert!(text.contains("sojourn_stage_hop_seconds,plan="), "{text}");
    assert!(text.contains(" added=200i,total=200i,"), "{text}");
}
