//! What a user remembers of its journeys within an iteration.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// See the module's page.
#[derive(Default)]
pub(crate) struct JourneyState {
    /// When the iteration or call under way began, ns.
    pub(crate) began_ns: Cell<u64>,
    /// Keys of journeys that it has expected.
    expected: RefCell<HashSet<Box<[u8]>>>,
}

impl JourneyState {
    /// Another iteration begins.
    pub(crate) fn begin(&self, now_ns: u64) {
        self.began_ns.set(now_ns);
        let mut expected = self.expected.borrow_mut();
        if !expected.is_empty() {
            expected.clear();
        }
    }

    /// Notes a journey's key; false when it was expected before.
    pub(crate) fn expect(&self, key: &[u8]) -> bool {
        self.expected.borrow_mut().insert(key.into())
    }
}
