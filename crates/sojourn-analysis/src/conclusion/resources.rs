//! The sentence about a resource of the system's own that is used up.

use super::{Conclusion, Weight};
use crate::{
    resources::{Processor, Saturated, SaturatedBy, saturated_sentence},
    words,
};

/// The anchor of what it speaks of.
const DEFINITION: &str = "saturated-resource";

/// What may be said of a resource; it is about no journey in particular.
pub fn conclude_resource(name: &str, processor: &Processor, found: &Saturated) -> Conclusion {
    let (mean, max) = (words::number(processor.cores_mean), words::number(processor.cores_max));
    let mut evidence = vec![format!("{mean} cores on average, {max} at most")];
    let price = processor.cpu_ns_per_journey.zip(processor.journeys_per_core_s);
    evidence.extend(price.map(|(ns, per_s)| {
        let (time, per_s) = (words::duration(ns), words::number(per_s));
        format!("{time} of processor time for each journey: 1 core per {per_s}/s")
    }));
    // Said already where it is the reason.
    let throttled = found.throttled_share.filter(|_| found.by != SaturatedBy::Throttling);
    evidence.extend(
        throttled.map(|share| format!("throttled in {} of its periods", words::percent(share))),
    );
    Conclusion {
        weight: Weight::Caution,
        journey: String::new(),
        text: saturated_sentence(name, found),
        evidence,
        definition: DEFINITION,
    }
}
