//! Remarks on a run's figures: what they leave open.

use sojourn_ledger::Balance;
use sojourn_metrics::{SeriesKey, SeriesPhase, Store, names};
use sojourn_plan::{Model, Plan, Think, Until};

/// Every remark on the figures of a steady phase of this length.
pub(super) fn of_figures(plan: &Plan, store: &Store, steady_ns: u64) -> Vec<String> {
    let mut notes = unsettled(plan, store);
    notes.extend(closed(plan));
    notes.extend(little(plan, store, steady_ns));
    notes
}

/// What the closed book leaves unsaid.
pub(super) fn of_book(balance: &Balance, not_kept: u64) -> Vec<String> {
    let late = balance.facts_after_forgetting;
    let late = (late > 0).then(|| {
        format!(
            "{late} answers came for journeys that had ended so long before that the ledger had \
             forgotten them: no figure changes by it"
        )
    });
    let not_kept = (not_kept > 0).then(|| {
        format!(
            "{not_kept} lost or failed journeys more than are kept: they are counted, but can't be \
             looked at one by one"
        )
    });
    late.into_iter().chain(not_kept).collect()
}

/// Little's law, where users who never think wait for answers: their number, not the target, sets
/// the rate.
fn little(plan: &Plan, store: &Store, steady_ns: u64) -> Option<String> {
    let [load] = plan.load.as_slice() else {
        return None;
    };
    let Model::Closed { stages, think: Think::None, until: Until::Root, .. } = &load.model else {
        return None;
    };
    let [stage] = stages.as_slice() else {
        return None;
    };
    let responses = store.merged(names::STEP_RESPONSE, &[], SeriesPhase::Steady);
    let mean_ns = responses.mean()?;
    let rate_per_s = responses.count() as f64 * 1e9 / steady_ns.max(1) as f64;
    let bound_per_s = f64::from(stage.to) * 1e9 / mean_ns;
    let sets_it = rate_per_s > 0.95 * bound_per_s;
    sets_it.then(|| {
        format!(
            "{} at once and {:.3} ms a request are at most {bound_per_s:.0}/s (Little's law), and \
             {rate_per_s:.0}/s were measured: their number sets the rate, so this is no capacity \
             of the target unless more of them bring no more",
            stage.to,
            mean_ns / 1e6,
        )
    })
}

/// What response times under users who wait cannot show.
fn closed(plan: &Plan) -> Option<String> {
    let is_closed = plan.load.iter().any(|load| matches!(load.model, Model::Closed { .. }));
    is_closed.then(|| {
        "closed load: a user who waits asks for nothing more, so its response times omit the load \
         that a stall prevented; an open load (rate) shows it"
            .to_owned()
    })
}

/// A warm-up shorter than the journey's p99 leaves the steady phase unsettled.
fn unsettled(plan: &Plan, store: &Store) -> Vec<String> {
    let warmup_ns = plan.load.iter().map(|load| load.warmup_ns).max().unwrap_or(0);
    if plan.load.iter().all(|load| load.steady_ns == 0) {
        // One journey only: there is no steady phase to settle.
        return Vec::new();
    }
    plan.journeys
        .iter()
        .filter(|journey| !journey.stages.is_empty() && journey.poison.is_none())
        .filter_map(|journey| {
            let key = SeriesKey::new(
                names::JOURNEY_DURATION,
                &[("journey", &journey.name)],
                SeriesPhase::Steady,
            );
            let p99_ns = store.trend(&key)?.quantile(0.99)?;
            (warmup_ns < p99_ns).then(|| {
                format!(
                    "unsettled: the warm-up of {:.1} s is shorter than the p99 of {} ({:.1} s), so \
                     the first steady journeys met an empty system",
                    warmup_ns as f64 / 1e9,
                    journey.name,
                    p99_ns as f64 / 1e9
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_book_leaves_unsaid_is_noted_with_its_number() {
        assert_eq!(of_book(&Balance::default(), 0), Vec::<String>::new());
        let balance = Balance { facts_after_forgetting: 3, ..Balance::default() };
        let notes = of_book(&balance, 5);
        assert!(notes[0].starts_with("3 answers") && notes[1].starts_with("5 lost or failed"));
    }
}
