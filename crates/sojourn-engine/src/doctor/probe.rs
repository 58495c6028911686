//! One journey of each kind through the whole plan: the root is sent, every tap must see its
//! stages.

use std::collections::BTreeSet;

use crossbeam_channel::bounded;
use sojourn_analysis::{check::Check, words};
use sojourn_broker::Registry;
use sojourn_metrics::{Store, names};
use sojourn_plan::{Journey, Plan, StageKind, StageSource};
use sojourn_record::{JourneyRecord, Verdict};

use crate::{Ended, RunOptions, Stop, coordinator};

/// Journeys whose timelines are looked at: a batch has up to some thousands.
const RECORDS_MAX: usize = 16_384;

/// Makes the smallest run there is, and looks at each journey of it. Poison is not sent.
pub(super) fn checks(
    plan: &Plan,
    options: &RunOptions,
    registry: &Registry,
    stop: &Stop,
) -> Vec<Check> {
    let (sender, kept) = bounded(RECORDS_MAX);
    let options = RunOptions {
        run_file: None,
        keep_all: true,
        kept: Some(sender),
        narrator: None,
        ..options.clone()
    };
    let ended = match coordinator::probe(plan, &options, registry, stop) {
        Ok(ended) => ended,
        Err(error) => {
            return vec![Check::failed("probe", "", error.message).advised(error.hint)];
        }
    };
    let records: Vec<JourneyRecord> = kept.try_iter().collect();
    let healthy = plan.journeys.iter().filter(|journey| journey.poison.is_none());
    let mut checks: Vec<Check> = healthy
        .map(|journey| {
            let own: Vec<&JourneyRecord> =
                records.iter().filter(|record| record.journey == journey.name).collect();
            match ended.summary.interrupted {
                true => Check::skipped("probe", &journey.name, super::INTERRUPTED),
                false => judge(plan, journey, &own, &ended.figures),
            }
        })
        .collect();
    checks.extend(remarks(&ended));
    checks
}

/// What a run of more journeys would say of its figures, and what could not be read.
fn remarks(ended: &Ended) -> Vec<Check> {
    let mut remarks = Vec::new();
    if ended.summary.verdict == Verdict::Void {
        let causes = &ended.summary.causes;
        remarks.extend(causes.iter().map(|cause| {
            let found = format!("a run would be void: {}: {}", cause.name, cause.detail);
            Check::warned("probe", "", found)
        }));
    }
    let unread = ended.summary.notes.iter().filter(|note| note.starts_with("undecodable"));
    remarks.extend(unread.map(|note| Check::warned("probe", "", note)));
    remarks
}

/// How one journey went; of a batch, the one that came least far.
fn judge(plan: &Plan, journey: &Journey, records: &[&JourneyRecord], figures: &Store) -> Check {
    let is_completed = |record: &JourneyRecord| record.class == "completed";
    let slowest = records.iter().max_by_key(|record| record.end_ns);
    let telling = records.iter().find(|record| !is_completed(record)).or(slowest);
    let Some(record) = telling else {
        return Check::failed("probe", &journey.name, "it was not begun, or has not ended")
            .advised(SEE_MORE.to_owned());
    };
    let within = words::duration(journey.within_ns as f64);
    let seen = times(record);
    let of = match records.len() {
        0 | 1 => String::new(),
        many => format!(" (of {many} in a batch)"),
    };
    if is_completed(record) {
        return Check::passed("probe", &journey.name, format!("{seen}{of}"));
    }
    let why = match record.class.as_str() {
        "late" => format!("completed, but not within {within}"),
        "lost" | "in_flight_at_cutoff" => {
            format!("{} within {within}", record.reason.as_deref().unwrap_or("did not end"))
        }
        _ => failure(&journey.name, record, figures),
    };
    let seen = if seen.is_empty() { seen } else { format!("; seen: {seen}") };
    let found = format!("{why}{of}{seen}");
    Check::failed("probe", &journey.name, found).advised(advice(plan, journey, record))
}

