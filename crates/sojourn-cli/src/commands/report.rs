//! `sojourn report`: a run file rendered again, or the figures of an attack's results.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use sojourn_record::{RunFile, is_run_file, results::Detail};
use sojourn_report::results::{Layout, Metrics, duration, print_run};

use crate::{
    audit,
    errors::UsageError,
    report_file::ReportFile,
    reported::{Reported, RunFormat},
    requirements,
    results::{self, Output, Reader},
};

/// Report on a run file, or on the results of an attack
///
/// A run file (`*.sojourn`) is rendered again in a --format. Anything else is taken for results of
/// an attack (gob, JSON or CSV, told apart by themselves) and summed up, in a -type if given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn report reports/payments-….sojourn
  sojourn report run.sojourn --format json | jq .verdict
  sojourn report run.sojourn --output page.html
  sojourn report run.sojourn --report summary.md --report junit.xml     for a pull request and CI
  sojourn report run.sojourn --report seconds.csv --report seconds.hlog  second by second
  sojourn report run.sojourn --report slack.json=slack.tmpl   by a template of your own
  sojourn report run.sojourn --nfr nfr.yaml          held against requirements; 99 if it misses one
  sojourn report run.sojourn --report audit.ndjson   the kept journeys, one JSON object a line
  sojourn report run.sojourn --journey pay:4711      one journey's whole timeline
  sojourn report *.sojourn --journey pay:47 --output pay.html   from several runs, by its beginning
  sojourn report results.bin
  cat results.bin | sojourn report -type='hist[0,1ms,10ms,100ms]'
  sojourn report -type=json -buckets='[0,10ms]' monday.bin tuesday.bin

Flags may have one dash or two. Several files of results are merged by time; the time between
those that do not overlap does not count. Ctrl-C stops reading and writes the report. A failure is
one line on standard error and exit code 1; wrong usage, and what is wrong with a run file, 2.")]
pub(crate) struct Report {
    /// Run file, or files with results [default: results on stdin]
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// Of a run file: what goes to standard output [default: text]
    #[arg(long, value_enum)]
    format: Option<RunFormat>,
    /// Of run files: the journey of this key, trace id or number (#17), or those whose key begins
    /// so, with its whole timeline, as far as it was kept
    #[arg(long, value_name = "KEY", conflicts_with_all = ["layout", "report"])]
    journey: Option<String>,
    /// Of a run file: reports in files, by ending: .html, .md, .txt, .json, .xml (JUnit), .csv and
    /// .hlog (second by second), .ndjson (the kept journeys), or OUT=FILE.tmpl by a template of
    /// your own; repeatable. Then nothing is printed, unless a --format is given
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    /// Of a run file: requirements (YAML) that the run must meet; then the exit code is the run's,
    /// with these requirements
    #[arg(long, value_name = "FILE", conflicts_with_all = ["layout", "journey"])]
    nfr: Option<PathBuf>,
    /// Of results, or of a run file with response time, blocked, service time and lag side by side:
    /// text, json, hist[0,1ms,…] or hdrplot
    #[arg(long = "type", value_name = "TYPE")]
    layout: Option<String>,
    /// Buckets of hist or json: [0,1ms,10ms]
    #[arg(long, value_name = "BUCKETS", default_value = "", hide_default_value = true)]
    buckets: String,
    /// Write the report anew this often while reading, as in 2s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "0")]
    #[arg(hide_default_value = true)]
    every: i64,
    /// Where to write; for a run file the ending chooses the format, as with --report
    #[arg(long, short, value_name = "FILE", default_value = "stdout")]
    output: OsString,
}

/// Reports.
pub(crate) fn run(command: &Report) -> Result<u8, UsageError> {
    if let Some(key) = &command.journey {
        let output = (command.output != "stdout").then(|| Path::new(&command.output));
        return audit::show(&command.files, key, command.format, output).map(|()| 0);
    }
    match run_file(&command.files)? {
        Some(path) => render(command, &path),
        None if command.nfr.is_some() => Err(UsageError::new(
            "results are held against no requirements",
            "give a run file, or use `sojourn attack -fail-if`",
        )),
        None => sum_up(command).map(|()| 0),
    }
}

/// The run file among the files: it begins like one, or is at least called so.
fn run_file(files: &[OsString]) -> Result<Option<PathBuf>, UsageError> {
    let Some(name) = files.iter().find(|name| looks_like_run_file(name)) else { return Ok(None) };
    if files.len() > 1 {
        return Err(UsageError::new(
            format!("{} is a run file and not the only file", name.display()),
            "report on run files one by one; only --journey looks through several",
        ));
    }
    Ok(Some(PathBuf::from(name)))
}

