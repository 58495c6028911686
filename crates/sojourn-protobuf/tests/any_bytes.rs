//! Whatever bytes come: an answer; and what the library writes is read.

use proptest::prelude::*;
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use serde_json::json;
use sojourn_protobuf::Protobuf;

use crate::vectors::SET;

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        for has_prefix in [false, true] {
            let paid = Protobuf::of_set(SET, "shop.Paid", has_prefix).unwrap();
            let _read = paid.read(&bytes);
            let _read = paid.read(&[&[0, 0, 0, 0, 1, 0], &*bytes].concat());
        }
    }

    #[test]
    fn any_bytes_are_a_descriptor_set_or_none(bytes: Vec<u8>) {
        prop_assert!(Protobuf::of_set(&bytes, "shop.Paid", false).is_err());
    }

    #[test]
    fn a_damaged_descriptor_set_is_one_or_none(at in 0..SET.len(), byte: u8, end in 0..SET.len()) {
        let mut set = SET.to_vec();
        set[at] = byte;
        for set in [&set[..], &set[..end]] {
            if let Ok(paid) = Protobuf::of_set(set, "shop.Paid", false) {
                let _read = paid.read(b"\x0a\x01p");
            }
        }
    }

    #[test]
    fn what_the_library_writes_is_read(id: String, exact: u64, negative: i64, raw: Vec<u8>) {
        let pool = DescriptorPool::decode(SET).unwrap();
        let mut paid = DynamicMessage::new(pool.get_message_by_name("shop.Paid").unwrap());
        paid.set_field_by_name("payment_id", Value::String(id.clone()));
        paid.set_field_by_name("exact", Value::U64(exact));
        paid.set_field_by_name("negative", Value::I64(negative));
        paid.set_field_by_name("raw", Value::Bytes(raw.into()));
        let inner = paid.clone();
        paid.set_field_by_name("next", Value::Message(inner));
        let reader = Protobuf::of_set(SET, "shop.Paid", false).unwrap();
        let (read, name) = reader.read(&paid.encode_to_vec()).unwrap();
        prop_assert_eq!(name, "shop.Paid");
        for read in [&read, &read["next"]] {
            prop_assert_eq!(&read["payment_id"], &json!(id));
            prop_assert_eq!(&read["exact"], &json!(exact));
            prop_assert_eq!(&read["negative"], &json!(negative));
        }
    }
}

#[test]
fn nesting_is_bounded() {
    let reader = Protobuf::of_set(SET, "shop.Paid", false).unwrap();
    // Field 16 of each, with the length of all that follows, is the next one.
    let mut nested = Vec::new();
    for _ in 0..10_000 {
        let mut length = nested.len();
        let mut head = vec![0x82, 0x01];
        while length >= 0x80 {
            head.push(length as u8 | 0x80);
            length >>= 7;
        }
        head.push(length as u8);
        nested.splice(0..0, head);
    }
    assert!(reader.read(&nested).unwrap_err().contains("recursion"));
}
