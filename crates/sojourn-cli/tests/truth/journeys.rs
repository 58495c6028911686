//! Journey by journey: what the ledger says became of it, against what the log says.
//!
//! The log has an interval for each event in which a tap must have seen it: from the instant at which
//! it was handed to the broker's client until the broker acknowledged it, and as long after that as
//! a tap may be behind before the run is void. The ledger's instants must lie in these intervals, and
//! everything else must follow from them exactly.

use std::collections::BTreeMap;

use sojourn_demo::{JourneyEnd, JourneyTruth, Publication, Stage};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_plan::Journey;
use sojourn_record::{JourneyRecord, RunFile};

use super::counts::{Counts, count, key};
use super::log::{Log, is_out_of_order};

/// The stage that a dead letter reaches.
pub(crate) const DEAD_LETTER: usize = 4;
pub(crate) const STAGES: [&str; 5] =
    ["initiated", "created", "settled", "completed", "dead_letter"];

/// All journeys of a run, compared with the log.
pub(crate) struct Examination {
    /// What the counters must be.
    pub(crate) counts: Counts,
    pub(crate) journeys: Vec<Examined>,
    differences: Vec<String>,
}

/// One payment. Instants are CLOCK_MONOTONIC.
pub(crate) struct Examined {
    /// `payment`, or what its poisoned ones are called.
    pub(crate) name: String,
    pub(crate) phase: SeriesPhase,
    pub(crate) class: String,
    pub(crate) t0_ns: u64,
    pub(crate) t1_ns: u64,
    pub(crate) t2_ns: u64,
    pub(crate) end_ns: u64,
    /// Per stage: when the ledger has it, and when the broker acknowledged it.
    pub(crate) stages: [Option<Seen>; 5],
}

#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) at_ns: u64,
    pub(crate) publish_ns: u64,
    pub(crate) delivered_ns: u64,
}

impl Examination {
    pub(crate) fn of(run: &RunFile, log: &Log, plan: &Journey) -> Self {
        let mut examiner = Examiner {
            start_ns: run.identity.start_monotonic_ns,
            within_ns: plan.within_ns,
            observed_ns: plan.within_ns + plan.linger_ns,
            // Beyond it the run is void.
            behind_max_ns: sojourn_plan::HealthLimits::default().tap_behind_max_ns,
            counts: Counts::new(),
            differences: Vec::new(),
        };
        let (payments, rejected): (Vec<_>, Vec<_>) =
            run.journeys.iter().partition(|it| it.journey != "rejected");
        let mut left: BTreeMap<&str, &JourneyTruth> =
            log.journeys.iter().map(|(key, it)| (key.as_str(), it)).collect();
        let mut journeys = Vec::new();
        for record in payments {
            match record.key.as_deref().and_then(|key| left.remove(key)) {
                Some(truth) => journeys.push(examiner.payment(record, truth)),
                None => examiner.differs(record, "the log has no such payment"),
            }
        }
        for key in left.keys() {
            examiner.differences.push(format!("{key}: only in the log"));
        }
        for record in &rejected {
            examiner.rejected(record);
        }
        if rejected.len() as u64 != log.rejected {
            let line = format!("rejected: log {}, ledger {}", log.rejected, rejected.len());
            examiner.differences.push(line);
        }
        log.count_seen(&mut examiner.counts);
        Self { counts: examiner.counts, journeys, differences: examiner.differences }
    }

    pub(crate) fn assert_no_differences(&self, run: &RunFile) {
        let first: Vec<_> = self.differences.iter().take(10).collect();
        assert!(
            first.is_empty(),
            "{} differences, such as {first:#?}; failed requests: {:?}",
            self.differences.len(),
            run.store.figures().filter(|(key, _)| key.metric == "step.failed").collect::<Vec<_>>()
        );
    }

    /// Payments by class.
    pub(crate) fn classes(&self) -> BTreeMap<&str, usize> {
        let mut classes = BTreeMap::new();
        for journey in &self.journeys {
            *classes.entry(journey.class.as_str()).or_default() += 1;
        }
        classes
    }

    /// Whether anything was of this class, this kind of duplicate, after failure or out of order.
    pub(crate) fn happened(&self, what: &str) -> bool {
        self.counts.keys().any(|key| match what {
            "after failure" => key.metric == "events.after_failure",
            "out of order" => key.metric == "stage.hop_negative",
            "redelivery" | "republication" => key.tag("kind") == Some(what),
            class => key.metric == format!("journeys.{class}"),
        })
    }
}

struct Examiner {
    start_ns: u64,
    within_ns: u64,
    observed_ns: u64,
    behind_max_ns: u64,
    counts: Counts,
    differences: Vec<String>,
}

