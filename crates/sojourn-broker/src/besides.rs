//! What a stage takes from its events beside the key.

use serde_json::Value;
use smallvec::SmallVec;
use sojourn_ledger::{More, Shown, TraceId, Unread};
use sojourn_plan::{Expect, Journey, Selector, Teller, members_of, ulid_unix_ms};

use crate::RawMessage;
use crate::rule::KeyFormat;
use crate::select::{Found, Seen, find};

/// Longest reason kept, bytes.
const REASON_BYTES_MAX: usize = 120;

/// What one stage looks for; nothing, for most.
#[derive(Debug)]
pub(crate) struct Besides {
    reason: Option<Selector>,
    rekey: Option<(Selector, KeyFormat)>,
    /// Stages whose number of members its events say, and where.
    tells: Vec<(u8, Selector)>,
    /// Where its events show a foreign clock, and which.
    clock: Option<(u8, Selector)>,
    /// Its journeys have traces.
    traced: bool,
}

impl Besides {
    pub(crate) fn of(journey: &Journey, index: u8) -> Self {
        let stage = journey.stages.get(usize::from(index));
        let rekey = stage.and_then(|stage| stage.rekey.as_ref());
        let tells = (0..=u8::MAX).zip(&journey.stages).filter_map(|(told, stage)| {
            let Expect::Told { from, by } = &stage.expect else { return None };
            (*by == Teller::Stage(index.into())).then(|| (told, from.clone()))
        });
        let clock = stage.and_then(|stage| stage.clock.as_ref());
        Self {
            reason: stage.and_then(|stage| stage.reason.clone()),
            rekey: rekey.map(|(from, format)| (from.clone(), KeyFormat::new(format))),
            tells: tells.collect(),
            // The plan's reader refuses more clocks than a byte numbers.
            clock: clock.map(|rule| (rule.clock as u8, rule.ulid.clone())),
            traced: journey.trace,
        }
    }

    /// What it looks at.
    pub(crate) fn selectors(&self) -> impl Iterator<Item = &Selector> {
        let rekey = self.rekey.iter().map(|(selector, _)| selector);
        let tells = self.tells.iter().map(|(_, selector)| selector);
        let clock = self.clock.iter().map(|(_, selector)| selector);
        self.reason.iter().chain(rekey).chain(tells).chain(clock)
    }

    /// What an event holds of it; `None` where that is nothing.
    pub(crate) fn take(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> Option<Box<More>> {
        let takes_values = self.reason.is_some() || self.rekey.is_some() || !self.tells.is_empty();
        if !takes_values && !self.traced && self.clock.is_none() {
            return None;
        }
        let reason = self.reason.as_ref();
        let reason = reason.and_then(|reason| line(&find(reason, message, seen)?));
        let rekey = self.rekey.as_ref().and_then(|(selector, format)| {
            let found = find(selector, message, seen)?;
            format.key(&found.text()?)
        });
        let told = |(stage, selector): &(u8, Selector)| {
            let members = match find(selector, message, seen)? {
                Found::Json(value) => members_of(value),
                Found::Text(text) => members_of(&Value::String(text.into_owned())),
            };
            Some((*stage, members?))
        };
        let tells: SmallVec<[(u8, u32); 1]> = self.tells.iter().filter_map(told).collect();
        let traces = if self.traced { traces(message, seen) } else { SmallVec::new() };
        let shown = self.clock.as_ref().map(|(clock, ulid)| Shown {
            clock: *clock,
            unix_ms: unix_ms(find(ulid, message, seen)),
        });
        let is_something = reason.is_some()
            || rekey.is_some()
            || !tells.is_empty()
            || !traces.is_empty()
            || shown.is_some();
        is_something.then(|| Box::new(More { reason, tells, rekey, traces, shown }))
    }
}

/// The time in a ULID, where there is one.
fn unix_ms(found: Option<Found<'_>>) -> Result<u64, Unread> {
    match found {
        None | Some(Found::Json(Value::Null)) => Err(Unread::Missing),
        Some(found) => found.text().and_then(|text| ulid_unix_ms(&text)).ok_or(Unread::Invalid),
    }
}

/// Where a trace context may be: its own header, and the headers of a binary CloudEvent.
const TRACE_HEADERS: [&str; 3] = ["traceparent", "ce-traceparent", "ce_traceparent"];

/// The traces that a message says it belongs to: headers and a structured CloudEvent's attribute
/// may differ, since a CloudEvent keeps the context of its origin.
fn traces(message: &RawMessage<'_>, seen: Seen<'_>) -> SmallVec<[TraceId; 1]> {
    let headers = TRACE_HEADERS.iter().filter_map(|name| message.header(name));
    let attribute = seen.traceparent().map(str::as_bytes);
    let mut traces: SmallVec<[TraceId; 1]> = SmallVec::new();
    for id in headers.chain(attribute).filter_map(TraceId::of_traceparent) {
        if !traces.contains(&id) {
            traces.push(id);
        }
    }
    traces
}

/// A value as a short line of text: a list or an object as JSON writes it, control characters as
/// spaces. `None` for null and for nothing but space.
fn line(found: &Found<'_>) -> Option<Box<str>> {
    let text = match (found.text(), found) {
        (Some(text), _) => text.into_owned(),
        (None, Found::Json(value)) if !value.is_null() => value.to_string(),
        _ => return None,
    };
    let end = text.floor_char_boundary(REASON_BYTES_MAX);
    let line = text[..end].replace(char::is_control, " ");
    let line = line.trim();
    let ellipsis = if end < text.len() { "…" } else { "" };
    (!line.is_empty()).then(|| format!("{line}{ellipsis}").into_boxed_str())
}

#[cfg(test)]
mod tests {
    use sojourn_plan::{Stage, StageSource};

