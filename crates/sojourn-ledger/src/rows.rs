//! What is kept per journey and stage: twelve bytes, for exactly as many stages as the kind has.

use crate::slab::PAGE;

/// Stamps and message ids of the stages of one kind's journeys, in pages of rows.
#[derive(Debug)]
pub(crate) struct Rows {
    stages: usize,
    pages: Vec<Page>,
    rows: usize,
    vacant: Vec<u32>,
}

#[derive(Debug)]
struct Page {
    stamps_ns: Box<[u64]>,
    message_ids: Box<[u32]>,
}

impl Rows {
    pub(crate) fn new(stages: usize) -> Self {
        Self { stages, pages: Vec::new(), rows: 0, vacant: Vec::new() }
    }

    /// A row of zeroes.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(row) = self.vacant.pop() {
            let (page, first) = self.place(row);
            self.pages[page].stamps_ns[first..first + self.stages].fill(0);
            self.pages[page].message_ids[first..first + self.stages].fill(0);
            return row;
        }
        if self.rows == self.pages.len() * PAGE {
            self.pages.push(Page {
                stamps_ns: vec![0; PAGE * self.stages].into(),
                message_ids: vec![0; PAGE * self.stages].into(),
            });
        }
        self.rows += 1;
        (self.rows - 1) as u32
    }

    pub(crate) fn free(&mut self, row: u32) {
        self.vacant.push(row);
    }

    /// First observation of each stage; zero where not reached.
    pub(crate) fn stamps_ns(&self, row: u32) -> &[u64] {
        let (page, first) = self.place(row);
        &self.pages[page].stamps_ns[first..first + self.stages]
    }

    pub(crate) fn set_stamp(&mut self, row: u32, stage: u8, stamp_ns: u64) {
        let (page, first) = self.place(row);
        self.pages[page].stamps_ns[first + usize::from(stage)] = stamp_ns;
    }

    /// Folded message id of the event that reached a stage; zero for none.
    pub(crate) fn message_id(&self, row: u32, stage: u8) -> u32 {
        let (page, first) = self.place(row);
        self.pages[page].message_ids[first + usize::from(stage)]
    }

    pub(crate) fn set_message_id(&mut self, row: u32, stage: u8, message_id: u32) {
        let (page, first) = self.place(row);
        self.pages[page].message_ids[first + usize::from(stage)] = message_id;
    }

    fn place(&self, row: u32) -> (usize, usize) {
        (row as usize / PAGE, row as usize % PAGE * self.stages)
    }
}
