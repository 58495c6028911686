//! Each hop's share of the journey, and which hop is the bottleneck.
//!
//! A share is the hop's quantile over the journey's same quantile. Quantiles do not add up, and
//! hops may run side by side: shares need not sum to one.

use schemars::JsonSchema;
use serde::Serialize;

use crate::words;

/// A hop's quantiles, nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The stage that ends it (or the step, for the root's own response).
    pub name: String,
    /// Median.
    pub p50_ns: i64,
    /// 95th percentile.
    pub p95_ns: i64,
}

/// A hop's share of its journey.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Share {
    /// The hop's stage.
    pub name: String,
    /// The hop's median, nanoseconds.
    pub p50_ns: i64,
    /// Over the journey's median; `None` when that is unknown or zero.
    pub p50_share: Option<f64>,
    /// The hop's 95th percentile, nanoseconds.
    pub p95_ns: i64,
    /// Over the journey's 95th percentile; `None` when that is unknown, zero, or among lost
    /// journeys.
    pub p95_share: Option<f64>,
}

/// Which hop a journey waits for.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Bottleneck {
    /// One hop takes most.
    One {
        /// The hop.
        name: String,
    },
    /// The longest hops are within a tenth of each other.
    Several {
        /// The hops, longest first.
        names: Vec<String>,
    },
}

/// A hop this close to the longest (as a fraction of it) is named beside it.
const CLOSE: f64 = 0.9;
/// A longest hop with less than this share of the journey is no bottleneck.
const NOTABLE: f64 = 0.1;

/// Shares of the hops in the order given.
pub fn shares(
    hops: &[Hop],
    journey_p50_ns: Option<u64>,
    journey_p95_ns: Option<u64>,
) -> Vec<Share> {
    let share = |part_ns: i64, whole_ns: Option<u64>| {
        let whole_ns = whole_ns.filter(|whole_ns| *whole_ns > 0)?;
        Some(part_ns as f64 / whole_ns as f64)
    };
    hops.iter()
        .map(|hop| Share {
            name: hop.name.clone(),
            p50_ns: hop.p50_ns,
            p50_share: share(hop.p50_ns, journey_p50_ns),
            p95_ns: hop.p95_ns,
            p95_share: share(hop.p95_ns, journey_p95_ns),
        })
        .collect()
}

/// The hop with the greatest median, or the several that are within a tenth of it; `None` with
/// fewer than two hops, or when even the longest has no notable share.
pub fn bottleneck(shares: &[Share]) -> Option<Bottleneck> {
    if shares.len() < 2 {
        return None;
    }
    let mut ranked: Vec<&Share> = shares.iter().collect();
    ranked.sort_by_key(|share| std::cmp::Reverse(share.p50_ns));
    let longest = ranked[0];
    if longest.p50_ns <= 0 || longest.p50_share.is_none_or(|share| share < NOTABLE) {
        return None;
    }
    let names: Vec<String> = ranked
        .iter()
        .take_while(|share| share.p50_ns as f64 >= CLOSE * longest.p50_ns as f64)
        .map(|share| share.name.clone())
        .collect();
    Some(if names.len() == 1 {
        Bottleneck::One { name: longest.name.clone() }
    } else {
        Bottleneck::Several { names }
    })
}

/// The sentence that names the bottleneck: `completed takes 10.1 s at p50, 44 % of the journey's
/// 23.1 s: the bottleneck`.
pub fn sentence(shares: &[Share], journey_p50_ns: u64) -> Option<String> {
    let figure = |name: &str| {
        let share = shares.iter().find(|share| share.name == name)?;
        Some((words::duration(share.p50_ns as f64), words::percent(share.p50_share?)))
    };
    let journey = words::duration(journey_p50_ns as f64);
    match bottleneck(shares)? {
        Bottleneck::One { name } => {
            let (takes, share) = figure(&name)?;
            Some(format!(
                "{name} takes {takes} at p50, {share} of the journey's {journey}: the bottleneck"
            ))
        }
        Bottleneck::Several { names } => {
            let parts: Vec<String> = names
                .iter()
                .filter_map(|name| {
                    let (takes, share) = figure(name)?;
                    Some(format!("{name} ({takes}, {share})"))
                })
                .collect();
            Some(format!(
                "no single bottleneck: {} take about the same at p50 of the journey's {journey}",
                words::list(&parts)
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(name: &str, p50_ms: i64) -> Hop {
        Hop { name: name.into(), p50_ns: p50_ms * 1_000_000, p95_ns: p50_ms * 2_000_000 }
    }

    fn of(hops: &[Hop]) -> Vec<Share> {
        shares(hops, Some(23_100_000_000), Some(46_200_000_000))
    }

    #[test]
    fn the_longest_hop_is_the_bottleneck() {
        let shares = of(&[hop("created", 5_060), hop("settled", 5_060), hop("completed", 10_100)]);
        assert_eq!(shares[2].p95_share, shares[2].p50_share);
        assert_eq!(
            sentence(&shares, 23_100_000_000).as_deref(),
            Some("completed takes 10.1 s at p50, 44 % of the journey's 23.1 s: the bottleneck")
        );
    }

    #[test]
    fn hops_within_a_tenth_are_named_together() {
        let shares = of(&[hop("a", 10_000), hop("b", 9_500), hop("c", 100)]);
        assert_eq!(
            bottleneck(&shares),
            Some(Bottleneck::Several { names: vec!["a".into(), "b".into()] })
        );
    }

    #[test]
    fn nothing_is_claimed_without_a_notable_share() {
        assert_eq!(bottleneck(&of(&[])), None);
        assert_eq!(bottleneck(&of(&[hop("only", 10_000)])), None);
        assert_eq!(bottleneck(&of(&[hop("a", 10), hop("b", 5)])), None);
        let unknown = shares(&[hop("a", 10), hop("b", 5)], None, None);
        assert_eq!(bottleneck(&unknown), None);
    }

    #[test]
    fn a_negative_hop_is_no_bottleneck() {
        assert_eq!(bottleneck(&of(&[hop("a", -10), hop("b", -500)])), None);
    }
}