/// When what was seen was seen, since the scheduled instant, in the order of time.
fn times(record: &JourneyRecord) -> String {
    let root = record.t2_ns.map(|t2_ns| ("root", t2_ns));
    let stages = record.stages.iter().filter_map(|stage| Some((&*stage.name, stage.seen_ns?)));
    let mut seen: Vec<(&str, u64)> = root.into_iter().chain(stages).collect();
    seen.sort_by_key(|(_, at_ns)| *at_ns);
    let since = |at_ns: u64| words::duration(at_ns.saturating_sub(record.t0_ns) as f64);
    let told = seen.iter().map(|(name, at_ns)| format!("{name} {}", since(*at_ns)));
    told.collect::<Vec<String>>().join(", ")
}

/// Why it failed, with what its steps said.
fn failure(journey: &str, record: &JourneyRecord, figures: &Store) -> String {
    let reason = record.reason.as_deref().unwrap_or("failed");
    let said: BTreeSet<&str> = figures
        .series()
        .filter(|(key, _)| key.metric == names::STEP_FAILED && key.tag("journey") == Some(journey))
        .filter_map(|(key, _)| key.tag("reason"))
        .collect();
    match said.is_empty() {
        true => reason.to_owned(),
        false => format!("{reason}: {}", said.into_iter().collect::<Vec<&str>>().join("; ")),
    }
}

const SEE_MORE: &str = "`sojourn run FILE --once --debug` shows every request, answer and event";

/// What to do, by the first stage that was not seen.
fn advice(plan: &Plan, journey: &Journey, record: &JourneyRecord) -> String {
    if record.t2_ns.is_none() || record.class == "late" {
        return SEE_MORE.to_owned();
    }
    let mut stages = journey.stages.iter().zip(&record.stages);
    let unseen = stages.find(|(stage, seen)| {
        seen.seen_ns.is_none() && matches!(stage.kind, StageKind::Required | StageKind::Branch(_))
    });
    match unseen.map(|(stage, _)| (&stage.name, &stage.source)) {
        Some((name, StageSource::Event { channel, .. })) => {
            let channel = plan.channels.get(*channel).map_or("", |channel| &channel.name);
            format!(
                "are `match` and `key` of {name} right? `sojourn watch FILE {channel}` shows what \
                 comes, `sojourn discover FILE` where the key stands"
            )
        }
        Some((name, StageSource::Poll(_))) => {
            format!("is `until` of {name} right? {SEE_MORE}")
        }
        None => SEE_MORE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;
    use sojourn_record::StageInstant;

    use super::*;
    use crate::testing::{PAYMENT, plan};

    fn record(class: &str, seen_ns: Option<u64>) -> JourneyRecord {
        JourneyRecord {
            journey: "payment".to_owned(),
            class: class.to_owned(),
            t0_ns: 1_000_000,
            t2_ns: Some(4_000_000),
            end_ns: 5_000_000,
            stages: vec![StageInstant { name: "created".to_owned(), seen_ns }],
            reason: (class == "lost").then(|| "not seen: stage created".to_owned()),
            ..JourneyRecord::default()
        }
    }

    fn judged(records: &[JourneyRecord]) -> Check {
        let plan = plan(PAYMENT, "http://127.0.0.1:1");
        let records: Vec<&JourneyRecord> = records.iter().collect();
        judge(&plan, &plan.journeys[0], &records, &Store::new())
    }

    #[test]
    fn a_completed_journey_tells_its_times() {
        let check = judged(&[record("completed", Some(3_000_000))]);
        assert_eq!(check.outcome, Finding::Passed);
        assert_eq!(check.found, "created 2.00 ms, root 3.00 ms");
    }

    #[test]
    fn a_lost_journey_names_the_stage_and_the_channel() {
        let check = judged(&[record("completed", Some(3_000_000)), record("lost", None)]);
        assert_eq!(check.outcome, Finding::Failed);
        let expected =
            "not seen: stage created within 2.00 s (of 2 in a batch); seen: root 3.00 ms";
        assert_eq!(check.found, expected);
        assert!(check.advice.is_some_and(|advice| advice.contains("watch FILE events")));
        assert_eq!(judged(&[]).outcome, Finding::Failed);
        let late = judged(&[record("late", Some(3_000_000))]);
        assert!(late.found.starts_with("completed, but not within 2.00 s"), "{late:?}");
    }
}
