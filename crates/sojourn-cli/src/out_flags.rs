//! `--out`: where figures and journeys go while a run lasts.

use std::path::{Path, PathBuf};

use sojourn_engine::{Progress, Stretch, journey_shapes};
use sojourn_outputs::{Outputs, Run, Second, Target};
use sojourn_plan::Plan;
use sojourn_record::JourneyRecord;

use crate::{
    errors::UsageError,
    shelf::Shelf,
    watchers::{Watcher, Watchers},
};

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
        let variable = |name: &str| shelf.variable(name);
        let parsed = self.out.iter().map(|it| Target::parse_in(it, &variable).map(drop));
        parsed.collect::<Result<(), _>>().map_err(refuse)
    }

    /// Opens the outputs, and has them told of the run.
    pub(crate) fn watch(
        &self,
        watchers: &mut Watchers,
        (run_id, plan): (&str, &Plan),
        ca_file: Option<PathBuf>,
    ) -> Result<(), UsageError> {
        if self.out.is_empty() {
            return Ok(());
        }
        let targets: Result<Vec<_>, _> = self.out.iter().map(|it| Target::parse(it)).collect();
        let shapes = journey_shapes(plan);
        let run = Run { id: run_id.to_owned(), plan: plan.name.clone(), ca_file, shapes };
        let outputs = Outputs::open(&targets.map_err(refuse)?, &run).map_err(refuse)?;
        watchers.add(OutputWatcher { outputs: Some(outputs), kept_dropped: 0 });
        Ok(())
    }
}

fn refuse(error: sojourn_outputs::OutputError) -> UsageError {
    UsageError::new(error.to_string(), "docs/outputs.md says what each kind takes")
}

/// Hands each second to the outputs.
struct OutputWatcher {
    /// Taken at the end.
    outputs: Option<Outputs>,
    /// Journeys that had found no room by the last second.
    kept_dropped: u64,
}

impl Watcher for OutputWatcher {
    fn second(&mut self, progress: &Progress<'_>, journeys: &[JourneyRecord]) {
        let Some(outputs) = &mut self.outputs else { return };
        let journeys_beyond = progress.kept_dropped - self.kept_dropped;
        self.kept_dropped = progress.kept_dropped;
        outputs.second(&Second {
            at_ns: progress.start_ns + progress.elapsed_ns,
            start_ns: progress.start_ns,
            is_last: progress.stretch == Stretch::Over,
            interval: progress.interval,
            store: progress.store,
            journeys,
            journeys_beyond,
        });
    }

    fn end(&mut self) -> Vec<String> {
        let accounts = self.outputs.take().map(Outputs::end).unwrap_or_default();
        accounts.iter().map(sojourn_outputs::Account::line).collect()
    }
}
