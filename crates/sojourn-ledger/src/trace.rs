//! Trace context: which trace a journey's own requests and messages belong to.
//!
//! The header is W3C Trace Context's `traceparent`: version, trace id, the sender's span, flags.

use std::hash::{DefaultHasher, Hasher};

use serde::{Deserialize, Serialize};

use crate::JourneyId;

/// What a run's trace ids are drawn from: the plan's seed and the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSeed(u64);

/// The trace of one journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceId(u128);

/// Whose trace an event belongs to, as far as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceContext {
    /// Its journey's.
    Own,
    /// Another one: the context was replaced on the way.
    Other,
    /// It carries none: the context was lost on the way.
    Absent,
}

impl TraceSeed {
    /// Of a plan's seed and a run's id, so that two runs never share a trace.
    pub fn of(seed: u64, run_id: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        hasher.write(run_id.as_bytes());
        Self(hasher.finish())
    }

    /// The trace of a journey. Both halves look random, as samplers of traces expect.
    pub fn id(self, journey: JourneyId) -> TraceId {
        let high = mix(self.0 ^ mix(journey.0));
        let low = mix(high ^ journey.0.rotate_left(32));
        // All zeros is no trace id.
        TraceId((u128::from(high) << 64 | u128::from(low)).max(1))
    }
}

impl TraceId {
    /// The header's value: this trace, sampled, with a span of the journey's own as parent.
    pub fn traceparent(self) -> String {
        format!("00-{:032x}-{:016x}-01", self.0, self.span())
    }

    /// The span that the header names as the sender's: the journey itself.
    pub fn span(self) -> u64 {
        mix(self.0 as u64 ^ (self.0 >> 64) as u64).max(1)
    }

    /// The trace of these 32 hexadecimal digits; `None` where they are none, or all zeros.
    pub fn of_hex(digits: &str) -> Option<Self> {
        let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = is_hex.then(|| u128::from_str_radix(digits, 16).ok()).flatten()?;
        (id > 0).then_some(Self(id))
    }

    /// Its 16 bytes, the first digits first.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The trace id in a header's value; `None` where that is none by the specification: later
    /// versions may have more behind the flags, this one has nothing.
    pub fn of_traceparent(value: &[u8]) -> Option<Self> {
        let value = value.trim_ascii();
        let (head, rest) = value.split_at_checked(55)?;
        let dashes = [2, 35, 52].iter().all(|&at| head[at] == b'-');
        let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fields = [&head[..2], &head[3..35], &head[36..52], &head[53..55]];
        let version = fields[0];
        let is_bounded = rest.is_empty() || (version != b"00" && rest[0] == b'-');
        if !dashes || !fields.iter().all(|field| field.iter().all(is_hex)) || !is_bounded {
            return None;
        }
        let is_zero = |field: &[u8]| field.iter().all(|&byte| byte == b'0');
        if version == b"ff" || is_zero(fields[1]) || is_zero(fields[2]) {
            return None;
        }
        let id = std::str::from_utf8(fields[1]).ok()?;
        u128::from_str_radix(id, 16).ok().map(Self)
    }
}

impl std::fmt::Display for TraceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// SplitMix64's finaliser (Steele, Lea, Flood 2014): every bit of the result depends on every bit.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journey_has_one_trace_and_no_two_share_it() {
        let seed = TraceSeed::of(7, "run-1");
        let mut ids: Vec<String> = (0..10_000_u64)
            .flat_map(|number| [JourneyId(number), JourneyId(1 << 48 | number)])
            .map(|journey| seed.id(journey).to_string())
            .collect();
        assert_eq!(seed.id(JourneyId(3)).to_string(), ids[6]);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 20_000);
        let others = [TraceSeed::of(8, "run-1"), TraceSeed::of(7, "run-2")];
        assert!(others.iter().all(|other| other.id(JourneyId(3)) != seed.id(JourneyId(3))));
    }

    #[test]
    fn what_is_sent_is_read_back() {
        for number in 0..1_000 {
            let id = TraceSeed::of(number, "r").id(JourneyId(number));
            let header = id.traceparent();
            assert_eq!(TraceId::of_hex(&id.to_string()), Some(id));
            assert_eq!(header[36..52], format!("{:016x}", id.span()));
            assert_eq!(header.len(), 55);
            assert_eq!(TraceId::of_traceparent(header.as_bytes()), Some(id));
            assert!(header.ends_with("-01") && header.contains(&id.to_string()));
        }
    }

    #[test]
    fn what_is_no_traceparent_has_no_trace() {
        // The examples of the specification, and what it rules out.
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let id = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
        let read = |text: &str| TraceId::of_traceparent(text.as_bytes()).map(|id| id.to_string());
        assert_eq!(read(good), id);
        assert_eq!(read(&format!(" {good} ")), id);
        assert_eq!(read(&good.replace("00-4", "cc-4")), id);
        assert_eq!(read(&format!("{}-what-the-future", good.replace("00-4", "cc-4"))), id);
        for bad in [
            String::new(),
            good[..54].to_owned(),
            format!("{good}-x"),
            format!("{good}0"),
            good.replace("00-4", "ff-4"),
            good.replace("4b", "4B"),
            good.replace("4b", "4g"),
            good.replace('-', "_"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", "0".repeat(16)),
            format!("{}.x", good.replace("00-4", "cc-4")),
        ] {
            assert_eq!(read(&bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>, at in 0..56_usize, byte: u8) {
            let _any = TraceId::of_traceparent(&bytes);
            // A good one with any one byte changed or cut off anywhere.
            let good = TraceSeed::of(1, "r").id(JourneyId(1)).traceparent();
            let mut changed = good.clone().into_bytes();
            if let Some(place) = changed.get_mut(at) {
                *place = byte;
            }
            let _changed = TraceId::of_traceparent(&changed);
            let cut = at.min(54);
            proptest::prop_assert_eq!(TraceId::of_traceparent(&good.as_bytes()[..cut]), None);
        }
    }
}
