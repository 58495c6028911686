//! One journey: its stages with what waits before them and their hops, and its steps' requests.

use sojourn_analysis::words;
use sojourn_live::frame::{JourneyFrame, Spread, StageFrame, StepFrame};

use super::{
    canvas::{Canvas, columns},
    head::per_s,
    heading,
};
use crate::{
    history::{Of, Quantile},
    palette::Role,
    view::View,
};

/// Columns of a count, of a rate and of a duration, the gap before it included.
const COUNT: u16 = 9;
const RATE: u16 = 9;
const TIME: u16 = 9;
/// Least columns that a sparkline is worth.
const SPARK_MIN: u16 = 6;
/// From this width on, rates of stages have room.
const HAS_RATES: u16 = 100;

/// Rows that the chosen journey wants.
pub(super) fn rows(view: &View) -> u16 {
    let of = |count: usize| if count == 0 { 0 } else { count + 1 };
    let rows = chosen(view).map_or(1, |it| 1 + of(it.stages.len()) + of(it.steps.len()));
    u16::try_from(rows).unwrap_or(u16::MAX)
}

fn chosen(view: &View) -> Option<&JourneyFrame> {
    let journeys = &view.frame.journeys;
    journeys.get(view.selected).or_else(|| journeys.first())
}

/// Draws it.
pub(super) fn draw(view: &View, canvas: &mut Canvas<'_>) {
    let Some(journey) = chosen(view) else {
        heading(canvas, "no journey yet");
        return;
    };
    title(view, journey, canvas);
    let height = canvas.height().saturating_sub(1);
    let of = |count: usize| if count == 0 { 0 } else { count as u64 + 1 };
    let (stages, steps) = (of(journey.stages.len()), of(journey.steps.len()));
    // Steps give way to stages but for a third, at least two rows with their heading.
    let least = steps.min(u64::from(height / 3).max(2));
    let stages = u64::from(height).saturating_sub(least).min(stages) as u16;
    if stages > 0 {
        stage_table(view, journey, &mut canvas.part(0, 1, u16::MAX, stages));
    }
    if steps > 0 {
        let rest = height.saturating_sub(stages);
        step_table(view, journey, &mut canvas.part(0, 1 + stages, u16::MAX, rest));
    }
}

fn title(view: &View, journey: &JourneyFrame, canvas: &mut Canvas<'_>) {
    let journeys = view.frame.journeys.len();
    let place = match journeys {
        0 | 1 => String::new(),
        _ => format!(" ({} of {journeys}, tab: next)", view.selected.min(journeys - 1) + 1),
    };
    let from = heading(canvas, &format!("{}{place}", journey.name));
    let so_far = &journey.duration_so_far;
    let within = journey.within_ns;
    let figures = format!(
        " in flight {}  p50 {}  p99 {} ",
        words::count(journey.in_flight),
        duration(so_far.p50_ns, so_far.p50_is_lost, within),
        duration(so_far.p99_ns, so_far.p99_is_lost, within),
    );
    let width = canvas.width();
    let role = if so_far.p99_is_lost { Role::Bad } else { Role::Plain };
    if from + columns(&figures) + 2 < width {
        canvas.right(from, 0, width - from - 2, &figures, role);
    }
}

/// Where columns are.
struct Columns {
    name: u16,
    /// The bar of what waits, or the statuses of a step.
    wide: u16,
    count: u16,
    rate: u16,
    spark: u16,
}

impl Columns {
    fn of(width: u16, name: u16, name_max: u16, has_rate: bool) -> Self {
        let name = name.clamp(5, name_max.max(5));
        let rate = if has_rate { RATE } else { 0 };
        let rest = width.saturating_sub(name + COUNT + rate + 2 * TIME + 1);
        // A half for bars or statuses, a quarter for each sparkline with its gap.
        let spark = (rest / 4).saturating_sub(1);
        let spark = if spark < SPARK_MIN { 0 } else { spark };
        let sparks = if spark > 0 { 2 * (spark + 1) } else { 0 };
        Self { name, wide: rest.saturating_sub(sparks), count: COUNT, rate, spark }
    }
}

fn stage_table(view: &View, journey: &JourneyFrame, canvas: &mut Canvas<'_>) {
    let longest = journey.stages.iter().map(|stage| columns(&stage.name)).max().unwrap_or(0);
    let at = Columns::of(canvas.width(), longest, canvas.width() / 5, canvas.width() >= HAS_RATES);
    table_head(canvas, &at, "stage", "waiting", "reached");
    let required = journey.stages.iter().filter(|stage| stage.is_required);
    let most = required.map(|stage| stage.waiting).max().unwrap_or(0).max(1);
    let shown = rows_of(canvas, journey.stages.len());
    for (stage, row) in journey.stages.iter().zip(1..=shown) {
        stage_row(view, journey, stage, most, canvas, (&at, row));
    }
    more(canvas, shown, journey.stages.len());
}

