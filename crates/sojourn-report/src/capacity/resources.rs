//! The system's own resources over the steps of a search.

use sojourn_analysis::capacity::{Judgement, LimitingResource, StepUse, limiting_resource};

use super::{CapacityStep, CurvePoint};
use crate::model::ResourceReport;

/// The resource that is used up where the search ends.
pub(super) fn limiting(steps: &[CapacityStep]) -> Option<LimitingResource> {
    let uses: Vec<StepUse> = steps.iter().flat_map(uses).collect();
    limiting_resource(&uses)
}

/// Of a step that decided, and was long enough.
fn uses(step: &CapacityStep) -> Vec<StepUse> {
    let held = match step.tried.judgement {
        Judgement::Held { .. } => true,
        Judgement::Failed { .. } => false,
        Judgement::Undecided { .. } | Judgement::Void { .. } => return Vec::new(),
    };
    let of_resource = |report: &ResourceReport| {
        let processor = report.processor.as_ref().filter(|it| it.seconds >= SECONDS_MIN)?;
        Some(StepUse {
            rate_per_s: step.tried.step.rate_per_s,
            held,
            name: report.name.clone(),
            cores_mean: processor.cores_mean,
            saturated: report.saturated.clone(),
        })
    };
    step.run.resources.iter().filter_map(of_resource).collect()
}

/// Fewer seconds of a step say nothing.
const SECONDS_MIN: usize = 4;

/// The resource whose cores stand in the table of rates: the one that limits, else the one that
/// came nearest to its limit, else the busiest.
pub(crate) fn shown<'a>(
    curve: &[CurvePoint],
    steps: &'a [CapacityStep],
    limiting: Option<&LimitingResource>,
) -> Option<&'a str> {
    let reports = || curve.iter().flat_map(|point| &steps[point.step].run.resources);
    if let Some(limiting) = limiting {
        return reports().find(|it| it.name == limiting.name).map(|it| it.name.as_str());
    }
    let measured = reports().filter_map(|report| Some((report, report.processor.as_ref()?)));
    let nearness = |it: &sojourn_analysis::resources::Processor| {
        (it.limit_share.unwrap_or(0.0), it.cores_mean)
    };
    let nearest = measured.max_by(|(_, a), (_, b)| {
        let (a, b) = (nearness(a), nearness(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    nearest.map(|(report, _)| report.name.as_str())
}

/// A resource's cores in a run.
pub(crate) fn cores(reports: &[ResourceReport], name: &str) -> Option<f64> {
    let report = reports.iter().find(|report| report.name == name)?;
    report.processor.as_ref().map(|processor| processor.cores_mean)
}
