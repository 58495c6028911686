//! Receivers that stall, refuse, fail for a while: nobody waits for them, and what they did not get
//! is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_k6::metrics::{MetricId, Registry, Sample, TagSets, builtin};
use sojourn_k6::options::Environment;
use sojourn_k6::output::{InfluxDbOptions, OpenTelemetryOptions, RemoteWriteOptions};
use sojourn_k6::thresholds::Thresholds;

use super::sender::WAITING_MAX;
use super::{Format, Output, end, end_within};

/// How a server answers its requests, by their number from 0; `None`: never.
type Manner = fn(usize) -> Option<u16>;

type Bodies = Mutex<Vec<Vec<u8>>>;

/// A server that keeps the bodies of requests it answers with success.
struct Server {
    port: u16,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Every request's body, however it was answered.
    asked: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Server {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (own, all) = (Arc::clone(&bodies), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (own, asked) = (Arc::clone(&own), Arc::clone(&all));
                std::thread::spawn(move || serve(stream, manner, &own, &asked));
            }
        });
        Self { port, bodies, asked }
    }

    fn lines(&self) -> Vec<String> {
        let bodies = self.bodies.lock().unwrap();
        let text = |body: &Vec<u8>| String::from_utf8(body.clone()).unwrap();
        bodies
            .iter()
            .map(text)
            .flat_map(|it| it.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }
}

fn serve(stream: TcpStream, manner: Manner, bodies: &Bodies, asked: &Bodies) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if !reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push(body.clone());
            asked.len() - 1
        };
        let Some(status) = manner(number) else {
            // Until the client goes away.
            while reader.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
            return;
        };
        if status < 300 {
            bodies.lock().unwrap().push(body);
        }
        let head = format!("HTTP/1.1 {status} So\r\ncontent-length: 0\r\n\r\n");
        writer.write_all(head.as_bytes()).unwrap();
    }
}

/// A test's metrics, and samples of them.
struct Test {
    registry: Registry,
    thresholds: Thresholds,
    sets: TagSets,
}

impl Test {
    fn new() -> Self {
        let mut registry = Registry::new();
        let thresholds = Thresholds::new(&mut registry, []).unwrap();
        let sets = TagSets::new(registry.matcher());
        Self { registry, thresholds, sets }
    }

    fn samples(&mut self, metric: MetricId, count: u64) -> Vec<Sample> {
        let empty = Arc::clone(self.sets.empty());
        let tags = self.sets.with(&empty, &[("scenario", "default")]);
        let sample = |at_ns| Sample { metric, tags: Arc::clone(&tags), at_ns, value: 1.0 };
        (1..=count).map(sample).collect()
    }

    fn write(&self, output: &mut Output, samples: &[Sample]) {
        output.write(samples, &self.registry, &self.thresholds);
    }
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn influxdb(port: u16) -> Output {
    let url = format!("http://me:s3cret@127.0.0.1:{port}/load");
    let variables = environment(&[("K6_INFLUXDB_PUSH_INTERVAL", "10ms")]);
    Output::influxdb(InfluxDbOptions::read(&url, &variables).unwrap()).unwrap()
}

fn remote_write(port: u16) -> Output {
    let url = format!("http://me:s3cret@127.0.0.1:{port}/api/v1/write");
    let variables = environment(&[("K6_PROMETHEUS_RW_PUSH_INTERVAL", "10ms")]);
    let options = RemoteWriteOptions::read("prometheus-rw", &url, &variables).unwrap();
    Output::remote_write(options.shown("prometheus-rw"), options).unwrap()
}

fn opentelemetry(port: u16, exporter: &str) -> Output {
    let address = format!("127.0.0.1:{port}");
    let variables = environment(&[
        ("K6_OTEL_EXPORTER_TYPE", exporter),
        ("K6_OTEL_EXPORT_INTERVAL", "10ms"),
        ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &address),
        ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", &address),
    ]);
    let options = OpenTelemetryOptions::read("opentelemetry", "", &variables, "1").unwrap();
    Output::opentelemetry(options.shown("opentelemetry"), options).unwrap()
}

#[test]
fn one_that_fails_for_a_while_gets_every_sample() {
    let server = Server::start(|number| Some(if number < 3 { 503 } else { 204 }));
    let mut test = Test::new();
    let mut outputs = [influxdb(server.port)];
    let samples = test.samples(builtin::ITERATIONS, 25_000);
    samples.chunks(1_000).for_each(|part| test.write(&mut outputs[0], part));
    assert_eq!(end_within(&mut outputs, 30 * SECOND_NS), Vec::<String>::new());
    // A server may have taken what it did not acknowledge: the same lines again change nothing.
    let asked = server.asked.lock().unwrap();
    assert!(asked.len() > 3 && asked[..4].iter().all(|body| *body == asked[0]));
    drop(asked);
    let lines = server.lines();
    assert_eq!(lines.len(), 25_000);
    let mut instants = std::collections::BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let (start, at_ns) = line.rsplit_once(' ').unwrap();
        let at_ns: u64 = at_ns.parse().unwrap();
        assert_eq!(start, "iterations,scenario=default value=1");
        assert!(at_ns.abs_diff(at as u64 + 1) < 1_024 && instants.insert(at_ns), "{line}");
    }
}

