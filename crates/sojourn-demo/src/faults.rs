//! Faults on purpose. What befalls an event is a pure function of (seed, payment key, stage).
//!
//! At most one fault befalls an event, so that its consequences can be counted without doubt:
//! one draw in [0, 100) falls into the slice of drop, poison, redeliver, republish, reorder or
//! none, in this order.

use crate::random;
use crate::service_time::ServiceTime;
use crate::stage::Stage;
use serde::{Deserialize, Serialize};

/// Which faults occur, and how often. Percentages are of events, not of journeys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FaultConfig {
    /// Events that the relay never publishes: the journey ends there.
    pub drop_percent: f64,
    /// Events that their consumer can't process: retried, then sent to the dead-letter topic.
    /// `PaymentCompleted` is exempt: nothing follows it.
    pub poison_percent: f64,
    /// Events published twice with the same message id.
    pub redeliver_percent: f64,
    /// Events published twice, the second time with a new message id.
    pub republish_percent: f64,
    /// Events published after their successor. Exempt: `PaymentCompleted`, the successor of a
    /// reordered event, and an event whose successor is dropped.
    pub reorder_percent: f64,
    /// A stage whose service time is replaced.
    pub slow_stage: Option<SlowStage>,
    /// A stage whose consumer stops consuming.
    pub stop_stage: Option<StopStage>,
}

/// A stage made slow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowStage {
    /// The stage whose event comes late; `initiated` has no consumer before it.
    pub stage: Stage,
    /// Its service time; by default that of the published experiment, `uniform(5s,9s)`.
    #[serde(default = "five_to_nine_seconds")]
    pub service: ServiceTime,
}

/// A stage whose consumer stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopStage {
    /// The stage that is no longer reached; `initiated` has no consumer before it.
    pub stage: Stage,
    /// When, milliseconds after the first accepted payment.
    pub after_ms: u64,
}

/// The published experiment's slow step: 5 to 9 seconds.
pub const fn five_to_nine_seconds() -> ServiceTime {
    ServiceTime::Uniform { ns_min: 5_000_000_000, ns_max: 9_000_000_000 }
}

impl FaultConfig {
    pub(crate) fn percentages(&self) -> [(&'static str, f64); 5] {
        [
            ("drop_percent", self.drop_percent),
            ("poison_percent", self.poison_percent),
            ("redeliver_percent", self.redeliver_percent),
            ("republish_percent", self.republish_percent),
            ("reorder_percent", self.reorder_percent),
        ]
    }
}

/// What befalls an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Never published.
    Drop,
    /// Published once; its consumer always fails on it.
    Poison,
    /// Published twice, same message id.
    Redeliver,
    /// Published twice, two message ids.
    Republish,
    /// Published after its successor.
    Reorder,
    /// Published once.
    Whole,
}

/// Decides fates.
#[derive(Clone, Debug)]
pub struct Faults {
    seed: u64,
    config: FaultConfig,
}

impl Faults {
    /// Decisions for a seed.
    pub fn new(seed: u64, config: FaultConfig) -> Self {
        Self { seed, config }
    }

    /// What befalls the event that brings payment `key` to `stage`.
    pub fn fate(&self, key: &str, stage: Stage) -> Fate {
        match self.drawn(key, stage) {
            Fate::Poison if stage.next().is_none() => Fate::Whole,
            Fate::Reorder if !self.may_reorder(key, stage) => Fate::Whole,
            fate => fate,
        }
    }

    /// Reordering needs a successor that will be published, and a predecessor that was in order:
    /// the held event is released by its successor, so two in a row would wait for each other.
    fn may_reorder(&self, key: &str, stage: Stage) -> bool {
        let successor_published =
            stage.next().is_some_and(|next| self.drawn(key, next) != Fate::Drop);
        let predecessor_in_order =
            stage.previous().is_none_or(|previous| self.fate(key, previous) != Fate::Reorder);
        successor_published && predecessor_in_order
    }

    fn drawn(&self, key: &str, stage: Stage) -> Fate {
        let about = 0x6661_7465_0000_0000 | stage.index() as u64;
        let mut point = random::percent(random::draw(self.seed, key, about));
        let fates = [Fate::Drop, Fate::Poison, Fate::Redeliver, Fate::Republish, Fate::Reorder];
        for (fate, (_, percent)) in fates.into_iter().zip(self.config.percentages()) {
            if point < percent {
                return fate;
            }
            point -= percent;
        }
        Fate::Whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(config: FaultConfig) -> [usize; 4] {
        let faults = Faults::new(3, config);
        Stage::ALL.map(|stage| {
            (0..20_000).filter(|k| faults.fate(&format!("pay:{k}"), stage) != Fate::Whole).count()
        })
    }

    #[test]
    fn percentages_are_of_events() {
        let drops = counts(FaultConfig { drop_percent: 5.0, ..FaultConfig::default() });
        for count in drops {
            assert!((850..1_150).contains(&count), "{count}");
        }
        let poisoned = counts(FaultConfig { poison_percent: 100.0, ..FaultConfig::default() });
        assert_eq!(poisoned, [20_000, 20_000, 20_000, 0]);
        let reordered = counts(FaultConfig { reorder_percent: 100.0, ..FaultConfig::default() });
        assert_eq!(reordered, [20_000, 0, 20_000, 0]);
    }

    #[test]
    fn another_seed_is_another_fate() {
        let config = FaultConfig { drop_percent: 50.0, ..FaultConfig::default() };
        let (one, two) = (Faults::new(1, config.clone()), Faults::new(2, config));
        let differing = (0..1_000)
            .map(|k| format!("pay:{k}"))
            .filter(|key| one.fate(key, Stage::Created) != two.fate(key, Stage::Created))
            .count();
        assert!((400..600).contains(&differing), "{differing}");
    }

    proptest! {
        #[test]
        fn a_reordered_event_has_a_published_successor_in_order(
            seed: u64, key in "pay:[0-9a-f]{8}", percent in 1.0f64..20.0,
        ) {
            let faults = Faults::new(seed, FaultConfig {
                drop_percent: percent,
                poison_percent: percent,
                redeliver_percent: percent,
                republish_percent: percent,
                reorder_percent: percent,
                ..FaultConfig::default()
            });
            for stage in Stage::ALL {
                if faults.fate(&key, stage) == Fate::Reorder {
                    let next = faults.fate(&key, stage.next().unwrap());
                    prop_assert!(next != Fate::Drop && next != Fate::Reorder);
                }
            }
        }
    }
}
