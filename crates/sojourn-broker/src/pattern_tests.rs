//! Text by a regular expression, as a channel's decoder.

use serde_json::json;
use sojourn_plan::Decoder;

use super::*;
use crate::{RawMessage, decode};

fn regex() -> Regex {
    Regex::new("(?m)^(?<type>[A-Z]+) id=(?<id>[^ ]+)(?: n=(?<n>[0-9]+))?( .*)?$").unwrap()
}

#[test]
fn named_groups_become_fields() {
    let got = read(&regex(), b"head\nPAID id=\xc3\xa4-1 n=7 rest").unwrap();
    assert_eq!(got, json!({"type": "PAID", "id": "ä-1", "n": "7"}));
    // A group that took no part is no field.
    assert_eq!(read(&regex(), b"PAID id=1").unwrap(), json!({"type": "PAID", "id": "1"}));
}

#[test]
fn its_type_is_the_header_or_the_group() {
    let decode = |headers: Vec<(&str, &'static [u8])>, payload: &[u8]| {
        let at =
            RawMessage { stamp_ns: 0, topic: "t", key: None, headers, payload, position: None };
        decode(&Decoder::Text(regex()), &at)
    };
    let read = decode(vec![], b"PAID id=1").unwrap();
    assert_eq!(read.event_type.as_deref(), Some("PAID"));
    let read = decode(vec![("type", b"H"), ("message-id", b"m")], b"PAID id=1").unwrap();
    assert_eq!((read.event_type.as_deref(), read.message_id.as_deref()), (Some("H"), Some("m")));
    assert!(decode(vec![], b"").unwrap_err().contains("does not match /"));
}

#[test]
fn what_is_wrong_is_said() {
    assert!(read(&regex(), b"PAID").unwrap_err().contains("does not match /"));
    let problem = read(&regex(), b"PAID id=\xff").unwrap_err();
    assert!(problem.contains("not text of UTF-8: byte 8 is wrong"), "{problem}");
    // What backtracks for ever elsewhere takes linear time here.
    let greedy = Regex::new("^(?<a>(x+x+)+)y$").unwrap();
    assert!(read(&greedy, &[b'x'; 1 << 16]).is_err());
}

proptest::proptest! {
    #[test]
    fn a_text_cut_anywhere_gives_parts_of_the_whole(cut in 0_usize..12) {
        let whole = "PAID id=12 n";
        let regex = Regex::new("^(?<type>[A-Z]+) id=(?<id>[0-9]*)").unwrap();
        let got = read(&regex, &whole.as_bytes()[..cut]);
        proptest::prop_assert_eq!(got.is_ok(), cut >= 8);
        if let Ok(got) = got {
            proptest::prop_assert_eq!(&got["id"], &whole[8..cut.min(10)]);
        }
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        let _read = read(&regex(), &bytes);
    }
}
