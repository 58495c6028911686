//! Opens outputs for `--out` and hands them each second.

use std::path::PathBuf;

use sojourn_engine::{Progress, Stretch, journey_shapes};
use sojourn_outputs::{Outputs, Run, Second, Target};
use sojourn_plan::Plan;
use sojourn_record::JourneyRecord;

use crate::{
    errors::UsageError,
    shelf::Shelf,
    watchers::{Watcher, Watchers},
};

/// Asks a shelf for the variables that the outputs take credentials from.
pub(crate) fn ask_for_variables(out: &[String], shelf: &Shelf) -> Result<(), UsageError> {
    let variable = |name: &str| shelf.variable(name);
    let parsed = out.iter().map(|it| Target::parse_in(it, &variable).map(drop));
    parsed.collect::<Result<(), _>>().map_err(refuse)
}

/// Opens the outputs, and has them told of the run.
pub(crate) fn watch(
    out: &[String],
    watchers: &mut Watchers,
    (run_id, plan): (&str, &Plan),
    ca_file: Option<PathBuf>,
) -> Result<(), UsageError> {
    let targets: Result<Vec<_>, _> = out.iter().map(|it| Target::parse(it)).collect();
    let shapes = journey_shapes(plan);
    let run = Run { id: run_id.to_owned(), plan: plan.name.clone(), ca_file, shapes };
    let outputs = Outputs::open(&targets.map_err(refuse)?, &run).map_err(refuse)?;
    watchers.add(OutputWatcher { outputs: Some(outputs), kept_dropped: 0 });
    Ok(())
}

/// An output as it is called in texts, without what lets us into it.
pub(crate) fn shown(out: &str) -> String {
    Target::parse(out).map_or_else(|_| "***".to_owned(), |it| it.what().to_owned())
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
