//! Requests to the mock: it does not matter how they are cut, and bodies are bounded.

use sojourn_mock::understood;

use crate::Input;

pub(crate) fn check(input: Input<'_>) {
    let whole = understood(input.bytes, usize::MAX);
    assert_eq!(understood(input.bytes, input.portion()), whole);
    let lengths = whole.requests.iter().map(|(method, target, body)| {
        assert!(body.len() <= 4_096);
        assert!(!method.is_empty() && !target.is_empty());
        method.len() + target.len() + body.len()
    });
    assert!(lengths.sum::<usize>() <= input.bytes.len());
}
