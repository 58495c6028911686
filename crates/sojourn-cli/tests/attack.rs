//! Attacks by the real binary, checked against what the servers saw.

mod accounts;
pub(crate) mod echo;
mod peers;
mod requests;
mod several;
mod ways;
mod words;

use std::{fs::File, path::Path};

use sojourn_record::{
    RunFile,
    results::{Detail, ResultReader},
};
use sojourn_testkit::{Output, TempDir, sojourn, temp_dir};

/// A result, owned.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub attack: String,
    pub seq: u64,
    pub code: u16,
    pub unix_ns: i64,
    pub latency_ns: i64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub error: String,
    pub body: Vec<u8>,
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// An attack that has ended.
pub(crate) struct Made {
    pub output: Output,
    pub folder: TempDir,
}

impl Made {
    /// Its results, by sequence number.
    pub(crate) fn hits(&self) -> Vec<Hit> {
        let mut hits = hits(&self.folder.path().join("out.bin"));
        hits.sort_by_key(|hit| hit.seq);
        hits
    }

    /// Its run file.
    pub(crate) fn run_file(&self) -> RunFile {
        RunFile::open(&self.folder.path().join("out.sojourn")).unwrap()
    }
}

/// `sojourn attack` with these words and this standard input, results into `out.bin`.
pub(crate) fn attack(words: &[&str], input: &str) -> Made {
    attack_to("out.bin", words, input)
}

/// The same, into this file.
pub(crate) fn attack_to(file: &str, words: &[&str], input: &str) -> Made {
    let folder = temp_dir().unwrap();
    let all = ["attack", "-output", file].into_iter().chain(words.iter().copied());
    let output = sojourn(all).in_dir(folder.path()).input(input).run().unwrap();
    Made { output, folder }
}

fn hits(path: &Path) -> Vec<Hit> {
    let mut reader =
        ResultReader::new("out.bin", Box::new(File::open(path).unwrap()), Detail::Everything);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut hits = Vec::new();
    while reader.advance().unwrap() {
        let result = reader.current();
        hits.push(Hit {
            attack: text(result.attack),
            seq: result.seq,
            code: result.code,
            unix_ns: result.timestamp.unix_ns,
            latency_ns: result.latency_ns,
            bytes_out: result.bytes_out,
            bytes_in: result.bytes_in,
            error: text(result.error),
            body: result.body.unwrap_or_default().to_vec(),
            method: text(result.method),
            url: text(result.url),
            headers: result.headers.map_or_else(Vec::new, |headers| {
                headers.iter().map(|(name, value)| (text(name), text(value))).collect()
            }),
        });
    }
    hits
}
