//! HTTP/1.1 answers: however they are cut, they are read the same.

use sojourn_http::foreign::read_answer;

use crate::Input;

/// Option 0: the answer is to a HEAD request.
pub(crate) fn check(input: Input<'_>) {
    let head_only = input.has(0);
    let whole = read_answer([input.bytes], head_only);
    let cut = read_answer(input.portions(), head_only);
    assert_eq!(whole, cut);
    if let Ok(answer) = whole {
        let taken = answer.head_bytes.len() + answer.body.len() + answer.bytes_left;
        assert!(taken <= input.bytes.len());
        assert!(!head_only || answer.body.is_empty());
        // Nothing behind an answer changes it.
        if answer.bytes_left > 0 {
            let own = &input.bytes[..input.bytes.len() - answer.bytes_left];
            let alone = read_answer([own], head_only).map(|alone| (alone.head, alone.body));
            assert_eq!(alone, Ok((answer.head, answer.body)));
        }
    }
}
