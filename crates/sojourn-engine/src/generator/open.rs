//! Open loads: arrivals that come whatever the system does.

use sojourn_pace::{Amendment, Arrivals, Schedule, Share};
use sojourn_plan::{Load, Model};

/// One load entry's arrivals, as far as this generator's share goes.
#[derive(Debug)]
pub(crate) struct OpenStream {
    /// Index of the load entry.
    pub(crate) entry: u16,
    schedule: Schedule,
    share: Share,
    start_ns: u64,
    /// When the load ends by its plan.
    planned_end_ns: u64,
    /// How many arrivals there are at most, over all shares.
    limit: Option<u64>,
    /// The limit ended it, or its last replayed arrival.
    is_counted_out: bool,
    /// The next arrival is not before this one.
    from: u64,
    /// The next arrival of the share: (k, instant).
    next: Option<(u64, u64)>,
}

impl OpenStream {
    /// The stream of a load entry; `None` for a closed one.
    pub(crate) fn new(
        entry: u16,
        load: &Load,
        seed: u64,
        share: Share,
        start_ns: u64,
    ) -> Option<Self> {
        let Model::Open { profile, arrivals, limit } = &load.model else {
            return None;
        };
        let stream_seed = sojourn_pace::random_u64(seed, 0xA11, u64::from(entry));
        let schedule = Schedule::new(profile.clone(), arrivals.clone(), stream_seed, *limit);
        let mut stream = Self {
            entry,
            schedule,
            share,
            start_ns,
            planned_end_ns: start_ns.saturating_add(load.warmup_ns).saturating_add(load.steady_ns),
            limit: *limit,
            is_counted_out: matches!(arrivals, Arrivals::Replay(_)),
            from: 0,
            next: None,
        };
        stream.seek(0);
        Some(stream)
    }

    /// The next arrival: (k, scheduled instant in nanoseconds).
    pub(crate) fn peek(&self) -> Option<(u64, u64)> {
        self.next
    }

    /// Goes to the arrival after the present one.
    pub(crate) fn advance(&mut self) {
        if let Some((k, _)) = self.next {
            self.seek(k + 1);
        }
    }

    /// Amends the rate from an instant that is still to come. Errs in words when it is not: the
    /// share's arrivals would no longer be those that the others reckon with.
    pub(crate) fn amend(&mut self, amendment: Amendment, now_ns: u64) -> Result<(), String> {
        let from_ns = self.start_ns.saturating_add(amendment.from_ns);
        if now_ns >= from_ns {
            let late_ms = (now_ns - from_ns) as f64 / 1e6;
            return Err(format!("a change of rate came {late_ms:.0} ms too late"));
        }
        if !self.schedule.amend(amendment) {
            return Err("a change of rate came that no schedule can follow".to_owned());
        }
        self.seek(self.from);
        Ok(())
    }

    /// Whether no further arrival comes. A pause could be ended as long as the load goes on.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        self.next.is_none() && (!self.schedule.is_paused() || now_ns >= self.planned_end_ns)
    }

    /// When the load ends; `None` when its last arrival says so, because arrivals are counted.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        (!self.is_counted_out).then(|| self.start_ns + self.schedule.duration_ns())
    }

    fn seek(&mut self, from: u64) {
        self.from = from;
        let k = self.share.next_from(from);
        self.is_counted_out |= k.zip(self.limit).is_some_and(|(k, limit)| k >= limit);
        self.next = k.and_then(|k| {
            let offset_ns = self.schedule.at(k)?;
            Some((k, self.start_ns + offset_ns))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_pace::{Profile, Segment};

    /// One arrival a second for ten seconds, of which at most so many.
    fn stream_of(limit: Option<u64>) -> OpenStream {
        let load = Load {
            journeys: vec![(0, 1.0)],
            model: Model::Open {
                profile: Profile {
                    segments: vec![Segment::Linear {
                        from_per_s: 1.0,
                        to_per_s: 1.0,
                        duration_ns: 10_000_000_000,
                    }],
                },
                arrivals: Arrivals::Constant,
                limit,
            },
            warmup_ns: 0,
            steady_ns: 10_000_000_000,
            drain_ns: 0,
            declared: String::new(),
        };
        let share = Share::Stripe { index: 0, of: 1 };
        OpenStream::new(0, &load, 1, share, 100).unwrap()
    }

    /// The same after its last arrival.
    fn stream(limit: Option<u64>) -> OpenStream {
        let mut stream = stream_of(limit);
        while stream.peek().is_some() {
            stream.advance();
        }
        stream
    }

    #[test]
    fn a_load_ends_at_its_time_or_with_the_last_arrival_that_is_counted() {
        assert_eq!(stream(None).end_ns(), Some(10_000_000_100));
        assert_eq!(stream(Some(100)).end_ns(), Some(10_000_000_100));
        assert_eq!(stream(Some(4)).end_ns(), None);
    }

    #[test]
    fn an_amendment_counts_from_its_instant_and_must_be_in_time() {
        let mut amended = stream_of(None);
        for _ in 0..4 {
            amended.advance();
        }
        assert_eq!(amended.peek(), Some((4, 4_000_000_100)));
        let doubled = Amendment { from_ns: 3_500_000_000, rate_factor: 2.0 };
        assert_eq!(amended.amend(doubled, 3_400_000_000), Ok(()));
        // Half an arrival was due by then; the other half comes twice as fast.
        assert_eq!(amended.peek(), Some((4, 3_750_000_100)));
        let pause = Amendment { from_ns: 3_600_000_000, rate_factor: 0.0 };
        assert_eq!(amended.amend(pause, 3_500_000_000), Ok(()));
        assert_eq!(amended.peek(), None);
        assert!(!amended.is_over(9_999_999_999) && amended.is_over(10_000_000_100));
        let late = Amendment { rate_factor: 1.0, ..pause };
        let error = amended.amend(late, 3_620_000_100).unwrap_err();
        assert_eq!(error, "a change of rate came 20 ms too late");
    }
}
