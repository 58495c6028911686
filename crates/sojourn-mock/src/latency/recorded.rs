//! A law from what Sojourn has measured: the service times of a step in a run file.

use std::path::Path;
use std::sync::Arc;

use sojourn_metrics::{Histogram, SeriesPhase, names};
use sojourn_record::RunFile;

use super::{Latency, Table};

/// The law of the service times in a run file's steady phase: of the step of this name, or of all
/// steps. Errs in words.
pub fn recorded(path: &Path, step: Option<&str>) -> Result<Latency, String> {
    let file = RunFile::open(path).map_err(|error| error.to_string())?;
    let tag = step.map(|step| (names::STEP, step));
    let merged = file.store.merged(names::STEP_SERVICE, tag.as_slice(), SeriesPhase::Steady);
    let known = file.store.series().filter(|(key, _)| key.metric == names::STEP_SERVICE);
    let mut steps: Vec<&str> = known.filter_map(|(key, _)| key.tag(names::STEP)).collect();
    steps.sort_unstable();
    steps.dedup();
    match (of_histogram(&merged), step) {
        (Some(law), _) => Ok(law),
        (None, Some(step)) if !steps.is_empty() => Err(format!(
            "{} has no times of step `{step}`; its steps are {}",
            path.display(),
            steps.join(", ")
        )),
        (None, _) => Err(format!("{} has no service times in its steady phase", path.display())),
    }
}

/// The law of a histogram's samples: within a bucket all times are equally likely.
pub(crate) fn of_histogram(histogram: &Histogram) -> Option<Latency> {
    let all = histogram.count() as f64;
    let mut points = Vec::new();
    let mut below = 0_u64;
    for (least, greatest, count) in histogram.buckets() {
        points.push((below as f64 / all, least as f64));
        below += count;
        points.push((below as f64 / all, greatest as f64));
    }
    Some(Latency::Table(Arc::new(Table::new(points)?)))
}
