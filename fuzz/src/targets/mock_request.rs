//! Requests to the mock: it does not matter how they are cut, and bodies are bounded.

use sojourn_mock::understood;

use crate::Input;

pub(crate) fn check(input: Input<'_>) {
    // A head is looked at when a line ends.
    let bytes = [input.bytes, b"\r\n"].concat();
    let whole = understood(&bytes, usize::MAX);
    assert_eq!(understood(&bytes, input.portion()), whole);
    let lengths = whole.requests.iter().map(|(method, target, body)| {
        assert!(body.len() <= 4_096);
        assert!(!method.is_empty() && !target.is_empty());
        method.len() + target.len() + body.len()
    });
    assert!(lengths.sum::<usize>() <= bytes.len());
}
