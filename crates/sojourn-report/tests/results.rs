//! Reports on attack results against what Vegeta 12.12 printed for the same input, byte for byte.
//!
//! `golden/vegeta/attack*` are reports on the files that `vegeta attack` and `vegeta encode` wrote
//! (`sojourn-record/tests/fixtures`), `mixed*` on the results that are made up here.

use std::io::Cursor;

use sojourn_record::results::{AttackResult, Detail, ResultReader, Timestamp};
use sojourn_report::results::{Layout, Metrics};

/// Layout, buckets, and what Vegeta printed.
type Report = (&'static str, &'static str, &'static str);

const ATTACK: [Report; 5] = [
    ("text", "", include_str!("golden/vegeta/attack.text")),
    ("json", "", include_str!("golden/vegeta/attack.json")),
    ("json", "[0,1ms,10ms,50ms]", include_str!("golden/vegeta/attack-buckets.json")),
    ("hist[1ms,2ms,4ms,8ms,16ms,32ms,64ms]", "", include_str!("golden/vegeta/attack.hist")),
    ("hdrplot", "", include_str!("golden/vegeta/attack.hdrplot")),
];

const MIXED: [Report; 5] = [
    ("text", "", include_str!("golden/vegeta/mixed.text")),
    ("json", "", include_str!("golden/vegeta/mixed.json")),
    ("json", "[0,1ms,10ms,100ms,1s]", include_str!("golden/vegeta/mixed-buckets.json")),
    ("hist", "[500us, 1ms, 2ms,3ms,100ms,1s,10s]", include_str!("golden/vegeta/mixed.hist")),
    ("hdrplot", "", include_str!("golden/vegeta/mixed.hdrplot")),
];

fn check(reports: &[Report], mut add_all: impl FnMut(&mut Metrics)) {
    for (layout, buckets, expected) in reports {
        let (layout, buckets) = Layout::parse(layout, buckets).expect("a report");
        let mut metrics = Metrics::new(buckets);
        add_all(&mut metrics);
        assert_eq!(layout.print(&mut metrics), *expected);
    }
}

#[test]
fn reports_on_an_attack_are_vegetas_whatever_its_encoding() {
    let files: [&[u8]; 3] = [
        include_bytes!("../../sojourn-record/tests/fixtures/attack.bin"),
        include_bytes!("../../sojourn-record/tests/fixtures/attack.json"),
        include_bytes!("../../sojourn-record/tests/fixtures/attack.csv"),
    ];
    for file in files {
        check(&ATTACK, |metrics| {
            let mut reader =
                ResultReader::new("file", Box::new(Cursor::new(file)), Detail::Figures);
            while reader.advance().expect("a record") {
                metrics.add(0, &reader.current());
            }
        });
    }
}

/// Thirty thousand results with a long tail, many codes and some errors: enough for many merges of
/// the digest.
#[test]
fn reports_on_made_up_results_are_vegetas() {
    let errors = [
        "",
        "500 Internal Server Error",
        "Get \"http://h/?a=1&b=<2>\": EOF",
        "net/http: timeout awaiting response headers",
    ];
    check(&MIXED, |metrics| {
        let mut state = 20_261_121u64;
        let mut next = || {
            const FACTOR: u64 = 6_364_136_223_846_793_005;
            state = state.wrapping_mul(FACTOR).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        for seq in 0..30_000u64 {
            let [a, b, c, d] = [next(), next(), next(), next()];
            let mut latency_ns = 200_000 + a % 3_000_000;
            latency_ns += if b % 20 == 0 { a % 400_000_000 } else { 0 };
            latency_ns += if b % 1_000 == 1 { 5_000_000_000 + a } else { 0 };
            let kind = if c % 8 == 0 { 1 + c / 8 % 3 } else { 0 } as usize;
            let unix_ns = 1_700_000_000_000_000_000 + (seq * 250_000 + d % 100_000) as i64;
            metrics.add(
                0,
                &AttackResult {
                    timestamp: Timestamp::utc(unix_ns),
                    code: [[200, 204, 301][(c % 3) as usize], 500, 0, 0][kind],
                    latency_ns: latency_ns as i64,
                    bytes_out: c % 512,
                    bytes_in: d % 100_000,
                    error: errors[kind].as_bytes(),
                    ..AttackResult::default()
                },
            );
        }
    });
}

#[test]
fn without_results_every_layout_is_zeros() {
    let print = |layout| {
        let (layout, buckets) = Layout::parse(layout, "").expect("a report");
        layout.print(&mut Metrics::new(buckets))
    };
    let text = print("text");
    assert!(text.contains("Requests      [total, rate, throughput]         0, 0.00, 0.00\n"));
    assert!(
        text.contains(
            "Latencies     [min, mean, 50, 90, 95, 99, max]  0s, 0s, 0s, 0s, 0s, 0s, 0s\n"
        )
    );
    assert!(text.contains("Success       [ratio]                           0.00%\n"));
    assert!(text.ends_with("\nError Set:\n"));
    assert_eq!(
        print("json"),
        "{\"latencies\":{\"total\":0,\"mean\":0,\"50th\":0,\"90th\":0,\"95th\":0,\"99th\":0,\
         \"max\":0,\"min\":0},\"bytes_in\":{\"total\":0,\"mean\":0},\"bytes_out\":{\"total\":0,\
         \"mean\":0},\"earliest\":\"0001-01-01T00:00:00Z\",\"latest\":\"0001-01-01T00:00:00Z\",\
         \"end\":\"0001-01-01T00:00:00Z\",\"duration\":0,\"wait\":0,\"requests\":0,\"rate\":0,\
         \"throughput\":0,\"success\":0,\"status_codes\":{},\"errors\":[]}\n"
    );
    assert_eq!(print("hist[1ms]").lines().count(), 3);
    assert!(!print("hdrplot").contains("NaN"));
}
