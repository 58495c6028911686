//! `sojourn demo`: the payments system in this process, loaded and reported.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::builder::PossibleValuesParser;
use sojourn_demo::{
    Demo as System, DemoConfig, KafkaChoice, ServiceTime, SlowStage, Stage, StageConfig, StopStage,
};
use sojourn_plan::{Channel, Overrides};

use super::carrier;
use crate::{
    errors::UsageError,
    files::read_text,
    runner::{self, How, Made, RunFlags},
    signals,
};

/// The journey file that the demo is loaded with.
const PLAN: &str = include_str!("../../../../examples/payments.yaml");
/// The published experiment's.
const EXPERIMENT: &str = include_str!("../../../../examples/published-experiment.yaml");

/// A whole payments system in this process, loaded and reported: the one-minute tour
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn demo
  sojourn demo --drop 1 --redeliver 2          lose and repeat some events; see who notices
  sojourn demo --slow-stage completed          a stage of 5 to 9 seconds
  sojourn demo --rate 200/s --steady 10s
  sojourn demo --serve --servers settled=4 --service settled=20ms    a bottleneck of 200/s
  sojourn demo --published-experiment          one payment a second, a relay polling every 5 s
  sojourn demo --broker nats --url nats://127.0.0.1:4222
  sojourn demo --serve --listen 127.0.0.1:8080 only the system, to be loaded from elsewhere")]
pub(crate) struct Demo {
    /// Only serve the system; load it from another terminal
    #[arg(long)]
    serve: bool,
    /// Where the payments API listens [default: a free port]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<SocketAddr>,
    /// A real Kafka instead of the embedded one
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "broker")]
    kafka: Option<String>,
    /// Another broker to carry the events, at --url
    #[arg(long, value_name = "BROKER", requires = "url")]
    #[arg(value_parser = PossibleValuesParser::new(carrier::names()))]
    broker: Option<String>,
    /// Where that broker is, such as nats://127.0.0.1:4222
    #[arg(long, value_name = "URL", requires = "broker")]
    url: Option<String>,
    /// The published experiment: one journey a second, relay polling every 5 s, 5 to 9 s of work
    #[arg(long)]
    published_experiment: bool,
    /// Journeys per second
    #[arg(long, value_name = "RATE", default_value = "50/s")]
    rate: String,
    /// Length of the warm-up
    #[arg(long, value_name = "DURATION", default_value = "5s")]
    warmup: String,
    /// Length of the reported phase
    #[arg(long, value_name = "DURATION", default_value = "20s")]
    steady: String,
    /// Deadline of a journey
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    within: String,
    /// Interval at which the relay polls its outbox, milliseconds
    #[arg(long, value_name = "MS")]
    relay_poll_ms: Option<u64>,
    /// Events the relay takes at a time
    #[arg(long, value_name = "N")]
    relay_batch: Option<u32>,
    /// Events a consumer works on at once
    #[arg(long, value_name = "N")]
    concurrency: Option<u32>,
    /// Servers that a stage's work has to share, such as settled=4: its capacity is then servers
    /// over mean service time; repeatable
    #[arg(long, value_name = "STAGE=N", value_parser = crate::plan_flags::pair)]
    servers: Vec<(String, String)>,
    /// Work of a stage, such as created=exp(20ms), settled=uniform(5s,9s); repeatable
    #[arg(long, value_name = "STAGE=TIME", value_parser = crate::plan_flags::pair)]
    service: Vec<(String, String)>,
    /// Per cent of events never published
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    drop: f64,
    /// Per cent of events delivered again (same message id)
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    redeliver: f64,
    /// Per cent of events published again (new message id)
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    republish: f64,
    /// Per cent of events published after their successor
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    reorder: f64,
    /// Per cent of events that end in the dead-letter topic
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    poison: f64,
    /// A stage that takes 5 to 9 s
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    slow_stage: Option<Stage>,
    /// A stage that stops consuming, ten seconds after the first payment
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    stop_stage: Option<Stage>,
    /// Behave like the published system, with its holes
    #[arg(long)]
    naive: bool,
    /// Write the system's own log of what happened (NDJSON)
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    flags: RunFlags,
}

/// Starts the system, loads it (unless it only serves), stops it.
pub(crate) fn run(command: &Demo) -> Result<u8, UsageError> {
    let config = config(command)?;
    let broker = command.broker.as_deref().unwrap_or("kafka");
    eprintln!(
        "starting the payments system: API, event store, relay, consumers, third parties, {broker}"
    );
    let text = plan_text(command);
    let carried = match (&command.broker, &command.url) {
        (Some(broker), Some(url)) => Some(carrier::connect(url, &channels(command, broker)?)?),
        _ => None,
    };
    let system = System::start_on(config, carried).map_err(|error| {
        UsageError::new(error.to_string(), "choose another --listen, --kafka or --url, or none")
    })?;
    let (target, brokers) = (system.api_url().to_owned(), system.brokers().to_owned());
    if command.serve {
        serve(&target, &brokers);
        stop(system);
        return Ok(0);
    }
    eprintln!("API {target}, {broker} {brokers}; loading it with {} journeys", command.rate);
    let plan = read_text(
        if command.published_experiment { "published-experiment.yaml" } else { "payments.yaml" },
        &text,
        PathBuf::new(),
        &overrides(command, &target, &brokers),
    )?;
    let made = runner::make(&plan, &command.flags, How::default(), &signals::stop_on_signals());
    stop(system);
    let made = made?;
    runner::say_where(&made);
    suggest(&made);
    Ok(made.code)
}

