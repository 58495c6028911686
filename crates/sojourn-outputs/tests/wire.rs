//! What other outputs are made of: clients of receivers, and messages.

use std::{io::Write, time::Duration};

use opentelemetry_proto::tonic::{
    collector::metrics::v1::ExportMetricsServiceRequest, metrics::v1::metric::Data,
};
use prost::Message;
use sojourn_outputs::wire::{
    Channel, Endpoint, Failure, Figure, Labelled, LabelledValue, METRICS, Poster, Reading,
    Security, Sender, WRITE_HEADERS, message, rejected, write_request,
};
use sojourn_services::Prometheus;
use url::Url;

use crate::{
    collector::{Collector, Reply},
    receiver::{Manner, Receiver},
    tls::before,
};

const TIMEOUT: Duration = Duration::from_secs(20);

fn sender() -> Sender {
    let resource = vec![("service.name".to_owned(), "shop".to_owned())];
    Sender { resource, scope: "load".to_owned(), start_unix_ns: 1_000 }
}

fn figure(name: &str, kind: &str, reading: Reading) -> Figure {
    let attributes = vec![("kind".to_owned(), kind.to_owned())];
    Figure { name: name.to_owned(), unit: "ms", attributes, reading }
}

#[test]
fn a_channel_carries_plain_figures() {
    let collector = Collector::start(|_| Reply::Status(0));
    let url = Url::parse(&format!("http://127.0.0.1:{}", collector.port)).unwrap();
    let endpoint = Endpoint::new(&url, &[]).unwrap();
    let mut channel = Channel::new(&endpoint, &Security::default()).unwrap();
    let spread = Reading::Spread {
        count: 3,
        sum: 7.5,
        min: 0.5,
        max: 6.0,
        bounds: &[1.0, 5.0],
        buckets: vec![1, 1, 1],
    };
    let figures = vec![
        figure("paid", "a", Reading::Sum(1.5)),
        figure("paid", "b", Reading::Sum(2.5)),
        figure("seen", "a", Reading::Count(7)),
        figure("took", "a", spread),
    ];
    let answer = channel.call(METRICS, &message(&sender(), 2_000, figures), TIMEOUT).unwrap();
    assert_eq!(rejected(&answer), 0);
    let (_, body) = collector.taken.lock().unwrap()[0].clone();
    let request = ExportMetricsServiceRequest::decode(body.as_slice()).unwrap();
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["paid", "seen", "took"]);
    let Some(Data::Sum(paid)) = &metrics[0].data else { panic!() };
    assert_eq!(paid.data_points.len(), 2);
    assert_eq!(paid.data_points[1].start_time_unix_nano, 1_000);
    let Some(Data::Histogram(took)) = &metrics[2].data else { panic!() };
    let point = &took.data_points[0];
    assert_eq!((point.count, point.sum, point.min), (3, Some(7.5), Some(0.5)));
    assert_eq!(
        (&point.bucket_counts[..], &point.explicit_bounds[..]),
        (&[1, 1, 1][..], &[1.0, 5.0][..])
    );
}

#[test]
fn labelled_samples_are_prometheus_own() {
    let server = Prometheus::start("").unwrap();
    let url = Url::parse(&format!("{}/api/v1/write", server.url())).unwrap();
    let poster = Poster::new(&Endpoint::new(&url, &[]).unwrap(), &Security::default()).unwrap();
    let anchor = sojourn_clock::Anchor::now();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let labels = vec![pair("z", "last"), pair("__name__", "k6_paid"), pair("none", "")];
    let unix_ms = i64::try_from(anchor.unix_ns / 1_000_000).unwrap();
    let body = write_request(vec![Labelled { labels, value: LabelledValue::Number(2.5), unix_ms }])
        .unwrap();
    poster.post(&url, &WRITE_HEADERS, &body, TIMEOUT).unwrap();
    let answer = server.query("last_over_time(k6_paid{z=\"last\",none=\"\"}[10m])").unwrap();
    assert!(answer.contains("\"2.5\""), "{answer}");
}

#[test]
fn credentials_become_headers_and_show_nowhere() {
    let receiver = Receiver::start(|_| Manner::Take(Vec::new()));
    let url = format!("http://me:s3cret@127.0.0.1:{}/in?x=s3cret", receiver.port);
    let headers = [("X-Key".to_owned(), "t0ken".to_owned())];
    let endpoint = Endpoint::new(&Url::parse(&url).unwrap(), &headers).unwrap();
    let shown = format!("{endpoint:?}");
    assert!(!shown.contains("s3cret") && !shown.contains("t0ken"), "{shown}");
    let poster = Poster::new(&endpoint, &Security::default()).unwrap();
    poster.post(&poster.url("/here"), &[], b"x", TIMEOUT).unwrap();
    let asked = &receiver.taken()[0];
    assert_eq!(asked.path, "/in/here");
    assert_eq!(asked.header("authorization"), Some("Basic bWU6czNjcmV0"));
    assert_eq!(asked.header("x-key"), Some("t0ken"));
    let broken = [("X-Key".to_owned(), "a\nb".to_owned())];
    let told = Endpoint::new(&Url::parse(&url).unwrap(), &broken).unwrap_err();
    assert_eq!(told, "what the header `X-Key` gives cannot stand in a header");
}

#[test]
fn certificates_are_verified_unless_they_need_not_be() {
    let receiver = Receiver::start(|_| Manner::Take(Vec::new()));
    let (port, pem) = before(receiver.port, b"http/1.1");
    let url = Url::parse(&format!("https://localhost:{port}")).unwrap();
    let endpoint = Endpoint::new(&url, &[]).unwrap();
    let post = |security: &Security| {
        let poster = Poster::new(&endpoint, security).unwrap();
        poster.post(&poster.url("/"), &[], b"x", TIMEOUT)
    };
    let Err(Failure::Again(told)) = post(&Security::default()) else { panic!("it was trusted") };
    assert!(told.contains("certificate"), "{told}");
    post(&Security { is_unverified: true, ..Security::default() }).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    let ca_file = Some(file.path().to_owned());
    post(&Security { ca_file, ..Security::default() }).unwrap();
    assert_eq!(receiver.taken().len(), 2);
    let unverified = Security { is_unverified: true, ..Security::default() };
    let told = Channel::new(&endpoint, &unverified).err().unwrap();
    assert!(told.contains("always verified"), "{told}");
}
