//! Scripts' outputs to real receivers, held against the samples that the same run wrote to a file
//! and against its summary.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    NumberDataPoint, number_data_point::Value as Number,
};
use prost::Message as _;
use serde_json::Value;
use sojourn_testkit::services::{InfluxDb, OpenTelemetry, PASSWORD, Prometheus, USER};
use sojourn_testkit::{Output, free_port, sojourn, temp_dir};

use crate::mock::Mocked;

mod native;

/// A sample as the file has it.
#[derive(Debug)]
struct Sample {
    metric: String,
    value: f64,
    tags: BTreeMap<String, String>,
}

/// A run of the script of this folder.
struct Played {
    output: Output,
    summary: Value,
    samples: Vec<Sample>,
}

impl Played {
    /// Runs it with these outputs besides the file.
    fn new(outs: &[&str], variables: &[(&str, &str)]) -> Self {
        let target = Mocked::start(&[], &["--latency", "2ms"]);
        let folder = temp_dir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k6_outputs/everything.js");
        let mut arguments = vec!["k6".to_owned(), "run".to_owned()];
        arguments.push(format!("--summary-export={}", path("summary.json").display()));
        arguments.push(format!("--out=json={}", path("samples.json").display()));
        arguments.extend(outs.iter().map(|out| format!("--out={out}")));
        arguments.extend(["-e".to_owned(), format!("TARGET=http://{}", target.address)]);
        arguments.push(script.display().to_string());
        let mut program = sojourn(&arguments).timeout(Duration::from_secs(120));
        for (name, value) in variables {
            program = program.env(name, value);
        }
        let output = program.run().unwrap();
        let text = |name: &str| std::fs::read_to_string(path(name)).unwrap_or_default();
        let lines = text("samples.json");
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let samples = lines.filter(|line| line["type"] == "Point").map(|line| Sample {
            metric: line["metric"].as_str().unwrap().to_owned(),
            value: line["data"]["value"].as_f64().unwrap(),
            tags: serde_json::from_value(line["data"]["tags"].clone()).unwrap(),
        });
        let samples = samples.collect();
        let summary = serde_json::from_str(&text("summary.json")).unwrap_or_default();
        Self { output, summary, samples }
    }

    /// Nothing was lost, and no secret told.
    fn whole(self) -> Self {
        assert_eq!(self.output.code, Some(0), "{}", self.output);
        assert!(!self.output.stderr.contains("incomplete"), "{}", self.output);
        assert!(!self.output.stdout.contains(PASSWORD), "{}", self.output);
        assert!(!self.output.stderr.contains(PASSWORD), "{}", self.output);
        assert!(self.samples.len() > 400, "{}", self.output);
        self
    }

    /// What the summary says of a metric.
    fn of(&self, metric: &str, aggregate: &str) -> f64 {
        let found = self.summary["metrics"][metric][aggregate].as_f64();
        found.unwrap_or_else(|| panic!("{metric} has no {aggregate}: {}", self.summary))
    }

    fn metrics(&self) -> BTreeSet<&str> {
        self.samples.iter().map(|sample| sample.metric.as_str()).collect()
    }

    /// Values of a metric's samples that have this tag.
    fn values(&self, metric: &str, tag: &str, value: &str) -> Vec<f64> {
        let is_it = |sample: &&Sample| {
            sample.metric == metric
                && (tag.is_empty() || sample.tags.get(tag).is_some_and(|own| own == value))
        };
        self.samples.iter().filter(is_it).map(|sample| sample.value).collect()
    }
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= 1e-9 * expected.abs().max(1.0), "{what}: {found}, not {expected}");
}

#[test]
fn influxdb_has_every_sample() {
    let server = InfluxDb::start().unwrap();
    let out = format!("influxdb={}/load", server.url_with_password());
    let variables = [
        ("K6_INFLUXDB_PUSH_INTERVAL", "100ms"),
        ("K6_INFLUXDB_TAGS_AS_FIELDS", "vu:int,iter:int,url"),
    ];
    let played = Played::new(&[&out], &variables).whole();
    let first = |query: &str| -> f64 {
        let text = server.query("load", query).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let value = answer["results"][0]["series"][0]["values"][0][1].as_f64();
        value.unwrap_or_else(|| panic!("{query} yields {text}"))
    };
    for metric in played.metrics() {
        let values = played.values(metric, "", "");
        let count = first(&format!("SELECT COUNT(value) FROM {metric}"));
        assert_near(count, values.len() as f64, metric);
        let sum = first(&format!("SELECT SUM(value) FROM {metric}"));
        assert_near(sum, values.iter().sum(), metric);
    }
    // Tags with quotes, commas and equals signs are as they were; URL, user and iteration are
    // fields.
    let sum =
        first("SELECT SUM(value) FROM counted WHERE kind = 'a b' AND testid = 'a \"test\", x=1'");
    assert_near(sum, 120.0, "counted");
    let odd = first("SELECT COUNT(value) FROM http_reqs WHERE url =~ /id=1$/ AND status = '200'");
    let is_odd = |sample: &&Sample| {
        sample.metric == "http_reqs" && sample.tags.get("url").is_some_and(|it| it.ends_with('1'))
    };
    assert_near(odd, played.samples.iter().filter(is_odd).count() as f64, "http_reqs");
    let iterations = first("SELECT MAX(iter) FROM http_reqs");
    let levels = played.values("level", "", "");
    assert_near(iterations, levels.iter().fold(0.0, |most, it| f64::max(most, *it)), "iter");
    assert_near(first("SELECT COUNT(vu) FROM http_reqs WHERE vu >= 1 AND vu <= 20"), 40.0, "vu");
}

