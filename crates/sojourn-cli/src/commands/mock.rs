//! `sojourn mock`: a stand-in for third parties, a test target, a queue of known theory.

mod line;
mod selfcheck;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sojourn_clock::now_ns;
use sojourn_engine::Stop;
use sojourn_mock::{
    Latency, Mock, MockEnd, MockOptions, Queue, Respond, RunFiles, Source, StartError, TlsIdentity,
    Watched, read_latency,
};
use sojourn_plan::{Overrides, reading::duration_ns};

use crate::{connectors::registry, errors::UsageError, outputs, signals};
use line::MockLine;

/// How often signals and files are looked at.
const TURN: Duration = Duration::from_millis(200);

/// A free port of this machine.
const FREE_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server that stands in for others: holds answers as long as you say, and fails as you say
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn mock --respond body.json --latency 700ms
  sojourn mock mocks.yaml                      routes, conditions, faults, callbacks; read again
                                               when the file changes
  sojourn mock --openapi api.yaml --latency 'lognormal(p50=80ms, p99=600ms)'
  sojourn mock                                 the test target: /respond-with/bytes?size=…,
                                               /cookie/set, /do-not-respond, … else an echo
  sojourn mock --queue mm1:rate=100 --truth truth.ndjson
                                               response times follow queueing theory
  sojourn mock selfcheck                       how much it can hold, and how exactly")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MockCommand {
    #[command(subcommand)]
    selfcheck: Option<Sub>,
    /// Mock file (YAML)
    #[arg(value_name = "FILE", conflicts_with_all = ["respond", "openapi", "queue", "latency"])]
    file: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    listen: SocketAddr,
    /// Answer every request with this file
    #[arg(long, value_name = "FILE", conflicts_with = "openapi")]
    respond: Option<PathBuf>,
    /// Status of every answer
    #[arg(long, value_name = "N", conflicts_with_all = ["file", "openapi"],
        value_parser = clap::value_parser!(u16).range(200..=999))]
    status: Option<u16>,
    /// Header of every answer, repeatable
    #[arg(long, value_name = "NAME: VALUE", conflicts_with_all = ["file", "openapi"],
        value_parser = header)]
    header: Vec<(String, String)>,
    /// How long every answer is held: 700ms, uniform(10ms, 50ms), normal(100ms, 20ms), exp(20ms),
    /// lognormal(p50=80ms, p99=600ms), percentiles(p50=20ms, p99=300ms), recorded(run.sojourn)
    #[arg(long, value_name = "LAW")]
    latency: Option<String>,
    /// Routes and example answers from an OpenAPI 3 description
    #[arg(long, value_name = "FILE")]
    openapi: Option<PathBuf>,
    /// Serve requests in order, by a queue: mm1:rate=100, mmc:servers=3,rate=50, md1:rate=100,
    /// mg1:service=uniform(5ms, 15ms); with ,waiting=10 one more is answered 503
    #[arg(long, value_name = "QUEUE", conflicts_with_all = ["latency", "openapi"])]
    queue: Option<String>,
    /// Write when each request of the queue arrived, started, finished and was sent (NDJSON)
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Let delay=, status=, size= and close= in a query change the answer
    #[arg(long, conflicts_with_all = ["file", "openapi"])]
    overrides: bool,
    /// Speak TLS too (HTTP/2 or HTTP/1.1), with a self-signed certificate whose path is printed
    #[arg(long)]
    tls: bool,
    /// A further name that the certificate is for, repeatable
    #[arg(long, value_name = "NAME", requires = "tls")]
    tls_name: Vec<String>,
    /// A certificate of your own (PEM) instead
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "tls_name")]
    tls_cert: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Value for `${NAME}` in the file, before the environment's, repeatable
    #[arg(long, short = 'e', value_name = "NAME=VALUE", value_parser = crate::plan_flags::pair)]
    env: Vec<(String, String)>,
    /// Seed of everything random
    #[arg(long)]
    seed: Option<u64>,
    /// Threads [default: one per core; with a queue one]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Most connections
    #[arg(long, default_value_t = 1_000_000, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Never sleep: look for requests and due answers again and again. Truth and answers are exact
    /// to microseconds then, and each thread takes a whole core; for accuracy tests
    #[arg(long)]
    spin: bool,
    /// After Ctrl-C or SIGTERM, how long held requests may still be answered
    #[arg(long, default_value = "30s", value_name = "DURATION", value_parser = duration)]
    drain: u64,
    /// Print the JSON Schema of mock files, for editors
    #[arg(long, exclusive = true)]
    schema: bool,
    /// No live line
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// How much it can hold on this machine, and how exactly
    Selfcheck(selfcheck::Selfcheck),
}

