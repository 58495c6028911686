//! The sentences that a report draws from a run, each with the figures it rests on.
//!
//! A sentence is drawn only from figures that exist, and says no more than they do: lost journeys
//! are "not seen complete", a bottleneck is a share at a stated quantile, and percentiles of a
//! growing queue are said to describe the length of the run.

mod events;
mod fairness;
mod load;
mod outcome;
mod poison;
mod resources;
mod timing;

pub use poison::{PoisonFacts, conclude_poison};
pub use resources::conclude_resource;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    backlog::Backlog,
    change::Changed,
    correlate::Correlated,
    drain::Drain,
    fairness::Fairness,
    saturation::{Saturation, StageGrowth},
    share::Share,
    stall::Stalled,
    timer::Timer,
};

pub use load::exhausted_sentence;

/// One finding.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Conclusion {
    /// How much it matters.
    pub weight: Weight,
    /// The journey it is about; empty: none in particular.
    pub journey: String,
    /// The sentence, without a full stop.
    pub text: String,
    /// The figures it rests on, as fragments.
    pub evidence: Vec<String>,
    /// The anchor in docs/definitions.md of what it speaks of.
    pub definition: &'static str,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Something was lost, failed, or grew without end.
    Grave,
    /// Something that the reader should know before using a figure.
    Caution,
    /// What the run showed.
    Finding,
}

/// What is known of one journey. Counts and quantiles are those of the steady phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Journey's name.
    pub journey: String,
    /// Deadline from t0, nanoseconds.
    pub within_ns: u64,
    /// Started.
    pub started: u64,
    /// Completed in time.
    pub completed: u64,
    /// Completed after the deadline.
    pub late: u64,
    /// Not seen complete when observation ended.
    pub lost: u64,
    /// Reached a failure stage.
    pub failed: u64,
    /// Root refused or unanswered.
    pub root_failed: u64,
    /// Not yet overdue when observation ended.
    pub in_flight_at_cutoff: u64,
    /// Journey's median, nanoseconds; `None` when there is none or it falls among the lost.
    pub p50_ns: Option<u64>,
    /// Arrivals per second in the steady phase.
    pub arrivals_per_s: Option<f64>,
    /// Each hop's share.
    pub shares: Vec<Share>,
    /// What the in-flight slope says.
    pub backlog: Option<Backlog>,
    /// What happened after the last arrival.
    pub drain: Option<Drain>,
    /// What the slope of those who wait for each stage says.
    pub growths: Vec<StageGrowth>,
    /// The stage whose backlog grows first.
    pub saturation: Option<Saturation>,
    /// The greatest age of a journey in flight, nanoseconds.
    pub oldest_age_ns_max: Option<u64>,
    /// Timers that hops wait for.
    pub timers: Vec<Timer>,
    /// Latencies that changed their level.
    pub changes: Vec<Changed>,
    /// Times in which next to nothing was completed.
    pub stalls: Vec<Stalled>,
    /// How alike its labels were treated.
    pub fairness: Option<Fairness>,
    /// Hops that move with a broker's backlog.
    pub correlations: Vec<Correlated>,
    /// Of the lost journeys that were kept: the last stage seen (`None` when none was), and how
    /// many.
    pub lost_last_seen: Vec<(Option<String>, u64)>,
    /// Stages seen before the point they follow: (stage, how many, of how many hops).
    pub order_violations: Vec<(String, u64, u64)>,
    /// The same event again: (kind, how many).
    pub duplicates: Vec<(String, u64)>,
    /// Polled stages.
    pub polled: Vec<Polled>,
    /// Alternatives reached after another one of their group: (stage, how many).
    pub second_branches: Vec<(String, u64)>,
    /// Hops of journeys with a trace.
    pub traced: Vec<Traced>,
}

/// How far a trace context came at one hop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traced {
    /// The point that the hop counts from.
    pub from: String,
    /// The stage it ends at.
    pub to: String,
    /// Of the events there: those that carry their journey's trace, and all.
    pub carrying: (u64, u64),
    /// The same of the stage it counts from; `None` for a step, which always has it.
    pub before: Option<(u64, u64)>,
}

/// A stage that is read by asking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polled {
    /// Its name.
    pub stage: String,
    /// The interval, nanoseconds.
    pub every_ns: u64,
    /// Polls that waited for the stage's budget.
    pub waited: u64,
    /// The longest of these waits, nanoseconds.
    pub waited_ns_max: u64,
}

