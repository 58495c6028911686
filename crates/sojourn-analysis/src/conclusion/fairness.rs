//! Sentences about labels that are treated worse than others.

use super::{Conclusion, Facts, Weight, conclusion};
use crate::words;

pub(super) fn fairness(facts: &Facts) -> Vec<Conclusion> {
    let Some(fairness) = &facts.fairness else { return Vec::new() };
    let index = |what: &str, index: Option<f64>| {
        index.map(|index| {
            let index = (index * 1_000.0).round() / 1_000.0;
            format!("Jain's index of {what} is {index} over {} labels", fairness.labels)
        })
    };
    let slowest = fairness.slowest.iter().map(|worse| {
        let text = format!(
            "{} waits longer than the others: {} on average, where they take {} ({} ×)",
            worse.label,
            words::duration(worse.own),
            words::duration(worse.others),
            words::number(worse.own / worse.others)
        );
        let evidence = index("speed", fairness.speed_index).into_iter().collect();
        conclusion(facts, Weight::Caution, text, evidence, "fairness")
    });
    let least = fairness.least_served.iter().map(|worse| {
        let text = format!(
            "fewer journeys of {} complete than of the others: {}, where they have {}",
            worse.label,
            words::percent(worse.own),
            words::percent(worse.others)
        );
        let evidence = index("service", fairness.service_index).into_iter().collect();
        conclusion(facts, Weight::Caution, text, evidence, "fairness")
    });
    slowest.chain(least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::{Fairness, Worse};

    #[test]
    fn only_a_label_that_is_worse_off_is_told_of() {
        let mut facts = Facts {
            fairness: Some(Fairness {
                labels: 4,
                service_index: Some(1.0),
                speed_index: Some(0.8125),
                ..Fairness::default()
            }),
            ..Facts::default()
        };
        assert_eq!(fairness(&facts), []);
        let worse = Worse { label: "acme".to_owned(), own: 900e6, others: 300e6 };
        facts.fairness.as_mut().unwrap().slowest = Some(worse);
        let told = fairness(&facts);
        assert_eq!(told.len(), 1);
        assert_eq!(
            told[0].text,
            "acme waits longer than the others: 900 ms on average, where they take 300 ms (3 ×)"
        );
        assert_eq!(told[0].evidence, ["Jain's index of speed is 0.813 over 4 labels"]);
    }
}