/// Serves until told to stop.
pub(crate) fn run(command: &MockCommand) -> Result<u8, UsageError> {
    if let Some(Sub::Selfcheck(selfcheck)) = &command.selfcheck {
        raise_descriptors();
        return selfcheck::run(selfcheck, options(FREE_PORT, selfcheck.threads));
    }
    if command.schema {
        outputs::print(&format!("{:#}\n", sojourn_mock::mock_schema()));
        return Ok(0);
    }
    raise_descriptors();
    // What is wrong with the words is said at once, with its hint.
    source(command, &RunFiles::default())?;
    let mut watched =
        Watched::made(|runs| source(command, runs).map_err(|error| error.to_string()));
    let book = watched.read().map_err(UsageError::plain)?;
    if command.truth.is_some() && book.queue.is_none() {
        let hint = "add --queue mm1:rate=100, or `queue:` to the file";
        return Err(UsageError::new("--truth without a queue has nothing to tell", hint));
    }
    warn(&book.warnings);
    let routes = book.routes.len();
    let mut options = options(command.listen, command.threads);
    options.connections_max = command.connections as usize;
    options.truth.clone_from(&command.truth);
    options.tls = identity(command)?;
    options.spin = command.spin;
    if book.queue.is_some() {
        options.threads = NonZeroUsize::MIN;
        if options.tls.is_some() {
            let hint = "a queue serves requests in the order of one thread, by HTTP/1.1";
            return Err(UsageError::new("a queue behind TLS is not kept", hint));
        }
    }
    // Before anybody can ask it: who is answered may end it.
    let stop = signals::stop_serving_on_signals();
    let mock = Mock::start(book, &options).map_err(|error| match error {
        StartError::Channel(error) => UsageError::with(error.message, error.hint),
        StartError::Io(error) => {
            let hint = "choose another --listen (port 0 takes a free one), or another --truth";
            UsageError::new(format!("cannot serve at {}: {error}", command.listen), hint)
        }
    })?;
    println!("{}", mock.url(""));
    let certificate = certificate_file(&options, &mock)?;
    let threads = options.threads;
    eprintln!("serving {routes} route(s) with {threads} thread(s); Ctrl-C ends it");
    serve(command, &mock, &mut watched, &stop);
    if let Some(path) = certificate {
        // It is worthless without the mock.
        let _removed = std::fs::remove_file(path);
    }
    told(mock.finish())
}

fn serve(command: &MockCommand, mock: &Mock, watched: &mut Watched<'_>, stop: &Stop) {
    let mut line = MockLine::new(command.quiet, mock);
    let mut until_ns = None;
    while !mock.has_ended() && !stop.at_once() {
        std::thread::sleep(TURN);
        line.show();
        if stop.graceful() {
            let until_ns = *until_ns.get_or_insert_with(|| {
                mock.drain();
                now_ns().saturating_add(command.drain)
            });
            if now_ns() >= until_ns {
                break;
            }
        } else if watched.has_changed() {
            line.end();
            if let Err(wrong) = read_again(mock, watched) {
                eprintln!("{wrong}\nnot taken over: the mock goes on as it was");
            }
        }
    }
    line.end();
}

/// Takes a changed book over. Errs in words.
fn read_again(mock: &Mock, watched: &mut Watched<'_>) -> Result<(), String> {
    let book = watched.read()?;
    let (routes, warnings) = (book.routes.len(), book.warnings.clone());
    let is_same_queue = mock
        .replace(book)
        .map_err(|error| UsageError::with(error.message, error.hint).to_string())?;
    eprintln!("read again: {routes} route(s)");
    warn(&warnings);
    if !is_same_queue {
        eprintln!("warning: the queue stays as it was; start anew for another");
    }
    Ok(())
}

