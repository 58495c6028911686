//! What the mock tells of itself: Prometheus' text format at `/_sojourn/metrics`.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use crate::book::fault::Fault;
use crate::desk::Office;
use crate::message::{Body, Message};
use crate::server::{Figures, HoldTimes, Request};

/// Paths below this belong to the mock itself.
pub(crate) const PREFIX: &str = "/_sojourn/";

/// Upper ends of the histograms' buckets, in seconds as written and in nanoseconds.
const BOUNDS: [(&str, u64); 21] = [
    ("0.00005", 50_000),
    ("0.0001", 100_000),
    ("0.00025", 250_000),
    ("0.0005", 500_000),
    ("0.001", 1_000_000),
    ("0.0025", 2_500_000),
    ("0.005", 5_000_000),
    ("0.01", 10_000_000),
    ("0.025", 25_000_000),
    ("0.05", 50_000_000),
    ("0.1", 100_000_000),
    ("0.25", 250_000_000),
    ("0.5", 500_000_000),
    ("0.75", 750_000_000),
    ("1", 1_000_000_000),
    ("2.5", 2_500_000_000),
    ("5", 5_000_000_000),
    ("10", 10_000_000_000),
    ("30", 30_000_000_000),
    ("60", 60_000_000_000),
    ("300", 300_000_000_000),
];

/// The answer to a request below [`PREFIX`].
pub(crate) fn answer(office: &Office, request: &Request<'_>) -> Message {
    match request.route() {
        "/_sojourn/metrics" => {
            let figures = office.meter.get().map(crate::server::Meter::figures);
            let text = prometheus(office, &figures.unwrap_or_default());
            let headers = [("content-type", b"text/plain; version=0.0.4".as_slice())];
            Message::new(200, headers, Body::Bytes(text.into_bytes().into()))
        }
        "/_sojourn/health" => Message::text(200, "text/plain", b"ok\n"),
        _ => {
            Message::text(404, "text/plain", b"there are /_sojourn/metrics and /_sojourn/health\n")
        }
    }
}

/// The figures as text.
fn prometheus(office: &Office, figures: &Figures) -> String {
    let mut out = String::with_capacity(8 * 1024);
    let mut one = |name: &str, kind: &str, help: &str, value: u64| {
        head(&mut out, name, kind, help);
        let _written = writeln!(out, "sojourn_mock_{name} {value}");
    };
    one("connections_total", "counter", "Connections accepted.", figures.accepted);
    one("connections_open", "gauge", "Connections open now.", figures.open);
    let help = "Connections closed at once: too many, or no descriptor left.";
    one("connections_refused_total", "counter", help, figures.connections_refused);
    one("requests_total", "counter", "Whole, well-formed requests.", figures.requests);
    let help = "What was not HTTP, too long or too slow.";
    one("requests_bad_total", "counter", help, figures.requests_bad);
    let help = "Requests that no route fits.";
    one("requests_unmatched_total", "counter", help, office.unmatched.load(Ordering::Relaxed));
    let help = "Requests answered 429 by a rate limit.";
    one("requests_limited_total", "counter", help, office.limited.load(Ordering::Relaxed));
    let help = "Requests whose client left before the answer.";
    one("requests_abandoned_total", "counter", help, figures.abandoned);
    one("requests_held", "gauge", "Requests held now.", figures.held);
    one("received_bytes_total", "counter", "Bytes received.", figures.bytes_in);
    one("sent_bytes_total", "counter", "Bytes sent.", figures.bytes_out);
    if let Some(callbacks) = office.courier.as_ref().map(crate::callbacks::Courier::figures) {
        let help = "Callbacks taken in.";
        one("callbacks_total", "counter", help, callbacks.accepted);
        let help = "Callbacks answered 2xx or acknowledged.";
        one("callbacks_done_total", "counter", help, callbacks.done);
        one("callbacks_failed_total", "counter", "Callbacks that failed.", callbacks.failed);
        let help = "Callbacks not taken in.";
        one("callbacks_refused_total", "counter", help, callbacks.refused);
        one("callbacks_waiting", "gauge", "Callbacks without an end now.", callbacks.waiting());
    }
    let help = "Callbacks that failed or were not taken in, by reason.";
    head(&mut out, "callback_failures_total", "counter", help);
    for (reason, count) in office.courier.iter().flat_map(crate::callbacks::Courier::reasons) {
        let name = format!("callback_failures_total{{reason=\"{}\"}}", escaped(&reason));
        let _written = writeln!(out, "sojourn_mock_{name} {count}");
    }
    head(&mut out, "responses_total", "counter", "Answers by status.");
    for (status, count) in &figures.statuses {
        let _written = writeln!(out, "sojourn_mock_responses_total{{code=\"{status}\"}} {count}");
    }
    head(&mut out, "faults_total", "counter", "Answers that went wrong on purpose.");
    for (name, count) in Fault::NAMES.iter().zip(&office.faults) {
        let count = count.load(Ordering::Relaxed);
        let _written = writeln!(out, "sojourn_mock_faults_total{{kind=\"{name}\"}} {count}");
    }
    let book = office.book();
    if book.counts() {
        head(&mut out, "route_requests_total", "counter", "Requests by route.");
        for route in &book.routes {
            let name = escaped(&route.name);
            let count = route.requests.load(Ordering::Relaxed);
            let name = format!("sojourn_mock_route_requests_total{{route=\"{name}\"}}");
            let _written = writeln!(out, "{name} {count}");
        }
    }
    let help = "How long answers were really held.";
    histogram(&mut out, "hold_seconds", help, &figures.hold);
    let help = "How much longer than intended answers were held.";
    histogram(&mut out, "overshoot_seconds", help, &figures.overshoot);
    let help = "Quantiles of the overshoots since the start, to the mock's own resolution.";
    quantiles(&mut out, "overshoot_quantile_seconds", help, &figures.overshoot);
    out
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _written =
        write!(out, "# HELP sojourn_mock_{name} {help}\n# TYPE sojourn_mock_{name} {kind}\n");
}

/// What the buckets of [`histogram`] are too coarse for. Those of several mocks can't be merged.
fn quantiles(out: &mut String, name: &str, help: &str, times: &HoldTimes) {
    head(out, name, "gauge", help);
    for (written, quantile) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("0.999", 0.999)] {
        let Some(ns) = times.histogram.quantile(quantile) else { continue };
        let seconds = ns as f64 / 1e9;
        let _written = writeln!(out, "sojourn_mock_{name}{{quantile=\"{written}\"}} {seconds}");
    }
}

fn histogram(out: &mut String, name: &str, help: &str, times: &HoldTimes) {
    head(out, name, "histogram", help);
    let mut buckets = times.histogram.buckets().peekable();
    let mut below = 0;
    for (written, bound_ns) in BOUNDS {
        // A bucket of ours belongs to the first bound that is not below its greatest value.
        while let Some((_, _, count)) = buckets.next_if(|(_, greatest, _)| *greatest <= bound_ns) {
            below += count;
        }
        let _written = writeln!(out, "sojourn_mock_{name}_bucket{{le=\"{written}\"}} {below}");
    }
    let count = times.histogram.count();
    let _written = writeln!(out, "sojourn_mock_{name}_bucket{{le=\"+Inf\"}} {count}");
    let seconds = times.sum_ns as f64 / 1e9;
    let _written = writeln!(out, "sojourn_mock_{name}_sum {seconds}");
    let _written = writeln!(out, "sojourn_mock_{name}_count {count}");
}
