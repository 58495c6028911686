//! The report of a capacity search: its steps as runs, and what they say together.
//!
//! [`observe`] makes of a step's run what the search is told; [`CapacityReport`] is what is printed
//! in the end, by `render::capacity_text`, `capacity_json` and `capacity_html`.

pub(crate) mod resources;

use serde::Serialize;
use sojourn_analysis::capacity::{
    Broken, End, LimitingResource, Observation, PerStep, Point, Search, Settings, StageLevels,
    Tried, Void, knee, per_step, samples_needed,
};
use sojourn_metrics::{Threshold, names};
use sojourn_record::RunFile;

use crate::{
    model::{ReportModel, ThresholdRow},
    run_line::{RunLine, levels},
};

/// Version of the serialised shape.
pub const SCHEMA: u32 = 1;

/// Causes of a void run by which this machine is the limit, not the system.
const BY_GENERATOR: [&str; 6] = [
    "missed arrivals",
    "generator lag",
    "generator saturated",
    "tap behind",
    "refused at a bound",
    "refused by the ledger",
];

/// Kinds of stages that journeys wait for.
const WAITED_FOR: [&str; 2] = ["required", "branch"];

/// What a step's run says to the search. `thresholds` are those that the run was made with.
pub fn observe(run: &RunFile, model: &ReportModel, thresholds: &[Threshold]) -> Observation {
    let line = RunLine::new(run, model, None);
    let (_, failures_have_thresholds) = samples_needed(thresholds.iter());
    let failed: Vec<&ThresholdRow> = model.thresholds.iter().filter(|row| !row.held).collect();
    let of_generator = |row: &ThresholdRow| {
        let same = thresholds.iter().find(|threshold| threshold.text == row.text);
        same.is_some_and(|threshold| per_step(threshold) == PerStep::Generator)
    };
    let lagged = failed.iter().find(|row| of_generator(row)).map(|row| Void {
        by_generator: true,
        cause: format!("{} (measured {})", row.text, row.measured_text),
    });
    let broken = failed
        .iter()
        .filter(|row| !of_generator(row))
        .map(|row| Broken { text: row.text.clone(), measured: row.measured_text.clone() });
    Observation {
        steady_ns: line.steady_ns,
        started: line.started,
        levels: levels(run, model, names::JOURNEYS_IN_FLIGHT, |_| true),
        stages: stages(run, model),
        lost: line.lost + line.in_flight_at_cutoff,
        failed: line.failed,
        failures_have_thresholds,
        broken: broken.collect(),
        void: void(run).or(lagged),
        p50_ns: line.p50_ns,
        p99_ns: line.p99_ns,
    }
}

fn void(run: &RunFile) -> Option<Void> {
    let summary = run.summary.as_ref()?;
    let causes = summary.causes.iter().filter(|cause| cause.name != "threshold");
    let all: Vec<_> = causes.collect();
    let first = all.first()?;
    Some(Void {
        by_generator: all.iter().all(|cause| BY_GENERATOR.contains(&cause.name.as_str())),
        cause: format!("{} ({})", first.name, first.detail),
    })
}

fn stages(run: &RunFile, model: &ReportModel) -> Vec<StageLevels> {
    let several = model.journeys.iter().filter(|journey| !journey.stages.is_empty()).count() > 1;
    // Every journey in flight waits for what must not happen, too: that is no backlog.
    let all = model.journeys.iter().flat_map(|journey| {
        let waited_for = journey.stages.iter().filter(|stage| WAITED_FOR.contains(&&*stage.kind));
        waited_for.map(move |stage| (journey.name.as_str(), stage.name.as_str()))
    });
    all.map(|(journey, stage)| StageLevels {
        name: if several { format!("{journey}/{stage}") } else { stage.to_owned() },
        levels: levels(run, model, names::STAGE_IN_FLIGHT, |key| {
            key.tag(names::JOURNEY) == Some(journey) && key.tag(names::STAGE) == Some(stage)
        }),
    })
    .collect()
}

/// A step: what was asked, what was measured, what it says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapacityStep {
    /// What the search asked for and how it judged.
    #[serde(flatten)]
    pub tried: Tried,
    /// The run.
    pub run: RunLine,
}

/// A point of the curve: the last step at its rate that may be believed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Arrivals per second, as asked.
    pub rate_per_s: f64,
    /// Which of the steps, from 0.
    pub step: usize,
    /// It held.
    pub held: bool,
    /// It is the knee.
    pub knee: bool,
}

/// The capacity for each unit of something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerUnit {
    /// Of what: `core`.
    pub unit: String,
    /// How many of it the system has.
    pub amount: f64,
    /// Journeys per second and unit.
    pub per_s: f64,
}

