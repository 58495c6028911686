//! What channels' taps saw, and what sessions' checks came to.

use sojourn_metrics::names;

use super::{ChannelFrame, CheckFrame, lookup::Lookup};

/// Every channel that has a tap, by name.
pub(super) fn channels(lookup: &Lookup<'_>) -> Vec<ChannelFrame> {
    let named = lookup.values(names::EVENTS_SEEN, names::CHANNEL, &[]);
    named.into_iter().map(|name| channel(lookup, name)).collect()
}

fn channel(lookup: &Lookup<'_>, name: String) -> ChannelFrame {
    let tags = [(names::CHANNEL, name.as_str())];
    let seen: u64 =
        lookup.recent_by(names::EVENTS_SEEN, names::CHANNEL, &tags).iter().map(|it| it.count).sum();
    ChannelFrame {
        seen: lookup.whole(names::EVENTS_SEEN, &tags),
        seen_per_s: lookup.each_s(seen),
        duplicates: lookup.whole(names::EVENTS_DUPLICATE, &tags),
        unmatched: lookup.whole(names::EVENTS_ORPHAN, &tags)
            + lookup.whole(names::EVENTS_UNATTRIBUTED, &tags),
        behind_ms: lookup.level(names::HEALTH_TAP_BEHIND_MS, &tags),
        name,
    }
}

/// Every check by name.
pub(super) fn checks(lookup: &Lookup<'_>) -> Vec<CheckFrame> {
    let named = lookup.values(names::CHECKS, names::CHECK, &[]);
    let came_to = |name: &str, result: &str| {
        lookup.count(names::CHECKS, &[(names::CHECK, name), (names::RESULT, result)])
    };
    named
        .into_iter()
        .map(|name| CheckFrame {
            held: came_to(&name, names::CHECK_OK),
            failed: came_to(&name, names::CHECK_FAILED),
            name,
        })
        .collect()
}