impl Examiner {
    fn payment(&mut self, record: &JourneyRecord, truth: &JourneyTruth) -> Examined {
        let journey = Examined {
            name: record.journey.clone(),
            phase: phase_of(record),
            class: record.class.clone(),
            t0_ns: self.start_ns + record.t0_ns,
            t1_ns: self.start_ns + record.t1_ns,
            t2_ns: self.start_ns + record.t2_ns.unwrap_or(0),
            end_ns: self.start_ns + record.end_ns,
            stages: self.stages(record, truth),
        };
        self.root(record, truth, &journey);
        self.class(record, truth, &journey);
        self.count_journey(&journey);
        self.count_events(record, truth, &journey);
        journey
    }

    /// The root's instants lie around the API's own.
    fn root(&mut self, record: &JourneyRecord, truth: &JourneyTruth, journey: &Examined) {
        let appended_ns = truth.stages[0].appended_ns.first().copied().unwrap_or(0);
        let accepted_ns = truth.accepted_ns.unwrap_or(0);
        let instants = [journey.t0_ns, journey.t1_ns, appended_ns, accepted_ns, journey.t2_ns];
        if !instants.is_sorted() {
            let what = format!("t0, t1, appended, accepted, t2 are not in order: {instants:?}");
            self.differs(record, &what);
        }
    }

    /// The instants of the stages that the ledger has, each with its event.
    fn stages(&mut self, record: &JourneyRecord, truth: &JourneyTruth) -> [Option<Seen>; 5] {
        let names: Vec<&str> = record.stages.iter().map(|it| it.name.as_str()).collect();
        assert!(STAGES.starts_with(&names), "{names:?}");
        std::array::from_fn(|index| {
            let at_ns = self.start_ns + record.stages.get(index)?.seen_ns?;
            let Some((publish_ns, delivered_ns)) = first_event(truth, index) else {
                self.differs(record, &format!("{} was never published", STAGES[index]));
                return None;
            };
            if !(publish_ns..=delivered_ns + self.behind_max_ns).contains(&at_ns) {
                let what = format!(
                    "{} seen at {at_ns}, published at {publish_ns}, acknowledged at {delivered_ns}",
                    STAGES[index]
                );
                self.differs(record, &what);
            }
            Some(Seen { at_ns, publish_ns, delivered_ns })
        })
    }

    /// The class and the end follow from the instants; what was not seen came too late for them.
    fn class(&mut self, record: &JourneyRecord, truth: &JourneyTruth, journey: &Examined) {
        let deadline_ns = journey.t0_ns + self.within_ns;
        let observed_until_ns = journey.t0_ns + self.observed_ns;
        let required = &journey.stages[..DEAD_LETTER];
        let last_ns = required.iter().flatten().map(|it| it.at_ns).max();
        let (class, end_ns) = if let Some(letter) = journey.stages[DEAD_LETTER] {
            ("failed", letter.at_ns)
        } else if required.iter().all(Option::is_some) {
            let end_ns = last_ns.unwrap_or(0).max(journey.t2_ns);
            let in_time = end_ns <= deadline_ns;
            (if in_time { "completed" } else { "late" }, end_ns)
        } else {
            ("lost", observed_until_ns)
        };
        if (record.class.as_str(), journey.end_ns) != (class, end_ns) {
            let what = format!(
                "{} at {}, but its instants say {class} at {end_ns}",
                record.class, journey.end_ns
            );
            self.differs(record, &what);
        }
        for (index, seen) in journey.stages.iter().enumerate() {
            match (seen, first_event(truth, index)) {
                (Some(seen), _) if seen.at_ns > observed_until_ns.min(end_ns) => {
                    self.differs(record, &format!("{} counted too late", STAGES[index]));
                }
                (None, Some((_, delivered_ns))) if delivered_ns + self.behind_max_ns <= end_ns => {
                    let what = format!("{} was published in time and not seen", STAGES[index]);
                    self.differs(record, &what);
                }
                _ => {}
            }
        }
        let may_be: &[&str] = match truth.end() {
            JourneyEnd::Completed if last_ns.is_some() => &["completed", "late", "lost"],
            JourneyEnd::DeadLettered => &["failed"],
            JourneyEnd::Dropped | JourneyEnd::Stopped => &["lost"],
            _ => &[],
        };
        let is_poisoned = names::poison_of(&record.journey).is_some();
        // The one whose first event is dropped never gets to the consumer that would fail.
        let ends = [JourneyEnd::DeadLettered, JourneyEnd::Dropped];
        if is_poisoned && !ends.contains(&truth.end()) {
            self.differs(record, &format!("poisoned, the log says {:?}", truth.end()));
        }
        if !may_be.contains(&class) {
            self.differs(record, &format!("{class}, the log says {:?}", truth.end()));
        }
    }

