//! A sink that keeps everything, and waiting for conditions.

use std::time::Duration;

use sojourn_broker::{Gap, RawMessage, Sink, Tap};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::Server;

const PATIENCE_NS: u64 = 60 * SECOND_NS;
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// A server of this machine, by its port and path.
pub(crate) fn at(port: u16, path: &str) -> Server {
    let host = "127.0.0.1".to_owned();
    Server { host, port, path: path.to_owned(), ..Server::default() }
}

/// One message, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) topic: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) stamp_ns: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Keep(pub(crate) Vec<Kept>);

impl Keep {
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |kept: &Kept| String::from_utf8_lossy(&kept.payload).into_owned();
        self.0.iter().map(text).collect()
    }
}

impl Sink for Keep {
    fn message(&mut self, message: &RawMessage<'_>) {
        let headers = message.headers.iter();
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.0.push(Kept {
            topic: message.topic.to_owned(),
            headers: headers.map(|(name, value)| ((*name).to_owned(), text(value))).collect(),
            payload: message.payload.to_vec(),
            stamp_ns: message.stamp_ns,
        });
    }
}

pub(crate) fn poll_until<T: Tap + ?Sized>(
    tap: &mut T,
    keep: &mut Keep,
    until: impl Fn(&T, &Keep) -> bool,
) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !until(tap, keep) {
        assert!(now_ns() < deadline_ns, "it does not come: {} so far", keep.0.len());
        tap.poll(TICK, keep).unwrap();
    }
}

/// Polls until a stretch without a connection is over.
pub(crate) fn next_gap(tap: &mut impl Tap, keep: &mut Keep) -> Gap {
    let deadline_ns = now_ns() + PATIENCE_NS;
    loop {
        assert!(now_ns() < deadline_ns, "it does not connect again");
        tap.poll(TICK, keep).unwrap();
        let gaps = tap.take_gaps();
        if let [gap] = gaps.as_slice() {
            return gap.clone();
        }
        assert!(gaps.is_empty());
    }
}
