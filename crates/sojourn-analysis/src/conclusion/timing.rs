//! Sentences about when things happened: timers behind hops, changes of latency, stalls, and what
//! moves together.

use super::{Conclusion, Facts, Weight, conclusion};
use crate::{
    change::Changed,
    correlate::Correlated,
    stall::Stalled,
    timer::{Pattern, TimedHop, Timer},
    words,
};

/// A timer and what waits for it; then the stages whose work outlasts its interval.
pub(super) fn timer(facts: &Facts, timer: &Timer) -> Vec<Conclusion> {
    let period = words::duration(timer.period_ns);
    let mut groups: Vec<(Option<u32>, Vec<String>)> = Vec::new();
    for hop in &timer.hops {
        let steps = hop.pattern.usual_steps();
        match groups.iter_mut().find(|(known, _)| *known == steps) {
            Some((_, stages)) => stages.push(hop.stage.clone()),
            None => groups.push((steps, vec![hop.stage.clone()])),
        }
    }
    let phrases: Vec<String> = groups
        .iter()
        .map(|(steps, stages)| {
            let [waits, takes] =
                if stages.len() == 1 { ["waits", "takes"] } else { ["wait", "take"] };
            let stages = words::list(stages);
            match steps {
                None => format!("{stages} {waits} for the next one"),
                Some(1) => format!("{stages} {takes} 1 interval"),
                Some(steps) => format!("{stages} {takes} {steps} intervals"),
            }
        })
        .collect();
    let text = format!("looks like a poll every {period}: {}", phrases.join("; "));
    let evidence = timer.hops.iter().map(timed).collect();
    let mut said = vec![conclusion(facts, Weight::Finding, text, evidence, "timer")];
    said.extend(timer.hops.iter().filter_map(|hop| slow(facts, timer, hop)));
    said
}

fn timed(hop: &TimedHop) -> String {
    let hops = words::plural(hop.hops, "hop", "hops");
    let mut said = match &hop.pattern {
        Pattern::Spread { from_ns, to_ns } => format!(
            "{}: {hops} from {} to {}",
            hop.stage,
            words::duration(*from_ns),
            words::duration(*to_ns)
        ),
        Pattern::Steps { shares } => {
            let shares: Vec<String> = shares
                .iter()
                .take(4)
                .map(|(steps, share)| {
                    let intervals = words::plural(u64::from(*steps), "interval", "intervals");
                    format!("{intervals} ({})", words::percent(*share))
                })
                .collect();
            format!("{}: {hops} of {}", hop.stage, words::list(&shares))
        }
    };
    if let Some((at, of)) = hop.at_ticks {
        said.push_str(&format!(", {at} of {of} kept ones at its ticks"));
    }
    said
}

/// What takes whole intervals, more than one, is slow work and not the poll alone.
fn slow(facts: &Facts, timer: &Timer, hop: &TimedHop) -> Option<Conclusion> {
    let steps = hop.pattern.usual_steps().filter(|steps| *steps >= 2)?;
    let text = format!(
        "the work before {} takes between {} and {}: longer than {} of that poll, so it waits for \
         a later one",
        hop.stage,
        words::duration(timer.period_ns * f64::from(steps - 1)),
        words::duration(timer.period_ns * f64::from(steps)),
        words::plural(u64::from(steps - 1), "interval", "intervals"),
    );
    Some(conclusion(facts, Weight::Finding, text, vec![timed(hop)], "timer"))
}

pub(super) fn change(facts: &Facts, changed: &Changed) -> Conclusion {
    let change = &changed.change;
    let factor = change.after / change.before.max(1.0);
    let (how, factor) =
        if factor > 1.0 { ("slower", factor) } else { ("faster", 1.0 / factor.max(1e-9)) };
    let text = format!(
        "{} became {how} {} into the run: {} before, {} after, at p50 ({} ×)",
        changed.of,
        words::duration(change.at_ns as f64),
        words::duration(change.before),
        words::duration(change.after),
        words::number(factor),
    );
    let [before, after] = change.points.map(|n| words::plural(n as u64, "second", "seconds"));
    let [arrived, arrives] = changed.arrivals_per_s.map(words::number);
    let evidence = vec![
        format!("{before} before, {after} after"),
        format!("arrivals {arrived}/s before, {arrives}/s after"),
    ];
    conclusion(facts, Weight::Caution, text, evidence, "change-of-latency")
}

pub(super) fn stall(facts: &Facts, stalled: &Stalled) -> Conclusion {
    let stall = &stalled.stall;
    let length = words::duration(stall.to_ns.saturating_sub(stall.from_ns) as f64);
    let from = words::duration(stall.from_ns as f64);
    let until = if stall.ended { "" } else { ", until the load ended" };
    let what = match stall.completed {
        0 => "nothing was completed".to_owned(),
        n => format!("only {} completed", words::plural(n, "journey was", "journeys were")),
    };
    let stage = stalled.stage.as_ref().map_or_else(String::new, |stage| {
        format!("; {stage} is the first stage that was not reached")
    });
    let text = format!("{what} for {length} from {from} on{until}{stage}");
    let evidence = vec![format!(
        "at the usual rate {} would have been",
        words::number(stall.expected.round())
    )];
    conclusion(facts, Weight::Caution, text, evidence, "stall")
}

pub(super) fn correlation(facts: &Facts, correlated: &Correlated) -> Conclusion {
    let correlation = &correlated.correlation;
    let seconds = words::plural(u64::from(correlation.lag.unsigned_abs()), "second", "seconds");
    let when = match correlation.lag {
        0 => "in the same second".to_owned(),
        1.. => format!("{seconds} after it"),
        _ => format!("{seconds} before it"),
    };
    let how = if correlation.r < 0.0 { "moves against" } else { "moves with" };
    let text = format!("the hop to {} {how} {}, {when}", correlated.hop, correlated.with);
    let evidence = vec![
        format!("rank correlation {:.2}", correlation.r),
        format!(
            "{}, worth {} independent ones",
            words::plural(correlation.points as u64, "second", "seconds"),
            words::number(correlation.effective.floor())
        ),
    ];
    conclusion(facts, Weight::Finding, text, evidence, "correlation")
}