    fn count_journey(&mut self, journey: &Examined) {
        let counts = &mut self.counts;
        let phase = journey.phase;
        let name = ("journey", journey.name.as_str());
        let of_journey = [name];
        let of_step = [name, ("step", "root")];
        count_root(counts, &journey.name, "200", phase);
        let class = format!("journeys.{}", journey.class);
        count(counts, key(&class, &of_journey, phase), 1);
        if ["completed", "late"].contains(&journey.class.as_str()) {
            count(counts, key("journey.duration", &of_journey, phase), 1);
        }
        if journey.class == "failed" {
            // The demo's journey file asks for no reason.
            let why = [name, ("what", "stage dead_letter"), ("reason", "")];
            count(counts, key("journeys.failed_by", &why, phase), 1);
            if names::poison_of(&journey.name).is_some() {
                let took_ns = journey.end_ns - journey.t0_ns;
                let late = u64::from(took_ns > self.within_ns);
                count(counts, key(names::POISON_CONTAINED, &of_journey, phase), 1);
                count(counts, key(names::POISON_CONTAINMENT, &of_journey, phase), 1);
                count(counts, key(names::POISON_CONTAINED_LATE, &of_journey, phase), late);
            }
        }
        count(counts, key("step.response_ok", &of_step, phase), 1);
        for (index, seen) in journey.stages.iter().enumerate() {
            if seen.is_none() {
                continue;
            }
            let tags = [name, ("stage", STAGES[index])];
            count(counts, key("stage.reached", &tags, phase), 1);
            count(counts, key("stage.since_start", &tags, phase), 1);
        }
    }

    /// What became of every message, and of every hop's order.
    fn count_events(&mut self, record: &JourneyRecord, truth: &JourneyTruth, journey: &Examined) {
        let phase = journey.phase;
        let name = ("journey", journey.name.as_str());
        for stage in Stage::ALL {
            let index = stage.index();
            let own = journey.stages[index];
            for (place, publication) in truth.stages[index].publications.iter().enumerate() {
                let class = match (place, own) {
                    (0, Some(_)) => Class::Matched,
                    (0, None) => Class::AfterFailure,
                    _ => self.repetition(record, truth, journey, publication),
                };
                self.count_event(journey, STAGES[index], "events", class);
            }
            let before = stage.previous().map(|it| journey.stages[it.index()]);
            let tags = [name, ("stage", STAGES[index])];
            let metric = match (own, before) {
                (None, _) => continue,
                (Some(_), Some(None)) => {
                    let tags = [name];
                    let without = "journeys.hops_without_predecessor";
                    count(&mut self.counts, key(without, &tags, phase), 1);
                    continue;
                }
                _ if is_out_of_order(truth, stage) => "stage.hop_negative",
                _ => "stage.hop",
            };
            count(&mut self.counts, key(metric, &tags, phase), 1);
        }
        for place in 0..truth.dead_letters.len() {
            let class = match (place, journey.stages[DEAD_LETTER]) {
                (0, Some(_)) => Class::Matched,
                _ => Class::AfterFailure,
            };
            self.count_event(journey, STAGES[DEAD_LETTER], "dead-letters", class);
        }
        if journey.stages[DEAD_LETTER].is_some() {
            let tags = [name, ("stage", STAGES[DEAD_LETTER])];
            count(&mut self.counts, key("stage.hop", &tags, phase), 1);
        }
    }

    /// A stage's second message is a duplicate, unless its journey had been given up before it.
    fn repetition(
        &mut self,
        record: &JourneyRecord,
        truth: &JourneyTruth,
        journey: &Examined,
        publication: &Publication,
    ) -> Class {
        let first = truth.first(publication.stage);
        let same_id = first.is_some_and(|first| first.message_id == publication.message_id);
        let duplicate = if same_id {
            Class::Duplicate("redelivery")
        } else {
            Class::Duplicate("republication")
        };
        let completed = ["completed", "late"].contains(&journey.class.as_str());
        // Messages of a key are read in the order of their offsets.
        let before_a_seen_one = Stage::ALL.into_iter().any(|stage| {
            let seen = journey.stages[stage.index()].is_some();
            let first = truth.first(stage).filter(|_| seen);
            first.is_some_and(|first| first.offset > publication.offset)
        });
        let in_time = publication.delivered_ns + self.behind_max_ns < journey.end_ns;
        // At the journey's very end the log allows both: the counters must say what the journey's
        // own list says.
        let is_listed = || {
            publication.publish_ns <= journey.end_ns
                && self.is_listed(record, publication, duplicate)
        };
        if completed || before_a_seen_one || in_time || is_listed() {
            duplicate
        } else {
            Class::AfterFailure
        }
    }

