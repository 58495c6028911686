//! Thresholds on poisoned journeys: `poison.FIGURE`, or `poison.J.FIGURE` of one journey's.

use crate::{Distribution, Figure, Histogram, SeriesPhase, Store, names};

use super::subject::Unit;

/// A figure of poisoned journeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoisonFigure {
    /// A sum of counters, less others.
    Count { plus: &'static [&'static str], minus: &'static [&'static str] },
    /// Whether `lost` may still change: journeys in flight at the cutoff.
    Lost,
    /// Events by distinct ones.
    Deliveries,
    /// The trend from t0 to the failure stage.
    Containment,
}

/// A figure, of one journey's poisoned ones or of all, and whether as a share of those sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PoisonSubject {
    pub(super) figure: PoisonFigure,
    pub(super) journey: Option<String>,
    pub(super) share: bool,
}

const SENT: &[&str] = &[names::JOURNEYS_STARTED];
const STEADY: SeriesPhase = SeriesPhase::Steady;

/// Words of thresholds.
pub(super) const FIGURES: &[(&str, PoisonFigure)] = &[
    ("sent", count(SENT)),
    ("contained", count(&[names::POISON_CONTAINED])),
    ("contained_late", count(&[names::POISON_CONTAINED_LATE])),
    ("completed", count(&[names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE])),
    ("refused", count(&[names::JOURNEYS_ROOT_FAILED])),
    (
        "failed",
        PoisonFigure::Count { plus: &[names::JOURNEYS_FAILED], minus: &[names::POISON_CONTAINED] },
    ),
    ("lost", PoisonFigure::Lost),
    ("duplicates", count(&[names::STAGE_DUPLICATES])),
    ("events_after", count(&[names::POISON_EVENTS_AFTER])),
    ("deliveries", PoisonFigure::Deliveries),
    ("containment", PoisonFigure::Containment),
];

const fn count(plus: &'static [&'static str]) -> PoisonFigure {
    PoisonFigure::Count { plus, minus: &[] }
}

impl PoisonSubject {
    /// The subject of what follows `poison.`.
    pub(super) fn of(parts: &[&str]) -> Option<Self> {
        let (parts, share) = match parts {
            [parts @ .., "share"] => (parts, true),
            parts => (parts, false),
        };
        let (word, name) = parts.split_last()?;
        let &(_, figure) = FIGURES.iter().find(|(known, _)| known == word)?;
        let is_part = match figure {
            PoisonFigure::Lost => true,
            // Of journeys, and not all of them.
            PoisonFigure::Count { plus, .. } => {
                plus != SENT && !matches!(*word, "duplicates" | "events_after")
            }
            _ => false,
        };
        let journey = (!name.is_empty()).then(|| name.join("."));
        (is_part || !share).then_some(Self { figure, journey, share })
    }

    /// Whether it is a single number already.
    pub(super) fn is_value(&self) -> bool {
        self.figure != PoisonFigure::Containment
    }

    pub(super) fn unit(&self) -> Unit {
        match self.figure {
            PoisonFigure::Containment => Unit::Time,
            _ if self.share => Unit::Share,
            _ => Unit::Number,
        }
    }

    /// Whether journeys in flight at the cutoff leave the figure open.
    pub(super) fn awaits_cutoff(&self, store: &Store) -> bool {
        self.figure == PoisonFigure::Lost
            && self.sum(store, names::JOURNEYS_IN_FLIGHT_AT_CUTOFF) > 0
    }

    /// The single number that it is; `None` where there is nothing to measure.
    pub(super) fn value(&self, store: &Store) -> Option<f64> {
        let all = |metrics: &[&str]| -> u64 {
            metrics.iter().map(|metric| self.sum(store, metric)).fold(0, u64::saturating_add)
        };
        let number = match self.figure {
            PoisonFigure::Count { plus, minus } => all(plus).saturating_sub(all(minus)),
            PoisonFigure::Lost => all(&[names::JOURNEYS_LOST]),
            PoisonFigure::Deliveries => {
                let matched = all(&[names::STAGE_MATCHED]);
                let again = all(&[names::STAGE_DUPLICATES]);
                return (matched > 0).then(|| (matched + again) as f64 / matched as f64);
            }
            PoisonFigure::Containment => return None,
        };
        match (self.share, all(SENT)) {
            // Without poison nothing was tried.
            (_, 0) if self.figure != count(SENT) => None,
            (false, _) => Some(number as f64),
            (true, sent) => Some(number as f64 / sent as f64),
        }
    }

    /// Times from t0 to the failure stage.
    pub(super) fn containment(&self, store: &Store) -> Distribution {
        let mut merged = Histogram::new();
        for (_, figure) in
            store.poisoned(names::POISON_CONTAINMENT, self.journey.as_deref(), STEADY)
        {
            if let Figure::Trend(histogram) = figure {
                merged.merge(histogram);
            }
        }
        merged.into()
    }

    fn sum(&self, store: &Store, metric: &str) -> u64 {
        store
            .poisoned(metric, self.journey.as_deref(), STEADY)
            .map(|(_, figure)| match figure {
                Figure::Counter(n) => *n,
                _ => 0,
            })
            .fold(0, u64::saturating_add)
    }
}
