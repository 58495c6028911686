//! Messages written by hand from the encoding's description, and by Google's implementation.

use prost_reflect::DescriptorPool;
use serde_json::json;
use sojourn_protobuf::{Protobuf, prefix};

/// What protoc wrote of `fixtures/events.proto`.
pub(crate) const SET: &[u8] = include_bytes!("fixtures/events.binpb");

fn of_hex(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn open(message: &str, has_prefix: bool) -> Protobuf {
    Protobuf::of_set(SET, message, has_prefix).unwrap()
}

/// <https://protobuf.dev/programming-guides/encoding/>
#[test]
fn the_examples_of_the_encoding() {
    let paid = open("shop.Paid", false);
    // Fields 1 "testing", 2 150, 9 [3, 270, 86942] packed, and of 9 once more not packed.
    let data = of_hex("0a0774657374696e67 109601 4a06038e029ea705 4804");
    let (read, name) = paid.read(&data).unwrap();
    assert_eq!((name.as_str(), &read["payment_id"]), ("shop.Paid", &json!("testing")));
    assert_eq!((&read["exact"], &read["numbers"]), (&json!(150), &json!([3, 270, 86942, 4])));
    let (read, _) = paid.read(b"").unwrap();
    // What has no presence is always there, in the order of the declaration.
    let expected = json!({
        "payment_id": "", "exact": 0, "negative": 0, "state": "STATE_NEW", "raw": "",
        "ratio": 0.0, "lines": [], "numbers": [], "marks": {}, "by_place": {},
    });
    assert_eq!(read, expected);
    // A value that the descriptors do not have, a field that they do not have (20), and NaN.
    let (read, _) = paid.read(&of_hex("2005 a0010131 000000000000f87f")).unwrap();
    assert_eq!((&read["state"], &read["ratio"]), (&json!(5), &json!(null)));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let paid = open("shop.Paid", false);
    // Cut short, a wrong wire type, a text that is not UTF-8, a number without an end.
    for hex in ["0a07", "0d00000000", "0a01ff", "10ffffffffffffffffffff01", "08"] {
        let error = paid.read(&of_hex(hex)).unwrap_err();
        assert!(error.contains("not a message shop.Paid"), "{hex}: {error}");
    }
}

#[test]
fn a_registrys_prefix_says_which_message_it_is() {
    let paid = open("shop.Paid", true);
    // The first message of the file, the second, and the first one within it.
    let (read, name) = paid.read(&of_hex("0000000007 00 0a0170")).unwrap();
    assert_eq!((name.as_str(), read), ("shop.Created", json!({ "payment_id": "p" })));
    let (read, name) = paid.read(&of_hex("0000000007 0202 0a0170")).unwrap();
    assert_eq!((name.as_str(), &read["payment_id"]), ("shop.Paid", &json!("p")));
    let (read, name) = paid.read(&of_hex("0000000007 040200 0a0170 1002")).unwrap();
    let expected = json!({ "name": "p", "count": 2 });
    assert_eq!((name.as_str(), read), ("shop.Paid.Line", expected));
    let error = paid.read(&of_hex("0000000007 0214")).unwrap_err();
    assert!(error.contains("message [10], which the descriptor set lacks"), "{error}");
    let error = paid.read(&of_hex("0a0170")).unwrap_err();
    assert!(error.contains("not written by way of a schema registry"), "{error}");
}

#[test]
fn a_wrong_name_has_suggestions_and_a_wrong_file_a_hint() {
    let error = Protobuf::of_set(SET, "shop.Payd", false).unwrap_err();
    assert_eq!(error.message, "no message `shop.Payd`");
    let hint = error.hint.unwrap();
    assert!(hint.starts_with("there is `shop.Paid`"), "{hint}");
    let error = Protobuf::of_set(SET, "paid", false).unwrap_err();
    assert!(error.hint.unwrap().starts_with("there is `shop.Paid`"));
    let error = Protobuf::of_set(b"syntax = \"proto3\";", "shop.Paid", false).unwrap_err();
    assert!(error.hint.unwrap().contains("--descriptor_set_out"));
    let gone = std::path::Path::new("/nowhere/events.binpb");
    let error = Protobuf::open(gone, "shop.Paid", false).unwrap_err();
    assert!(error.message.contains("/nowhere/events.binpb"), "{error:?}");
}

/// A `Paid` with everything in it, written by Google's implementation for Python.
const PAID: &str = "
    0a03702d3110ffffffffffffffffff0118ffffffffffffffffff0120012a0200ff31000000000000e0bf3800
    42050a016c10024a06038e029ea70552050a0161100052050a016210015a1008ffffffffffffffffff011203
    0a0178620808e20912034555526a080880e2cfaa0610017201638201050a03702d32";

#[test]
fn what_googles_implementation_wrote() {
    let (read, _) = open("shop.Paid", false).read(&of_hex(PAID)).unwrap();
    let empty = |id: &str| {
        json!({
            "payment_id": id, "exact": 0, "negative": 0, "state": "STATE_NEW", "raw": "",
            "ratio": 0.0, "lines": [], "numbers": [], "marks": {}, "by_place": {},
        })
    };
    let expected = json!({
        "payment_id": "p-1", "exact": u64::MAX, "negative": i64::MIN, "state": "STATE_DONE",
        "raw": "AP8=", "ratio": -0.5, "checked": false, "lines": [{ "name": "l", "count": 2 }],
        "numbers": [3, 270, 86942], "marks": { "a": "STATE_NEW", "b": "STATE_DONE" },
        "by_place": { "-1": { "name": "x", "count": 0 } },
        "amount": { "cents": 1250, "currency": "EUR" },
        "at": { "seconds": 1_700_000_000, "nanos": 1 }, "card": "c", "next": empty("p-2"),
    });
    assert_eq!(read, expected);
}

#[test]
fn a_prefix_is_written_as_it_is_read() {
    let pool = DescriptorPool::decode(SET).unwrap();
    let message = |name: &str| pool.get_message_by_name(name).unwrap();
    for (name, hex) in [
        ("shop.Created", "0000000102 00 6461"),
        ("shop.Paid", "0000000102 0202 6461"),
        ("shop.Paid.Line", "0000000102 040200 6461"),
    ] {
        let message = message(name);
        let written = prefix::join(258, &message, b"da");
        assert_eq!(written, of_hex(hex), "{name}");
        let (path, data) = prefix::split(&written).unwrap();
        let read = prefix::message_at(&message.parent_file(), &path).unwrap();
        assert_eq!((read.full_name(), data), (name, &b"da"[..]));
    }
}