#[test]
fn prometheus_has_the_summarys_figures() {
    let server = Prometheus::start("").unwrap();
    let url = format!("{}/api/v1/write", server.url());
    let variables = [
        ("K6_PROMETHEUS_RW_SERVER_URL", url.as_str()),
        ("K6_PROMETHEUS_RW_PUSH_INTERVAL", "100ms"),
        ("K6_PROMETHEUS_RW_TREND_STATS", "count,sum,min,avg,med,p(95),p(99.9),max"),
        ("K6_PROMETHEUS_RW_LABELS", "server=one,testid=never"),
    ];
    let played = Played::new(&["experimental-prometheus-rw"], &variables).whole();
    let query = |metric: &str| -> Vec<f64> {
        let text = server.query(&format!("last_over_time({metric}[10m])")).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let result = answer["data"]["result"].as_array();
        let result = result.unwrap_or_else(|| panic!("{metric} yields {text}"));
        result.iter().map(|it| it["value"][1].as_str().unwrap().parse().unwrap()).collect()
    };
    let only = |metric: &str| -> f64 {
        let values = query(metric);
        assert_eq!(values.len(), 1, "{metric}: {values:?}");
        values[0]
    };
    for metric in ["iterations", "http_reqs", "counted", "data_sent", "data_received"] {
        let sum = query(&format!("k6_{metric}_total")).iter().sum();
        assert_near(sum, played.of(metric, "count"), metric);
    }
    assert_near(only("k6_counted_total{kind=\"a b\"}"), 120.0, "counted");
    let tested = "k6_iterations_total{testid=\"a \\\"test\\\", x=1\",server=\"one\"}";
    assert_near(only(tested), 40.0, "iterations");
    assert_near(only("k6_share_rate"), played.of("share", "value"), "share");
    assert_near(only("k6_checks_rate{check=\"never holds\"}"), 0.0, "checks");
    assert_near(only("k6_checks_rate{check=\"status is 200\"}"), 1.0, "checks");
    assert_near(only("k6_level"), played.of("level", "value"), "level");
    for (stat, aggregate) in
        [("min", "min"), ("avg", "avg"), ("med", "med"), ("p95", "p(95)"), ("max", "max")]
    {
        let took_s = played.of("took", aggregate) / 1e3;
        assert_near(only(&format!("k6_took_{stat}")), took_s, stat);
        assert_near(only(&format!("k6_size_{stat}")), played.of("size", aggregate), stat);
    }
    assert_near(only("k6_took_count"), 40.0, "took");
    let sum: f64 = played.values("size", "", "").iter().sum();
    assert_near(only("k6_size_sum"), sum, "size");
    assert_eq!(
        query("k6_http_req_duration_p999{status=\"200\",expected_response=\"true\"}").len(),
        2
    );
}

/// A collector of OTLP over HTTP; each body that comes.
fn collector() -> (u16, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, bodies) = sync_channel(1_000);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut writer = stream;
            while let Some(body) = body(&mut reader) {
                told.send(body).unwrap();
                writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            }
        }
    });
    (port, bodies)
}

fn body(reader: &mut impl std::io::BufRead) -> Option<Vec<u8>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    assert!(head.starts_with("POST /v1/metrics "), "{head}");
    assert!(head.to_ascii_lowercase().contains("api-key: k3y k3y\r\n"), "{head}");
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
    });
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|it| it.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text.clone()),
        other => panic!("{other:?}"),
    }
}

