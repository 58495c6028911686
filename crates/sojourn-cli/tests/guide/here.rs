//! A page's command as it is run here: with this machine's addresses and short durations.

use std::cell::OnceCell;

use sojourn_testkit::{
    free_port,
    services::{InfluxDb, Nats, OpenTelemetry, Prometheus, Statsd},
};

use super::{files::RELAY, page::Command, shop::Shop};
use crate::{
    event_queue::simulator::{Clock, Settings, Simulator},
    mock::Mocked,
};

/// Where the pages have the API, the broker and the mock.
const API: &str = "127.0.0.1:8080";
const KAFKA: &str = "127.0.0.1:9092";
pub(super) const MOCK: &str = "127.0.0.1:9900";
/// Durations that pages show, and what they are here.
const DURATIONS: [(&str, &str); 10] = [
    ("-duration 60s", "-duration 1s"),
    ("-duration 30s", "-duration 1s"),
    ("-duration 10s", "-duration 1s"),
    ("-duration 5s", "-duration 1s"),
    ("--for 30s", "--for 1s"),
    ("-d30s", "-d1s"),
    ("-s 10s:20 -s 30s:20", "-s 1s:20 -s 1s:20"),
    ("30s@50,30s@50..500", "1s@50,1s@50..500"),
    // Of a system that has few users here.
    ("--vus 25", "--vus 5"),
    ("--vus 50 --max 200", "--vus 5 --max 20"),
];
/// A control group, which is a folder here.
pub(super) const GROUP: &str = "/sys/fs/cgroup/system.slice/relay.service";
/// Names that are made up.
const NAMES: [(&str, &str); 2] = [
    // The demo's keys are random: the list of those that begin so is what the page shows, too.
    ("--journey pay:918c8f48", "--journey pay:"),
    ("payments-1f00ab12", super::cluster::RUN),
];

/// What other addresses stand for, started when a page first names them.
#[derive(Default)]
pub(super) struct Addresses {
    prometheus: OnceCell<Prometheus>,
    influxdb: OnceCell<InfluxDb>,
    opentelemetry: OnceCell<OpenTelemetry>,
    statsd: OnceCell<Statsd>,
    nats: OnceCell<Nats>,
    /// Of k6's interface, and where an application is called.
    k6: OnceCell<String>,
    app: OnceCell<String>,
    queue: OnceCell<Simulator>,
    /// A mock that stands for none but itself.
    target: OnceCell<Mocked>,
}

fn free_address() -> String {
    format!("127.0.0.1:{}", free_port().unwrap())
}

impl Addresses {
    /// What stands for an address.
    fn of(&self, address: &str) -> String {
        let opentelemetry = || self.opentelemetry.get_or_init(|| OpenTelemetry::start().unwrap());
        match address {
            "http://127.0.0.1:9090" => {
                self.prometheus.get_or_init(|| Prometheus::start("").unwrap()).url()
            }
            "http://127.0.0.1:8086" => {
                self.influxdb.get_or_init(|| InfluxDb::start().unwrap()).url_with_password()
            }
            "127.0.0.1:8125" => self.statsd.get_or_init(|| Statsd::start().unwrap()).address(),
            "nats://127.0.0.1:4222" => self.nats.get_or_init(|| Nats::start().unwrap()).url(),
            "http://127.0.0.1:4318" => opentelemetry().http_url(),
            "127.0.0.1:4317" => opentelemetry().grpc_url().replace("http://", ""),
            "localhost:6565" => self.k6.get_or_init(free_address).clone(),
            "127.0.0.1:3030" => self.app.get_or_init(free_address).clone(),
            "http://127.0.0.1:8288" => self.queue.get_or_init(|| self.queue()).url(),
            "prometheus=:9464" => format!("prometheus=:{}", free_port().unwrap()),
            _ => panic!("nothing stands for {address}"),
        }
    }

    /// An event queue that calls the application.
    fn queue(&self) -> Simulator {
        Simulator::start(&Settings {
            app: self.of("127.0.0.1:3030"),
            concurrency: 4,
            throttle_ns: 0,
            dedup: true,
            runs: 0,
            refuse_every: 0,
            lose_every: 0,
            asks: false,
            clock: Clock { offset_ns: 0, jump: None, spoilt_every: 0 },
        })
    }

