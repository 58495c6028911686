//! Results of attacks in gob, JSON and CSV: however they arrive, whatever of them is wanted, and
//! written again.

use std::io::{Cursor, Read};

use sojourn_record::results::{
    AttackResult, Detail, Encoder, Encoding, Headers, ResultReader, Timestamp,
};

use crate::Input;

pub(crate) fn check(input: Input<'_>) {
    let whole = read(Cursor::new(input.bytes.to_vec()), Detail::Everything);
    let dribble = Dribble { bytes: input.bytes.to_vec(), at: 0, step: input.portion() };
    assert_eq!(read(dribble, Detail::Everything), whole);
    // A record has at least a length, a type and the mark of its end.
    assert!(whole.results.len() <= input.bytes.len() / 3 + 1);
    if let Some(error) = &whole.error {
        assert!(error.contains("the file") && error.len() < 500, "{error}");
    }
    let figures = read(Cursor::new(input.bytes.to_vec()), Detail::Figures);
    if whole.error.is_none() && figures.encoding == whole.encoding {
        let bare: Vec<Owned> = whole.results.iter().cloned().map(Owned::bare).collect();
        assert_eq!((figures.error, figures.results), (None, bare));
    }
    for encoding in [Encoding::Csv, Encoding::Gob, Encoding::Json] {
        check_round_trip(&whole.results, encoding);
    }
}

/// What is written is read again, but for what the encoding can't tell apart; from then on it is
/// the same for ever.
fn check_round_trip(results: &[Owned], encoding: Encoding) {
    if results.is_empty() {
        return;
    }
    let once = encode(results, encoding);
    let again = read(Cursor::new(once.clone()), Detail::Everything);
    assert_eq!((again.error, again.encoding), (None, Some(encoding)));
    assert_eq!(again.results.len(), results.len());
    for (again, first) in again.results.iter().zip(results) {
        assert_eq!(
            (again.seq, again.code, again.latency_ns, again.bytes_in, again.bytes_out),
            (first.seq, first.code, first.latency_ns, first.bytes_in, first.bytes_out),
        );
    }
    let twice = encode(&again.results, encoding);
    if encoding == Encoding::Gob {
        assert_eq!(twice, once);
    } else {
        // Bytes that are no text (JSON) and blanks around a header's value (CSV) are lost once.
        let last = read(Cursor::new(twice.clone()), Detail::Everything);
        assert_eq!(encode(&last.results, encoding), twice, "{encoding:?}");
    }
}

fn encode(results: &[Owned], encoding: Encoding) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::new(encoding), Vec::new());
    for result in results {
        encoder.encode(&result.borrow(), &mut out);
    }
    out
}

#[derive(Debug, PartialEq, Eq)]
struct Found {
    results: Vec<Owned>,
    encoding: Option<Encoding>,
    error: Option<String>,
}

fn read(input: impl Read + 'static, detail: Detail) -> Found {
    let mut reader = ResultReader::new("the file", Box::new(input), detail);
    let mut results = Vec::new();
    let error = loop {
        match reader.advance() {
            Ok(true) => results.push(Owned::of(&reader.current())),
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!(reader.records(), results.len() as u64);
    Found { results, encoding: reader.encoding(), error }
}

/// Gives a few bytes at a time.
struct Dribble {
    bytes: Vec<u8>,
    at: usize,
    step: usize,
}

impl Read for Dribble {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.step.min(into.len()).min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    attack: Vec<u8>,
    seq: u64,
    code: u16,
    timestamp: Timestamp,
    latency_ns: i64,
    bytes_out: u64,
    bytes_in: u64,
    error: Vec<u8>,
    body: Option<Vec<u8>>,
    method: Vec<u8>,
    url: Vec<u8>,
    headers: Option<Headers>,
}

impl Owned {
    fn of(result: &AttackResult<'_>) -> Self {
        Self {
            attack: result.attack.to_vec(),
            seq: result.seq,
            code: result.code,
            timestamp: result.timestamp,
            latency_ns: result.latency_ns,
            bytes_out: result.bytes_out,
            bytes_in: result.bytes_in,
            error: result.error.to_vec(),
            body: result.body.map(<[u8]>::to_vec),
            method: result.method.to_vec(),
            url: result.url.to_vec(),
            headers: result.headers.cloned(),
        }
    }

    fn bare(self) -> Self {
        Self { body: None, method: Vec::new(), url: Vec::new(), headers: None, ..self }
    }

    fn borrow(&self) -> AttackResult<'_> {
        AttackResult {
            attack: &self.attack,
            seq: self.seq,
            code: self.code,
            timestamp: self.timestamp,
            latency_ns: self.latency_ns,
            bytes_out: self.bytes_out,
            bytes_in: self.bytes_in,
            error: &self.error,
            body: self.body.as_deref(),
            method: &self.method,
            url: &self.url,
            headers: self.headers.as_ref(),
        }
    }
}
