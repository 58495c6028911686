//! Sentences about poisoned journeys: their expected end is a failure stage.

use super::{Conclusion, Weight};
use crate::words;

/// The anchor of what they speak of.
const DEFINITION: &str = "poisoned";

/// What is known of one journey's poisoned ones. Figures are those of the steady phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoisonFacts {
    /// The journey that they are of.
    pub journey: String,
    /// Deadline from t0, nanoseconds.
    pub within_ns: u64,
    /// Begun.
    pub sent: u64,
    /// Ended at a failure stage.
    pub contained: u64,
    /// Those of them that did so after the deadline.
    pub contained_late: u64,
    /// From t0 to the failure stage at the median, nanoseconds.
    pub containment_p50_ns: Option<u64>,
    /// The longest of these times, nanoseconds.
    pub containment_max_ns: Option<u64>,
    /// Completed in spite of the poison.
    pub completed: u64,
    /// Root refused or unanswered.
    pub refused: u64,
    /// Failed otherwise.
    pub failed: u64,
    /// Neither completed nor failed when observation ended.
    pub lost: u64,
    /// Not yet overdue when observation ended.
    pub in_flight_at_cutoff: u64,
    /// How often each of their events was seen.
    pub deliveries_per_event: Option<f64>,
}

/// What may be said of them, the gravest first.
pub fn conclude_poison(facts: &PoisonFacts) -> Vec<Conclusion> {
    let deadline = words::duration(facts.within_ns as f64);
    let share = |n: u64| words::percent(n as f64 / facts.sent.max(1) as f64);
    let mut said = Vec::new();
    let mut say = |n: u64, weight: Weight, text: &str, evidence: Vec<String>| {
        if n == 0 {
            return;
        }
        let of = words::plural(facts.sent, "poisoned journey", "poisoned journeys");
        said.push(Conclusion {
            weight,
            journey: facts.journey.clone(),
            text: format!("{} of {of} {text}", words::count(n)),
            evidence: std::iter::once(format!("{} of those sent", share(n)))
                .chain(evidence)
                .collect(),
            definition: DEFINITION,
        });
    };
    let be = |n: u64| if n == 1 { "was" } else { "were" };
    say(
        facts.lost,
        Weight::Grave,
        &format!("{} lost: seen neither complete nor at a failure stage", be(facts.lost)),
        vec![format!("{deadline} or more after their scheduled instant")],
    );
    say(
        facts.completed,
        Weight::Caution,
        "completed in spite of the poison: no consumer failed on it",
        Vec::new(),
    );
    say(facts.failed, Weight::Caution, "failed otherwise than at a failure stage", Vec::new());
    say(
        facts.in_flight_at_cutoff,
        Weight::Caution,
        &format!("{} still in flight when observation ended", be(facts.in_flight_at_cutoff)),
        Vec::new(),
    );
    say(
        facts.contained_late,
        Weight::Caution,
        &format!("came to a failure stage late, after {deadline}"),
        Vec::new(),
    );
    say(
        facts.refused,
        Weight::Finding,
        &format!("{} refused at the root, or not answered there", be(facts.refused)),
        Vec::new(),
    );
    let times = facts.containment_p50_ns.zip(facts.containment_max_ns).map(|(p50, max)| {
        let (p50, max) = (words::duration(p50 as f64), words::duration(max as f64));
        format!("p50 {p50}, max {max} from the scheduled instant to the failure stage")
    });
    let deliveries = facts
        .deliveries_per_event
        .map(|deliveries| format!("each event was seen {} times", words::number(deliveries)));
    say(
        facts.contained,
        Weight::Finding,
        &format!("{} contained: ended at a failure stage", be(facts.contained)),
        times.into_iter().chain(deliveries).collect(),
    );
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contained_poison_is_a_finding_and_lost_poison_is_grave() {
        let facts = PoisonFacts {
            journey: "payment".into(),
            within_ns: 30_000_000_000,
            sent: 200,
            contained: 196,
            containment_p50_ns: Some(1_200_000_000),
            containment_max_ns: Some(4_000_000_000),
            completed: 3,
            lost: 1,
            deliveries_per_event: Some(2.5),
            ..PoisonFacts::default()
        };
        let said = conclude_poison(&facts);
        let texts: Vec<_> = said.iter().map(|it| (it.weight, it.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                (
                    Weight::Grave,
                    "1 of 200 poisoned journeys was lost: seen neither complete nor at a failure \
                     stage"
                ),
                (
                    Weight::Caution,
                    "3 of 200 poisoned journeys completed in spite of the poison: no consumer \
                     failed on it"
                ),
                (
                    Weight::Finding,
                    "196 of 200 poisoned journeys were contained: ended at a failure stage"
                ),
            ]
        );
        let evidence = &said[2].evidence;
        assert!(evidence[1].starts_with("p50 1.20 s, max 4.00 s"), "{evidence:?}");
        assert_eq!(evidence[2], "each event was seen 2.50 times");
        assert_eq!(conclude_poison(&PoisonFacts::default()), []);
    }
}
