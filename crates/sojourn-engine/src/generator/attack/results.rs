//! Hits as result records, and what is kept of answers for them.

use sojourn_clock::{Anchor, MILLISECOND_NS};
use sojourn_http::{BodyPolicy, Completion};
use sojourn_record::results::{AttackResult, Encoder, Encoding, Headers, Timestamp};

use super::{Hit, scripted::Scripted, words};
use crate::attack::{Attack, ResultSink, Targets};

/// A chunk is handed over when it is this long, bytes…
const CHUNK_BYTES: usize = 64 * 1024;
/// …or this old.
const CHUNK_AGE_NS: u64 = 100 * MILLISECOND_NS;

/// A generator's results on their way to the sink.
pub(super) struct Results {
    sink: ResultSink,
    encoder: Encoder,
    anchor: Anchor,
    chunk: Vec<u8>,
    /// When the chunk was last handed over.
    handed_ns: u64,
    headers: Headers,
}

impl Results {
    pub(super) fn new(sink: ResultSink, anchor: Anchor) -> Self {
        let mut encoder = Encoder::new(Encoding::Gob);
        // The writing thread begins the stream, once for all generators.
        encoder.begin(&mut Vec::new());
        let headers = Headers::default();
        Self { sink, encoder, anchor, chunk: Vec::new(), handed_ns: 0, headers }
    }

    /// Adds a hit's result. False: nobody takes results any more.
    pub(super) fn add(&mut self, attack: &str, hit: &Hit, completion: &Completion) -> bool {
        let target = &hit.target.target;
        let latency_ns = completion.ended_ns.saturating_sub(hit.began_ns);
        let mut result = AttackResult {
            attack: attack.as_bytes(),
            seq: hit.k,
            code: 0,
            timestamp: Timestamp::utc(self.anchor.unix_ns_at(hit.began_ns) as i64),
            latency_ns: latency_ns as i64,
            bytes_out: 0,
            bytes_in: 0,
            error: b"",
            body: None,
            method: target.method.as_bytes(),
            url: target.url.as_bytes(),
            headers: None,
        };
        self.headers.clear();
        let error;
        match &completion.outcome {
            Ok(response) => {
                for (name, value) in response.headers() {
                    self.headers.push_canonical(name, value);
                }
                error = hit.refusal(response);
                result.code = response.status;
                result.bytes_out = target.body.len() as u64;
                result.bytes_in = response.body_bytes;
                result.body = Some(&response.body);
                result.headers = Some(&self.headers);
            }
            Err(failure) => error = words::transport_error(&hit.target, failure),
        }
        result.error = error.as_bytes();
        self.encoder.encode(&result, &mut self.chunk);
        self.chunk.len() < CHUNK_BYTES || self.sink.put(&mut self.chunk)
    }

    /// Why nobody takes results any more, in words.
    pub(super) fn why(&self) -> String {
        self.sink.why()
    }

    /// Hands over what has waited long enough. False: nobody takes results any more.
    pub(super) fn flush(&mut self, now_ns: u64) -> bool {
        if self.chunk.is_empty() || now_ns < self.handed_ns.saturating_add(CHUNK_AGE_NS) {
            return true;
        }
        self.handed_ns = now_ns;
        self.sink.put(&mut self.chunk)
    }
}

/// What is kept of answers: what somebody will look at.
pub(super) fn body_policy(attack: &Attack, scripted: Option<&Scripted>) -> BodyPolicy {
    match (&attack.results, scripted) {
        (Some(_), _) => BodyPolicy::Truncate { bytes_max: attack.body_max.unwrap_or(usize::MAX) },
        (None, Some(scripted)) => scripted.body_policy(),
        (None, None) if matches!(attack.targets, Targets::Scripted(_)) => BodyPolicy::Discard,
        (None, None) => BodyPolicy::Count,
    }
}
