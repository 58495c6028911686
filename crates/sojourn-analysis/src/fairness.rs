//! Whether a system treats its labels (tenants, regions, keys) alike.
//!
//! Jain's index of n amounts x is (Σx)² / (n · Σx²): 1 when all are alike, 1/n when one has
//! everything (R. Jain, D. Chiu, W. Hawe, *A Quantitative Measure of Fairness*, 1984). It says how
//! unequal, not whom it strikes, nor whether it is chance: for that each label is compared with all
//! the others together.

use schemars::JsonSchema;
use serde::Serialize;

/// Journeys that a label must have had for a sentence about it.
const JOURNEYS_MIN: u64 = 30;
/// Standard errors by which a label must differ: labels take part in the same moments of the
/// run, so that what a queue does to all of them cancels out, but there are many of them.
const ERRORS_MIN: f64 = 5.0;
/// A label that takes so much longer than the others is worth a sentence.
const SLOWER: f64 = 1.25;
/// A label of whose journeys so many fewer complete, as a fraction, is worth a sentence.
const LESS_SERVED: f64 = 0.05;

/// What became of a label's journeys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Journeys that ended; those cut off are not among them.
    pub ended: u64,
    /// Of them, those that completed, late ones too.
    pub completed: u64,
    /// Mean time of the completed, nanoseconds.
    pub mean_ns: Option<f64>,
    /// Its standard deviation.
    pub stddev_ns: f64,
}

/// How alike the labels of a journey were treated.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Fairness {
    /// Labels compared.
    pub labels: usize,
    /// Jain's index of completed over ended journeys.
    pub service_index: Option<f64>,
    /// Jain's index of the inverse mean times.
    pub speed_index: Option<f64>,
    /// The label that waits longest, where that is no chance.
    pub slowest: Option<Worse>,
    /// The label of whose journeys fewest complete, where that is no chance.
    pub least_served: Option<Worse>,
}

/// A label that is worse off than the others together.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Worse {
    /// The label.
    pub label: String,
    /// Its figure: mean time in nanoseconds, or completed over ended.
    pub own: f64,
    /// That of all others together.
    pub others: f64,
}

/// Jain's index; `None` for fewer than two amounts, and where all are zero.
pub fn jain(amounts: &[f64]) -> Option<f64> {
    let sum: f64 = amounts.iter().sum();
    let squares: f64 = amounts.iter().map(|amount| amount * amount).sum();
    (amounts.len() >= 2 && squares > 0.0).then(|| sum * sum / (amounts.len() as f64 * squares))
}

/// Compares labels; `None` for fewer than two.
pub fn fairness(labels: &[Label]) -> Option<Fairness> {
    let labels: Vec<&Label> = labels.iter().filter(|label| label.ended > 0).collect();
    if labels.len() < 2 {
        return None;
    }
    let served: Vec<f64> = labels.iter().map(|label| label.served()).collect();
    let speeds: Vec<f64> = labels
        .iter()
        .filter_map(|label| label.mean_ns)
        .filter(|mean_ns| *mean_ns > 0.0)
        .map(f64::recip)
        .collect();
    let worst = |found: Vec<Worse>, by: fn(&Worse) -> f64| {
        found.into_iter().max_by(|one, other| by(one).total_cmp(&by(other)))
    };
    let slow = labels.iter().filter_map(|label| slower(label, &labels)).collect();
    let short = labels.iter().filter_map(|label| less_served(label, &labels)).collect();
    Some(Fairness {
        labels: labels.len(),
        service_index: jain(&served),
        speed_index: jain(&speeds),
        slowest: worst(slow, |worse| worse.own / worse.others),
        least_served: worst(short, |worse| worse.others - worse.own),
    })
}

impl Label {
    fn served(&self) -> f64 {
        self.completed as f64 / self.ended.max(1) as f64
    }

    /// Square of the mean's standard error.
    fn error2(&self) -> f64 {
        self.stddev_ns * self.stddev_ns / self.completed.max(1) as f64
    }
}