/// The latest data of each metric; those of the same series replace earlier ones.
fn latest(bodies: &Receiver<Vec<u8>>) -> BTreeMap<String, Vec<Data>> {
    let mut all: BTreeMap<String, Vec<Data>> = BTreeMap::new();
    for body in bodies.try_iter() {
        let request = ExportMetricsServiceRequest::decode(body.as_slice()).unwrap();
        let resource = request.resource_metrics[0].resource.as_ref().unwrap();
        let name = attribute(&resource.attributes, "service.name");
        assert_eq!(name.as_deref(), Some("shop test"));
        for metric in &request.resource_metrics[0].scope_metrics[0].metrics {
            let data = metric.data.clone().unwrap();
            all.entry(format!("{} {}", metric.name, metric.unit)).or_default().push(data);
        }
    }
    all
}

/// The last value of each series of a metric of numbers.
fn numbers(data: &[Data]) -> BTreeMap<Vec<(String, String)>, f64> {
    let points = data.iter().flat_map(|data| match data {
        Data::Sum(sum) => {
            assert!(sum.is_monotonic && sum.aggregation_temporality == 2);
            sum.data_points.clone()
        }
        Data::Gauge(gauge) => gauge.data_points.clone(),
        other => panic!("{other:?}"),
    });
    let key = |point: &NumberDataPoint| {
        let pair =
            |it: &KeyValue| (it.key.clone(), attribute(std::slice::from_ref(it), &it.key).unwrap());
        point.attributes.iter().map(pair).collect::<Vec<_>>()
    };
    let value = |point: &NumberDataPoint| match point.value {
        Some(Number::AsDouble(value)) => value,
        Some(Number::AsInt(value)) => value as f64,
        None => panic!("no value"),
    };
    points.map(|point| (key(&point), value(&point))).collect()
}

#[test]
fn opentelemetry_gets_sums_levels_and_histograms() {
    let (port, bodies) = collector();
    let endpoint = format!("127.0.0.1:{port}");
    let variables = [
        ("K6_OTEL_EXPORTER_TYPE", "http"),
        ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", endpoint.as_str()),
        ("K6_OTEL_METRIC_PREFIX", "k6_"),
        ("K6_OTEL_SERVICE_NAME", "shop test"),
        ("K6_OTEL_EXPORT_INTERVAL", "100ms"),
        ("K6_OTEL_HEADERS", "api-key=k3y%20k3y,x=y"),
    ];
    let played = Played::new(&["opentelemetry"], &variables).whole();
    let all = latest(&bodies);
    let of = |name: &str| all.get(name).unwrap_or_else(|| panic!("{name}: {:?}", all.keys()));
    for (name, metric) in [
        ("k6_iterations ", "iterations"),
        ("k6_counted ", "counted"),
        ("k6_data_sent By", "data_sent"),
    ] {
        let sum = numbers(of(name)).values().sum();
        assert_near(sum, played.of(metric, "count"), metric);
    }
    assert_near(numbers(of("k6_level ")).values().sum(), played.of("level", "value"), "level");
    let shares = numbers(of("k6_share.total "));
    let with = |condition: &str| -> f64 {
        let pair = ("condition".to_owned(), condition.to_owned());
        shares.iter().filter(|(key, _)| key.contains(&pair)).map(|(_, value)| value).sum()
    };
    assert_near(with("nonzero"), played.of("share", "passes"), "share");
    assert_near(with("zero"), played.of("share", "fails"), "share");
    let Some(Data::Histogram(took)) = of("k6_took ms").last() else { panic!() };
    let point = &took.data_points[0];
    assert_eq!((point.count, took.aggregation_temporality), (40, 2));
    let values = played.values("took", "", "");
    assert_near(point.sum.unwrap(), values.iter().sum(), "took");
    assert_near(point.max.unwrap(), played.of("took", "max"), "took");
    // 100 is a bound: the first iteration of each user is at most that.
    let at = point.explicit_bounds.iter().position(|bound| *bound == 100.0).unwrap();
    let below = point.bucket_counts[..=at].iter().sum::<u64>();
    assert_eq!(below, values.iter().filter(|value| **value <= 100.0).count() as u64);
    assert_eq!(point.bucket_counts.iter().sum::<u64>(), 40);
}