fn stage_row(
    view: &View,
    journey: &JourneyFrame,
    stage: &StageFrame,
    most: u64,
    canvas: &mut Canvas<'_>,
    (at, row): (&Columns, u16),
) {
    canvas.put(0, row, at.name, &stage.name, Role::Plain);
    let bar = at.wide.saturating_sub(1);
    let mut x = at.name + at.wide;
    if stage.is_required {
        canvas.bar(at.name + 1, row, bar, stage.waiting as f64 / most as f64, Role::Bar);
        canvas.right(x, row, at.count, &words::count(stage.waiting), Role::Plain);
    } else {
        // Nobody waits for what need not come.
        let reached = format!("reached {}", words::count(stage.reached));
        canvas.put(at.name + 1, row, bar, &reached, Role::Quiet);
    }
    x += at.count;
    canvas.right(x, row, at.rate, &per_s(stage.reached_per_s), Role::Plain);
    x += at.rate;
    times(view, &stage.hop, (&journey.name, Of::Stage, &stage.name), canvas, (at, x, row));
}

fn step_table(view: &View, journey: &JourneyFrame, canvas: &mut Canvas<'_>) {
    let longest = journey.steps.iter().map(|step| columns(&step.name)).max().unwrap_or(0);
    // URLs are long.
    let mut at = Columns::of(canvas.width(), longest, canvas.width() * 2 / 5, false);
    // Statuses want the room that sparklines can spare.
    if at.spark > 0 && canvas.width() < HAS_RATES {
        at.wide += 2 * (at.spark + 1);
        at.spark = 0;
    }
    table_head(canvas, &at, "step", "requests", "");
    let shown = rows_of(canvas, journey.steps.len());
    for (step, row) in journey.steps.iter().zip(1..=shown) {
        step_row(view, journey, step, canvas, (&at, row));
    }
    more(canvas, shown, journey.steps.len() + journey.steps_beyond as usize);
}

fn step_row(
    view: &View,
    journey: &JourneyFrame,
    step: &StepFrame,
    canvas: &mut Canvas<'_>,
    (at, row): (&Columns, u16),
) {
    canvas.put(0, row, at.name, &step.name, Role::Plain);
    let statuses = step.statuses.iter().map(|it| format!("{} {}", it.name, words::count(it.count)));
    let mut x = at.name + 1;
    let end = at.name + at.wide;
    if step.failed > 0 {
        let failed = format!("✘ {} ", words::count(step.failed));
        x = canvas.put(x, row, end.saturating_sub(x), &failed, Role::Bad);
    }
    let statuses = statuses.collect::<Vec<_>>().join("  ");
    canvas.put(x, row, end.saturating_sub(x), &statuses, Role::Quiet);
    let mut x = end;
    canvas.right(x, row, at.count, &per_s(step.requests_per_s), Role::Plain);
    x += at.count;
    times(view, &step.response, (&journey.name, Of::Step, &step.name), canvas, (at, x, row));
}

/// Median and 99th percentile of the last second, each with its last seconds.
fn times(
    view: &View,
    spread: &Spread,
    line: (&str, Of, &str),
    canvas: &mut Canvas<'_>,
    (at, mut x, row): (&Columns, u16, u16),
) {
    let figures =
        [(Quantile::P50, spread.p50_ns, Role::Quiet), (Quantile::P99, spread.p99_ns, Role::Plain)];
    for (quantile, ns, role) in figures {
        canvas.right(x, row, TIME, &duration(ns, false, None), role);
        x += TIME;
        if at.spark > 0 {
            let spark = view.history.sparkline(line, quantile, view.frame.number, at.spark.into());
            canvas.right(x + 1, row, at.spark, &spark, Role::Bar);
            x += at.spark + 1;
        }
    }
}

fn table_head(canvas: &mut Canvas<'_>, at: &Columns, what: &str, count: &str, rate: &str) {
    canvas.put(0, 0, at.name, what, Role::Quiet);
    let mut x = at.name + at.wide;
    canvas.right(x, 0, at.count, count, Role::Quiet);
    x += at.count;
    canvas.right(x, 0, at.rate, rate, Role::Quiet);
    x += at.rate;
    let of = if what == "stage" { "hop " } else { "" };
    for name in ["p50", "p99"] {
        canvas.right(x, 0, TIME, &format!("{of}{name}"), Role::Quiet);
        x += TIME + if at.spark > 0 { at.spark + 1 } else { 0 };
    }
}

/// How many rows there are for a table's `count`, its heading and, where not all have room, a row
/// that says so left out.
fn rows_of(canvas: &Canvas<'_>, count: usize) -> u16 {
    let room = canvas.height().saturating_sub(1);
    if count <= room.into() { count as u16 } else { room.saturating_sub(1) }
}

fn more(canvas: &mut Canvas<'_>, shown: u16, count: usize) {
    let beyond = count.saturating_sub(shown.into());
    if beyond > 0 && canvas.height() > shown + 1 {
        canvas.put(0, shown + 1, u16::MAX, &format!("… {beyond} more"), Role::Quiet);
    }
}

fn duration(ns: Option<f64>, is_lost: bool, within_ns: Option<u64>) -> String {
    match (ns, is_lost, within_ns) {
        (Some(ns), _, _) => words::duration(ns),
        (None, true, Some(within_ns)) => format!("> {}", words::duration(within_ns as f64)),
        (None, true, None) => "lost".to_owned(),
        (None, false, _) => "–".to_owned(),
    }
}
