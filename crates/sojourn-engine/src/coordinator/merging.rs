//! The coordinator's merge without threads and sockets: from the bytes that processes of generators
//! send to the run file. For its benchmark, where minutes of hundreds of generators pass in
//! seconds.

use std::io;

use sojourn_metrics::{Snapshot, Store};
use sojourn_plan::Plan;
use sojourn_record::Summary;

use super::{book::Book, launch::Launched};
use crate::{
    RunError, RunOptions,
    link::FromGenerator,
    remote::{Told, read_report, sent_report},
    work::Work,
};

/// What a coordinator does with its generators' figures.
pub struct Merging {
    book: Book,
    /// Of each process, which has one generator.
    told: Vec<Told>,
}

impl Merging {
    /// Of so many processes of one generator each, in a run that began at instant 0.
    ///
    /// # Errors
    /// The run file can't be made.
    pub fn new(plan: &Plan, options: &RunOptions, processes: u32) -> Result<Self, RunError> {
        let book = Book::create(plan, options, &Launched::alone(plan, options))?;
        let told = (0..processes).map(|_| Told::new(plan, &Work::Journeys)).collect();
        Ok(Self { book, told })
    }

    /// A second of a generator as its process sends it.
    ///
    /// # Errors
    /// It is longer than a message may be.
    pub fn sent(generator: u32, second: Snapshot) -> io::Result<Vec<u8>> {
        sent_report(generator, FromGenerator::Snapshot(Box::new(second)))
    }

    /// Takes what a process has sent.
    ///
    /// # Errors
    /// These bytes are no message of a generator's.
    pub fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let (generator, report) = read_report(&mut bytes)?;
        if let (FromGenerator::Snapshot(second), Some(told)) =
            (&report, self.told.get_mut(generator as usize))
        {
            told.figures(second);
        }
        self.book.generator(generator, report);
        Ok(())
    }

    /// Ends a second: what was taken goes to the run file.
    ///
    /// # Errors
    /// The run file can't be written.
    pub fn end_second(&mut self) -> Result<(), RunError> {
        self.book.second(true).map(drop)
    }

    /// What would make the run void.
    pub fn defects(&self) -> &[String] {
        self.book.defects()
    }

    /// Closes the run file; all figures, merged.
    ///
    /// # Errors
    /// As above.
    pub fn finish(self, summary: &Summary) -> Result<Store, RunError> {
        self.book.finish(summary)
    }
}
