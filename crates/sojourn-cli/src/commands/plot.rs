//! `sojourn plot`: results of an attack as a chart in one HTML file.

use std::ffi::OsString;

use sojourn_record::results::Detail;
use sojourn_report::results::Plot as Points;

use crate::{
    errors::UsageError,
    results::{self, Output},
};

/// Results of an attack as a chart in one HTML file
///
/// Latency over time, one series for each attack and outcome. The file needs nothing else: open it
/// in a browser, drag to zoom, double click to see all.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn plot results.bin > plot.html
  sojourn plot -title 'before and after' -output plot.html before.bin after.bin
  sojourn plot -threshold 0 results.json > every-point.html

Flags may have one dash or two. A failure is one line on standard error and exit code 1.")]
pub(crate) struct Plot {
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Attack results")]
    title: String,
    /// Points of a series above which it is thinned out, its shape kept; 0 is never
    #[arg(long, value_name = "N", default_value_t = 4000)]
    threshold: usize,
    /// Where to write
    #[arg(long, short, value_name = "FILE", default_value = "stdout")]
    output: OsString,
    /// Files with results [default: stdin]
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
}

/// Plots.
pub(crate) fn run(command: &Plot) -> Result<u8, UsageError> {
    plot(command).map(|()| 0)
}

fn plot(command: &Plot) -> Result<(), UsageError> {
    let mut points =
        Points::new(command.threshold).map_err(|error| UsageError::runtime(error.to_string()))?;
    let mut inputs = results::open(&command.files, Detail::Figures, 0)?;
    while let Ok(Some(input)) = inputs.reader.advance() {
        points
            .add(input, &inputs.reader.current())
            .map_err(|error| UsageError::runtime(error.to_string()))?;
    }
    let failures = inputs.failures();
    if points.is_empty()
        && let Some(error) = failures.first()
    {
        return Err(UsageError::runtime(error.to_string()));
    }
    let names: Vec<&str> = inputs.reader.names().collect();
    let page = points
        .page(&command.title, &names)
        .map_err(|error| UsageError::runtime(error.to_string()))?;
    Output::open(&command.output)?.write(page.as_bytes())?;
    failures.first().map_or(Ok(()), |error| Err(UsageError::runtime(error.to_string())))
}
