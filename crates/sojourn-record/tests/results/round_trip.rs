//! What is written is read back, however its bytes arrive.

use proptest::{collection::vec, prelude::*};
use sojourn_record::results::{AttackResult, Detail, Encoder, Encoding, Headers, Timestamp};

use super::util::{Dribble, ENCODINGS, Owned, encode, read, read_bytes, result};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_encoding_gives_back_what_it_was_given(results in vec(result(), 1..6)) {
        for encoding in ENCODINGS {
            let expected: Vec<Owned> =
                results.iter().cloned().map(|result| result.after(encoding)).collect();
            prop_assert_eq!(&read_bytes(&encode(&results, encoding)), &expected, "{:?}", encoding);
        }
    }

    #[test]
    fn bytes_may_arrive_one_by_one_and_late(results in vec(result(), 1..3), step in 1..50_usize) {
        for encoding in ENCODINGS {
            let bytes = encode(&results, encoding);
            let found = read(Dribble::new(&bytes, step), Detail::Everything);
            prop_assert!(found.error.is_none(), "{:?}", found.error);
            prop_assert_eq!(found.results, read_bytes(&bytes));
        }
    }

    #[test]
    fn figures_are_the_same_without_the_bulk(results in vec(result(), 1..4)) {
        for encoding in ENCODINGS {
            let bytes = encode(&results, encoding);
            let found = read(std::io::Cursor::new(bytes.clone()), Detail::Figures);
            prop_assert!(found.error.is_none(), "{:?}", found.error);
            let bare = |result: Owned| Owned {
                body: None,
                method: Vec::new(),
                url: Vec::new(),
                headers: None,
                ..result
            };
            let expected: Vec<Owned> = read_bytes(&bytes).into_iter().map(bare).collect();
            prop_assert_eq!(found.results, expected);
        }
    }
}

#[test]
fn gob_keeps_bytes_that_are_no_text() {
    let results = [Owned { error: vec![0xff, 0, 0xfe], url: vec![0x80], ..Owned::default() }];
    assert_eq!(read_bytes(&encode(&results, Encoding::Gob)), results);
    assert_eq!(read_bytes(&encode(&results, Encoding::Csv))[0].error, results[0].error);
    let lossy = read_bytes(&encode(&results, Encoding::Json));
    assert_eq!(lossy[0].error, "\u{fffd}\0\u{fffd}".as_bytes());
}

#[test]
fn streams_one_after_the_other_are_one_stream() {
    let some = |seq| Owned { seq, timestamp: Timestamp::utc(5), code: 200, ..Owned::default() };
    for encoding in ENCODINGS {
        let mut bytes = encode(&[some(0), some(1)], encoding);
        bytes.extend(encode(&[some(2)], encoding));
        let seqs: Vec<u64> = read_bytes(&bytes).iter().map(|result| result.seq).collect();
        assert_eq!(seqs, [0, 1, 2], "{encoding:?}");
    }
}

#[test]
fn a_stream_without_results_is_told_from_an_empty_file() {
    let mut bytes = Vec::new();
    Encoder::new(Encoding::Gob).begin(&mut bytes);
    assert!(!bytes.is_empty());
    assert_eq!(read_bytes(&bytes), []);
    let found = read(std::io::empty(), Detail::Everything);
    let error = found.error.unwrap().to_string();
    assert_eq!(error, "encode: can't detect encoding of \"the file\"");
}

#[test]
fn the_last_line_needs_no_end_and_blank_lines_do_not_count() {
    let some = |seq| Owned { seq, code: 200, ..Owned::default() };
    for encoding in [Encoding::Json, Encoding::Csv] {
        let text = String::from_utf8(encode(&[some(0), some(1)], encoding)).unwrap();
        let spaced = format!("\n{}", text.replace('\n', "\r\n\n"));
        for text in [text.trim_end().to_owned(), spaced] {
            assert_eq!(read_bytes(text.as_bytes()).len(), 2, "{text:?}");
        }
    }
}

#[test]
fn encoding_appends_and_needs_no_more_room_than_it_used() {
    let mut headers = Headers::default();
    headers.push_canonical(b"content-type", b"text/plain");
    let result = AttackResult { code: 200, headers: Some(&headers), ..AttackResult::default() };
    for encoding in ENCODINGS {
        let mut encoder = Encoder::new(encoding);
        let mut out = b"kept".to_vec();
        encoder.encode(&result, &mut out);
        let first = out.len();
        encoder.encode(&result, &mut out);
        assert!(out.starts_with(b"kept"));
        // The second record has no definitions in front of it.
        assert!(out.len() - first <= first - 4);
        assert_eq!(read_bytes(&out[4..]).len(), 2);
    }
}

#[test]
fn a_run_file_is_called_by_its_name() {
    let found = read(std::io::Cursor::new(b"SOJOURN\x01anything"), Detail::Everything);
    assert!(found.error.unwrap().to_string().starts_with("the file is a run file"));
}
