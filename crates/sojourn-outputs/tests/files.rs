//! Files: lines of JSON, and Parquet read by its own crate.

use serde_json::Value;
use sojourn_metrics::names;

use crate::book::{POINTS, Played, SECONDS, assert_whole, hop, steady};

#[test]
fn every_point_and_journey_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.ndjson");
    let (accounts, store) = Played::to(&[format!("ndjson={}", path.display())]).whole();
    assert_whole(&accounts[0], true);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (journeys, points): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| line.get("journey").is_some());
    assert_eq!((journeys.len() as u64, points.len() as u64), (SECONDS, SECONDS * POINTS));
    assert_eq!(journeys[3]["journey"]["key"], "order:3");
    let added = |metric: &str| -> u64 {
        let of = points.iter().filter(|point| point["metric"] == metric);
        of.map(|point| point["added"].as_u64().unwrap()).sum()
    };
    let started = store.counter(&steady(names::JOURNEYS_STARTED, &[("journey", "order")]));
    assert_eq!(added("sojourn_journeys_started_total"), started);
    assert_eq!(added("sojourn_stage_hop_seconds"), store.trend(&hop()).unwrap().count());
    let last = points.iter().rfind(|it| it["metric"] == "sojourn_stage_hop_seconds").unwrap();
    assert_eq!(last["labels"]["stage"], "shipped");
    assert_eq!(last["total"], store.trend(&hop()).unwrap().count());
    let p50 = last["p50"].as_f64().unwrap();
    let exact = 0.1 + 11.0 * 0.000_077_777;
    assert!((p50 - exact).abs() <= exact / 1_000.0, "{p50} is not {exact}");
    assert!(last["time"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn a_file_that_cannot_be_made_is_said_before_the_run() {
    let run = crate::book::run();
    let target = sojourn_outputs::Target::parse("ndjson=/no/such/folder/x").unwrap();
    let said = sojourn_outputs::Outputs::open(&[target], &run).unwrap_err().to_string();
    assert!(said.contains("ndjson=/no/such/folder/x") && said.contains("cannot write"), "{said}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_every_point() {
    use parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::RowAccessor,
    };

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.parquet");
    let (accounts, store) = Played::to(&[format!("parquet={}", path.display())]).whole();
    assert_whole(&accounts[0], false);
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let (mut rows, mut started, mut hops) = (0, 0, 0);
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        rows += 1;
        assert_eq!(row.get_string(1).unwrap(), "run-1");
        match row.get_string(3).unwrap().as_str() {
            "sojourn_journeys_started_total" => {
                started += row.get_long(9).unwrap();
                assert!(row.get_double(14).is_err(), "a counter has no p50");
            }
            "sojourn_stage_hop_seconds" => {
                hops += row.get_long(9).unwrap();
                assert_eq!(row.get_string(7).unwrap(), "shipped");
                assert!((0.1..0.102).contains(&row.get_double(14).unwrap()));
            }
            "sojourn_health_stall_seconds" => {
                assert!((1.5..1.6).contains(&row.get_double(11).unwrap()));
            }
            _ => {}
        }
    }
    assert_eq!(rows, SECONDS * POINTS);
    let key = steady(names::JOURNEYS_STARTED, &[("journey", "order")]);
    assert_eq!(started as u64, store.counter(&key));
    assert_eq!(hops as u64, store.trend(&hop()).unwrap().count());
}
