//! `--out` of a script's run: which outputs there are, and what they are called.

use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::metrics::SystemTags;
use sojourn_k6::options::Environment;
use sojourn_k6::output::{
    CsvOptions, InfluxDbOptions, OpenTelemetryOptions, RemoteWriteOptions, StatsdOptions,
    without_password,
};
use sojourn_vu::{Format, Output};

use super::script::Failed;

/// Their names, as messages list them.
const KINDS: &str = "csv, experimental-opentelemetry, experimental-prometheus-rw, influxdb, json, \
                     opentelemetry, prometheus-rw, statsd";

/// Opens all of them. Receivers are first spoken to when there is something to send.
pub(super) fn open(
    outs: &[String],
    process: &Environment,
    tags: SystemTags,
) -> Result<Vec<Output>, Failed> {
    outs.iter().map(|out| open_one(out, process, tags)).collect()
}

/// The files among them.
pub(super) fn files(outs: &[String], process: &Environment) -> Result<Vec<String>, Failed> {
    let mut files = Vec::new();
    for out in outs {
        match out.split_once('=').unwrap_or((out, "")) {
            ("json", path) => files.push(path.to_owned()),
            ("csv", argument) => files.push(csv_options(argument, process)?.file_name),
            _ => {}
        }
    }
    // Those go to standard output.
    files.retain(|path| !path.is_empty() && path != "-");
    Ok(files)
}

fn open_one(out: &str, process: &Environment, tags: SystemTags) -> Result<Output, Failed> {
    let (kind, argument) = out.split_once('=').unwrap_or((out, ""));
    let opened = match kind {
        "json" => file(Format::Json, argument, tags),
        "csv" => return csv(out, argument, process, tags),
        "influxdb" => InfluxDbOptions::read(argument, process)
            .map_err(Failed::config)
            .map(Output::influxdb)?,
        "experimental-prometheus-rw" => {
            remote_write("experimental-prometheus-rw", argument, process)?
        }
        "prometheus-rw" => remote_write("prometheus-rw", argument, process)?,
        "experimental-opentelemetry" => {
            opentelemetry("experimental-opentelemetry", argument, process)?
        }
        "opentelemetry" => opentelemetry("opentelemetry", argument, process)?,
        "statsd" => {
            StatsdOptions::read(argument, process).map_err(Failed::config).map(Output::statsd)?
        }
        other => {
            let kind = named(other);
            let told = format!("invalid output type '{kind}', available types are: {KINDS}");
            return Err(Failed::new(ExitCode::Unspecified, told));
        }
    };
    opened.map_err(|why| Failed::config(format!("--out {}: {why}", shown(out))))
}

type Opened = Result<Output, String>;

fn file(format: Format, path: &str, tags: SystemTags) -> Opened {
    Output::create(format, path, tags).map_err(|error| error.to_string())
}

fn csv_options(argument: &str, process: &Environment) -> Result<CsvOptions, Failed> {
    let options = CsvOptions::read(Some(argument), |name| process.get(name).cloned());
    options.map_err(Failed::config)
}

/// Lines are written as they come, so `saveInterval` changes nothing.
fn csv(
    out: &str,
    argument: &str,
    process: &Environment,
    tags: SystemTags,
) -> Result<Output, Failed> {
    let CsvOptions { file_name, time_format, .. } = csv_options(argument, process)?;
    let opened = file(Format::Csv(time_format), &file_name, tags);
    opened.map_err(|why| Failed::config(format!("--out {out}: {why}")))
}

fn remote_write(
    output: &'static str,
    argument: &str,
    process: &Environment,
) -> Result<Opened, Failed> {
    let options = RemoteWriteOptions::read(output, argument, process).map_err(Failed::config)?;
    Ok(Output::remote_write(options.shown(output), options))
}

fn opentelemetry(
    output: &'static str,
    argument: &str,
    process: &Environment,
) -> Result<Opened, Failed> {
    let version = env!("CARGO_PKG_VERSION");
    let options = OpenTelemetryOptions::read(output, argument, process, version);
    let options = options.map_err(Failed::config)?;
    Ok(Output::opentelemetry(options.shown(output), options))
}

/// An output as texts have it: without user and password.
pub(super) fn shown(out: &str) -> String {
    match out.split_once('=') {
        Some((kind @ ("json" | "csv"), path)) => format!("{kind}={path}"),
        Some((kind, argument)) => format!("{}={}", named(kind), without_password(argument)),
        None => named(out).to_owned(),
    }
}

/// What stands where a kind should, unless it may be an address with a password.
fn named(kind: &str) -> &str {
    let is_kind = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if kind.chars().all(is_kind) { kind } else { "…" }
}