fn slower(label: &Label, all: &[&Label]) -> Option<Worse> {
    let own = label.mean_ns?;
    let others = all.iter().filter(|other| other.name != label.name);
    let (mut count, mut sum, mut error2) = (0.0, 0.0, 0.0);
    for other in others {
        let weight = other.completed as f64;
        count += weight;
        sum += weight * other.mean_ns.unwrap_or(0.0);
        error2 += weight * weight * other.error2();
    }
    if label.completed < JOURNEYS_MIN || count < JOURNEYS_MIN as f64 {
        return None;
    }
    let mean = sum / count;
    let error = (label.error2() + error2 / (count * count)).sqrt();
    let differs = own >= SLOWER * mean && own - mean >= ERRORS_MIN * error;
    differs.then(|| Worse { label: label.name.clone(), own, others: mean })
}

fn less_served(label: &Label, all: &[&Label]) -> Option<Worse> {
    let others = all.iter().filter(|other| other.name != label.name);
    let (mut ended, mut completed) = (0u64, 0u64);
    for other in others {
        ended += other.ended;
        completed += other.completed;
    }
    if label.ended < JOURNEYS_MIN || ended < JOURNEYS_MIN {
        return None;
    }
    let (own, rest) = (label.served(), completed as f64 / ended as f64);
    let pooled = (label.completed + completed) as f64 / (label.ended + ended) as f64;
    let inverse = 1.0 / label.ended as f64 + 1.0 / ended as f64;
    let error = (pooled * (1.0 - pooled) * inverse).sqrt();
    let differs = rest - own >= LESS_SERVED && rest - own >= ERRORS_MIN * error;
    differs.then(|| Worse { label: label.name.clone(), own, others: rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(name: &str, ended: u64, completed: u64, mean_ms: f64) -> Label {
        Label {
            name: name.to_owned(),
            ended,
            completed,
            mean_ns: (completed > 0).then_some(mean_ms * 1e6),
            // As of exponential times.
            stddev_ns: mean_ms * 1e6,
        }
    }

    #[test]
    fn the_index_is_one_for_equals_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        // The example of the paper's abstract: two of ten have all, in equal parts.
        let mut amounts = [0.0; 10];
        amounts[..2].fill(50.0);
        assert_eq!(jain(&amounts), Some(0.2));
        assert_eq!(jain(&[1.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn a_label_that_waits_or_is_lost_is_named() {
        let labels =
            [label("a", 400, 400, 100.0), label("b", 400, 400, 104.0), label("c", 400, 300, 350.0)];
        let found = fairness(&labels).unwrap();
        assert_eq!(found.labels, 3);
        assert!(found.speed_index.unwrap() < 0.9, "{found:?}");
        assert!(found.service_index.unwrap() < 0.99, "{found:?}");
        let slowest = found.slowest.unwrap();
        assert_eq!((&*slowest.label, slowest.own, slowest.others), ("c", 350e6, 102e6));
        let least = found.least_served.unwrap();
        assert_eq!((&*least.label, least.own, least.others), ("c", 0.75, 1.0));
    }

    #[test]
    fn few_journeys_and_small_differences_name_nobody() {
        for labels in [
            vec![label("a", 29, 29, 900.0), label("b", 400, 400, 100.0)],
            vec![label("a", 4_000, 4_000, 120.0), label("b", 4_000, 4_000, 100.0)],
            vec![label("a", 4_000, 3_900, 100.0), label("b", 4_000, 4_000, 100.0)],
            vec![label("a", 40, 40, 150.0), label("b", 40, 40, 100.0)],
        ] {
            let found = fairness(&labels).unwrap();
            assert_eq!((found.slowest, found.least_served), (None, None), "{labels:?}");
        }
        assert_eq!(fairness(&[label("a", 400, 400, 100.0)]), None);
    }

    /// Exponential times and losses at random, the same for all of 16 labels: an accusation in less
    /// than one run of 500.
    #[test]
    fn equals_are_not_accused() {
        let mut state = 11u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        let mut accused = 0;
        for _ in 0..2_000 {
            let labels: Vec<Label> = (0..16)
                .map(|number| {
                    let times: Vec<f64> = (0..60).map(|_| -uniform().ln() * 1e8).collect();
                    let mean = times.iter().sum::<f64>() / 60.0;
                    let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
                    let completed = (0..60).filter(|_| uniform() < 0.9).count() as u64;
                    Label {
                        name: number.to_string(),
                        ended: 60,
                        completed,
                        mean_ns: Some(mean),
                        stddev_ns: (squares / 60.0).sqrt(),
                    }
                })
                .collect();
            let found = fairness(&labels).unwrap();
            accused += usize::from(found.slowest.is_some() || found.least_served.is_some());
        }
        assert!(accused < 4, "{accused} of 2,000 runs");
    }
}
