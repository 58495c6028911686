//! Answers as servers write them, and as nobody should.

use proptest::prelude::*;

use super::*;

const ID: u16 = 0x1234;

fn name(host: &str) -> Name {
    Name::new(host).expect("a DNS name")
}

/// The head of an answer to the question for `host`: flags, number of records.
fn head(host: &str, kind: Kind, flags: u16, records: u16) -> Vec<u8> {
    let mut message = question(ID, &name(host), kind);
    message[2..4].copy_from_slice(&flags.to_be_bytes());
    message[6..8].copy_from_slice(&records.to_be_bytes());
    message
}

fn record(owner: &[u8], record_type: u16, data: &[u8]) -> Vec<u8> {
    let mut record = owner.to_vec();
    record.extend(record_type.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 60]);
    record.extend((data.len() as u16).to_be_bytes());
    record.extend(data);
    record
}

/// `www.a.test` is an alias of `b.a.test`, which has two addresses; names compressed.
fn aliased() -> Vec<u8> {
    let mut message = head("www.a.test", Kind::V4, 0x8180, 3);
    // The question's name is at 12, its `a.test` at 16.
    message.extend(record(&[0xc0, 12], TYPE_CNAME, &[1, b'B', 0xc0, 16]));
    for last in [7, 8] {
        message.extend(record(&[1, b'b', 1, b'A', 0xc0, 18], 1, &[10, 0, 0, last]));
    }
    message
}

fn read(message: &[u8], host: &str, kind: Kind) -> Result<Reply, NoAnswer> {
    reply(message, ID, &name(host), kind)
}

#[test]
fn aliases_are_followed_and_names_are_compressed() {
    let message = aliased();
    let expected = vec![IpAddr::from([10, 0, 0, 7]), IpAddr::from([10, 0, 0, 8])];
    assert_eq!(read(&message, "WWW.a.test.", Kind::V4), Ok(Reply::Addresses(expected)));
}

#[test]
fn ipv6_and_what_is_not_asked_for() {
    let mut message = head("a.test", Kind::V6, 0x8180, 3);
    message.extend(record(&[0xc0, 12], 16, b"\x04text"));
    message.extend(record(&[1, b'x', 0xc0, 14], 28, &[9; 16]));
    message.extend(record(&[0xc0, 12], 28, &[1; 16]));
    let expected = IpAddr::from([1_u8; 16]);
    assert_eq!(read(&message, "a.test", Kind::V6), Ok(Reply::Addresses(vec![expected])));
}

#[test]
fn what_servers_say_without_addresses() {
    let check = |flags: u16, expected: Reply| {
        let message = head("a.test", Kind::V4, flags, 0);
        assert_eq!(read(&message, "a.test", Kind::V4), Ok(expected), "{flags:#x}");
    };
    check(0x8180, Reply::Addresses(Vec::new()));
    check(0x8380, Reply::Truncated);
    check(0x8183, Reply::NoSuchName);
    check(0x8182, Reply::Refused(2));
    check(0x8185, Reply::Refused(5));
}

#[test]
fn answers_to_other_questions_are_none() {
    let message = head("a.test", Kind::V4, 0x8180, 0);
    let asked = name("a.test");
    assert!(reply(&message, ID, &asked, Kind::V4).is_ok());
    assert_eq!(reply(&message, ID + 1, &asked, Kind::V4), Err(NoAnswer));
    assert_eq!(reply(&message, ID, &asked, Kind::V6), Err(NoAnswer));
    assert_eq!(reply(&message, ID, &name("b.test"), Kind::V4), Err(NoAnswer));
    // A question is no answer.
    assert_eq!(read(&question(ID, &asked, Kind::V4), "a.test", Kind::V4), Err(NoAnswer));
}

#[test]
fn pointers_that_lead_nowhere_or_around() {
    for pointer in [[0xc0, 24], [0xc0, 26], [0xff, 0xff]] {
        let mut message = head("a.test", Kind::V4, 0x8180, 1);
        assert_eq!(message.len(), 24);
        message.extend(record(&pointer, 1, &[10, 0, 0, 1]));
        assert_eq!(read(&message, "a.test", Kind::V4), Err(NoAnswer), "{pointer:?}");
    }
    // Aliases in a ring have no address, and end.
    let mut message = head("a.test", Kind::V4, 0x8180, 1);
    message.extend(record(&[0xc0, 12], TYPE_CNAME, &[0xc0, 12]));
    assert_eq!(read(&message, "a.test", Kind::V4), Ok(Reply::Addresses(Vec::new())));
}

#[test]
fn counts_and_lengths_that_lie() {
    let mut message = aliased();
    message[6..8].copy_from_slice(&u16::MAX.to_be_bytes());
    assert_eq!(read(&message, "www.a.test", Kind::V4), Err(NoAnswer));
    let mut message = head("a.test", Kind::V4, 0x8180, 1);
    message.extend(record(&[0xc0, 12], 1, &[10, 0, 0]));
    assert_eq!(read(&message, "a.test", Kind::V4), Err(NoAnswer));
}

#[test]
fn an_answer_cut_off_anywhere_is_none() {
    let message = aliased();
    for length in 0..message.len() {
        let cut = read(&message[..length], "www.a.test", Kind::V4);
        assert_eq!(cut, Err(NoAnswer), "{length}");
    }
}

#[test]
fn what_can_be_no_dns_name() {
    let long = "a".repeat(64);
    for host in ["", ".", "a..b", ".a", &long, &"a.".repeat(127)] {
        let expected = host == "a.".repeat(127);
        assert_eq!(Name::new(host).is_some(), expected, "{host:?}");
    }
    assert_eq!(Name::new(&"a.".repeat(128)), None);
    assert_eq!(name("A.b").0, b"\x01a\x01b\x00");
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _outcome = read(&bytes, "a.test", Kind::V4);
        let mut message = head("a.test", Kind::V6, 0x8180, 9);
        message.extend(&bytes);
        let _outcome = read(&message, "a.test", Kind::V6);
    }

    #[test]
    fn a_changed_answer_brings_no_more_addresses_than_it_has_room_for(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut message = aliased();
        for (place, byte) in changes {
            let place = place.index(message.len());
            message[place] = byte;
        }
        if let Ok(Reply::Addresses(addresses)) = read(&message, "www.a.test", Kind::V4) {
            prop_assert!(addresses.len() <= 3);
        }
    }

    #[test]
    fn questions_are_read_back(labels in prop::collection::vec("[a-z0-9-]{1,20}", 1..6)) {
        let host = labels.join(".");
        let message = head(&host, Kind::V4, 0x8180, 0);
        prop_assert_eq!(read(&message, &host, Kind::V4), Ok(Reply::Addresses(Vec::new())));
    }
}
