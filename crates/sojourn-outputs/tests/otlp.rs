//! OpenTelemetry: receivers of both kinds that read with OpenTelemetry's own messages.

use std::collections::BTreeSet;

use opentelemetry_proto::tonic::{
    collector::{
        metrics::v1::ExportMetricsServiceResponse,
        metrics::v1::{ExportMetricsPartialSuccess, ExportMetricsServiceRequest},
        trace::v1::ExportTraceServiceRequest,
    },
    common::v1::any_value::Value,
    metrics::v1::{metric::Data, number_data_point::Value as Number},
};
use prost::Message;
use sojourn_metrics::names;

use crate::{
    book::{POINTS, Played, SECONDS, assert_whole, hop, journey_of, steady},
    collector::{Collector, Reply},
    receiver::{Manner, Receiver},
};

fn text(value: Option<&opentelemetry_proto::tonic::common::v1::AnyValue>) -> String {
    match value.and_then(|value| value.value.clone()) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// Holds what came against the run.
fn check(metrics: &[Vec<u8>], traces: &[Vec<u8>], store: &sojourn_metrics::Store) {
    let last = ExportMetricsServiceRequest::decode(metrics.last().unwrap().as_slice()).unwrap();
    let resource = &last.resource_metrics[0];
    let attributes = &resource.resource.as_ref().unwrap().attributes;
    assert!(attributes.iter().any(|it| it.key == "run" && text(it.value.as_ref()) == "run-1"));
    let metrics = &resource.scope_metrics[0].metrics;
    let metric = |name: &str| metrics.iter().find(|metric| metric.name == name).unwrap();
    let started = store.counter(&steady(names::JOURNEYS_STARTED, &[("journey", "order")]));
    let Some(Data::Sum(sum)) = &metric("sojourn.journeys.started").data else { panic!() };
    assert!(sum.is_monotonic && sum.aggregation_temporality == 2);
    assert_eq!(sum.data_points[0].value, Some(Number::AsInt(started as i64)));
    let Some(Data::Gauge(stall)) = &metric("sojourn.health.stall").data else { panic!() };
    let level = 1.5 + (SECONDS - 1) as f64 / 1e3;
    assert_eq!(stall.data_points[0].value, Some(Number::AsDouble(level)));
    let hops = metric("sojourn.stage.hop");
    assert_eq!(hops.unit, "s");
    let Some(Data::Histogram(histogram)) = &hops.data else { panic!() };
    let point = &histogram.data_points[0];
    let exact = store.trend(&hop()).unwrap();
    assert_eq!(point.count, exact.count());
    assert_eq!(point.bucket_counts.iter().sum::<u64>(), exact.count());
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    let at = point.explicit_bounds.iter().position(|bound| *bound == 0.1).unwrap();
    let below: u64 = point.bucket_counts[..=at].iter().sum();
    assert_eq!(below, exact.count_at_most(100_000_000));
    assert_eq!(point.max, Some(exact.totals().max as f64 / 1e9));
    assert!(point.time_unix_nano > point.start_time_unix_nano);
    let spans: Vec<_> = traces
        .iter()
        .flat_map(|body| {
            let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
            request.resource_spans[0].scope_spans[0].spans.clone()
        })
        .collect();
    // Each journey: itself, a step, two hops.
    assert_eq!(spans.len() as u64, SECONDS * 4);
    let ids: BTreeSet<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    assert_eq!(ids.len(), spans.len());
    for second in 0..SECONDS {
        let journey = journey_of(second);
        let of = &spans[second as usize * 4..][..4];
        assert!(of.iter().all(|span| span.trace_id == of[0].trace_id));
        if let Some(own) = &journey.trace_id {
            let id = sojourn_ledger::TraceId::of_hex(own).unwrap();
            assert_eq!(of[0].trace_id, id.bytes());
            assert_eq!(of[0].span_id, id.span().to_be_bytes());
        }
        assert!(of[0].parent_span_id.is_empty() && of[0].trace_id != [0; 16]);
        assert!(of[1..].iter().all(|span| span.parent_span_id == of[0].span_id));
        assert_eq!(of[0].events[0].name, "duplicate");
        let lost = if journey.class == "lost" { 2 } else { 1 };
        assert_eq!(of[0].status.as_ref().unwrap().code, lost);
        let names: Vec<_> = of.iter().map(|span| span.name.as_str()).collect();
        assert_eq!(names, ["order", "step place", "hop to accepted", "hop to shipped"]);
        let ms = |span: usize| {
            let since = |ns: u64| (ns - of[0].start_time_unix_nano) / 1_000_000;
            (since(of[span].start_time_unix_nano), since(of[span].end_time_unix_nano))
        };
        assert_eq!([ms(0), ms(1), ms(2), ms(3)], [(0, 890), (1, 20), (1, 90), (90, 890)]);
    }
}

#[test]
fn over_http_everything_arrives() {
    let receiver = Receiver::start(|_| Manner::Take(Vec::new()));
    let target = format!("otlp=http://127.0.0.1:{}/in", receiver.port);
    let (accounts, store) = Played::to(&[target]).whole();
    assert_whole(&accounts[0], true);
    let of = |path: &str| -> Vec<_> {
        let taken = receiver.taken();
        taken.into_iter().filter(|it| it.path == path).map(|it| it.body).collect()
    };
    let (metrics, traces) = (of("/in/v1/metrics"), of("/in/v1/traces"));
    assert_eq!((metrics.len() as u64, traces.len() as u64), (SECONDS, SECONDS));
    check(&metrics, &traces, &store);
}

#[test]
fn what_is_taken_in_part_is_counted() {
    let answer = ExportMetricsServiceResponse {
        partial_success: Some(ExportMetricsPartialSuccess {
            rejected_data_points: 2,
            error_message: "no".to_owned(),
        }),
    };
    let receiver = Receiver::start(move |number| match number {
        0 => Manner::Take(answer.encode_to_vec()),
        _ => Manner::Take(Vec::new()),
    });
    let target = format!("otlp=http://127.0.0.1:{}", receiver.port);
    let (accounts, _) = Played::to(&[target]).whole();
    assert_eq!(accounts[0].dropped.points, 2);
    assert_eq!(accounts[0].sent.points, SECONDS * POINTS - 2);
}

#[test]
fn over_grpc_everything_arrives() {
    // The fifth call is told to come again.
    let collector = Collector::start(|call| Reply::Status(if call == 4 { 14 } else { 0 }));
    let target = format!("otlp-grpc=http://127.0.0.1:{}", collector.port);
    let (accounts, store) = Played::to(&[target]).whole();
    assert_whole(&accounts[0], true);
    let said = accounts[0].last_failure.as_deref();
    assert_eq!(said, Some("the receiver answers with gRPC status 14 no"));
    let taken = collector.taken.lock().unwrap().clone();
    let of = |service: &str| -> Vec<_> {
        let path = format!("/opentelemetry.proto.collector.{service}/Export");
        taken.iter().filter(|(own, _)| *own == path).map(|(_, body)| body.clone()).collect()
    };
    check(&of("metrics.v1.MetricsService"), &of("trace.v1.TraceService"), &store);
}

#[test]
fn a_collector_that_knows_no_traces_costs_only_journeys() {
    // Metrics and traces take turns.
    let collector = Collector::start(|call| Reply::Status(if call % 2 == 1 { 12 } else { 0 }));
    let target = format!("otlp-grpc=http://127.0.0.1:{}", collector.port);
    let (accounts, _) = Played::to(&[target]).whole();
    assert_eq!(accounts[0].dropped.journeys, SECONDS);
    assert_eq!((accounts[0].dropped.frames, accounts[0].dropped.points), (0, 0));
}
