//! `sojourn sweep`: a journey file for each of several values, side by side.

mod before;
mod vary;

use sojourn_engine::{EXIT_INTERRUPTED, EXIT_VOID};
use sojourn_report::{
    render,
    sweep::{SweepReport, SweepRow},
};

use crate::{
    errors::UsageError,
    plan_flags::PlanFlags,
    runner::Format,
    several::{Several, SeveralFlags},
};
use before::Before;
use vary::Vary;

/// Run a journey file for each of several values, and compare the runs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The variables stand for ${NAME} in the file, and are in the environment of the \
command. That is no shell: it is cut into words as a shell would, then {NAME} is replaced in each
word, so that no value can become a second word or command.

Examples:
  sojourn sweep journey.yaml --vary RATE=50/s,100/s,200/s
  sojourn sweep journey.yaml --vary REPLICAS=1,2,4 \\
      --before 'kubectl scale deployment/payments --replicas={REPLICAS} --timeout=60s'
  sojourn sweep journey.yaml --vary BATCH=1,100 --vary POLL=10ms,1s --report sweep.html
  sojourn sweep journey.yaml --vary RATE=50/s,100/s --target-pid payments=4711
  sojourn sweep journey.yaml --vary RATE=50/s,100/s --web

Exit codes: 0 every run passed, 2 wrong usage, a plan that cannot run or a command that failed,
3 a run was void, 99 a threshold failed, 105 interrupted."
)]
pub(crate) struct Sweep {
    #[command(flatten)]
    plan: PlanFlags,
    /// A variable and its values; repeatable: every combination is run
    #[arg(long, value_name = "NAME=A,B,C", required = true, value_parser = vary::vary)]
    vary: Vec<Vary>,
    /// Command to run before each run, such as 'scale {REPLICAS}'
    #[arg(long, value_name = "COMMAND")]
    before: Option<String>,
    #[command(flatten)]
    several: SeveralFlags,
}

/// Makes the sweep.
pub(crate) fn run(command: &Sweep) -> Result<u8, UsageError> {
    let variables = vary::names(&command.vary)?;
    let combinations = vary::combinations(&command.vary)?;
    let before = command.before.as_deref().map(|text| Before::parse(text, &variables));
    let before = before.transpose()?;
    // All are read first: a value that makes no plan is said before any load.
    let mut plans = Vec::with_capacity(combinations.len());
    for values in combinations {
        let plan = command.plan.read_with(&values).map_err(|it| it.of(&vary::shown(&values)))?;
        plans.push((plan, values));
    }
    let Some((first, _)) = plans.first() else {
        return Err(UsageError::plain("nothing to sweep".to_owned()));
    };
    for warning in &first.warnings {
        eprintln!("warning: {warning}");
    }
    let name = first.name.clone();
    let mut several = Several::new(&command.several, "sweep")?;
    let mut report = SweepReport::new(&name, variables, plans.len());
    let mut codes = Vec::new();
    let mut failure = None;
    for (number, (mut plan, values)) in (1..).zip(plans) {
        if several.stop.graceful() {
            break;
        }
        let shown = vary::shown(&values);
        let of = format!("run {number} of {}: {shown}", report.planned);
        several.say(&of);
        if let Some(before) = &before
            && let Err(error) = before.run(&values)
        {
            failure = Some(error);
            break;
        }
        for (name, value) in &values {
            plan.labels.push((name.clone(), value.clone()));
        }
        let done = match several.make(&plan, &of, &|_| false) {
            Ok(done) => done,
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        several.say(&format!("run {number}  {shown}  {}", done.line.outcome.word()));
        codes.push(done.code);
        let values = values.into_iter().map(|(_, value)| value).collect();
        report.rows.push(SweepRow { values, run: done.line });
    }
    report.interrupted = several.stop.graceful();
    finish(&several, &report, failure)?;
    Ok(gravest(&codes, report.interrupted))
}

/// Publishes what ran, and says what ended it before its time.
fn finish(
    several: &Several<'_>,
    report: &SweepReport,
    failure: Option<UsageError>,
) -> Result<(), UsageError> {
    if !report.rows.is_empty() || failure.is_none() {
        several.publish(&report.name, &|format, colour| {
            Ok(match format {
                Format::Text => render::sweep_text(report, colour),
                Format::Json => render::sweep_json(report)?,
                Format::Html => render::sweep_html(report)?,
            })
        })?;
    }
    failure.map_or(Ok(()), Err)
}

/// Void comes before interrupted, and that before failed.
fn gravest(codes: &[u8], interrupted: bool) -> u8 {
    match () {
        () if codes.contains(&EXIT_VOID) => EXIT_VOID,
        () if interrupted => EXIT_INTERRUPTED,
        () => codes.iter().copied().max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_run_decides() {
        assert_eq!(gravest(&[0, 0], false), 0);
        assert_eq!(gravest(&[0, 99, 0], false), 99);
        assert_eq!(gravest(&[99, 3], false), 3);
        assert_eq!(gravest(&[99], true), 105);
        assert_eq!(gravest(&[3], true), 3);
    }
}
