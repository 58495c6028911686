//! Several inputs as one stream.

use std::io::{Cursor, Read};

use sojourn_record::results::{Detail, Encoding, MergedReader, ResultReader, Timestamp};

use super::util::{Dribble, Owned, encode};

fn some(seq: u64, unix_ns: i64) -> Owned {
    Owned { seq, code: 200, timestamp: Timestamp::utc(unix_ns), ..Owned::default() }
}

fn reader(name: &str, input: impl Read + 'static) -> ResultReader {
    ResultReader::new(name, Box::new(input), Detail::Everything)
}

/// (input, sequence number) of all records; after a timeout the call is repeated.
fn all(merged: &mut MergedReader) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    loop {
        match merged.advance() {
            Ok(Some(input)) => found.push((input, merged.current().seq)),
            Ok(None) => return found,
            Err(error) => assert!(error.is_timeout(), "{error}"),
        }
    }
}

#[test]
fn the_earliest_of_the_next_records_comes_first() {
    let gob = encode(&[some(0, 10), some(1, 40), some(2, 30)], Encoding::Gob);
    let json = encode(&[some(0, 20), some(1, 50)], Encoding::Json);
    let csv = encode(&[some(7, 45)], Encoding::Csv);
    for step in [1, 7, 1000] {
        let mut merged = MergedReader::new(vec![
            reader("gob", Dribble::new(&gob, step)),
            reader("json", Dribble::new(&json, step)),
            reader("csv", Dribble::new(&csv, step)),
        ]);
        // Each input keeps its own order, so 40 comes before 30.
        assert_eq!(all(&mut merged), [(0, 0), (1, 0), (0, 1), (0, 2), (2, 7), (1, 1)]);
        assert!(merged.errors().is_empty());
        assert_eq!(merged.names().collect::<Vec<_>>(), ["gob", "json", "csv"]);
        assert!(matches!(merged.advance(), Ok(None)), "the end stays the end");
    }
}

#[test]
fn an_input_that_fails_does_not_keep_the_others_from_being_read() {
    let good = encode(&[some(0, 10), some(1, 20)], Encoding::Csv);
    let cut = encode(&[some(0, 5), some(1, 15)], Encoding::Gob);
    let mut merged = MergedReader::new(vec![
        reader("empty", std::io::empty()),
        reader("good", Cursor::new(good)),
        reader("cut", Cursor::new(cut[..cut.len() - 1].to_vec())),
    ]);
    assert_eq!(all(&mut merged), [(2, 0), (1, 0), (1, 1)]);
    let errors: Vec<String> = merged.errors().iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["encode: can't detect encoding of \"empty\"", "cut ends in the middle of record 2"]
    );
}

#[test]
fn without_inputs_there_is_nothing() {
    let mut merged = MergedReader::new(Vec::new());
    assert_eq!(all(&mut merged), []);
    assert_eq!(merged.current().seq, 0);
}