/// Everything that may be said of these journeys, the gravest first, else in order.
pub fn conclude(facts: &[Facts]) -> Vec<Conclusion> {
    let mut conclusions: Vec<Conclusion> = facts.iter().flat_map(of_journey).collect();
    conclusions.sort_by_key(|conclusion| conclusion.weight);
    conclusions
}

fn of_journey(facts: &Facts) -> Vec<Conclusion> {
    [
        outcome::lost(facts),
        outcome::failed(facts),
        load::growth(facts),
        load::saturation(facts),
        outcome::in_flight(facts),
        outcome::late(facts),
        events::order(facts),
        events::duplicates(facts),
        events::second_branches(facts),
        load::bottleneck(facts),
        load::drained(facts),
    ]
    .into_iter()
    .flatten()
    .chain(facts.traced.iter().filter_map(|traced| events::trace(facts, traced)))
    .chain(facts.stalls.iter().map(|stall| timing::stall(facts, stall)))
    .chain(facts.changes.iter().map(|change| timing::change(facts, change)))
    .chain(facts.timers.iter().flat_map(|timer| timing::timer(facts, timer)))
    .chain(facts.correlations.iter().map(|found| timing::correlation(facts, found)))
    .chain(fairness::fairness(facts))
    .chain(facts.polled.iter().map(|polled| events::polled(facts, polled)))
    .collect()
}

