//! Messages made here by the documented format, whole, cut off and mutated.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn relation(id: u32, schema: &str, name: &str, columns: &[(bool, &str, u32)]) -> Vec<u8> {
    let mut message = vec![b'R'];
    message.extend(id.to_be_bytes());
    for text in [schema, name] {
        message.extend(text.as_bytes());
        message.push(0);
    }
    message.push(b'd');
    message.extend((columns.len() as u16).to_be_bytes());
    for (is_key, name, type_id) in columns {
        message.push(u8::from(*is_key));
        message.extend(name.as_bytes());
        message.push(0);
        message.extend(type_id.to_be_bytes());
        message.extend((-1_i32).to_be_bytes());
    }
    message
}

/// `None`: NULL; `Some(None)`: unchanged and not sent.
fn tuple(kind: u8, values: &[Option<Option<&str>>]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend((values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            None => message.push(b'n'),
            Some(None) => message.push(b'u'),
            Some(Some(text)) => {
                message.push(b't');
                message.extend((text.len() as u32).to_be_bytes());
                message.extend(text.as_bytes());
            }
        }
    }
    message
}

fn change(op: u8, id: u32, tuples: &[Vec<u8>]) -> Vec<u8> {
    let mut message = vec![op];
    message.extend(id.to_be_bytes());
    message.extend(tuples.concat());
    message
}

fn orders() -> Vec<u8> {
    relation(7, "public", "orders", &[(true, "id", 23), (false, "na\"me", 25), (false, "b", 17)])
}

fn read(decoder: &mut Decoder, message: &[u8]) -> Value {
    match decoder.read(message).unwrap() {
        Event::Change { table, json } => {
            let json: Value = serde_json::from_str(json).unwrap();
            assert_eq!(json["table"], *table);
            json
        }
        other => panic!("{other:?} is no change"),
    }
}

#[test]
fn changes_are_json_with_table_op_and_row() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.read(&orders()).unwrap(), Event::Other);
    let new = tuple(b'N', &[Some(Some("1")), Some(Some("x\ny")), None]);
    assert_eq!(
        read(&mut decoder, &change(b'I', 7, std::slice::from_ref(&new))),
        json!({"table": "orders", "op": "insert", "row": {"id": 1, "na\"me": "x\ny", "b": null}})
    );
    let unchanged = tuple(b'N', &[Some(Some("1")), Some(None), None]);
    assert_eq!(
        read(&mut decoder, &change(b'U', 7, &[unchanged])),
        json!({"table": "orders", "op": "update", "row": {"id": 1, "b": null}})
    );
    let key = tuple(b'K', &[Some(Some("1")), None, None]);
    assert_eq!(
        read(&mut decoder, &change(b'U', 7, &[key.clone(), new])),
        json!({
            "table": "orders", "op": "update", "old": {"id": 1},
            "row": {"id": 1, "na\"me": "x\ny", "b": null},
        })
    );
    assert_eq!(
        read(&mut decoder, &change(b'D', 7, &[key])),
        json!({"table": "orders", "op": "delete", "row": {"id": 1}})
    );
    let truncate = [b"T\0\0\0\x01\0".as_slice(), &7_u32.to_be_bytes()].concat();
    assert_eq!(decoder.read(&truncate).unwrap(), Event::Other);
    assert_eq!(decoder.truncated(&truncate).unwrap(), ["orders"]);
    let begin = [b"B".as_slice(), &9_u64.to_be_bytes(), &[0; 12]].concat();
    assert_eq!(decoder.read(&begin).unwrap(), Event::Begin { commit_lsn: 9 });
}

#[test]
fn a_table_of_another_schema_is_named_with_it() {
    let mut decoder = Decoder::default();
    decoder.read(&relation(1, "sales", "t", &[(true, "id", 20)])).unwrap();
    let inserted = change(b'I', 1, &[tuple(b'N', &[Some(Some("5"))])]);
    assert_eq!(
        read(&mut decoder, &inserted),
        json!({"table": "sales.t", "op": "insert", "row": {"id": 5}})
    );
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut decoder = Decoder::default();
    let row = tuple(b'N', &[Some(Some("1"))]);
    assert_eq!(decoder.read(&change(b'I', 7, std::slice::from_ref(&row))), Err(UNDESCRIBED));
    decoder.read(&orders()).unwrap();
    assert!(decoder.read(&change(b'I', 7, std::slice::from_ref(&row))).is_err());
    let absurd = [b"I\0\0\0\x07N\0\x03t".as_slice(), &u32::MAX.to_be_bytes(), b"x"].concat();
    assert_eq!(decoder.read(&absurd), Err(TOO_SHORT));
    assert!(decoder.read(b"?").is_err());
    assert_eq!(decoder.read(b""), Err(TOO_SHORT));
    let many = [b"T\xff\xff\xff\xff\0".as_slice(), &7_u32.to_be_bytes()].concat();
    assert_eq!(decoder.truncated(&many), Err(TOO_SHORT));
}

#[test]
fn a_change_cut_off_anywhere_is_an_error() {
    let mut decoder = Decoder::default();
    let (whole, row) = (orders(), tuple(b'N', &[Some(Some("1")), Some(Some("x")), None]));
    for end in 0..whole.len() {
        assert_eq!(Decoder::default().read(&whole[..end]), Err(TOO_SHORT), "{end}");
    }
    decoder.read(&whole).unwrap();
    let update = change(b'U', 7, &[tuple(b'O', &[Some(Some("1")), None, None]), row]);
    for end in 0..update.len() {
        assert_eq!(decoder.read(&update[..end]), Err(TOO_SHORT), "{end}");
    }
    assert!(decoder.read(&update).is_ok());
}

proptest! {
    /// Whatever is changed in a message: no panic, and what is called a change is JSON.
    #[test]
    fn mutated_messages_never_make_invalid_json(
        place in 0_usize..64, byte in any::<u8>(), more in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let rows = [
            tuple(b'K', &[Some(Some("1")), None, None]),
            tuple(b'N', &[Some(Some("1")), Some(Some("text")), Some(None)]),
        ];
        let mut decoder = Decoder::default();
        let mut messages =
            [orders(), change(b'U', 7, &rows), change(b'I', 7, &rows[1..]), b"T\0\0\0\x01".into()];
        for message in &mut messages {
            let length = message.len();
            message[place % length] = byte;
            message.extend(&more);
            if let Ok(Event::Change { json, .. }) = decoder.read(message) {
                prop_assert!(serde_json::from_str::<Value>(json).is_ok(), "{}", json);
            }
            let _any = decoder.truncated(message);
        }
    }
}
