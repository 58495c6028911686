//! Fibers: coroutines with stacks of their own, which any depth of calls can suspend.

mod stacks;

use std::cell::Cell;
use std::ptr::NonNull;

use corosensei::{Coroutine, CoroutineResult, Yielder};

pub use stacks::{StackSlot, Stacks};

thread_local! {
    /// The fiber that runs on this thread just now.
    static CURRENT: Cell<Option<NonNull<Yielder<(), ()>>>> = const { Cell::new(None) };
}

/// A suspended computation; it runs when it is resumed, on the thread that made it.
pub struct Fiber {
    coroutine: Coroutine<(), (), (), StackSlot>,
}

impl Fiber {
    /// A fiber that will run `body`. It has not begun.
    pub fn new(stack: StackSlot, body: impl FnOnce() + 'static) -> Self {
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            CURRENT.set(Some(NonNull::from(yielder)));
            body();
        });
        Self { coroutine }
    }

    /// Runs it until it suspends itself or ends; whether it has ended. Ended ones must not be
    /// resumed.
    pub fn resume(&mut self) -> bool {
        // A fiber may resume another one: the outer one is current again afterwards.
        let outer = CURRENT.take();
        let result = self.coroutine.resume(());
        CURRENT.set(outer);
        matches!(result, CoroutineResult::Return(()))
    }

    /// Whether it has ended.
    pub fn is_done(&self) -> bool {
        self.coroutine.done()
    }
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fiber").field("done", &self.is_done()).finish()
    }
}

/// Suspends the fiber that runs, until it is resumed. Returns at once, with false, where none does.
#[allow(unsafe_code)]
pub fn suspend() -> bool {
    let Some(yielder) = CURRENT.get() else { return false };
    // SAFETY: CURRENT holds the yielder of the innermost fiber that runs on this thread: it is set
    // when the fiber begins and after each of its suspensions (below), and `resume` takes it away
    // when control leaves the fiber. The yielder lives on the fiber's stack below every caller of
    // this function.
    unsafe { yielder.as_ref() }.suspend(());
    CURRENT.set(Some(yielder));
    true
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn fibers_take_turns() {
        let stacks = Stacks::new(64 * 1024);
        let said = Rc::new(RefCell::new(Vec::new()));
        let fiber = |name: &'static str| {
            let said = Rc::clone(&said);
            Fiber::new(stacks.take().expect("memory"), move || {
                for turn in 0..3 {
                    said.borrow_mut().push((name, turn));
                    assert!(suspend());
                }
            })
        };
        let mut fibers = [fiber("a"), fiber("b")];
        assert!(!suspend(), "no fiber runs here");
        for _ in 0..3 {
            for fiber in &mut fibers {
                assert!(!fiber.resume());
            }
        }
        for fiber in &mut fibers {
            assert!(fiber.resume());
            assert!(fiber.is_done());
        }
        let expected = [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)];
        assert_eq!(*said.borrow(), expected);
    }

    #[test]
    fn a_fiber_resumes_another() {
        let stacks = Stacks::new(64 * 1024);
        let inner_stack = stacks.take().expect("memory");
        let mut outer = Fiber::new(stacks.take().expect("memory"), move || {
            let mut inner = Fiber::new(inner_stack, || {
                suspend();
            });
            assert!(!inner.resume());
            suspend();
            assert!(inner.resume());
        });
        assert!(!outer.resume());
        assert!(outer.resume());
    }

    #[test]
    fn a_dropped_fiber_drops_what_it_holds() {
        let stacks = Stacks::new(64 * 1024);
        let held = Rc::new(());
        let inside = Rc::clone(&held);
        let mut fiber = Fiber::new(stacks.take().expect("memory"), move || {
            let _inside = inside;
            suspend();
        });
        fiber.resume();
        assert_eq!(Rc::strong_count(&held), 2);
        drop(fiber);
        assert_eq!(Rc::strong_count(&held), 1);
    }
}