    /// Whether the ledger has this message among the journey's duplicates.
    fn is_listed(&self, record: &JourneyRecord, publication: &Publication, class: Class) -> bool {
        let until_ns = publication.delivered_ns + self.behind_max_ns;
        record.duplicates.iter().any(|listed| {
            let at_ns = self.start_ns + listed.seen_ns;
            matches!(class, Class::Duplicate(kind) if kind == listed.kind)
                && listed.stage == STAGES[publication.stage.index()]
                && (publication.publish_ns..=until_ns).contains(&at_ns)
        })
    }

    fn count_event(&mut self, journey: &Examined, stage: &str, channel: &str, class: Class) {
        let (phase, name) = (journey.phase, ("journey", journey.name.as_str()));
        let channel = ("channel", channel);
        let counts = &mut self.counts;
        let mut of_channel =
            |metric: &str, tags: &[_]| count(counts, key(metric, tags, SeriesPhase::Any), 1);
        match class {
            Class::Matched => {
                of_channel("events.matched", &[channel]);
                let tags = [name, ("stage", stage)];
                count(counts, key("stage.matched", &tags, phase), 1);
            }
            Class::AfterFailure => {
                of_channel("events.after_failure", &[channel]);
                if names::poison_of(&journey.name).is_some() {
                    count(counts, key(names::POISON_EVENTS_AFTER, &[name], phase), 1);
                }
            }
            Class::Duplicate(kind) => {
                let kind = ("kind", kind);
                of_channel("events.duplicate", &[channel, kind]);
                let tags = [name, ("stage", stage), kind];
                count(counts, key("stage.duplicates", &tags, phase), 1);
            }
        }
    }

    /// A refused payment is a journey of its root alone, and completed by the expected refusal.
    fn rejected(&mut self, record: &JourneyRecord) {
        let phase = phase_of(record);
        if record.class != "completed" || record.t2_ns != Some(record.end_ns) {
            self.differs(record, "its root was refused as expected, so it is complete");
        }
        let of_journey = [("journey", "rejected")];
        let of_step = [("journey", "rejected"), ("step", "root")];
        let counts = &mut self.counts;
        count_root(counts, "rejected", "400", phase);
        count(counts, key("journeys.completed", &of_journey, phase), 1);
        count(counts, key("journey.duration", &of_journey, phase), 1);
        count(counts, key("step.response_ok", &of_step, phase), 1);
    }

    fn differs(&mut self, record: &JourneyRecord, what: &str) {
        let name = record.key.as_deref().unwrap_or("without a key");
        let line = format!(
            "journey {} ({name}), {}, due {:.3} s: {what}",
            record.id,
            record.class,
            record.t0_ns as f64 / 1e9
        );
        self.differences.push(line);
    }
}

/// What an event is to the ledger.
#[derive(Clone, Copy)]
enum Class {
    Matched,
    Duplicate(&'static str),
    AfterFailure,
}

/// Whatever becomes of it, a journey's root is one scheduled arrival and one request.
fn count_root(counts: &mut Counts, journey: &str, status: &str, phase: SeriesPhase) {
    let tags = [("journey", journey)];
    for metric in ["journeys.scheduled", "journeys.started"] {
        count(counts, key(metric, &tags, phase), 1);
    }
    count(counts, key("lag", &[], phase), 1);
    let tags = [("journey", journey), ("step", "root")];
    for phase_of_request in [
        "response",
        "service",
        "blocked",
        "send",
        "wait",
        "receive",
        "received_bytes",
        "sent_bytes",
    ] {
        let metric = format!("step.{phase_of_request}");
        count(counts, key(&metric, &tags, phase), 1);
    }
    let tags = [("journey", journey), ("step", "root"), ("status", status)];
    count(counts, key("step.requests", &tags, phase), 1);
}

/// (handed to the client, acknowledged) of the first message that reaches a stage.
fn first_event(truth: &JourneyTruth, index: usize) -> Option<(u64, u64)> {
    if index == DEAD_LETTER {
        let first = truth.dead_letters.first()?;
        return Some((first.publish_ns, first.delivered_ns));
    }
    let first = truth.first(Stage::ALL[index])?;
    Some((first.publish_ns, first.delivered_ns))
}

fn phase_of(record: &JourneyRecord) -> SeriesPhase {
    match record.phase.as_str() {
        "warm_up" => SeriesPhase::WarmUp,
        "steady" => SeriesPhase::Steady,
        other => panic!("journey {} is of phase {other}", record.id),
    }
}
