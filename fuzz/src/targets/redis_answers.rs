//! Answers of Redis: cuts change nothing, a bound is kept, and entries become JSON.

use sojourn_broker_redis::foreign::read_answers;

use crate::Input;

/// Of an answer with option 0: so small a bound that an input can be too long for it.
const SMALL: usize = 64;
const LARGE: usize = 64 << 20;

/// Option 0: a small bound on an answer's bytes.
pub(crate) fn check(input: Input<'_>) {
    let bytes_max = if input.has(0) { SMALL } else { LARGE };
    let whole = read_answers(input.bytes, usize::MAX, bytes_max);
    assert_eq!(whole, read_answers(input.bytes, input.portion(), bytes_max));
    assert!(whole.answer_bytes <= input.bytes.len());
    assert!(whole.answer_bytes <= whole.answers.len() * bytes_max);
    // The shortest value has three bytes, and none of a text's is counted twice.
    assert!(whole.answers.len() * 3 <= input.bytes.len());
    assert!(whole.text_bytes <= whole.answer_bytes || whole.error.is_some());
    for object in &whole.objects {
        let object = serde_json::from_slice::<serde_json::Value>(object);
        assert!(object.is_ok_and(|object| object.is_object()));
    }
}
