//! `sojourn search`: the highest arrival rate that holds a journey file's thresholds.

use sojourn_analysis::capacity::{
    End, Observation, PerStep, Search as State, Settings, Step, Tried, Void, is_hopeless, per_step,
    samples_needed,
};
use sojourn_engine::{EXIT_FAILED, EXIT_INTERRUPTED, EXIT_VOID, Stretch};
use sojourn_plan::{Plan, show_rate};
use sojourn_report::{
    RunLine,
    capacity::{CapacityReport, observe},
    model::Outcome,
    render,
};

use crate::{
    errors::UsageError,
    plan_flags::PlanFlags,
    runner::Format,
    several::{Done, Several, SeveralFlags},
};

/// Shortest steady phase that shows whether a backlog grows, seconds.
const STEP_S_MIN: u64 = 5;
/// Longest wait for what a step left behind, seconds.
const SETTLE_S_MAX: f64 = 60.0;

/// Find the highest arrival rate that a journey file's thresholds allow
#[derive(Debug, clap::Args)]
#[command(after_help = "Doubles the rate until a step fails, then narrows down between what held
and what failed, and runs the rate that held once more. A step fails when a threshold of the file
does not hold, when journeys are lost or fail, or when more arrives than is finished.

Examples:
  sojourn search journey.yaml
  sojourn search journey.yaml --from 20/s --to 500/s --precision 5%
  sojourn search journey.yaml --per-core 0.5 --report capacity.html --report capacity.json
  sojourn search journey.yaml --step 30s --runs runs/
  sojourn search journey.yaml --web              every step watched in a browser
  sojourn search journey.yaml --target-pid payments=4711    which resource ends it, and where

Exit codes: 0 found, 2 wrong usage or a plan that cannot run, 3 void (no run could be believed),
99 even the lowest rate failed, 105 interrupted; what is known is reported.")]
pub(crate) struct Search {
    #[command(flatten)]
    plan: PlanFlags,
    /// First rate, such as 20/s [default: a quarter of the file's]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    from: Option<f64>,
    /// Highest rate to try
    #[arg(long, value_name = "RATE", value_parser = rate)]
    to: Option<f64>,
    /// How near to each other what holds and what fails are to be: within plus or minus this
    #[arg(long, value_name = "SHARE", default_value = "2.5%", value_parser = precision)]
    precision: f64,
    /// Steady phase of every step [default: as long as it takes to tell]
    #[arg(long, value_name = "DURATION", value_parser = sojourn_plan::duration_ns)]
    step: Option<u64>,
    /// Cores that the system has: the capacity is also told per core
    #[arg(long, value_name = "N", value_parser = amount)]
    per_core: Option<f64>,
    /// The same for anything else, such as pod=3; repeatable
    #[arg(long, value_name = "UNIT=N", value_parser = unit)]
    per: Vec<(String, f64)>,
    #[command(flatten)]
    several: SeveralFlags,
}

/// Makes the search.
pub(crate) fn run(command: &Search) -> Result<u8, UsageError> {
    let mut plan = command.plan.read()?;
    for warning in &plan.warnings {
        eprintln!("warning: {warning}");
    }
    let left_out = leave_out(&mut plan);
    let settings = settings(command, &plan)?;
    let mut several = Several::new(&command.several, "search")?;
    let mut state = State::new(settings.clone());
    let lines = climb(&mut several, &plan, &mut state)?;
    let core = command.per_core.map(|cores| ("core".to_owned(), cores));
    let units: Vec<(String, f64)> = core.into_iter().chain(command.per.iter().cloned()).collect();
    let of = (plan.name.as_str(), &settings);
    let mut report = CapacityReport::new(of, &state, lines, &units, left_out);
    report.interrupted = several.stop.graceful();
    several.publish(&plan.name, &|format, colour| {
        Ok(match format {
            Format::Text => render::capacity_text(&report, colour),
            Format::Json => render::capacity_json(&report)?,
            Format::Html => render::capacity_html(&report)?,
        })
    })?;
    Ok(match report.end {
        _ if report.interrupted => EXIT_INTERRUPTED,
        End::Void { .. } | End::Nothing => EXIT_VOID,
        End::NeverHeld { .. } => EXIT_FAILED,
        End::Found { .. } | End::AtLeast { .. } => 0,
    })
}

fn settings(command: &Search, plan: &Plan) -> Result<Settings, UsageError> {
    let file = command.plan.file.display();
    let declared_per_s = plan.declared_rate_per_s().map_err(|why| {
        let hint = "a search sets the rate of open loads: `rate: 50/s` or `stages: […]`";
        UsageError::new(format!("{file} has no rate to search from: {why}"), hint)
    })?;
    let from_per_s = command.from.unwrap_or(declared_per_s / 4.0);
    if let Some(to_per_s) = command.to.filter(|to| *to < from_per_s) {
        return Err(UsageError::new(
            format!(
                "--to {} is below the first rate, {}",
                show_rate(to_per_s),
                show_rate(from_per_s)
            ),
            "give a lower --from, or a higher --to",
        ));
    }
    if command.step.is_some_and(|ns| ns < STEP_S_MIN * sojourn_clock::SECOND_NS) {
        return Err(UsageError::new(
            "--step: shorter than five seconds, which do not show whether a backlog grows",
            "leave it out: steps are as long as it takes to tell",
        ));
    }
    let usual = Settings::new(from_per_s);
    let declared = plan.load.iter().map(|load| load.warmup_ns).max().unwrap_or(0);
    Ok(Settings {
        to_per_s: command.to.unwrap_or_else(|| usual.to_per_s.max(from_per_s)),
        precision: command.precision,
        step_ns: command.step,
        samples: samples_needed(plan.thresholds.iter()).0,
        warmup_ns: declared.min(10 * sojourn_clock::SECOND_NS),
        ..usual
    })
}

