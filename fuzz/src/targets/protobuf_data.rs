//! Protobuf's messages, with a schema registry's prefix and without.

use sojourn_protobuf::Protobuf;

use crate::Input;

const SET: &[u8] = include_bytes!("../../../crates/sojourn-protobuf/tests/fixtures/events.binpb");

/// Option 0: with a prefix.
pub(crate) fn check(input: Input<'_>) {
    let paid = Protobuf::of_set(SET, "shop.Paid", input.has(0));
    let paid = paid.unwrap_or_else(|error| panic!("the set has it: {error:?}"));
    if let Ok((read, name)) = paid.read(input.bytes) {
        assert!(name.starts_with("shop.") && read.is_object());
    }
}
