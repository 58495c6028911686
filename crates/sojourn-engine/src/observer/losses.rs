//! Sources that fall silent, and generators of which nothing more comes.

use sojourn_clock::SECOND_NS;
use sojourn_ledger::SourceId;

use super::{FromObserver, Observer};

/// Generators that are lost, whose journeys are in the book until everything that they told has
/// been applied: up to when that is.
#[derive(Debug, Default)]
pub(super) struct Leavers(Vec<(u64, usize)>);

impl Leavers {
    /// One that told everything before this instant.
    fn take_before(&mut self, at_ns: u64) -> Option<usize> {
        let at = self.0.iter().position(|(told_ns, _)| *told_ns < at_ns)?;
        Some(self.0.swap_remove(at).1)
    }
}

impl Observer {
    /// Nothing waits for these any more.
    pub(super) fn lose(&mut self, lost: Vec<SourceId>) {
        for source in lost {
            let told_ns = self.sequencer.lose(source);
            // The first sources are the generators, by number.
            self.leavers.0.push((told_ns, usize::from(source.0)));
        }
    }

    /// Cuts off what lost generators alone could have ended, once time has passed all that they
    /// told, and before any deadline after that is missed.
    pub(super) fn leave_before(&mut self, at_ns: u64) {
        while let Some(generator) = self.leavers.take_before(at_ns) {
            self.ledger.leave(generator, &mut self.decisions);
            self.decide();
        }
    }

    /// Tells the coordinator once of a source that has said nothing for too long.
    pub(super) fn check_silence(&mut self, now: u64, is_closing: bool) {
        let near_max_ns = self.spec.plan.health.silent_max_ns;
        let far_max_ns = near_max_ns.saturating_add(self.spec.patience_ns);
        let is_near = |source: &SourceId| usize::from(source.0) >= self.spec.generators.len();
        let silent = |most_ns: u64| self.sequencer.silent(now, most_ns, self.start_ns).into_iter();
        let near = silent(near_max_ns).find(is_near);
        let silent = near.map(|source| (source, near_max_ns)).or_else(|| {
            let far = silent(far_max_ns).next();
            far.map(|source| (source, far_max_ns))
        });
        if let (Some((source, most_ns)), false, false) = (silent, self.silent_told, is_closing) {
            let names = &self.spec.sources;
            let name = names.iter().find(|(id, _)| *id == source).map_or("?", |(_, name)| name);
            let seconds = most_ns as f64 / SECOND_NS as f64;
            let why = format!(
                "{name} said nothing for more than {seconds} s: its facts may be missing or late"
            );
            self.silent_told = self.spec.reports.try_send(FromObserver::Void(why)).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crossbeam_channel::{bounded, never};
    use sojourn_clock::Anchor;

    use super::*;
    use crate::{
        RunOptions,
        observer::{GeneratorEnd, ObserverSpec},
        testing::{PAYMENT, plan},
    };

    /// Its connection may have been cut just before the start, on a machine that has been up for
    /// days.
    #[test]
    fn a_generator_that_was_never_heard_of_is_given_its_time_from_the_start_on() {
        let (actors, _heard) = bounded(1);
        let (reports, told) = bounded(10);
        let plan = Arc::new(plan(PAYMENT, "http://127.0.0.1:1"));
        let most_ns = plan.health.silent_max_ns + 30 * SECOND_NS;
        let spec = ObserverSpec {
            plan,
            options: RunOptions::new(None, "test".to_owned()),
            sources: vec![(SourceId(0), "generator 0".to_owned())],
            recorder_number: 1,
            anchor: Anchor::now(),
            rings: Vec::new(),
            batches: never(),
            losses: never(),
            patience_ns: 30 * SECOND_NS,
            reports,
            generators: vec![GeneratorEnd { actors, waker: None }],
            poll_ends: None,
            followed: None,
            state: Arc::default(),
        };
        let start_ns = 86_400 * SECOND_NS;
        let mut observer = Observer::new(spec, start_ns);
        observer.check_silence(start_ns + most_ns, false);
        assert!(told.is_empty());
        observer.check_silence(start_ns + most_ns + 1, false);
        let why = told.try_iter().find_map(|report| match report {
            FromObserver::Void(why) => Some(why),
            _ => None,
        });
        assert!(why.is_some_and(|why| why.starts_with("generator 0 said nothing")));
    }
}
