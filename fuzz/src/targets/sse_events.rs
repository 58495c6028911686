//! Streams of server-sent events: cuts change nothing, and line ends are all alike.

use sojourn_broker_stream::foreign::read_events;

use crate::Input;

/// Option 0: every line feed becomes a carriage return and a line feed, which must not matter where
/// there is no carriage return yet.
pub(crate) fn check(input: Input<'_>) {
    let whole = read_events(input.bytes, usize::MAX);
    assert_eq!(whole, read_events(input.bytes, input.portion()));
    let held = |(name, _, data): &(Vec<u8>, Vec<u8>, Vec<u8>)| name.len() + data.len();
    let total: usize = whole.events.iter().map(held).sum();
    // An event without a name is called `message`.
    assert!(total <= input.bytes.len() + 7 * whole.events.len());
    if input.has(0) && !input.bytes.contains(&b'\r') {
        let mut windows = Vec::new();
        for &byte in input.bytes {
            if byte == b'\n' {
                windows.push(b'\r');
            }
            windows.push(byte);
        }
        assert_eq!(whole, read_events(&windows, input.portion()));
    }
}
