//! What is behind a tap, told apart from the tap by the thread's own processor time.

use sojourn_broker::{RawMessage, Sink};

use crate::sink::Counting;
use crate::used::thread_cpu_ns;

/// A sink, and what it takes: from the first message of a poll until the poll's work is done. What
/// the tap does between two messages is in it, so it says something only of a tap that hands over
/// all of a poll in a row.
pub(crate) struct Behind<'a> {
    sink: &'a mut dyn Counting,
    /// When this poll's first message was handed over.
    began_ns: Option<u64>,
    /// So far, nanoseconds.
    pub(crate) took_ns: u64,
}

impl<'a> Behind<'a> {
    pub(crate) fn new(sink: &'a mut dyn Counting) -> Self {
        Self { sink, began_ns: None, took_ns: 0 }
    }
}

impl Sink for Behind<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.began_ns.get_or_insert_with(thread_cpu_ns);
        self.sink.as_sink().message(message);
    }
}

impl Counting for Behind<'_> {
    fn count(&self) -> u64 {
        self.sink.count()
    }

    fn polled(&mut self) {
        self.sink.polled();
        if let Some(began_ns) = self.began_ns.take() {
            self.took_ns += thread_cpu_ns() - began_ns;
        }
    }

    fn as_sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn finish(&mut self) {
        self.sink.finish();
    }
}