fn conclusion(
    facts: &Facts,
    weight: Weight,
    text: String,
    evidence: Vec<String>,
    definition: &'static str,
) -> Conclusion {
    Conclusion { weight, journey: facts.journey.clone(), text, evidence, definition }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backlog::Slope,
        share::{Hop, shares},
    };

    fn payment() -> Facts {
        Facts {
            journey: "payment".into(),
            within_ns: 30_000_000_000,
            started: 6_000,
            completed: 6_000,
            ..Facts::default()
        }
    }

    fn texts(facts: Facts) -> Vec<String> {
        conclude(&[facts]).into_iter().map(|conclusion| conclusion.text).collect()
    }

    #[test]
    fn a_clean_run_without_figures_says_nothing() {
        assert!(texts(payment()).is_empty());
    }

    #[test]
    fn a_second_alternative_is_told() {
        let second_branches = vec![("paid".into(), 0), ("refunded".into(), 3)];
        assert_eq!(
            texts(Facts { second_branches, ..payment() }),
            ["3 journeys reached an alternative after another one: refunded (3)"]
        );
    }

    #[test]
    fn a_trace_is_lost_where_fewer_carry_it_than_before() {
        let hop = |from: &str, to: &str, carrying, before| Traced {
            from: from.into(),
            to: to.into(),
            carrying,
            before,
        };
        let traced = vec![
            hop("root", "created", (812, 812), None),
            hop("created", "settled", (0, 812), Some((812, 812))),
            hop("settled", "completed", (0, 800), Some((0, 812))),
            hop("created", "told", (600, 812), Some((812, 812))),
            hop("created", "unseen", (0, 0), Some((812, 812))),
        ];
        assert_eq!(
            texts(Facts { traced, ..payment() }),
            [
                "trace context is lost at hop created → settled (0 of 812 events carry it)",
                "trace context is lost in part at hop created → told (600 of 812 events carry it)",
            ]
        );
    }

    #[test]
    fn lost_journeys_name_their_last_stages() {
        let said = texts(Facts {
            lost: 3,
            lost_last_seen: vec![(Some("settled".into()), 2), (Some("created".into()), 1)],
            ..payment()
        });
        assert_eq!(
            said,
            ["3 of 6,000 journeys were lost; their last seen stage was settled (2) and created \
              (1)"]
        );
    }

    #[test]
    fn lost_journeys_that_were_never_seen_say_so() {
        let said = |lost_last_seen| texts(Facts { lost: 3, lost_last_seen, ..payment() });
        assert_eq!(
            said(vec![(None, 3)]),
            ["3 of 6,000 journeys were lost; none was seen at any stage"]
        );
        assert_eq!(
            said(vec![(Some("created".into()), 2), (None, 1)]),
            ["3 of 6,000 journeys were lost; their last seen stage was created (2), and 1 was \
              seen at none"]
        );
    }

    #[test]
    fn lost_journeys_that_were_not_all_kept_say_so() {
        let conclusions = conclude(&[Facts {
            lost: 10,
            lost_last_seen: vec![(Some("settled".into()), 4)],
            ..payment()
        }]);
        assert!(conclusions[0].evidence[1].contains("the 4 that were kept"));
    }

    #[test]
    fn a_growing_queue_warns_about_its_percentiles() {
        let slope = Slope { per_s: 12.3, half_width_per_s: 0.4, points: 30 };
        let conclusions = conclude(&[Facts {
            backlog: Some(Backlog::Growing { slope }),
            arrivals_per_s: Some(50.0),
            ..payment()
        }]);
        assert!(
            conclusions[0].text.starts_with("growing by 12.3/s: percentiles of a growing queue")
        );
        assert_eq!(conclusions[0].weight, Weight::Grave);
        assert_eq!(
            conclusions[0].evidence,
            [
                "in flight changed by 12.3/s ± 0.400/s (95 % confidence, 30 seconds)",
                "50 arrivals/s"
            ]
        );
    }

    #[test]
    fn a_wide_interval_is_not_called_sustainable_without_saying_so() {
        let said = |half_width_per_s| {
            let slope = Slope { per_s: 0.1, half_width_per_s, points: 30 };
            texts(Facts {
                backlog: Some(Backlog::Sustainable { slope }),
                arrivals_per_s: Some(50.0),
                ..payment()
            })
        };
        assert_eq!(said(0.2), ["sustainable at 50 arrivals/s: what is in flight does not grow"]);
        assert_eq!(
            said(2.0),
            ["sustainable at 50 arrivals/s as far as this run can tell: growth of up to 2.10/s \
              is not ruled out"]
        );
    }

    #[test]
    fn the_gravest_comes_first() {
        let hops = [("created", 5_000_000_000), ("completed", 10_100_000_000)]
            .map(|(name, p50_ns)| Hop { name: name.into(), p50_ns, p95_ns: p50_ns });
        let conclusions = conclude(&[Facts {
            late: 2,
            lost: 1,
            p50_ns: Some(23_100_000_000),
            shares: shares(&hops, Some(23_100_000_000), None),
            ..payment()
        }]);
        let weights: Vec<_> = conclusions.iter().map(|conclusion| conclusion.weight).collect();
        assert_eq!(weights, [Weight::Grave, Weight::Caution, Weight::Finding]);
        assert!(conclusions[2].text.ends_with("44 % of the journey's 23.1 s: the bottleneck"));
    }

    #[test]
    fn a_wait_for_the_budget_is_part_of_the_reading_error() {
        let polled = Polled {
            stage: "status".into(),
            every_ns: 100_000_000,
            waited: 7,
            waited_ns_max: 400_000_000,
        };
        let conclusions = conclude(&[Facts { polled: vec![polled], ..payment() }]);
        let said = conclusions.iter().find(|said| said.definition == "polled-stage").unwrap();
        assert_eq!(said.text, "status is polled: it was reached up to 500 ms before it was seen");
        let waited = "7 polls waited for the budget, up to 400 ms";
        assert_eq!(said.evidence, ["polled every 100 ms", waited]);
    }

    #[test]
    fn every_sentence_has_evidence() {
        let conclusions = conclude(&[Facts {
            late: 1,
            lost: 1,
            failed: 1,
            root_failed: 2,
            in_flight_at_cutoff: 3,
            order_violations: vec![("created".into(), 4, 6_000)],
            duplicates: vec![("redelivery".into(), 1), ("unknown".into(), 2)],
            polled: vec![Polled {
                stage: "status".into(),
                every_ns: 100_000_000,
                ..Polled::default()
            }],
            drain: Some(Drain {
                drain_ns: None,
                observed_ns: 30_000_000_000,
                completed: 40,
                completed_per_s: Some(1.3),
            }),
            ..payment()
        }]);
        assert_eq!(conclusions.len(), 8);
        for conclusion in &conclusions {
            assert!(!conclusion.evidence.is_empty(), "{}", conclusion.text);
            assert!(conclusion.text.chars().any(|c| c.is_ascii_digit()), "{}", conclusion.text);
        }
    }
}
