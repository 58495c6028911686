//! Results that own their bytes, readers that dribble, and results by chance.

use std::io::Read;

use proptest::{collection::vec, option, prelude::*, sample::select};
use sojourn_record::results::{
    AttackResult, Detail, Encoder, Encoding, Headers, ResultReader, ResultsError, Timestamp,
};

pub(crate) const ENCODINGS: [Encoding; 3] = [Encoding::Gob, Encoding::Json, Encoding::Csv];

/// A result with everything it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owned {
    pub attack: Vec<u8>,
    pub seq: u64,
    pub code: u16,
    pub timestamp: Timestamp,
    pub latency_ns: i64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub error: Vec<u8>,
    pub body: Option<Vec<u8>>,
    pub method: Vec<u8>,
    pub url: Vec<u8>,
    pub headers: Option<Headers>,
}

impl Owned {
    pub(crate) fn of(result: &AttackResult<'_>) -> Self {
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

    pub(crate) fn borrow(&self) -> AttackResult<'_> {
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

    /// As it comes back from an encoding that cannot tell some things apart.
    pub(crate) fn after(mut self, encoding: Encoding) -> Self {
        match encoding {
            // An empty body is left out, and a time zone of no seconds is one of minus zero.
            Encoding::Gob => self.body = self.body.filter(|body| !body.is_empty()),
            Encoding::Json => {
                let offset_s = self.timestamp.offset_s.filter(|offset_s| *offset_s != 0);
                self.timestamp.offset_s = offset_s;
            }
            Encoding::Csv => {
                self.timestamp.offset_s = None;
                self.body = Some(self.body.unwrap_or_default());
            }
        }
        self
    }
}

/// What a reader found before it ended.
pub(crate) struct Found {
    pub results: Vec<Owned>,
    pub error: Option<ResultsError>,
}

/// Reads all; after a timeout the call is repeated.
pub(crate) fn read(input: impl Read + 'static, detail: Detail) -> Found {
    let mut reader = ResultReader::new("the file", Box::new(input), detail);
    let mut found = Found { results: Vec::new(), error: None };
    loop {
        match reader.advance() {
            Ok(true) => found.results.push(Owned::of(&reader.current())),
            Ok(false) => break,
            Err(error) if error.is_timeout() => {}
            Err(error) => {
                found.error = Some(error);
                break;
            }
        }
    }
    assert_eq!(reader.records(), found.results.len() as u64);
    found
}

/// Reads all of some bytes; there may be no error.
pub(crate) fn read_bytes(bytes: &[u8]) -> Vec<Owned> {
    let found = read(std::io::Cursor::new(bytes.to_vec()), Detail::Everything);
    assert!(found.error.is_none(), "{:?}", found.error);
    found.results
}

pub(crate) fn encode(results: &[Owned], encoding: Encoding) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::new(encoding), Vec::new());
    for result in results {
        encoder.encode(&result.borrow(), &mut out);
    }
    out
}

/// Gives a few bytes at a time and has nothing in time before each of them.
pub(crate) struct Dribble {
    bytes: Vec<u8>,
    at: usize,
    step: usize,
    is_late: bool,
}

impl Dribble {
    pub(crate) fn new(bytes: &[u8], step: usize) -> Self {
        Self { bytes: bytes.to_vec(), at: 0, step, is_late: false }
    }
}

impl Read for Dribble {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.is_late = !self.is_late;
        if self.is_late {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let count = self.step.min(into.len()).min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Texts that matter to some encoding, as UTF-8.
fn text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&str; 20] = [
        ",",
        "\"",
        "\\",
        "\n",
        "\r",
        "\t",
        " ",
        "\\.",
        "<&>",
        "é",
        "\u{2028}",
        "\u{0}",
        "\u{7f}",
        "😀",
        "null",
        "GET",
        "http://127.0.0.1:80/?a=1&b=%20",
        "ok",
        "{",
        "\u{a0}",
    ];
    prop_oneof![
        3 => Just(Vec::new()),
        3 => vec(select(&PIECES[..]), 1..5).prop_map(|pieces| pieces.concat().into_bytes()),
        1 => ".{0,40}".prop_map(String::into_bytes),
        1 => "x{120,300}".prop_map(String::into_bytes),
    ]
}

fn headers() -> impl Strategy<Value = Headers> {
    let value = "([!-~é]([ -~é]{0,8}[!-~é])?)?";
    vec(("[!#-&A-Za-z0-9-]{1,9}", value), 0..6).prop_map(|pairs| {
        let mut headers = Headers::default();
        for (name, value) in pairs {
            assert!(headers.push(name.as_bytes(), value.as_bytes()));
        }
        headers
    })
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    let unix_ns = prop_oneof![any::<i64>(), Just(i64::MIN + 1), Just(0), Just(i64::MAX)];
    let offset_s = option::of((-23 * 60..=23 * 60i32).prop_map(|minutes| minutes * 60));
    let known = (unix_ns, offset_s)
        .prop_map(|(unix_ns, offset_s)| Timestamp { unix_ns, offset_s })
        // A minute west of Greenwich is what UTC is written as.
        .prop_filter("no such zone", |time| time.offset_s != Some(-60));
    prop_oneof![9 => known, 1 => Just(Timestamp::UNKNOWN)]
}

pub(crate) fn result() -> impl Strategy<Value = Owned> {
    let edge = || prop_oneof![Just(0), Just(127), Just(128), any::<u64>(), Just(u64::MAX)];
    let numbers = (edge(), any::<u16>(), any::<i64>(), edge(), edge());
    let body = option::of(vec(any::<u8>(), 0..200));
    let texts = (text(), text(), text(), text());
    (numbers, timestamp(), texts, body, option::of(headers())).prop_map(
        |((seq, code, latency_ns, bytes_out, bytes_in), timestamp, texts, body, headers)| {
            let (attack, error, method, url) = texts;
            Owned {
                attack,
                seq,
                code,
                timestamp,
                latency_ns,
                bytes_out,
                bytes_in,
                error,
                body,
                method,
                url,
                headers,
            }
        },
    )
}
