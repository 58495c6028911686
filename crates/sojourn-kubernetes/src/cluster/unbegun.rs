//! Who of a run has not begun, and why.

use std::collections::BTreeMap;

use sojourn_clock::SECOND_NS;

use super::{PodState, Seen, Standing};

/// How long a pod must have been stuck before nobody waits for it any more: a node may try again,
/// and a Secret be a moment later than its pod.
const STUCK_NS: u64 = 10 * SECOND_NS;
/// Of a pod that no scheduler has looked at.
pub(super) const NOT_SCHEDULED: &str = "not scheduled yet";
/// What a pod waits for that is about to begin.
const ABOUT_TO: [&str; 3] = [NOT_SCHEDULED, "ContainerCreating", "PodInitializing"];

/// A pod that won't begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbegun {
    /// `the coordinator`, `generator 2`.
    pub who: String,
    /// The cluster's word on it.
    pub why: String,
}

/// Since when pods are stuck, by who they are.
#[derive(Debug, Default)]
pub(super) struct StuckSince(BTreeMap<String, u64>);

impl StuckSince {
    /// Notes how pods stand now; one that has been stuck for too long.
    pub(super) fn note(&mut self, seen: &Seen, now_ns: u64) -> Option<Unbegun> {
        let mut longest = None;
        for (who, pod) in pods(seen) {
            let Standing::Stuck(why) = &pod.standing else {
                self.0.remove(&who);
                continue;
            };
            let since_ns = *self.0.entry(who.clone()).or_insert(now_ns);
            if now_ns.saturating_sub(since_ns) >= STUCK_NS && longest.is_none() {
                longest = Some(Unbegun { who, why: why.clone() });
            }
        }
        longest
    }
}

/// The generators that have not begun and are not about to; those without a pod are one, for the
/// reason that the cluster gave.
pub(super) fn generators(seen: &Seen, count: u32, refused: Option<&str>) -> Vec<Unbegun> {
    let waits = |(who, pod): (String, &PodState)| match &pod.standing {
        Standing::Pending(why) if ABOUT_TO.contains(&why.as_str()) => None,
        Standing::Pending(why) | Standing::Stuck(why) => Some(Unbegun { who, why: why.clone() }),
        Standing::Running | Standing::Ended { .. } => None,
    };
    let without = (count as usize).saturating_sub(seen.generators.len());
    let refused = refused.filter(|_| without > 0).map(|why| Unbegun {
        who: format!("{without} of {count} generators"),
        why: why.to_owned(),
    });
    named(seen).filter_map(waits).chain(refused).collect()
}

fn pods(seen: &Seen) -> impl Iterator<Item = (String, &PodState)> {
    let coordinator = seen.coordinator.iter().map(|pod| ("the coordinator".to_owned(), pod));
    coordinator.chain(named(seen))
}

fn named(seen: &Seen) -> impl Iterator<Item = (String, &PodState)> {
    seen.generators.iter().map(|pod| (format!("generator {}", pod.number()), pod))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(index: Option<u32>, standing: Standing) -> PodState {
        PodState { name: "x".to_owned(), index, node: None, standing, is_leaving: false }
    }

    fn seen(standings: Vec<Standing>) -> Seen {
        let generators = (0..).zip(standings).map(|(index, it)| pod(Some(index), it)).collect();
        Seen { coordinator: Some(pod(None, Standing::Running)), generators }
    }

    #[test]
    fn one_that_is_stuck_for_long_is_waited_for_no_longer() {
        let stuck = || seen(vec![Standing::Running, Standing::Stuck("ErrImagePull".to_owned())]);
        let runs = seen(vec![Standing::Running, Standing::Running]);
        let mut since = StuckSince::default();
        assert_eq!(since.note(&stuck(), 1), None);
        assert_eq!(since.note(&stuck(), STUCK_NS), None);
        // It was another matter, which was mended.
        assert_eq!(since.note(&runs, STUCK_NS), None);
        assert_eq!(since.note(&stuck(), STUCK_NS + 1), None);
        let found = since.note(&stuck(), 2 * STUCK_NS + 1).unwrap();
        assert_eq!((&*found.who, &*found.why), ("generator 1", "ErrImagePull"));
    }

    #[test]
    fn who_has_not_begun_is_named_with_its_reason() {
        let ended = Standing::Ended { code: 2, reason: "Error".to_owned() };
        let pending = Standing::Pending("Unschedulable: none".to_owned());
        let about_to = Standing::Pending("ContainerCreating".to_owned());
        let seen = seen(vec![about_to, pending, ended]);
        let words = |all: Vec<Unbegun>| {
            all.into_iter().map(|it| format!("{}: {}", it.who, it.why)).collect::<Vec<_>>()
        };
        assert_eq!(
            words(generators(&seen, 3, Some("a quota"))),
            ["generator 1: Unschedulable: none"]
        );
        let all = ["generator 1: Unschedulable: none", "2 of 5 generators: a quota"];
        assert_eq!(words(generators(&seen, 5, Some("a quota"))), all);
    }
}
