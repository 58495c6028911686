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

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = 1_000_000;

    /// Uses so much processor time.
    fn work(for_ns: u64) {
        let until_ns = thread_cpu_ns() + for_ns;
        while thread_cpu_ns() < until_ns {}
    }

    /// Works for a message, and for the poll's end.
    #[derive(Default)]
    struct Working(u64);

    impl Sink for Working {
        fn message(&mut self, _: &RawMessage<'_>) {
            self.0 += 1;
            work(2 * MS_NS);
        }
    }

    impl Counting for Working {
        fn count(&self) -> u64 {
            self.0
        }

        fn polled(&mut self) {
            work(3 * MS_NS);
        }

        fn as_sink(&mut self) -> &mut dyn Sink {
            self
        }
    }

    #[test]
    fn what_a_tap_does_before_its_messages_is_not_behind_it() {
        let mut working = Working::default();
        let mut behind = Behind::new(&mut working);
        let message = RawMessage {
            stamp_ns: 0,
            topic: "t",
            key: None,
            headers: Vec::new(),
            payload: b"",
            position: None,
        };
        for messages in [2, 0, 1] {
            work(100 * MS_NS);
            (0..messages).for_each(|_| behind.as_sink().message(&message));
            behind.polled();
        }
        // Three messages and the ends of the two polls that had some.
        let least_ns = (3 * 2 + 2 * 3) * MS_NS;
        assert!((least_ns..100 * MS_NS).contains(&behind.took_ns), "{}", behind.took_ns);
        assert_eq!(behind.count(), 3);
    }
}
