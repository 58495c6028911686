//! Files that Vegeta 12.12 wrote, and one that another Go program wrote.
//!
//! `attack.bin` is `vegeta attack -name "café <a>"` against a server with many kinds of answers;
//! `attack.json` and `attack.csv` are what `vegeta encode` made of it. `other-layout.bin` is of a
//! struct whose fields stand in another order, among fields of all kinds that no result has.

use sojourn_record::results::{Encoding, Headers, Timestamp};

use super::util::{Owned, encode, read_bytes};

const GOB: &[u8] = include_bytes!("../fixtures/attack.bin");
const JSON: &[u8] = include_bytes!("../fixtures/attack.json");
const CSV: &[u8] = include_bytes!("../fixtures/attack.csv");
const OTHER: &[u8] = include_bytes!("../fixtures/other-layout.bin");

#[test]
fn the_same_results_are_read_from_each_encoding() {
    let results = read_bytes(GOB);
    assert_eq!(results.len(), 60);
    let after = |encoding| -> Vec<Owned> {
        results.iter().cloned().map(|result| result.after(encoding)).collect()
    };
    assert_eq!(read_bytes(JSON), after(Encoding::Json));
    assert_eq!(read_bytes(CSV), after(Encoding::Csv));
    let refused = results.iter().find(|result| result.seq == 8).unwrap();
    assert_eq!(refused.code, 0);
    assert_eq!(refused.attack, "café <a>".as_bytes());
    assert_eq!(refused.headers, None);
    assert!(refused.error.ends_with(b"connect: connection refused"));
    let many = results.iter().find(|result| result.seq == 1).unwrap();
    let cookies: Vec<&[u8]> = many
        .headers
        .as_ref()
        .unwrap()
        .iter()
        .filter_map(|(name, value)| (name == b"Set-Cookie").then_some(value))
        .collect();
    assert_eq!(cookies, [&b"a=1"[..], b"b=\"2, 3\""]);
}

/// CSV has its headers in order, so it is the same to the byte.
#[test]
fn our_csv_is_vegetas() {
    let ours = encode(&read_bytes(GOB), Encoding::Csv);
    assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(CSV));
    assert_eq!(encode(&read_bytes(CSV), Encoding::Csv), CSV);
}

/// Vegeta's headers stand in the order of chance; everything else is the same to the byte.
#[test]
fn our_json_is_vegetas_but_for_the_order_of_headers() {
    let ours = encode(&read_bytes(GOB), Encoding::Json);
    let (ours, theirs) = (str::from_utf8(&ours).unwrap(), str::from_utf8(JSON).unwrap());
    assert_eq!(ours.lines().count(), theirs.lines().count());
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        let (ours, our_headers) = ours.split_once("\"headers\":").unwrap();
        let (theirs, their_headers) = theirs.split_once("\"headers\":").unwrap();
        assert_eq!(ours, theirs);
        assert_eq!(our_headers.len(), their_headers.len());
        let value = |text: &str| {
            serde_json::from_str::<serde_json::Value>(text.strip_suffix('}').unwrap()).unwrap()
        };
        assert_eq!(value(our_headers), value(their_headers));
    }
}

/// As with JSON: another order of headers does not change how long a message is.
#[test]
fn our_gob_is_vegetas_but_for_the_order_of_headers() {
    let results = read_bytes(GOB);
    let ours = encode(&results, Encoding::Gob);
    assert_eq!(ours.len(), GOB.len());
    let bare = |encoded: &[u8]| -> Vec<Vec<u8>> {
        let results = read_bytes(encoded).into_iter();
        results.map(|result| encode(&[Owned { headers: None, ..result }], Encoding::Gob)).collect()
    };
    assert_eq!(bare(&ours), bare(GOB));
    let first_headers = GOB.windows(3).position(|bytes| bytes == b"/ok").unwrap() + 3;
    assert_eq!(ours[..first_headers], GOB[..first_headers]);
    // Records without headers have no order.
    let refused = results.iter().position(|result| result.seq == 8).unwrap();
    let alone = &encode(&results[refused..=refused], Encoding::Gob)[0xce..];
    assert!(GOB.windows(alone.len()).any(|bytes| bytes == alone));
}

#[test]
fn fields_are_found_by_name_wherever_they_stand() {
    let results = read_bytes(OTHER);
    let mut headers = Headers::default();
    headers.push(b"A", b"1");
    headers.push(b"A", b"2");
    let first = Owned {
        attack: b"first".to_vec(),
        seq: 3,
        code: 503,
        timestamp: Timestamp { unix_ns: 1_700_000_000_000_000_005, offset_s: Some(-12_600) },
        latency_ns: 1500,
        error: b"e".to_vec(),
        url: b"http://h/".to_vec(),
        headers: Some(headers),
        ..Owned::default()
    };
    let second = Owned {
        seq: 1 << 40,
        code: 200,
        timestamp: Timestamp { unix_ns: 1_700_000_001_000_000_000, offset_s: Some(1172) },
        ..Owned::default()
    };
    let third = Owned { latency_ns: -1, ..Owned::default() };
    assert_eq!(results, [first, second, third]);
}

#[test]
fn concatenated_files_of_different_layouts_are_read() {
    let both = [GOB, OTHER, GOB].concat();
    // The second layout has the numbers of the first for other types, and later the other way round.
    assert_eq!(read_bytes(&both).len(), 60 + 3 + 60);
}
