//! MessagePack against an independent writer and reader (rmpv), cut and mutated.

use proptest::prelude::*;
use rmpv::Value as Packed;
use serde_json::{Value, json};

use super::read;

fn pack(value: &Packed) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).unwrap();
    bytes
}

/// What a value is in JSON, by the documented rules.
fn expected(value: &Packed) -> Value {
    let bytes = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!(base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes)),
    };
    match value {
        Packed::Nil => Value::Null,
        Packed::Boolean(value) => json!(value),
        Packed::Integer(value) => {
            value.as_u64().map_or_else(|| json!(value.as_i64().unwrap()), |value| json!(value))
        }
        Packed::F32(value) => json!(f64::from(*value)),
        Packed::F64(value) => json!(value),
        Packed::String(text) => json!(text.as_str().unwrap()),
        Packed::Binary(data) => bytes(data),
        Packed::Array(items) => items.iter().map(expected).collect(),
        Packed::Map(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| {
                    let key = match expected(key) {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    (key, expected(value))
                })
                .collect(),
        ),
        Packed::Ext(kind, data) => json!({"type": kind, "data": bytes(data)}),
    }
}

fn values() -> impl Strategy<Value = Packed> {
    let leaf = prop_oneof![
        Just(Packed::Nil),
        any::<bool>().prop_map(Packed::from),
        any::<u64>().prop_map(Packed::from),
        any::<i64>().prop_map(Packed::from),
        any::<i8>().prop_map(Packed::from),
        any::<f32>().prop_map(Packed::from),
        any::<f64>().prop_map(Packed::from),
        ".{0,40}".prop_map(Packed::from),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Packed::Binary),
        (0_i8..=127, prop::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(kind, data)| Packed::Ext(kind, data)),
    ];
    leaf.prop_recursive(4, 40, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Packed::Array),
            prop::collection::vec((inner.clone(), inner), 0..20).prop_map(Packed::Map),
        ]
    })
}

#[test]
fn every_form_of_the_specification() {
    let cases: [(&[u8], Value); 26] = [
        (b"\x00", json!(0)),
        (b"\x7f", json!(127)),
        (b"\xff", json!(-1)),
        (b"\xe0", json!(-32)),
        (b"\xc0", Value::Null),
        (b"\xc2", json!(false)),
        (b"\xc3", json!(true)),
        (b"\xcc\xff", json!(255)),
        (b"\xcd\x01\x00", json!(256)),
        (b"\xce\x00\x01\x00\x00", json!(65536)),
        (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
        (b"\xd0\x80", json!(-128)),
        (b"\xd1\xff\x7f", json!(-129)),
        (b"\xd2\x80\x00\x00\x00", json!(i32::MIN)),
        (b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", json!(i64::MIN)),
        (b"\xca\x3f\xc0\x00\x00", json!(1.5)),
        (b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", json!(1.5)),
        (b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", Value::Null),
        (b"\xa2id", json!("id")),
        (b"\xdb\x00\x00\x00\x01x", json!("x")),
        (b"\xc4\x02\xff\x00", json!("/wA=")),
        (b"\xdd\x00\x00\x00\x01\x01", json!([1])),
        (b"\xde\x00\x01\x01\xa1x", json!({"1": "x"})),
        (b"\xd6\xff\x00\x00\x00\x05", json!({"seconds": 5, "nanoseconds": 0})),
        (b"\xd7\xff\x00\x00\x00\x04\x00\x00\x00\x05", json!({"seconds": 5, "nanoseconds": 1})),
        (
            b"\xc7\x0c\xff\x00\x00\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff",
            json!({"seconds": -1, "nanoseconds": 7}),
        ),
    ];
    for (bytes, value) in cases {
        assert_eq!(read(bytes), Ok(value), "{bytes:x?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let says = |bytes: &[u8], expect: &str| {
        let problem = read(bytes).unwrap_err();
        assert!(problem.contains(expect), "{problem}");
    };
    says(b"", "it ends too early at byte 0");
    says(b"\xc1", "a byte that has no meaning at byte 1");
    says(b"\xa1\xff", "a text that is not UTF-8 at byte 2");
    says(b"\x01\x02\x03", "2 bytes after its value");
    // Absurd lengths are refused at once, whatever they are of.
    for mark in [0xc6, 0xc9, 0xdb, 0xdd, 0xdf] {
        says(&[mark, 0xff, 0xff, 0xff, 0xff, 0x01], "it ends too early");
    }
    // A million lists in one another: refused, and no stack overflows.
    says(&vec![0x91; 1 << 20], "nested deeper than 128");
    says(&[&vec![0x91; 129][..], &[1]].concat(), "nested deeper than 128");
    assert!(read(&[&vec![0x91; 128][..], &[1]].concat()).is_ok());
}

proptest! {
    #[test]
    fn as_another_library_writes_it_and_cut_anywhere(value in values()) {
        let bytes = pack(&value);
        prop_assert_eq!(read(&bytes), Ok(expected(&value)));
        for end in 0..bytes.len() {
            prop_assert!(read(&bytes[..end]).is_err(), "cut at {}", end);
        }
    }

    #[test]
    fn mutations_are_read_as_the_other_library_reads_them(
        value in values(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = pack(&value);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let mut rest = bytes.as_slice();
        let theirs = rmpv::decode::read_value(&mut rest);
        // They read 0xc1 as nothing, and keep texts that are not UTF-8 as bytes: we refuse both.
        if let Ok(ours) = read(&bytes) {
            prop_assert!(rest.is_empty());
            prop_assert!(theirs.is_ok());
            if !format!("{theirs:?}").contains("Ext(-1") {
                prop_assert_eq!(ours, expected(&theirs.unwrap()));
            }
        }
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        let _read = read(&bytes);
    }
}
