//! Open loads: arrivals that come whatever the system does.

use sojourn_pace::{Schedule, Share};
use sojourn_plan::{Load, Model};

/// One load entry's arrivals, as far as this generator's share goes.
#[derive(Debug)]
pub(crate) struct OpenStream {
    /// Index of the load entry.
    pub(crate) entry: u16,
    schedule: Schedule,
    share: Share,
    start_ns: u64,
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
        let mut stream = Self { entry, schedule, share, start_ns, next: None };
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

    fn seek(&mut self, from: u64) {
        let k = self.share.next_from(from);
        self.next = k.and_then(|k| {
            let offset_ns = self.schedule.at(k)?;
            Some((k, self.start_ns + offset_ns))
        });
    }
}
