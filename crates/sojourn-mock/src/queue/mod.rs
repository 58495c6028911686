//! Requests served by c virtual servers in order of arrival, and the truth about each.
//!
//! A request's start and finish are fixed when it arrives; the answer leaves at the finish, and the
//! truth also says when it really left. What a client measures is thus checked twice: against the
//! truth, request by request, and against queueing theory on average.

mod model;
mod parse;
mod truth_file;

use serde::Serialize;

pub use model::{QueueModel, Slot};
pub use parse::{Queue, QueueError};
pub use truth_file::{TruthFile, TruthReport};

use crate::latency::Draws;

/// What really happened to one request. Instants are `sojourn_clock` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TruthRecord {
    /// In order of arrival among those let in, from 0; the answer has it too.
    pub id: u64,
    /// The whole request was read.
    pub arrival_ns: u64,
    /// A server took it.
    pub start_ns: u64,
    /// The server was done: when the answer is due.
    pub finish_ns: u64,
    /// The answer was handed to the kernel; later than the finish by what this machine made of it.
    /// `None` while it is not, or when the client left.
    pub sent_ns: Option<u64>,
}

impl TruthRecord {
    /// What an answer can tell of it: all but when it was sent.
    pub fn body(&self) -> String {
        format!(
            "{{\"id\":{},\"arrival_ns\":{},\"start_ns\":{},\"finish_ns\":{}}}\n",
            self.id, self.arrival_ns, self.start_ns, self.finish_ns
        )
    }
}

/// Where the truth is kept.
pub trait Truth {
    /// A request was let in; its `sent_ns` is still unknown.
    fn admitted(&mut self, record: &TruthRecord);

    /// Its answer was sent at this instant, or will never be.
    fn ended(&mut self, id: u64, sent_ns: Option<u64>);

    /// A request found the waiting line full.
    fn refused(&mut self);
}

/// Lets requests in, in order of arrival, and tells the truth about them.
#[derive(Debug)]
pub struct Clerk<T> {
    model: QueueModel,
    service: Draws,
    next_id: u64,
    truth: T,
}

impl<T: Truth> Clerk<T> {
    /// Nobody has come yet.
    pub fn new(model: QueueModel, service: Draws, truth: T) -> Self {
        Self { model, service, next_id: 0, truth }
    }

    /// Lets a request in. `None`: the waiting line is full.
    pub fn admit(&mut self, arrival_ns: u64) -> Option<TruthRecord> {
        let Some(Slot { start_ns, finish_ns }) =
            self.model.admit(arrival_ns, self.service.draw_ns())
        else {
            self.truth.refused();
            return None;
        };
        let id = self.next_id;
        self.next_id += 1;
        let record = TruthRecord { id, arrival_ns, start_ns, finish_ns, sent_ns: None };
        self.truth.admitted(&record);
        Some(record)
    }

    /// The truth, to look at.
    pub fn truth_so_far(&self) -> &T {
        &self.truth
    }

    /// The truth, to tell it how a request ended.
    pub fn truth(&mut self) -> &mut T {
        &mut self.truth
    }
}
