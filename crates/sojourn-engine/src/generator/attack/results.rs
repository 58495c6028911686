//! Hits as result records, and what is kept of answers for them.

use sojourn_clock::{Anchor, MILLISECOND_NS};
use sojourn_http::{BodyPolicy, Completion};
use sojourn_record::results::{AttackResult, Encoder, Encoding, Headers, Timestamp};

use super::{Hit, scripted::Scripted, words};
use crate::{
    attack::{Attack, Chunk, Record, ResultSink, Targets},
    generator::GeneratorSpec,
};

/// A chunk is handed over when it is this long, bytes…
const CHUNK_BYTES: usize = 64 * 1024;
/// …or this old.
const CHUNK_AGE_NS: u64 = 100 * MILLISECOND_NS;

/// A generator's results on their way to the sink.
pub(super) struct Results {
    sink: ResultSink,
    encoder: Encoder,
    anchor: Anchor,
    chunk: Chunk,
    /// Whose results these are; `None` where all are: nobody has to tell them from others'.
    generator: Option<u32>,
    /// When the chunk was last handed over.
    handed_ns: u64,
    headers: Headers,
    /// The zone of this machine when the attack began, as the original tool notes it.
    offset_s: Option<i32>,
}

impl Results {
    pub(super) fn new(sink: ResultSink, spec: &GeneratorSpec) -> Self {
        let mut encoder = Encoder::new(Encoding::Gob);
        // The writing thread begins the stream, once for all generators.
        encoder.begin(&mut Vec::new());
        let headers = Headers::default();
        let (chunk, generator) = (Chunk::default(), (spec.of > 1).then_some(spec.index));
        let anchor = spec.anchor;
        let now = Timestamp::utc(anchor.unix_ns_at(sojourn_clock::now_ns()) as i64);
        let offset_s = offset_s(now);
        Self { sink, encoder, anchor, chunk, generator, handed_ns: 0, headers, offset_s }
    }

    /// An instant as records have it.
    fn at(&self, at_ns: u64) -> Timestamp {
        let utc = Timestamp::utc(self.anchor.unix_ns_at(at_ns) as i64);
        Timestamp { offset_s: self.offset_s, ..utc }
    }

    /// Adds a hit's result. False: nobody takes results any more.
    pub(super) fn add(&mut self, attack: &str, hit: &Hit, completion: &Completion) -> bool {
        let target = &hit.target.target;
        let latency_ns = completion.ended_ns.saturating_sub(hit.began_ns);
        let mut result = AttackResult {
            attack: attack.as_bytes(),
            seq: hit.k,
            code: 0,
            timestamp: self.at(hit.began_ns),
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
        match (&completion.outcome, hit.refused()) {
            (Ok(_), Some(refusal)) => error = refusal.worded(target),
            (Ok(response), None) => {
                for (name, value) in response.headers() {
                    self.headers.push_canonical(name, value);
                }
                error = words::status_error(response);
                result.code = response.status;
                result.bytes_out = target.body.len() as u64;
                result.bytes_in = response.body_bytes;
                result.body = Some(&response.body);
                result.headers = Some(&self.headers);
            }
            (Err(failure), _) => error = words::transport_error(hit, failure),
        }
        result.error = error.as_bytes();
        let before = self.chunk.bytes.len();
        self.encoder.encode(&result, &mut self.chunk.bytes);
        if self.generator.is_some() {
            let length = self.chunk.bytes.len() - before;
            self.chunk.records.push(Record { ended_ns: completion.ended_ns, length });
        }
        // Others of the same turn may have ended before: nothing is promised.
        self.chunk.bytes.len() < CHUNK_BYTES || self.put(0)
    }

    /// Why nobody takes results any more, in words.
    pub(super) fn why(&self) -> String {
        self.sink.why()
    }

    /// Hands over what has waited long enough, and says that every hit which had ended by `seen_ns`
    /// is told of. False: nobody takes results any more.
    pub(super) fn flush(&mut self, now_ns: u64, seen_ns: u64) -> bool {
        let has_something = !self.chunk.bytes.is_empty() || self.generator.is_some();
        if !has_something || now_ns < self.handed_ns.saturating_add(CHUNK_AGE_NS) {
            return true;
        }
        self.handed_ns = now_ns;
        self.put(seen_ns)
    }

    /// Hands the chunk over. False: nobody takes results any more.
    fn put(&mut self, until_ns: u64) -> bool {
        self.chunk.generator = self.generator.unwrap_or(0);
        self.chunk.until_ns = until_ns;
        self.sink.put(&mut self.chunk)
    }
}

/// Seconds east of Greenwich here; `None` where clocks show UTC.
fn offset_s(now: Timestamp) -> Option<i32> {
    let now = jiff::Timestamp::from_nanosecond(now.unix_ns.into()).ok()?;
    let offset_s = jiff::tz::TimeZone::system().to_offset(now).seconds();
    (offset_s != 0).then_some(offset_s)
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