#[test]
fn what_a_server_will_never_take_is_told_and_not_tried_again() {
    let server = Server::start(|_| Some(400));
    let mut test = Test::new();
    let mut outputs = [influxdb(server.port)];
    let samples = test.samples(builtin::ITERATIONS, 10);
    test.write(&mut outputs[0], &samples);
    let told = end_within(&mut outputs, 30 * SECOND_NS);
    let expected = format!(
        "influxdb=http://127.0.0.1:{}/load: 10 of 10 samples did not arrive (last failure: the \
         receiver answers 400)",
        server.port
    );
    assert_eq!(told, [expected]);
}

#[test]
fn receivers_that_are_not_there_are_told_without_secrets() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let mut test = Test::new();
    let mut outputs = [
        influxdb(port),
        remote_write(port),
        opentelemetry(port, "grpc"),
        opentelemetry(port, "http"),
    ];
    let samples = test.samples(builtin::HTTP_REQ_DURATION, 7);
    outputs.iter_mut().for_each(|output| test.write(output, &samples));
    let told = end_within(&mut outputs, 500 * MILLISECOND_NS);
    assert_eq!(told.len(), 4, "{told:?}");
    for told in &told {
        assert!(told.contains(": 7 of 7 samples did not arrive (last failure: "), "{told}");
        assert!(!told.contains("s3cret") && !told.contains("me:"), "{told}");
    }
}

#[test]
fn one_that_stalls_holds_nobody_up_and_the_queue_is_bounded() {
    let server = Server::start(|_| None);
    let mut test = Test::new();
    let mut outputs = [influxdb(server.port)];
    let samples = test.samples(builtin::ITERATIONS, 10_000);
    // Were one of these to wait for the server, this would not end: it never answers. What it is
    // asked for, what its thread holds and what waits for the thread have their bounds.
    let times = 4 * WAITING_MAX / 10_000;
    for _ in 0..times {
        test.write(&mut outputs[0], &samples);
    }
    let began_ns = now_ns();
    let told = end_within(&mut outputs, 300 * MILLISECOND_NS);
    let given = times * 10_000;
    assert_eq!(told.len(), 1);
    // Either its thread has given up, or it is still in the attempt that has five seconds.
    let all = format!(": {given} of {given} samples ");
    let (_, how) = told[0].split_once(&all).unwrap_or_else(|| panic!("{told:?}"));
    let is_told = how.starts_with("did not arrive") || how.starts_with("had not arrived when its");
    assert!(is_told, "{told:?}");
    assert!(now_ns() - began_ns < 4 * SECOND_NS, "it was waited for");
}

#[test]
fn figures_that_were_not_taken_are_in_the_next() {
    let server = Server::start(|number| Some(if number < 5 { 500 } else { 200 }));
    let mut test = Test::new();
    let mut outputs = [remote_write(server.port)];
    let samples = test.samples(builtin::ITERATIONS, 100);
    samples.chunks(10).for_each(|part| test.write(&mut outputs[0], part));
    assert_eq!(end_within(&mut outputs, 30 * SECOND_NS), Vec::<String>::new());
    assert!(!server.bodies.lock().unwrap().is_empty());
}

#[test]
fn a_compressed_file_is_whole_when_outputs_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json.gz");
    let mut test = Test::new();
    let tags = sojourn_k6::metrics::SystemTags::default();
    let mut outputs = [Output::create(Format::Json, path.to_str().unwrap(), tags).unwrap()];
    let samples = test.samples(builtin::ITERATIONS, 10);
    test.write(&mut outputs[0], &samples);
    assert_eq!(end(&mut outputs, 0), Vec::<String>::new());
    // The output is still there: nothing is left to be written when it goes.
    let mut text = String::new();
    let file = std::fs::File::open(&path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 11, "{text}");
}

#[test]
fn samples_that_no_output_has_are_told() {
    let mut test = Test::new();
    let tags = sojourn_k6::metrics::SystemTags::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let mut outputs = [Output::create(Format::Json, path.to_str().unwrap(), tags).unwrap()];
    let mut samples = test.samples(builtin::ITERATIONS, 3);
    samples[1].value = f64::INFINITY;
    test.write(&mut outputs[0], &samples);
    let told = end(&mut outputs, 7);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("samples.json: 1 infinite samples"), "{told:?}");
    assert!(told[1].starts_with("7 samples came faster"), "{told:?}");
    assert_eq!(end(&mut [], 7), Vec::<String>::new());
}

#[test]
fn a_file_that_can_not_be_written_is_told_by_name() {
    let mut test = Test::new();
    let tags = sojourn_k6::metrics::SystemTags::default();
    let mut outputs = [Output::create(Format::Json, "/dev/full", tags).unwrap()];
    let samples = test.samples(builtin::ITERATIONS, 3);
    test.write(&mut outputs[0], &samples);
    let told = end(&mut outputs, 0);
    assert!(told.len() == 1 && told[0].starts_with("/dev/full: "), "{told:?}");
}
