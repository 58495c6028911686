//! Protobuf's messages, with a schema registry's prefix and without; and descriptor sets.

use sojourn_protobuf::Protobuf;

use crate::Input;

const SET: &[u8] = include_bytes!("../../../crates/sojourn-protobuf/tests/fixtures/events.binpb");

/// Option 0: with a prefix. Option 1: the bytes are a descriptor set.
pub(crate) fn check(input: Input<'_>) {
    if input.has(1) {
        if let Ok(protobuf) = Protobuf::of_set(input.bytes, "shop.Paid", input.has(0)) {
            let _read = protobuf.read(input.bytes);
        }
        return;
    }
    let paid = Protobuf::of_set(SET, "shop.Paid", input.has(0));
    let paid = paid.unwrap_or_else(|error| panic!("the set has it: {error:?}"));
    if let Ok((read, name)) = paid.read(input.bytes) {
        assert!(name.starts_with("shop.") && read.is_object());
    }
}