fn looks_like_run_file(name: &OsStr) -> bool {
    let path = Path::new(name);
    let is_called_so = path.extension().is_some_and(|extension| extension == "sojourn");
    // Only a plain file can be read twice.
    let mut head = Vec::new();
    let is_read = path.is_file()
        && File::open(path).is_ok_and(|file| file.take(8).read_to_end(&mut head).is_ok());
    is_called_so || (is_read && is_run_file(&head))
}

/// A run file, rendered.
fn render(command: &Report, path: &Path) -> Result<u8, UsageError> {
    let format = match (command.format, command.layout.as_deref()) {
        (Some(format), _) => format,
        (None, None) => RunFormat::Text,
        (None, Some(layout)) => return lay_out(command, path, layout),
    };
    for report in &command.report {
        ReportFile::of(report)?;
    }
    let wanted = command.nfr.as_deref().map(requirements::read).transpose()?;
    let reported = Reported::held_against(path, wanted.as_ref())?;
    for report in &command.report {
        reported.write(report)?;
    }
    match command.output == "stdout" {
        // What was asked for is in files.
        true if command.format.is_none() && !command.report.is_empty() => {}
        true => reported.print(format)?,
        false => drop(reported.write(Path::new(&command.output))?),
    }
    Ok(if wanted.is_some() { reported.stored_code() } else { 0 })
}

/// A run file in one of the layouts of results, with the times side by side.
fn lay_out(command: &Report, path: &Path, layout: &str) -> Result<u8, UsageError> {
    let (layout, buckets) = Layout::parse(layout, &command.buckets)
        .map_err(|error| UsageError::runtime(error.to_string()))?;
    let run = RunFile::open(path)?;
    let text = print_run(&run, layout, buckets.as_ref());
    Output::open(&command.output)?.write(text.as_bytes())?;
    Ok(0)
}

/// Results, summed up.
fn sum_up(command: &Report) -> Result<(), UsageError> {
    let layout = match (command.layout.as_deref(), command.format) {
        (Some(layout), _) => layout,
        (None, None | Some(RunFormat::Text)) => "text",
        (None, Some(RunFormat::Json)) => "json",
        (None, Some(RunFormat::Ndjson)) => {
            return Err(UsageError::new(
                "results have no journeys",
                "`sojourn encode` writes them as JSON, one a line",
            ));
        }
        (None, Some(RunFormat::Html)) => {
            return Err(UsageError::new(
                "results have no HTML report",
                "`sojourn plot` makes a page of them",
            ));
        }
        (None, Some(RunFormat::Md | RunFormat::Junit | RunFormat::Csv | RunFormat::Hlog)) => {
            return Err(UsageError::new(
                "results have no report in this format: only run files do",
                "`sojourn encode` writes results as JSON or CSV; `sojourn attack --output \
                 run.sojourn` leaves a run file",
            ));
        }
    };
    sum_up_as(command, layout)
}

fn sum_up_as(command: &Report, layout: &str) -> Result<(), UsageError> {
    let (layout, buckets) = Layout::parse(layout, &command.buckets)
        .map_err(|error| UsageError::runtime(error.to_string()))?;
    let every_ns = u64::try_from(command.every).unwrap_or(0);
    let mut inputs = results::open(&command.files, Detail::Figures, every_ns)?;
    let mut output = Output::open(&command.output)?;
    let mut metrics = Metrics::new(buckets);
    loop {
        match inputs.reader.advance() {
            Ok(Some(input)) => metrics.add(input, &inputs.reader.current()),
            Ok(None) => break,
            Err(_timeout) if metrics.requests() == 0 => {}
            Err(_timeout) => {
                output.clear()?;
                if output.write(layout.print(&mut metrics).as_bytes())? == Reader::Gone {
                    return Ok(());
                }
            }
        }
    }
    let failures = inputs.failures();
    if metrics.requests() > 0 || failures.is_empty() {
        if every_ns > 0 {
            output.clear()?;
        }
        output.write(layout.print(&mut metrics).as_bytes())?;
        remark(&mut metrics);
    }
    failures.first().map_or(Ok(()), |error| Err(UsageError::runtime(error.to_string())))
}

/// What the report does not show.
fn remark(metrics: &mut Metrics) {
    let figures = metrics.figures();
    if figures.stretches > 1 {
        eprintln!(
            "note: the files do not overlap in time: they make {} stretches, and the time between \
             them counts neither in the duration nor in the rates",
            figures.stretches
        );
    }
    if figures.errors_refused > 0 {
        eprintln!(
            "note: {} further results had errors that are not listed: there are too many \
             different ones",
            figures.errors_refused
        );
    }
}
