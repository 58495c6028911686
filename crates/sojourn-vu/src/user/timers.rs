//! Timers that a script has set and that have not come yet.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::console::Console;
use crate::host::OperationId;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    last: Cell<u32>,
    /// By the number that the script knows a timer by: what set it, and what it waits for.
    pending: RefCell<BTreeMap<u32, (&'static str, OperationId)>>,
}

impl Timers {
    /// A number for a new timer; the first is 1.
    pub(crate) fn number(&self) -> u32 {
        let next = self.last.get().wrapping_add(1).max(1);
        self.last.set(next);
        next
    }

    /// The timer waits for this operation. `setter`: the function that set it.
    pub(crate) fn insert(&self, number: u32, setter: &'static str, operation: OperationId) {
        self.pending.borrow_mut().insert(number, (setter, operation));
    }

    /// The timer has come or is cleared; what it waited for, if it was pending.
    pub(crate) fn remove(&self, number: u32) -> Option<OperationId> {
        self.pending.borrow_mut().remove(&number).map(|(_, operation)| operation)
    }

    /// None of them will come any more, which the script's author may not have meant.
    pub(crate) fn stop(&self, console: &Console) {
        for (number, (setter, _)) in std::mem::take(&mut *self.pending.borrow_mut()) {
            console.warn(&format!(
                "{setter} {number} was stopped because the VU iteration was interrupted"
            ));
        }
    }
}
