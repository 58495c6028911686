//! `--out`: where figures and journeys go while a run lasts.

use std::path::{Path, PathBuf};

use sojourn_plan::Plan;

use crate::{errors::UsageError, out, shelf::Shelf, watchers::Watchers};

/// Outputs while a run lasts.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutFlags {
    /// Send figures and kept journeys there while the run lasts, repeatable: prometheus=:9464,
    /// prometheus-rw=URL, otlp=URL, otlp-grpc=URL, influxdb=URL/DATABASE,
    /// influxdb2=URL?org=ORG&bucket=BUCKET, statsd=HOST:PORT, ndjson=FILE, parquet=FILE
    #[arg(long, value_name = "KIND=TARGET")]
    pub(crate) out: Vec<String>,
}

impl OutFlags {
    /// The same for another run, with other names of files.
    pub(crate) fn apart(&self, named: impl Fn(&Path) -> PathBuf) -> Self {
        let out = self.out.iter().map(|out| match out.split_once('=') {
            Some((kind @ ("ndjson" | "parquet"), file)) => {
                format!("{kind}={}", named(Path::new(file)).display())
            }
            _ => out.clone(),
        });
        Self { out: out.collect() }
    }

    /// Asks a shelf for the variables that the outputs take credentials from.
    pub(crate) fn ask_for_variables(&self, shelf: &Shelf) -> Result<(), UsageError> {
        out::ask_for_variables(&self.out, shelf)
    }

    /// Opens the outputs, and has them told of the run.
    pub(crate) fn watch(
        &self,
        watchers: &mut Watchers,
        run: (&str, &Plan),
        ca_file: Option<PathBuf>,
    ) -> Result<(), UsageError> {
        if self.out.is_empty() {
            return Ok(());
        }
        out::watch(&self.out, watchers, run, ca_file)
    }
}
