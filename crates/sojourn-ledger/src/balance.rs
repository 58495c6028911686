//! The lines that must add up.

/// Journeys by how they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each line is defined in docs/definitions.md and named for its class"
)]
pub struct JourneyLines {
    pub scheduled: u64,
    pub missed: u64,
    pub started: u64,
    pub completed: u64,
    pub late: u64,
    pub lost: u64,
    pub failed: u64,
    pub root_failed: u64,
    pub in_flight: u64,
}

/// Events by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each line is defined in docs/definitions.md and named for its class"
)]
pub struct EventLines {
    pub seen: u64,
    pub matched: u64,
    pub duplicate_redelivery: u64,
    pub duplicate_republication: u64,
    pub duplicate_unknown: u64,
    pub after_failure: u64,
    pub orphan: u64,
    pub foreign: u64,
    pub unattributed: u64,
    pub undecodable: u64,
    /// Early events still waiting for their journey; zero after the close.
    pub waiting: u64,
}

/// What was refused, by cause. Any of these makes the run void.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Journeys started beyond [`crate::LedgerSpec::journeys_max`]: each finishes at once as a root
    /// failure, so that nobody waits for it.
    pub journeys: u64,
    /// Events beyond [`crate::LedgerSpec::early_max`]: each gets its class at once by its marker.
    pub early_events: u64,
    /// Keys of one journey beyond 16, or steps beyond 64.
    pub keys_or_steps: u64,
    /// Members of fan-out stages beyond [`crate::LedgerSpec::members_max`], or beyond 10,000 of one
    /// stage whose number is not known.
    pub members: u64,
    /// Facts of a journey that was never started.
    pub unknown_journeys: u64,
    /// Facts that contradict the plan: an unknown kind or stage, a number started twice.
    pub contradictions: u64,
    /// Keys and polled stages of journeys that had ended and were forgotten already: what came
    /// under them could not be told from what is nobody's.
    pub forgotten: u64,
}

impl Refusals {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.journeys
            + self.early_events
            + self.keys_or_steps
            + self.members
            + self.unknown_journeys
            + self.contradictions
            + self.forgotten
    }
}

/// The whole book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Both phases together; per kind and phase the engine's counters have it. After the close,
    /// `in_flight` is what was in flight at the cutoff.
    pub journeys: JourneyLines,
    /// All events.
    pub events: EventLines,
    /// Facts, starts and events that the ledger could not take as they were: any of these makes the
    /// run void. The sum of `refusals`.
    pub refused: u64,
    /// The same by cause.
    pub refusals: Refusals,
    /// Keys that came again while in flight.
    pub key_reused: u64,
    /// Other facts of journeys that had ended and were forgotten: a root answered long after its
    /// journey was given up. Expected, and without effect on any figure.
    pub facts_after_forgetting: u64,
    /// Tombstones dropped before their time because the bound was reached: harmless as long as no
    /// event comes that fits no journey, for that could be a duplicate.
    pub tombstones_evicted: u64,
    /// Failure and `never` stages reached, and content checks that did not hold, after the journey
    /// had completed. Its class stays; such events are matched.
    pub failure_after_completion: u64,
    /// Stages reached after their journey had completed, before their predecessor: no hop sample.
    /// (Before that, [`crate::Finished::hops_without_predecessor`] counts them.)
    pub late_hops_without_predecessor: u64,
    /// Alternatives reached after another one of their group, in flight or after completion.
    pub second_branches: u64,
    /// Stages reached before their journey's t0, which one clock rules out: since-start is given as
    /// zero there, the hop as it is.
    pub reached_before_t0: u64,
}

impl Balance {
    /// The first line that does not add up, in words; `None` when the book balances.
    pub fn imbalance(&self) -> Option<String> {
        let (journeys, events) = (&self.journeys, &self.events);
        let refusals = self.refusals.total();
        line("scheduled", journeys.scheduled, &journeys.scheduled_parts())
            .or_else(|| line("started", journeys.started, &journeys.started_parts()))
            .or_else(|| line("seen", events.seen, &events.parts()))
            .or_else(|| line("refused", self.refused, &[("refusals", refusals)]))
    }
}

impl JourneyLines {
    fn scheduled_parts(&self) -> [(&'static str, u64); 2] {
        [("started", self.started), ("missed", self.missed)]
    }

    fn started_parts(&self) -> [(&'static str, u64); 6] {
        [
            ("completed", self.completed),
            ("late", self.late),
            ("lost", self.lost),
            ("failed", self.failed),
            ("root_failed", self.root_failed),
            ("in_flight", self.in_flight),
        ]
    }
}

impl EventLines {
    fn parts(&self) -> [(&'static str, u64); 10] {
        [
            ("matched", self.matched),
            ("duplicate_redelivery", self.duplicate_redelivery),
            ("duplicate_republication", self.duplicate_republication),
            ("duplicate_unknown", self.duplicate_unknown),
            ("after_failure", self.after_failure),
            ("orphan", self.orphan),
            ("foreign", self.foreign),
            ("unattributed", self.unattributed),
            ("undecodable", self.undecodable),
            ("waiting", self.waiting),
        ]
    }
}

fn line(name: &str, figure: u64, parts: &[(&str, u64)]) -> Option<String> {
    let sum: u64 = parts.iter().map(|&(_, part)| part).sum();
    if sum == figure {
        return None;
    }
    let parts: Vec<String> = parts.iter().map(|(name, part)| format!("{name} {part}")).collect();
    Some(format!("{name} {figure} is not {sum} = {}", parts.join(" + ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_checked_and_named() {
        type Breaks = fn(&mut Balance);
        let broken: [(Breaks, &str); 4] = [
            (|book| book.journeys.missed = 1, "scheduled 0 is not 1 = started 0 + missed 1"),
            (
                |book| book.journeys.lost = 2,
                "started 0 is not 2 = completed 0 + late 0 + lost 2 + failed 0 + root_failed 0 + \
                 in_flight 0",
            ),
            (
                |book| book.events.seen = 1,
                "seen 1 is not 0 = matched 0 + duplicate_redelivery 0 + duplicate_republication 0 \
                 + duplicate_unknown 0 + after_failure 0 + orphan 0 + foreign 0 + unattributed 0 \
                 + undecodable 0 + waiting 0",
            ),
            (|book| book.refusals.journeys = 1, "refused 0 is not 1 = refusals 1"),
        ];
        assert_eq!(Balance::default().imbalance(), None);
        for (breaks, words) in broken {
            let mut book = Balance::default();
            breaks(&mut book);
            assert_eq!(book.imbalance().as_deref(), Some(words));
        }
    }
}
