//! An attack's results on their way in from a process of generators.
//!
//! Reports and results of a generator come by two threads of its process, and its end may overtake
//! its last results. It is told of when these are here: the run waits for it, and so for them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{ResultSink, attack::Chunk, link::FromGenerator};

/// A generator's report, with its number.
type Report = (u32, FromGenerator);

/// What comes in of one process. Dropped, it says that no further results come.
pub(super) struct Incoming {
    sink: Option<ResultSink>,
    /// Generators whose last results are not here, with the end that waits for them.
    awaited: BTreeMap<u32, Option<FromGenerator>>,
    generators: Range<u32>,
}

impl Incoming {
    /// Of these generators; without a sink there are no results to wait for.
    pub(super) fn new(sink: Option<ResultSink>, generators: &Range<u32>) -> Self {
        let awaited = match &sink {
            Some(_) => generators.clone().map(|generator| (generator, None)).collect(),
            None => BTreeMap::new(),
        };
        Self { sink, awaited, generators: generators.clone() }
    }

    /// What is to be told of a report: itself, or nothing yet where it is an end that results may
    /// follow. After an end with an error none may.
    pub(super) fn report(&mut self, index: u32, report: FromGenerator) -> Option<Report> {
        if let FromGenerator::Ended(Ok(())) = &report
            && let Some(end) = self.awaited.get_mut(&index)
        {
            *end = Some(report);
            return None;
        }
        Some((index, report))
    }

    /// Hands results on; the ends that were waited with. Where nobody takes results any more, these
    /// are the ends of all, with the reason.
    pub(super) fn results(&mut self, mut chunk: Chunk) -> Vec<Report> {
        let (generator, is_last) = (chunk.generator, chunk.until_ns == u64::MAX);
        let Some(sink) = &self.sink else {
            return Vec::new();
        };
        if !self.generators.contains(&generator) {
            return Vec::new();
        }
        if !sink.put(&mut chunk) {
            let why = sink.why();
            (self.sink, self.awaited) = (None, BTreeMap::new());
            let end = |index| (index, FromGenerator::Ended(Err(why.clone())));
            return self.generators.clone().map(end).collect();
        }
        let end = if is_last { self.awaited.remove(&generator).flatten() } else { None };
        end.map(|end| (generator, end)).into_iter().collect()
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(sink) = &self.sink {
            self.generators.clone().for_each(|generator| sink.end(generator));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(generator: u32, until_ns: u64) -> Chunk {
        Chunk { generator, until_ns, ..Chunk::default() }
    }

    fn ended() -> FromGenerator {
        FromGenerator::Ended(Ok(()))
    }

    #[test]
    fn an_end_waits_for_the_last_results_and_nothing_else_does() {
        let (sink, passed) = ResultSink::passed_on();
        let mut incoming = Incoming::new(Some(sink), &(2..4));
        assert_eq!(incoming.report(2, FromGenerator::Idle), Some((2, FromGenerator::Idle)));
        assert_eq!(incoming.report(2, ended()), None);
        assert_eq!(incoming.results(chunk(2, 7)), []);
        assert_eq!(incoming.results(chunk(2, u64::MAX)), [(2, ended())]);
        // Of the other one the last results come first.
        assert_eq!(incoming.results(chunk(3, u64::MAX)), []);
        assert_eq!(incoming.report(3, ended()), Some((3, ended())));
        // Numbers that are not its own are nobody's.
        assert_eq!(incoming.results(chunk(0, 9)), []);
        drop(incoming);
        let came: Vec<_> = passed.chunks.iter().map(|it| (it.generator, it.until_ns)).collect();
        let last = u64::MAX;
        assert_eq!(came, [(2, 7), (2, last), (3, last), (2, last), (3, last)]);
    }

    #[test]
    fn an_error_is_told_at_once_and_results_that_nobody_takes_end_all() {
        let (sink, passed) = ResultSink::passed_on();
        let mut incoming = Incoming::new(Some(sink), &(0..2));
        let failed = FromGenerator::Ended(Err("panicked".to_owned()));
        assert!(incoming.report(0, failed).is_some());
        drop(passed);
        let ends = incoming.results(chunk(1, 5));
        assert_eq!(ends.len(), 2);
        for (_, end) in ends {
            let FromGenerator::Ended(Err(why)) = end else { panic!("{end:?}") };
            assert!(why.contains("nobody reads them"), "{why}");
        }
        assert_eq!(incoming.results(chunk(1, 6)), []);
        assert!(incoming.report(1, ended()).is_some());
    }

    #[test]
    fn without_results_nothing_waits() {
        let mut incoming = Incoming::new(None, &(0..1));
        assert_eq!(incoming.report(0, ended()), Some((0, ended())));
    }
}
