//! Kept journeys as traces: the journey a span, its steps and hops spans within it.
//!
//! A journey that has a trace of its own keeps it, and its span is the one that the system under
//! test was told as parent: what the system itself traces hangs below it. Every id is made of the
//! journey's, so a journey that is sent again is the same trace.

use std::hash::{DefaultHasher, Hasher};

use prost::Message;
use sojourn_ledger::TraceId;
use sojourn_record::{JourneyRecord, JourneyShape};

use super::{
    identity::{resource, scope},
    messages::{
        CLIENT, CONSUMER, ERROR, INTERNAL, KeyValue, OK, ResourceSpans, ScopeSpans, Span,
        SpanEvent, Status, TraceRequest,
    },
};
use crate::target::Run;

/// These journeys of a run that began then, nanoseconds since the Unix epoch.
pub(super) fn request(journeys: &[&JourneyRecord], start_unix_ns: u64, run: &Run) -> Vec<u8> {
    let spans = journeys.iter().flat_map(|journey| {
        let shape = run.shapes.iter().find(|shape| shape.name == journey.journey);
        let ids = Ids::of(journey, run);
        Tracer { journey, shape, start_unix_ns, ids }.spans()
    });
    let scopes = vec![ScopeSpans { scope: Some(scope()), spans: spans.collect() }];
    let resources = vec![ResourceSpans { resource: Some(resource(run)), scopes }];
    TraceRequest { resources }.encode_to_vec()
}

/// The trace of a journey, and its own span.
#[derive(Clone, Copy)]
struct Ids {
    trace: [u8; 16],
    span: u64,
}

impl Ids {
    fn of(journey: &JourneyRecord, run: &Run) -> Self {
        let own = journey.trace_id.as_deref().and_then(TraceId::of_hex);
        if let Some(id) = own {
            return Self { trace: id.bytes(), span: id.span() };
        }
        let half = |salt: u64| hash(&[salt, journey.id], run.id.as_bytes());
        let mut trace = [0; 16];
        trace[..8].copy_from_slice(&half(1).to_be_bytes());
        trace[8..].copy_from_slice(&half(2).to_be_bytes());
        Self { trace, span: half(3) }
    }
}

/// Never zero, which is no id.
fn hash(numbers: &[u64], bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    numbers.iter().for_each(|number| hasher.write_u64(*number));
    hasher.write(bytes);
    hasher.finish().max(1)
}

struct Tracer<'a> {
    journey: &'a JourneyRecord,
    shape: Option<&'a JourneyShape>,
    start_unix_ns: u64,
    ids: Ids,
}

impl Tracer<'_> {
    fn spans(&self) -> Vec<Span> {
        let journey = self.journey;
        let mut spans = vec![self.root()];
        for (at, step) in journey.steps.iter().enumerate() {
            let ended_ns = step.ended_ns.unwrap_or(journey.end_ns);
            let name = format!("step {}", step.name);
            let mut span = self.child(1, at, name, (step.began_ns, ended_ns));
            span.kind = CLIENT;
            span.attributes.push(KeyValue::text("step", &step.name));
            if let Some(status) = step.status {
                let status = KeyValue::integer("http.response.status_code", u64::from(status));
                span.attributes.push(status);
            }
            if step.ended_ns.is_none() {
                let message = "the journey ended before it".to_owned();
                span.status = Some(Status { message, code: ERROR });
            }
            spans.push(span);
        }
        let Some(shape) = self.shape else { return spans };
        for (at, stage) in journey.stages.iter().enumerate() {
            let Some(seen_ns) = stage.seen_ns else { continue };
            // Without its predecessor it has no hop, here as in reports.
            let Some(from_ns) = journey.predecessor_ns(shape, stage) else { continue };
            let name = format!("hop to {}", stage.name);
            // One that was seen before what it follows takes no time here.
            let mut span = self.child(2, at, name, (from_ns.min(seen_ns), seen_ns));
            span.kind = CONSUMER;
            span.attributes.push(KeyValue::text("stage", &stage.name));
            spans.push(span);
        }
        spans
    }

    fn root(&self) -> Span {
        let journey = self.journey;
        let mut attributes = vec![
            KeyValue::text("journey", &journey.journey),
            KeyValue::integer("journey.id", journey.id),
            KeyValue::text("class", &journey.class),
            KeyValue::text("phase", &journey.phase),
            KeyValue::text("kept_as", &journey.kept_as),
            KeyValue::integer("lag_ns", journey.t1_ns.saturating_sub(journey.t0_ns)),
        ];
        attributes.extend(journey.key.as_ref().map(|key| KeyValue::text("key", key)));
        attributes.extend(journey.label.as_ref().map(|label| KeyValue::text("label", label)));
        let duplicates = journey.duplicates.iter().map(|duplicate| SpanEvent {
            unix_ns: self.unix_ns(duplicate.seen_ns),
            name: "duplicate".to_owned(),
            attributes: vec![
                KeyValue::text("stage", &duplicate.stage),
                KeyValue::text("kind", &duplicate.kind),
            ],
        });
        let status = match journey.class.as_str() {
            "completed" => Status { code: OK, ..Status::default() },
            class => {
                let message = journey.reason.clone().unwrap_or_else(|| class.to_owned());
                Status { message, code: ERROR }
            }
        };
        Span {
            trace_id: self.ids.trace.to_vec(),
            span_id: self.ids.span.to_be_bytes().to_vec(),
            parent_span_id: Vec::new(),
            name: journey.journey.clone(),
            kind: INTERNAL,
            start_unix_ns: self.unix_ns(journey.t0_ns),
            end_unix_ns: self.unix_ns(journey.end_ns.max(journey.t0_ns)),
            attributes,
            events: duplicates.collect(),
            status: Some(status),
        }
    }

    fn child(&self, group: u64, at: usize, name: String, (start_ns, end_ns): (u64, u64)) -> Span {
        let id = hash(&[group, at as u64, self.ids.span], &self.ids.trace);
        Span {
            trace_id: self.ids.trace.to_vec(),
            span_id: id.to_be_bytes().to_vec(),
            parent_span_id: self.ids.span.to_be_bytes().to_vec(),
            name,
            start_unix_ns: self.unix_ns(start_ns),
            end_unix_ns: self.unix_ns(end_ns.max(start_ns)),
            ..Span::default()
        }
    }

    /// Of an instant relative to the run's start.
    fn unix_ns(&self, since_start_ns: u64) -> u64 {
        self.start_unix_ns.saturating_add(since_start_ns)
    }
}
