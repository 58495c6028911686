//! Open loads: arrivals that come whatever the system does.

use sojourn_pace::{Arrivals, Schedule, Share};
use sojourn_plan::{Load, Model};

/// One load entry's arrivals, as far as this generator's share goes.
#[derive(Debug)]
pub(crate) struct OpenStream {
    /// Index of the load entry.
    pub(crate) entry: u16,
    schedule: Schedule,
    share: Share,
    start_ns: u64,
    /// How many arrivals there are at most, over all shares.
    limit: Option<u64>,
    /// The limit ended it, or its last replayed arrival.
    is_counted_out: bool,
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
            limit: *limit,
            is_counted_out: matches!(arrivals, Arrivals::Replay(_)),
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

    /// When the load ends; `None` when its last arrival says so, because arrivals are counted.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        (!self.is_counted_out).then(|| self.start_ns + self.schedule.duration_ns())
    }

    fn seek(&mut self, from: u64) {
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
    fn stream(limit: Option<u64>) -> OpenStream {
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
        let mut stream = OpenStream::new(0, &load, 1, share, 100).unwrap();
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
}