/// A search, as it is printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapacityReport {
    /// Version of this shape: [`SCHEMA`].
    pub schema: u32,
    /// The plan's name.
    pub name: String,
    /// Sojourn's version.
    pub version: String,
    /// What was found.
    pub end: End,
    /// The same in one sentence, without a full stop.
    pub sentence: String,
    /// The middle between what held and what failed; at least this, where nothing failed.
    pub capacity_per_s: Option<f64>,
    /// Half the distance between the two.
    pub half_width_per_s: Option<f64>,
    /// The highest rate that held.
    pub held_per_s: Option<f64>,
    /// The capacity by units.
    pub per_unit: Vec<PerUnit>,
    /// Stopped by the user.
    pub interrupted: bool,
    /// Precision that was asked for, as a share.
    pub precision: f64,
    /// The resource of the system's own that is used up where it ends; `None`: none is, or none was
    /// read.
    pub limiting_resource: Option<LimitingResource>,
    /// The curve, by rate.
    pub curve: Vec<CurvePoint>,
    /// Every step in order.
    pub steps: Vec<CapacityStep>,
    /// Thresholds that were left out: (as written, why).
    pub left_out: Vec<(String, String)>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl CapacityReport {
    /// The report of a search whose steps were these runs. `units` are (name, amount).
    pub fn new(
        of: (&str, &Settings),
        search: &Search,
        runs: Vec<RunLine>,
        units: &[(String, f64)],
        left_out: Vec<(String, String)>,
    ) -> Self {
        let (name, settings) = of;
        let end = search.end();
        let capacity_per_s = end.capacity_per_s();
        let tried = search.tried().iter().cloned();
        let steps: Vec<CapacityStep> =
            tried.zip(runs).map(|(tried, run)| CapacityStep { tried, run }).collect();
        let per_unit = units.iter().filter_map(|(unit, amount)| {
            let per_s = capacity_per_s? / amount;
            Some(PerUnit { unit: unit.clone(), amount: *amount, per_s })
        });
        Self {
            schema: SCHEMA,
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sentence: end.in_words(),
            capacity_per_s,
            half_width_per_s: end.half_width_per_s(),
            held_per_s: end.held_per_s(),
            per_unit: per_unit.collect(),
            interrupted: false,
            precision: settings.precision,
            limiting_resource: resources::limiting(&steps),
            curve: curve(&steps),
            notes: notes(&end, &steps, settings),
            steps,
            left_out,
            end,
        }
    }
}

fn curve(steps: &[CapacityStep]) -> Vec<CurvePoint> {
    use sojourn_analysis::capacity::Judgement;
    let mut points: Vec<CurvePoint> = Vec::new();
    for (step, it) in steps.iter().enumerate() {
        let held = match it.tried.judgement {
            Judgement::Void { .. } => continue,
            Judgement::Held { .. } => true,
            Judgement::Failed { .. } | Judgement::Undecided { .. } => false,
        };
        let rate_per_s = it.tried.step.rate_per_s;
        points.retain(|known| known.rate_per_s != rate_per_s);
        points.push(CurvePoint { rate_per_s, step, held, knee: false });
    }
    points.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let measured: Vec<Point> = points
        .iter()
        .map(|point| {
            let run = &steps[point.step].run;
            Point { completed_per_s: run.completed_per_s, mean_ns: run.mean_ns.unwrap_or(f64::NAN) }
        })
        .collect();
    if let Some(knee) = knee(&measured) {
        points[knee].knee = true;
    }
    points
}

/// What the figures leave open.
fn notes(end: &End, steps: &[CapacityStep], settings: &Settings) -> Vec<String> {
    use sojourn_analysis::{capacity::Judgement, words};
    let mut notes = Vec::new();
    let decisive = steps.iter().filter(|it| {
        let rate = Some(it.tried.step.rate_per_s);
        let is_end = match end {
            End::Found { held_per_s, failed_per_s, .. } => {
                rate == Some(*held_per_s) || rate == Some(*failed_per_s)
            }
            _ => rate == end.held_per_s(),
        };
        is_end && !matches!(it.tried.judgement, Judgement::Void { .. })
    });
    let widest = decisive
        .filter(|it| !matches!(it.tried.judgement, Judgement::Undecided { .. }))
        .filter_map(|it| it.tried.growth.map(|growth| growth.half_width))
        .fold(0.0, f64::max);
    if widest > 2.0 * settings.precision && matches!(end, End::Found { .. }) {
        notes.push(format!(
            "growth of the backlog was known to ± {} of the arrivals only: the capacity may be off \
             by as much. Longer steps (--step) tell more",
            words::percent(widest)
        ));
    }
    let longest_ns = steps.iter().filter_map(|it| it.run.p99_ns).min().unwrap_or(0);
    let shortest_ns = steps.iter().map(|it| it.run.steady_ns).min().unwrap_or(0);
    if settings.step_ns.is_some() && longest_ns > shortest_ns / 4 {
        notes.push(format!(
            "journeys take {} at p99: steps of {} are too short to tell a pipeline that fills up \
             from a queue that grows",
            words::duration(longest_ns as f64),
            words::duration(shortest_ns as f64)
        ));
    }
    notes
}
