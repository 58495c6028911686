//! What a k6 script exports as its options: read, made plans, shown, and read again.

use sojourn_k6::options::{Options, Tier, Tiers, consolidate};

use crate::Input;

/// What is shown of options reads back as the same; plans keep their own books.
pub(crate) fn check(input: Input<'_>) {
    let Ok(value) = serde_json::from_slice(input.bytes) else { return };
    let Ok((script, _)) = Options::from_json(Tier::Script, &value) else { return };
    let Ok(all) = consolidate(Tiers { script, ..Tiers::default() }) else { return };
    let shown = all.options.to_json();
    let again = Options::from_json(Tier::Script, &shown);
    // No system tags at all are shown as if none were given.
    let has_tags = !shown["systemTags"].is_null();
    assert!(again.is_ok_and(|(again, _)| !has_tags || again.to_json() == shown));
    let needed = all.requirements();
    assert!(needed.planned_vus <= needed.max_vus);
    for scenario in &all.scenarios {
        assert!(!scenario.description().is_empty());
        for slot in 0..scenario.slots().min(50) {
            let spans = scenario.spans(slot);
            assert!(spans.iter().all(|s| s.start_ns < s.end_ns && s.end_ns <= s.cut_ns));
            assert!(spans.is_sorted_by_key(|span| span.start_ns));
        }
        if let Some(mut starts) = scenario.starts() {
            let instants: Vec<_> = (0..50).map_while(|k| starts.at(k)).collect();
            assert!(instants.is_sorted() && instants.len() as u64 <= starts.count());
        }
    }
}