/// The journey file, with the channels of the broker that carries the events.
fn plan_text(command: &Demo) -> String {
    let text = if command.published_experiment { EXPERIMENT } else { PLAN };
    match &command.broker {
        Some(broker) => carrier::with_channels(text, broker),
        None => text.to_owned(),
    }
}

/// The journey file's channels, before the system that it loads is there.
fn channels(command: &Demo, broker: &str) -> Result<Vec<Channel>, UsageError> {
    let text = carrier::with_channels(PLAN, broker);
    let overrides = overrides(command, "http://127.0.0.1:1", "127.0.0.1:1");
    read_text("payments.yaml", &text, PathBuf::new(), &overrides).map(|plan| plan.channels)
}

fn config(command: &Demo) -> Result<DemoConfig, UsageError> {
    let mut config = if command.published_experiment {
        DemoConfig::published_experiment()
    } else {
        DemoConfig::default()
    };
    if let Some(listen) = command.listen {
        config.api_listen = listen;
    }
    if let Some(kafka) = &command.kafka {
        config.kafka = KafkaChoice::External(kafka.clone());
    }
    config.relay.poll_ms = command.relay_poll_ms.unwrap_or(config.relay.poll_ms);
    config.relay.batch = command.relay_batch.unwrap_or(config.relay.batch);
    for (name, time) in &command.service {
        let refuse = |problem: String| {
            UsageError::new(
                format!("--service {name}={time}: {problem}"),
                "write created=exp(20ms), settled=uniform(5s,9s) or completed=300ms",
            )
        };
        let service: ServiceTime = time.parse().map_err(|error| refuse(format!("{error}")))?;
        consumer(&mut config, name).map_err(refuse)?.service = service;
    }
    for (name, count) in &command.servers {
        let refuse = |problem: String| {
            UsageError::new(format!("--servers {name}={count}: {problem}"), "write settled=4")
        };
        let servers: u32 = count.parse().map_err(|_| refuse(format!("{count} is no number")))?;
        consumer(&mut config, name).map_err(refuse)?.servers = Some(servers);
    }
    if let Some(concurrency) = command.concurrency {
        for consumer in [&mut config.created, &mut config.settled, &mut config.completed] {
            consumer.concurrency = concurrency;
        }
    }
    let faults = &mut config.faults;
    faults.drop_percent = command.drop;
    faults.redeliver_percent = command.redeliver;
    faults.republish_percent = command.republish;
    faults.reorder_percent = command.reorder;
    faults.poison_percent = command.poison;
    faults.slow_stage = command
        .slow_stage
        .map(|stage| SlowStage { stage, service: sojourn_demo::five_to_nine_seconds() });
    faults.stop_stage = command.stop_stage.map(|stage| StopStage { stage, after_ms: 10_000 });
    config.naive = command.naive;
    config.seed = command.seed;
    config.truth_path.clone_from(&command.truth);
    Ok(config)
}

/// The consumer that makes a stage.
fn consumer<'a>(config: &'a mut DemoConfig, name: &str) -> Result<&'a mut StageConfig, String> {
    match stage(name)? {
        Stage::Created => Ok(&mut config.created),
        Stage::Settled => Ok(&mut config.settled),
        Stage::Completed => Ok(&mut config.completed),
        Stage::Initiated => Err("the API makes this stage".to_owned()),
    }
}

fn overrides(command: &Demo, target: &str, brokers: &str) -> Overrides {
    let environment = [
        ("TARGET", target),
        ("KAFKA", brokers),
        ("BROKER_URL", command.url.as_deref().unwrap_or_default()),
        ("RATE", &command.rate),
        ("WARMUP", &command.warmup),
        ("STEADY", &command.steady),
        ("WITHIN", &command.within),
    ];
    Overrides {
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        seed: Some(command.seed),
        ..Overrides::default()
    }
}

fn serve(target: &str, brokers: &str) {
    println!("TARGET={target}");
    println!("KAFKA={brokers}");
    eprintln!("load it from another terminal, in a clone of the project:");
    eprintln!("  sojourn run examples/payments.yaml -e TARGET={target} -e KAFKA={brokers}");
    eprintln!("Ctrl-C ends it");
    let stop = signals::stop_on_signals();
    while !stop.graceful() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn stop(system: System) {
    if let Err(error) = system.stop() {
        eprintln!("warning: the payments system did not end cleanly: {error}");
    }
}

fn suggest(made: &Made) {
    let page = made.reports.first().map_or_else(String::new, |path| path.display().to_string());
    eprintln!(
        "
three things to try:
  open {page} in a browser
  sojourn demo --drop 1 --redeliver 2 --poison 1   faults: the ledger finds each of them
  sojourn init > journey.yaml                      a first journey file for your own system"
    );
}

fn stage(name: &str) -> Result<Stage, String> {
    match name {
        "initiated" => Ok(Stage::Initiated),
        "created" => Ok(Stage::Created),
        "settled" => Ok(Stage::Settled),
        "completed" => Ok(Stage::Completed),
        other => Err(format!("no stage {other}; there are created, settled and completed")),
    }
}
