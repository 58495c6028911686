//! What the samples of a request cost where they are recorded. One line per figure.

#![expect(clippy::print_stdout, reason = "a benchmark's result")]

use std::hint::black_box;
use std::sync::Arc;

use sojourn_clock::now_ns;
use sojourn_k6::metrics::{MetricId, Registry, Shard, ShardOptions, TagSets, Totals, builtin};

const REQUESTS: usize = 20_000;
const ROUNDS: usize = 60;

/// The samples of one HTTP request and its check.
const METRICS: [MetricId; 10] = [
    builtin::HTTP_REQS,
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
    builtin::HTTP_REQ_FAILED,
    builtin::HTTP_REQ_RESPONSE,
];

const OVERLAY: [(&str, &str); 8] = [
    ("expected_response", "true"),
    ("group", "::the shop::checkout"),
    ("method", "POST"),
    ("name", "http://127.0.0.1:8080/payments/${id}"),
    ("proto", "HTTP/1.1"),
    ("status", "200"),
    ("tls_version", "tls1.3"),
    ("url", "http://127.0.0.1:8080/payments/${id}"),
];

fn main() {
    let registry = Registry::new();
    let mut sets = TagSets::new(registry.matcher());
    let base = Arc::clone(sets.empty());
    let base = sets.with(&base, &[("scenario", "default")]);
    report("tags_with_8_pairs", REQUESTS, || {
        for _ in 0..REQUESTS {
            black_box(sets.with(black_box(&base), black_box(&OVERLAY)));
        }
    });
    for (name, samples_max) in [("request_of_10_samples", 0), ("request_with_output", 1 << 20)] {
        let mut shard = Shard::new(ShardOptions { samples_max, ..ShardOptions::default() });
        let mut spare = Vec::with_capacity(samples_max);
        let mut totals = Totals::default();
        report(name, REQUESTS, || {
            for k in 0..REQUESTS {
                let tags = sets.with(black_box(&base), black_box(&OVERLAY));
                for metric in METRICS {
                    shard.add(metric, &tags, k as u64, (k % 977) as f64 * 0.37);
                }
            }
            // As after a second at this rate.
            totals.merge(shard.take());
            spare = shard.take_samples(std::mem::take(&mut spare));
        });
    }
    let mut shard = Shard::new(ShardOptions::default());
    let tags = sets.with(&base, &[("check", "the status is 200")]);
    report("check", REQUESTS, || {
        for k in 0..REQUESTS {
            shard.check("::the shop", black_box("the status is 200"), &tags, k as u64, true);
        }
    });
}

/// The best of many rounds: what the code costs without the neighbours.
fn report(name: &str, count: usize, mut round: impl FnMut()) {
    let mut best_ns = u64::MAX;
    for _ in 0..ROUNDS {
        let begun = now_ns();
        round();
        best_ns = best_ns.min(now_ns() - begun);
    }
    println!("{name:32} {:10.1} ns/op", best_ns as f64 / count as f64);
}