/// Takes the thresholds out that make no sense for a step; which, and why.
fn leave_out(plan: &mut Plan) -> Vec<(String, String)> {
    let mut left_out = Vec::new();
    plan.thresholds.retain(|threshold| match per_step(threshold) {
        PerStep::Decides | PerStep::Generator => true,
        PerStep::Senseless(why) => {
            left_out.push((threshold.text.clone(), why.to_owned()));
            false
        }
    });
    left_out
}

/// Makes step after step until the search is over; each step's line.
fn climb(
    several: &mut Several<'_>,
    plan: &Plan,
    state: &mut State,
) -> Result<Vec<RunLine>, UsageError> {
    let mut lines = Vec::new();
    while let Some(step) = state.step().copied() {
        if several.stop.graceful() {
            state.stop();
            break;
        }
        let number = lines.len() + 1;
        let done = make(several, plan, state, &step, number);
        if several.stop.graceful() {
            // What a step that was cut short says would not be what it was asked.
            state.stop();
            break;
        }
        let (seen, line) = match done {
            Ok(done) => (observe(&done.run, &done.model, &plan.thresholds), done.line),
            // Nothing was ever measured: a matter of the plan, or of what it names.
            Err(error) if lines.is_empty() => return Err(error),
            Err(error) => unmade(&error),
        };
        state.observe(&seen);
        if let Some(tried) = state.tried().last() {
            several.say(&said(number, tried));
        }
        let left = line.in_flight_at_cutoff as f64;
        if left > 0.0 && state.step().is_some() {
            several.pause((left / line.completed_per_s.max(1.0)).clamp(1.0, SETTLE_S_MAX));
        }
        lines.push(line);
    }
    Ok(lines)
}

fn make(
    several: &mut Several<'_>,
    plan: &Plan,
    state: &State,
    step: &Step,
    number: usize,
) -> Result<Done, UsageError> {
    let mut stepped =
        plan.at_rate(step.rate_per_s, step.warmup_ns, step.steady_ns).map_err(UsageError::plain)?;
    stepped.labels.push(("search".to_owned(), format!("step {number}")));
    let (warmup_ns, base_ns) = (step.warmup_ns, state.base_ns());
    let of = format!("step {number}, {}", show_rate(round(step.rate_per_s)));
    several.make(&stepped, &of, &|progress| {
        progress.stretch == Stretch::Steady
            && is_hopeless(
                warmup_ns,
                progress.elapsed_ns,
                (progress.started, progress.in_flight),
                base_ns,
            )
    })
}

/// A step that could not be made after others could: what was loaded may be gone.
fn unmade(error: &UsageError) -> (Observation, RunLine) {
    let cause = error.to_string().replace('\n', " ");
    let void = Some(Void { by_generator: false, cause: cause.clone() });
    (Observation { void, ..Observation::default() }, RunLine::unmade(Outcome::Void, cause))
}

/// A step in one line.
fn said(number: usize, tried: &Tried) -> String {
    use sojourn_analysis::{capacity::Judgement, words};
    let why = match &tried.judgement {
        Judgement::Held { .. } => String::new(),
        Judgement::Failed { limit } => format!(": {}", limit.in_words()),
        Judgement::Undecided { reason, .. } => format!(": {reason}"),
        Judgement::Void { cause, .. } => format!(": {cause}"),
    };
    let rate = words::number(tried.step.rate_per_s);
    format!("step {number}  {rate}/s  {}{why}", tried.judgement.word())
}

/// Four digits are enough for a line.
fn round(rate: f64) -> f64 {
    let scale = 10f64.powi(3 - rate.abs().max(1e-9).log10().floor() as i32);
    (rate * scale).round() / scale
}

fn rate(text: &str) -> Result<f64, String> {
    let per_s = sojourn_plan::rate_per_s(text).map_err(|why| format!("{why}: write 50/s"))?;
    if per_s > 0.0 { Ok(per_s) } else { Err("a rate above zero, such as 50/s".to_owned()) }
}

fn precision(text: &str) -> Result<f64, String> {
    let share = sojourn_plan::fraction(text)?;
    match (0.005..=0.25).contains(&share) {
        true => Ok(share),
        false => Err("from 0.5% to 25%".to_owned()),
    }
}

fn amount(text: &str) -> Result<f64, String> {
    let amount: Option<f64> = text.trim().parse().ok();
    amount
        .filter(|amount| amount.is_finite() && *amount > 0.0)
        .ok_or_else(|| "a number above zero".to_owned())
}

fn unit(text: &str) -> Result<(String, f64), String> {
    let (name, number) = text.split_once('=').ok_or("write UNIT=N, such as pod=3")?;
    if name.is_empty() {
        return Err("write UNIT=N, such as pod=3".to_owned());
    }
    Ok((name.to_owned(), amount(number)?))
}