/// Over gRPC, to OpenTelemetry's own messages and gRPC's own server.
#[test]
fn opentelemetrys_own_messages_take_it_over_grpc() {
    let server = OpenTelemetry::start().unwrap();
    let address = server.grpc_url().replace("http://", "");
    let variables = [
        ("K6_OTEL_EXPORTER_TYPE", "grpc"),
        ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", address.as_str()),
        ("K6_OTEL_EXPORT_INTERVAL", "100ms"),
    ];
    let played = Played::new(&["opentelemetry"], &variables).whole();
    assert_eq!(server.list("refused").unwrap(), "[]");
    let points: Vec<Value> = serde_json::from_str(&server.list("points").unwrap()).unwrap();
    // The latest of each series replace earlier ones.
    let of = |name: &str, figure: &str| -> f64 {
        let own = points.iter().filter(|point| point["name"] == name);
        let latest: BTreeMap<_, _> =
            own.map(|point| (point["attributes"].to_string(), point[figure].as_f64())).collect();
        assert!(!latest.is_empty(), "{name}");
        latest.into_values().map(|figure| figure.unwrap()).sum()
    };
    for metric in ["iterations", "counted", "data_sent", "http_reqs"] {
        assert_near(of(metric, "value"), played.of(metric, "count"), metric);
    }
    assert_near(of("took", "count"), 40.0, "took");
    assert_near(of("took", "sum"), played.values("took", "", "").iter().sum(), "took");
    assert_near(of("size", "max"), played.of("size", "max"), "size");
}

#[test]
fn statsd_gets_every_sample() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let lines = std::thread::spawn(move || {
        let (mut lines, mut buffer) = (Vec::new(), [0; 2_000]);
        // Begun with the first datagram, over when none has come for a while.
        loop {
            match socket.recv(&mut buffer) {
                Ok(read) => {
                    let text = std::str::from_utf8(&buffer[..read]).unwrap();
                    lines.extend(text.lines().map(str::to_owned));
                }
                Err(_) if lines.is_empty() => {}
                Err(_) => return lines,
            }
        }
    });
    let variables = [
        ("K6_STATSD_ADDR", address.as_str()),
        ("K6_STATSD_ENABLE_TAGS", "true"),
        ("K6_STATSD_PUSH_INTERVAL", "50ms"),
    ];
    let played = Played::new(&["statsd"], &variables).whole();
    let lines = lines.join().unwrap();
    assert_eq!(lines.len(), played.samples.len());
    let sum = |start: &str| -> f64 {
        let rest = lines.iter().filter_map(|line| line.strip_prefix(start));
        rest.map(|rest| rest.split('|').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    assert_near(sum("k6.counted:"), played.of("counted", "count"), "counted");
    assert_near(sum("k6.took:"), played.values("took", "", "").iter().sum(), "took");
    assert_near(sum("k6.check.status is 200.pass:"), 40.0, "checks that passed");
    assert_near(sum("k6.check.never holds.fail:"), 40.0, "checks that failed");
    assert!(lines.iter().any(|line| line.starts_with("k6.size:") && line.contains("|ms")));
    assert!(lines.iter().any(|line| line.contains("|ms|#") && line.contains("scenario:default")));
    assert!(!lines.iter().any(|line| line.contains("url:")), "{:?}", lines.first());
}

/// A receiver that is not there delays nothing but the end, and is told of without its password.
#[test]
fn what_did_not_arrive_is_told() {
    let port = free_port().unwrap();
    let out = format!("influxdb=http://{USER}:{PASSWORD}@127.0.0.1:{port}/load");
    let played = Played::new(&[&out], &[]);
    assert_eq!(played.output.code, Some(0), "{}", played.output);
    let count = played.samples.len();
    let told = format!(
        "an output is incomplete: influxdb=http://127.0.0.1:{port}/load: {count} of {count} \
         samples did not arrive"
    );
    assert!(played.output.stderr.contains(&told), "{}", played.output);
    assert!(!played.output.stderr.contains(PASSWORD), "{}", played.output);
    assert!(!played.output.stdout.contains(PASSWORD), "{}", played.output);
}

#[test]
fn options_that_are_wrong_end_before_the_test() {
    let folder = temp_dir().unwrap();
    let script = "export default function () { throw new Error('never'); }";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    for (out, variable, value, part) in [
        ("influxdb=me:s3cret@host/db", "K6_NONE", "", "must begin with http://"),
        ("influxdb", "K6_INFLUXDB_PUSH_INTERVAL", "soon", "is no duration"),
        ("experimental-prometheus-rw", "K6_PROMETHEUS_RW_SIGV4_REGION", "eu", "not signed for AWS"),
        ("opentelemetry", "K6_OTEL_EXPORTER_TYPE", "zipkin", "is no exporter"),
        ("http://me:s3cret@host/db", "K6_NONE", "", "invalid output type '…'"),
        ("http://me:s3cret@host/?a=b", "K6_NONE", "", "invalid output type '…'"),
    ] {
        let output = sojourn(["k6", "run", "--out", out, "s.js"]).in_dir(folder.path());
        let output = output.env(variable, value).run().unwrap();
        assert!(output.code != Some(0) && output.stderr.contains(part), "{output}");
        assert!(!output.stderr.contains("never") && !output.stderr.contains("s3cret"), "{output}");
        assert!(!output.stdout.contains("s3cret"), "{output}");
    }
}