    use super::*;
    use crate::decode::decode;
    use crate::testing::{message, path};

    fn stage() -> Stage {
        let source = StageSource::Event {
            channel: 0,
            matches: Vec::new(),
            checks: Vec::new(),
            key: Selector::MessageKey,
            key_format: "{}".to_owned(),
        };
        Stage::new("dead", source)
    }

    /// What is taken from an event of the first of these stages.
    fn taken(stages: &[Stage], message: &RawMessage<'_>) -> Option<Box<More>> {
        let decoded = decode(&sojourn_plan::Decoder::Auto, message).unwrap();
        let journey = Journey {
            name: "order".to_owned(),
            steps: Vec::new(),
            stages: stages.to_vec(),
            within_ns: 1,
            linger_ns: 0,
            trace: false,
            label: None,
            poison: None,
        };
        Besides::of(&journey, 0).take(message, Seen::Whole(&decoded))
    }

    fn reason(selector: Selector, message: &RawMessage<'_>) -> Option<String> {
        let stage = Stage { reason: Some(selector), ..stage() };
        taken(&[stage], message)?.reason.map(String::from)
    }

    #[test]
    fn a_further_key_is_written_as_the_plan_says() {
        let rekey = Some((path("$.psp"), "psp:{}".to_owned()));
        let stage = Stage { rekey, ..stage() };
        let further = |payload: &[u8]| {
            let more = taken(std::slice::from_ref(&stage), &message(payload))?;
            more.rekey.map(|key| String::from_utf8(key.as_bytes().to_vec()).unwrap())
        };
        assert_eq!(further(br#"{"psp":"x1"}"#).as_deref(), Some("psp:x1"));
        assert_eq!(further(br#"{"psp":17}"#).as_deref(), Some("psp:17"));
        for without in [&b"{}"[..], br#"{"psp":null}"#, br#"{"psp":""}"#, br#"{"psp":[1]}"#] {
            assert_eq!(further(without), None);
        }
    }

    #[test]
    fn an_event_tells_the_stages_that_ask_it_how_many_they_have() {
        let told = |from: &str, by: usize| Stage {
            expect: Expect::Told { from: path(from), by: Teller::Stage(by) },
            ..stage()
        };
        let by_step =
            Stage { expect: Expect::Told { from: path("$.n"), by: Teller::Step(0) }, ..stage() };
        let stages = [told("$.own", 0), stage(), told("$.lines", 0), told("$.n", 1), by_step];
        let tells = |payload: &[u8]| {
            let more = taken(&stages, &message(payload));
            more.map_or_else(Vec::new, |more| more.tells.to_vec())
        };
        assert_eq!(tells(br#"{"own":2,"lines":["a","b","c"],"n":9}"#), [(0, 2), (2, 3)]);
        assert_eq!(tells(br#"{"own":"x","lines":0}"#), [(2, 0)]);
        assert_eq!(tells(b"{}"), []);
    }

    #[test]
    fn a_clock_is_shown_missing_or_no_ulid() {
        let rule = sojourn_plan::ClockRule { clock: 3, ulid: path("$.run") };
        let stage = Stage { clock: Some(rule), ..stage() };
        let shown = |payload: &[u8]| {
            let more = taken(std::slice::from_ref(&stage), &message(payload)).unwrap();
            let Shown { clock, unix_ms } = more.shown.unwrap();
            assert_eq!(clock, 3);
            unix_ms
        };
        assert_eq!(shown(br#"{"run":"01ARYZ6S41TSV4RRFFQ69G5FAV"}"#), Ok(1_469_918_176_385));
        for (payload, unread) in [
            (&b"{}"[..], Unread::Missing),
            (br#"{"run":null}"#, Unread::Missing),
            (br#"{"run":"01ARYZ6S41TSV4RRFFQ69G5FA"}"#, Unread::Invalid),
            (br#"{"run":1469918176385}"#, Unread::Invalid),
            (br#"{"run":["01ARYZ6S41TSV4RRFFQ69G5FAV"]}"#, Unread::Invalid),
        ] {
            assert_eq!(shown(payload), Err(unread));
        }
    }

    #[test]
    fn a_reason_is_a_short_line() {
        let long = "é".repeat(100);
        let cut = format!("{}…", "é".repeat(60));
        for (json, expected) in [
            (r#""insufficient funds""#.to_owned(), Some("insufficient funds")),
            (r#"" a\nb\u0000 ""#.to_owned(), Some("a b")),
            ("503".to_owned(), Some("503")),
            (r#"{"code":7}"#.to_owned(), Some(r#"{"code":7}"#)),
            ("null".to_owned(), None),
            (r#""  ""#.to_owned(), None),
            (format!("\"{long}\""), Some(&*cut)),
        ] {
            let payload = format!(r#"{{"error":{json}}}"#);
            let found = reason(path("$.error"), &message(payload.as_bytes()));
            assert_eq!(found.as_deref(), expected, "{json}");
        }
        assert_eq!(reason(path("$.error"), &message(b"{}")), None);
        let mut rejected = message(b"no JSON");
        rejected.headers = vec![("x-death-reason", b"rejected")];
        let header = Selector::Header("X-Death-Reason".to_owned());
        assert_eq!(reason(header, &rejected).as_deref(), Some("rejected"));
    }

    #[test]
    fn traces_are_in_headers_and_attributes() {
        let traces = |headers: &[(&'static str, &'static [u8])], payload: &[u8]| {
            let mut message = message(payload);
            message.headers = headers.to_vec();
            let decoded = decode(&sojourn_plan::Decoder::Auto, &message).unwrap();
            let found = super::traces(&message, Seen::Whole(&decoded));
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (one, two) = ("1".repeat(32), "2".repeat(32));
        let first: &[u8] = b"00-11111111111111111111111111111111-00f067aa0ba902b7-01";
        let second: &[u8] = b"00-22222222222222222222222222222222-00f067aa0ba902b7-00";
        for name in ["traceparent", "TraceParent", "ce-traceparent", "ce_traceparent"] {
            assert_eq!(traces(&[(name, first)], b"{}"), [&*one], "{name}");
        }
        let both = [("ce-traceparent", second), ("traceparent", first)];
        assert_eq!(traces(&both, b"{}"), [&*one, &*two]);
        let event = format!(
            r#"{{"specversion":"1.0","type":"t","id":"i","traceparent":"{}","data":{{}}}}"#,
            std::str::from_utf8(second).unwrap()
        );
        assert_eq!(traces(&[("traceparent", second)], event.as_bytes()), [&*two]);
        assert_eq!(traces(&[("traceparent", b"00-none")], b"{}"), [] as [&str; 0]);
    }

    proptest::proptest! {
        #[test]
        fn a_reason_is_bounded_and_of_one_line(text: String) {
            let payload = serde_json::json!({ "error": text }).to_string();
            let found = reason(path("$.error"), &message(payload.as_bytes()));
            let found = found.unwrap_or_default();
            proptest::prop_assert!(found.len() <= REASON_BYTES_MAX + "…".len());
            proptest::prop_assert!(!found.contains(char::is_control));
        }
    }
}