    fn target(&self) -> String {
        self.target.get_or_init(|| Mocked::start(&[], &[])).address.to_string()
    }
}

/// Those that [`Addresses::of`] knows.
const ADDRESSES: [&str; 10] = [
    "http://127.0.0.1:9090",
    "http://127.0.0.1:8086",
    "127.0.0.1:8125",
    "nats://127.0.0.1:4222",
    "http://127.0.0.1:4318",
    "127.0.0.1:4317",
    "localhost:6565",
    "127.0.0.1:3030",
    "http://127.0.0.1:8288",
    "prometheus=:9464",
];

impl Shop {
    /// What stands for an address of a page.
    pub(super) fn address(&self, of: &str) -> String {
        self.addresses.of(of)
    }

    /// The command as it is run here.
    pub(super) fn here(&self, command: &Command) -> String {
        let line = self.with_more(command);
        // Who asks a mock for itself asks the one that goes on beside.
        let api = if command.begins("curl ") { self.addresses.target() } else { self.api() };
        let mut known = vec![
            (API, api),
            ("checkout.shop:8080", self.api()),
            (KAFKA, self.kafka.bootstrap_servers()),
            (GROUP, self.path(RELAY).display().to_string()),
        ];
        let others = ADDRESSES.into_iter().filter(|address| line.contains(address));
        known.extend(others.map(|address| (address, self.addresses.of(address))));
        let pairs = DURATIONS.into_iter().chain(NAMES).map(|(from, to)| (from, to.to_owned()));
        known.extend(pairs);
        // All at once: what stands for one address may look like the beginning of another.
        let marked = known.iter().enumerate().fold(line, |line, (number, (from, _))| {
            line.replace(from, &format!("\u{1}{number}\u{1}"))
        });
        let line = known.iter().enumerate().fold(marked, |line, (number, (_, to))| {
            line.replace(&format!("\u{1}{number}\u{1}"), to)
        });
        if line.contains("=…") { self.with_what_the_demo_printed(&line) } else { line }
    }

    /// The command with flags that make it short, or tell where things are that a page leaves to
    /// their usual places.
    fn with_more(&self, command: &Command) -> String {
        let line = &command.line;
        let words = command.words();
        let more = match words.as_slice() {
            // The one of the tour and the README, with the plan's own load.
            [.., "demo"] => " --warmup 1s --steady 2s",
            ["sojourn", "demo", ..] if !line.contains("--serve") => " --warmup 1s --steady 2s",
            // The step is as short as can be, and there is only one.
            ["sojourn", "search", "examples/payments.yaml", ..] => {
                return format!("{line} --step 5s --from 60/s --to 60/s -e WARMUP=1s");
            }
            ["sojourn", "run", ..] if !self.steady(command).is_empty() => self.steady(command),
            ["sojourn", "search", ..] => " --step 5s --from 20/s --to 20/s",
            ["sojourn", "mock", "selfcheck"] => " --from 100 --to 100 --step 1s --bound 10s",
            ["sojourn", "run", "examples/event-queue.yaml", ..] => " -e RATE=20/s -e STEADY=1s",
            ["sojourn", "discover", ..] => {
                return line.replacen("journey.yaml", "journey.yaml --quiet-for 3s", 1);
            }
            ["sojourn", "watch", ..] if !line.contains("--for") => {
                return line.replacen("watch", "watch --for 2s", 1);
            }
            ["sojourn", "k6", "new"] => return format!("cd fresh && {line}"),
            ["sojourn", "k6", "resume" | "status" | "stats" | "scale" | "pause", ..] => {
                " --address localhost:6565"
            }
            ["sojourn", .., "opentelemetry"] => {
                return format!("K6_OTEL_GRPC_EXPORTER_ENDPOINT=127.0.0.1:4317 {line}");
            }
            ["sojourn", ..] | ["echo", ..] if line.contains("-on kubernetes") => {
                return format!("{line} --run-name {}", super::cluster::RUN);
            }
            _ => "",
        };
        format!("{line}{more}")
    }
}
