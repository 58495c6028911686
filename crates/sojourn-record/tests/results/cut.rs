//! Files that end anywhere, and files that arrive in two parts.

use std::io::{Cursor, Read};

use sojourn_record::results::{Detail, Encoding, ResultsError};

use super::util::{ENCODINGS, Owned, encode, read, read_bytes};

fn results() -> Vec<Owned> {
    let all = read_bytes(include_bytes!("../fixtures/attack.bin"));
    // One of each kind of answer.
    all.into_iter().filter(|result| result.seq < 12).collect()
}

/// A file cut off at any byte gives its whole records; then it says that it was cut off, unless that
/// cannot be seen.
#[test]
fn a_file_cut_off_at_any_byte_gives_its_whole_records() {
    let results = results();
    for encoding in ENCODINGS {
        let whole = encode(&results, encoding);
        let ends: Vec<usize> =
            (0..=results.len()).map(|count| encode(&results[..count], encoding).len()).collect();
        for cut in 0..whole.len() {
            let found = read(Cursor::new(whole[..cut].to_vec()), Detail::Everything);
            let expected = ends[1..].iter().filter(|end| **end <= cut).count();
            check(&found.results, &results, expected, encoding, cut);
            let is_boundary = ends[1..].contains(&cut);
            match (&found.error, expected) {
                (None, _) => assert!(is_boundary || is_tolerated(encoding, cut, &ends)),
                (Some(ResultsError::Undetected { .. }), 0) => {}
                (Some(ResultsError::CutOff { record, .. }), _) => {
                    assert_eq!(*record, expected as u64 + 1);
                }
                (Some(ResultsError::Record { record, .. }), _) => {
                    assert!(encoding != Encoding::Gob);
                    assert_eq!(*record, expected as u64 + 1);
                }
                (Some(error), _) => panic!("{encoding:?} at {cut}: {error}"),
            }
        }
    }
}

/// A line that lacks its end only, or CSV whose last field lacks some: nobody can see that. And a
/// gob of definitions only has no results.
fn is_tolerated(encoding: Encoding, cut: usize, ends: &[usize]) -> bool {
    match encoding {
        Encoding::Gob => cut < ends[1],
        Encoding::Json => ends.contains(&(cut + 1)),
        Encoding::Csv => true,
    }
}

fn check(found: &[Owned], results: &[Owned], expected: usize, encoding: Encoding, cut: usize) {
    let found_whole = &found[..expected.min(found.len())];
    let after: Vec<Owned> =
        results[..expected].iter().cloned().map(|result| result.after(encoding)).collect();
    assert_eq!(found_whole, after, "{encoding:?} cut at {cut}");
    assert!(found.len() <= expected + 1, "{encoding:?} cut at {cut}: a result of nothing");
    if encoding == Encoding::Gob {
        assert_eq!(found.len(), expected, "cut at {cut}");
    }
}

#[test]
fn a_file_may_arrive_in_two_parts_divided_anywhere() {
    let results = results();
    for encoding in ENCODINGS {
        let whole = encode(&results, encoding);
        let expected: Vec<Owned> =
            results.iter().cloned().map(|result| result.after(encoding)).collect();
        for at in 0..=whole.len() {
            let (first, second) = whole.split_at(at);
            let parts = Cursor::new(first.to_vec()).chain(Cursor::new(second.to_vec()));
            let found = read(parts, Detail::Everything);
            assert!(found.error.is_none(), "{encoding:?} divided at {at}: {:?}", found.error);
            assert_eq!(found.results, expected, "{encoding:?} divided at {at}");
        }
    }
}
