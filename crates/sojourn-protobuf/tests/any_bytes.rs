//! Whatever bytes come: an answer; and what the library writes is read.

use proptest::prelude::*;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
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

/// Two bytes are a message whose thirty fields are all there: a short payload stands for more than
/// memory holds.
#[test]
fn what_a_payload_stands_for_is_bounded() {
    let field = |name: String, number: i32, label: Label, kind: Type| FieldDescriptorProto {
        name: Some(name),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name: (kind == Type::Message).then(|| ".test.Wide".to_owned()),
        ..FieldDescriptorProto::default()
    };
    let numbers = 2..32;
    let numbers = numbers.map(|n| field(format!("n{n}"), n, Label::Optional, Type::Int32));
    let items = field("items".to_owned(), 1, Label::Repeated, Type::Message);
    let file = FileDescriptorProto {
        name: Some("wide.proto".to_owned()),
        package: Some("test".to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: vec![DescriptorProto {
            name: Some("Wide".to_owned()),
            field: std::iter::once(items).chain(numbers).collect(),
            ..DescriptorProto::default()
        }],
        ..FileDescriptorProto::default()
    };
    let set = FileDescriptorSet { file: vec![file] }.encode_to_vec();
    let reader = Protobuf::of_set(&set, "test.Wide", false).unwrap();
    let (read, _) = reader.read(&[0x0a, 0].repeat(100)).unwrap();
    assert_eq!(read["items"].as_array().unwrap().len(), 100);
    let error = reader.read(&[0x0a, 0].repeat(100_000)).unwrap_err();
    assert!(error.contains("more values than its length allows"), "{error}");
}
