//! A thread that panics is a defect of Sojourn's or of a script's: it is told, and the run is void.

use std::{any::Any, panic::AssertUnwindSafe};

use crossbeam_channel::Sender;

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Generator,
    Observer,
    Tap,
    /// The poller, or the refresher of variables.
    Other,
}

/// A thread has panicked.
#[derive(Debug)]
pub(super) struct Panic {
    pub(super) role: Role,
    thread: String,
    message: String,
}

impl Panic {
    /// As a cause of a void run.
    pub(super) fn in_words(&self) -> String {
        let Self { thread, message, .. } = self;
        format!(
            "thread {thread} panicked: {message}; its figures are missing since. Please report \
             this as a defect, with what the terminal showed"
        )
    }
}

/// The thread's body, which tells of its panic.
///
/// Nothing of the body is used after it, so no half-done state is met.
pub(super) fn telling(
    role: Role,
    thread: String,
    panics: Sender<Panic>,
    body: impl FnOnce(),
) -> impl FnOnce() {
    move || {
        if let Err(payload) = std::panic::catch_unwind(AssertUnwindSafe(body)) {
            let message = message(payload.as_ref());
            // One message a thread, and room for more threads than there are.
            let _ignored = panics.try_send(Panic { role, thread, message });
        }
    }
}

/// What a panic was raised with, where that is text.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: impl FnOnce()) -> Option<String> {
        let (panics, heard) = crossbeam_channel::bounded(1);
        telling(Role::Observer, "observer".to_owned(), panics, body)();
        heard.try_recv().ok().map(|panic| panic.in_words())
    }

    #[test]
    fn a_panic_is_told_with_its_thread_and_message() {
        assert_eq!(told(|| {}), None);
        let text = told(|| panic!("slot {} is in use", 7)).unwrap();
        assert!(text.starts_with("thread observer panicked: slot 7 is in use;"), "{text}");
        let text = told(|| std::panic::panic_any(7)).unwrap();
        assert!(text.contains("panicked: without a message"), "{text}");
    }
}
