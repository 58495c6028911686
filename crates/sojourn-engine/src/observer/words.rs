//! What the ledger decided, in words, for `--debug`.

use sojourn_ledger::{Decision, TraceContext};
use sojourn_plan::Plan;

/// A decision in words.
pub(super) fn of(plan: &Plan, decision: &Decision) -> String {
    let stage_name = |kind: u16, stage: u8| {
        plan.journeys[usize::from(kind)].stages[usize::from(stage)].name.clone()
    };
    match decision {
        Decision::Reached { kind, stage, since_start_ns, .. } => format!(
            "ledger: stage {} reached {:.2} ms after the start",
            stage_name(*kind, *stage),
            *since_start_ns as f64 / 1e6
        ),
        Decision::Hop { kind, stage, hop_ns, .. } => format!(
            "ledger: hop to {} took {:.2} ms",
            stage_name(*kind, *stage),
            *hop_ns as f64 / 1e6
        ),
        Decision::Traced { kind, stage, context, .. } => {
            let whose = match context {
                TraceContext::Own => "its journey's trace",
                TraceContext::Other => "another trace",
                TraceContext::Absent => "no trace",
            };
            format!("ledger: the event of {} carries {whose}", stage_name(*kind, *stage))
        }
        Decision::SecondBranch { kind, stage, .. } => {
            format!("ledger: {} was reached after another alternative", stage_name(*kind, *stage))
        }
        Decision::FirstMember { kind, stage, since_start_ns, .. } => format!(
            "ledger: the first member of {} came {:.2} ms after the start",
            stage_name(*kind, *stage),
            *since_start_ns as f64 / 1e6
        ),
        Decision::Event { channel, class, .. } => {
            format!("ledger: event on {} is {class:?}", plan.channels[usize::from(*channel)].name)
        }
        Decision::Again(again) => {
            format!("ledger: the event of {} came again", stage_name(again.kind, again.stage))
        }
        Decision::Finished(finished) => {
            format!("ledger: journey ended: {:?}", finished.class)
        }
        other => format!("ledger: {other:?}"),
    }
}