/// The last words; a truth file that is not whole is an error.
fn told(end: MockEnd) -> Result<u8, UsageError> {
    let figures = &end.figures;
    eprintln!(
        "answered {}, abandoned by their clients {}, still held {}, not understood {}",
        figures.answered, figures.abandoned, figures.held, figures.requests_bad
    );
    let callbacks = &end.callbacks;
    if callbacks.accepted + callbacks.refused > 0 {
        eprintln!(
            "callbacks: done {}, failed {}, refused {}, not yet due or answered {}",
            callbacks.done,
            callbacks.failed,
            callbacks.refused,
            callbacks.waiting()
        );
    }
    for (reason, count) in &end.callback_failures {
        eprintln!("  {count} × {reason}");
    }
    match end.truth {
        None => {}
        Some(Ok(lines)) => eprintln!("truth: {lines} requests"),
        Some(Err(error)) => {
            let hint = "free some space, or choose another --truth";
            return Err(UsageError::new(format!("the truth file is not whole: {error}"), hint));
        }
    }
    if end.truth_left_out > 0 {
        let message = format!("the truth file lacks {} requests", end.truth_left_out);
        return Err(UsageError::new(message, "the disk was too slow: choose another --truth"));
    }
    Ok(0)
}

fn source(command: &MockCommand, runs: &RunFiles) -> Result<Source, UsageError> {
    let latency = match &command.latency {
        Some(text) => read_latency(text, runs).map_err(|wrong| {
            UsageError::with(format!("--latency: {}", wrong.message), wrong.hint)
        })?,
        None => Latency::Fixed(0),
    };
    let queue = match &command.queue {
        Some(text) => Some(Queue::read(text, runs).map_err(|wrong| {
            UsageError::with(format!("--queue: {}", wrong.message), wrong.hint)
        })?),
        None => None,
    };
    let seed = command.seed.unwrap_or_default();
    if let Some(path) = &command.file {
        let overrides = Overrides {
            seed: command.seed,
            environment: command.env.clone(),
            ..Overrides::default()
        };
        return Ok(Source::File { path: path.clone(), overrides });
    }
    if let Some(path) = &command.openapi {
        return Ok(Source::OpenApi { path: path.clone(), latency, seed });
    }
    let says_nothing = command.respond.is_none()
        && command.status.is_none()
        && command.header.is_empty()
        && command.latency.is_none()
        && queue.is_none();
    if says_nothing {
        return Ok(Source::TestTarget { seed });
    }
    Ok(Source::Respond(Respond {
        file: command.respond.clone(),
        status: command.status.unwrap_or(200),
        headers: command.header.clone(),
        latency,
        queue,
        query_overrides: command.overrides,
        seed,
    }))
}

fn options(listen: SocketAddr, threads: Option<u32>) -> MockOptions {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let asked = threads.and_then(|count| NonZeroUsize::new(count as usize));
    MockOptions {
        listen,
        threads: asked.unwrap_or(cores),
        connections_max: 1_000_000,
        truth: None,
        run_id: uuid::Uuid::new_v4().to_string(),
        connectors: Arc::new(registry()),
        tls: None,
        spin: false,
    }
}

fn identity(command: &MockCommand) -> Result<Option<Arc<TlsIdentity>>, UsageError> {
    let identity = match (&command.tls_cert, &command.tls_key) {
        (Some(certificates), Some(key)) => TlsIdentity::from_pem(certificates, key),
        _ if command.tls => TlsIdentity::self_signed(&command.tls_name),
        _ => return Ok(None),
    };
    match identity {
        Ok(identity) => Ok(Some(Arc::new(identity))),
        Err(error) => {
            let hint = "--tls alone makes a certificate for localhost and 127.0.0.1";
            Err(UsageError::new(error.to_string(), hint))
        }
    }
}

/// Writes the self-signed certificate where clients can find it, and says where.
fn certificate_file(options: &MockOptions, mock: &Mock) -> Result<Option<PathBuf>, UsageError> {
    let Some(pem) = options.tls.as_ref().and_then(|identity| identity.certificate_pem()) else {
        return Ok(None);
    };
    let name = format!("sojourn-mock-{}.pem", mock.address().port());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, pem).map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        UsageError::new(message, "set TMPDIR, or give --tls-cert and --tls-key")
    })?;
    let url = mock.url("").replacen("http:", "https:", 1);
    eprintln!("{url} with the certificate {}", path.display());
    eprintln!("  curl --cacert {} {url}/", path.display());
    Ok(Some(path))
}

/// Every connection is a descriptor; the soft limit is usually 1,024.
fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised, connections beyond it are refused, and counted.
    let _set =
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| "write host:port, such as 127.0.0.1:8080".to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write 'Name: value'".to_owned()),
    }
}

fn duration(text: &str) -> Result<u64, String> {
    duration_ns(text).map_err(|error| format!("{error}; write 500ms, 30s or 2m"))
}
