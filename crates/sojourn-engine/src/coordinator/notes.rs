//! Remarks on a run's figures: what they leave open.

use sojourn_analysis::words::duration;
use sojourn_ledger::Balance;
use sojourn_metrics::{SeriesKey, SeriesPhase, Store, names};
use sojourn_plan::{Model, Plan, Think, Until};
use sojourn_record::KeptRecord;

/// Every remark on the figures of a steady phase of this length.
pub(super) fn of_figures(plan: &Plan, store: &Store, steady_ns: u64) -> Vec<String> {
    let mut notes = unsettled(plan, store);
    notes.extend(closed(plan));
    notes.extend(little(plan, store, steady_ns));
    notes.extend(log_dropped(store));
    notes
}

/// Where the load came from.
pub(super) fn of_processes(count: u32, threads: u32) -> String {
    format!("the load came from {count} processes of {threads} threads each")
}

/// Lines of the user's log that were not written.
fn log_dropped(store: &Store) -> Option<String> {
    let lines = store.sum(names::LOG_LINES_DROPPED, &[], SeriesPhase::Any);
    (lines > 0).then(|| {
        format!(
            "{lines} lines of session.log were dropped: they came faster than they could be \
             written; log less often, or to a file by --log"
        )
    })
}

/// What the closed book leaves unsaid.
pub(super) fn of_book(balance: &Balance, kept: &KeptRecord) -> Vec<String> {
    let late = balance.facts_after_forgetting;
    let late = (late > 0).then(|| {
        format!(
            "{late} answers came for journeys that had ended so long before that the ledger had \
             forgotten them: no figure changes by it"
        )
    });
    late.into_iter().chain(not_kept(kept)).collect()
}

/// Telling journeys for which the file had no room.
fn not_kept(kept: &KeptRecord) -> Option<String> {
    let beyond = kept.classes.iter().filter(|count| count.not_kept > 0);
    let parts: Vec<String> = beyond
        .map(|count| format!("{} more {}", count.not_kept, count.class.replace('_', " ")))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "{} journeys are counted and not in the file (cap {} of each class): they can't be \
             looked at one by one",
            parts.join(", "),
            kept.each_max
        )
    })
}

/// Little's law, where users who never think wait for answers: their number and the answers' time
/// make the rate, whichever of them would have let it be higher.
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
    // Where they were not at work all the time, something else held them up; where there seem to be
    // more of them, the run was too short for means.
    let were_at_work = (0.95..1.1).contains(&(rate_per_s / bound_per_s));
    were_at_work.then(|| {
        format!(
            "{} at once and {:.3} ms a request are at most {bound_per_s:.0}/s (Little's law), and \
             {rate_per_s:.0}/s were measured: that is the target's capacity only if more at once \
             bring no more, which this run alone can't tell",
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
            (warmup_ns < p99_ns).then(|| unsettled_by(&journey.name, warmup_ns, p99_ns))
        })
        .collect()
}

/// Of a journey whose p99 is longer than the warm-up, which may be by milliseconds.
fn unsettled_by(journey: &str, warmup_ns: u64, p99_ns: u64) -> String {
    let p99 = duration(p99_ns as f64);
    let warmed = match warmup_ns {
        0 => format!("there was no warm-up, and the p99 of {journey} is {p99}"),
        _ => {
            let warmup = duration(warmup_ns as f64);
            format!("the warm-up of {warmup} is shorter than the p99 of {journey} ({p99})")
        }
    };
    format!("unsettled: {warmed}, so the first steady journeys met an empty system")
}

#[cfg(test)]
mod tests {
    use sojourn_metrics::{Kind, Recorder};
    use sojourn_plan::{AttackLoad, Pace};
    use sojourn_record::KeptCount;

    use super::*;

    #[test]
    fn lines_that_were_dropped_are_noted() {
        let mut recorder = Recorder::new(0);
        let key = SeriesKey::new(names::LOG_LINES_DROPPED, &[], SeriesPhase::Any);
        let dropped = recorder.series(Kind::Counter, key);
        let mut store = Store::new();
        store.apply(&recorder.take(0, None)).unwrap();
        assert_eq!(log_dropped(&store), None);
        recorder.add(dropped, 7);
        store.apply(&recorder.take(0, None)).unwrap();
        let note = log_dropped(&store).unwrap();
        assert!(note.starts_with("7 lines of session.log were dropped"), "{note}");
    }

    #[test]
    fn a_warm_up_that_is_too_short_is_told_in_figures_that_differ() {
        let without = unsettled_by("order", 0, 7_730_000);
        let words = "there was no warm-up, and the p99 of order is 7.73 ms, so the first";
        assert!(without.contains(words), "{without}");
        let short = unsettled_by("order", 10_000_000, 14_600_000);
        let words = "the warm-up of 10.0 ms is shorter than the p99 of order (14.6 ms), so";
        assert!(short.contains(words), "{short}");
    }

    /// Whether answers that take 10 ms each, so many in a second, are told with Little's law.
    fn told(answers: u64, mode: &str) -> Option<String> {
        let load = AttackLoad {
            pace: Pace::rate(mode).unwrap(),
            poisson: false,
            duration_ns: Some(1_000_000_000),
            workers_max: 4,
            timeout_ns: 1_000_000_000,
        };
        let plan = sojourn_plan::attack_plan("", String::new(), &[], &load, Vec::new()).unwrap();
        let mut recorder = Recorder::new(0);
        let key = SeriesKey::new(names::STEP_RESPONSE, &[], SeriesPhase::Steady);
        let responses = recorder.series(Kind::Trend, key);
        (0..answers).for_each(|_| recorder.record(responses, 10_000_000));
        let mut store = Store::new();
        store.apply(&recorder.take(0, None)).unwrap();
        little(&plan, &store, 1_000_000_000)
    }

    #[test]
    fn littles_law_is_told_of_workers_who_were_at_work_and_blames_nobody() {
        let note = told(399, "0").unwrap();
        assert!(note.starts_with("4 at once and 10.0"), "{note}");
        assert!(note.contains("at most 4") && note.contains("399/s were measured"), "{note}");
        // A target at its limit looks the same.
        assert!(note.contains("only if more at once bring no more"), "{note}");
        // Workers who were held up by something else, and a rate of its own.
        assert_eq!(told(200, "0"), None);
        assert_eq!(told(399, "400"), None);
    }

    #[test]
    fn what_the_book_leaves_unsaid_is_noted_with_its_number() {
        let none = KeptRecord::default();
        assert_eq!(of_book(&Balance::default(), &none), Vec::<String>::new());
        let balance = Balance { facts_after_forgetting: 3, ..Balance::default() };
        let count = |class: &str, not_kept| KeptCount { class: class.into(), kept: 9, not_kept };
        let classes = vec![count("lost", 312), count("late", 0), count("root_failed", 2)];
        let kept = KeptRecord { classes, each_max: 10, duplicates_beyond: 0 };
        let notes = of_book(&balance, &kept);
        assert!(notes[0].starts_with("3 answers"));
        let words = "312 more lost, 2 more root failed journeys are counted and not in the file \
                     (cap 10 of each class)";
        assert!(notes[1].starts_with(words), "{}", notes[1]);
    }
}
