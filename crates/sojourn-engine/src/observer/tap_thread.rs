//! A tap's thread: poll, stamp (in the connector), decode, hand over.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossbeam_channel::Sender;
use sojourn_broker::{Gap, RawMessage, Router, Sink, Tap};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_ledger::{Batch, Fact, SourceId};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, Snapshot, names};

use super::MessageRing;
use crate::{
    follow::{self, Listener},
    generator::Outbox,
    health::ThreadHealth,
    options::narrate,
};

/// Facts that wait for a place in the ledger's channel.
const FACTS_MAX: usize = 1_000_000;

/// What a tap thread is made with.
pub(crate) struct TapSpec {
    pub(crate) channel: String,
    /// Its place in the plan.
    pub(crate) index: usize,
    pub(crate) tap: Box<dyn Tap>,
    pub(crate) router: Router,
    pub(crate) source: SourceId,
    pub(crate) facts: Sender<Batch>,
    pub(crate) reports: Sender<TapReport>,
    pub(crate) stop: Arc<AtomicBool>,
    /// The instant before which events are of earlier runs, once the run's start is known.
    pub(crate) start: crossbeam_channel::Receiver<u64>,
    pub(crate) narrator: Option<Sender<String>>,
    /// Where messages are held for kept journeys, where that was asked for.
    pub(crate) ring: Option<MessageRing>,
    /// Who hears of events besides the ledger.
    pub(crate) listener: Option<Arc<dyn Listener>>,
}

/// What a tap thread says to the coordinator.
pub(crate) enum TapReport {
    /// One second's figures.
    Snapshot(Box<Snapshot>),
    /// The tap had no connection for a while.
    Gap { channel: String, gap: Gap },
    /// The tap is lost: the run is void.
    Lost(String),
    /// It ended as asked; samples of what could not be decoded, and events seen before the start.
    Ended { channel: String, undecodable: Vec<String>, residual: u64 },
}

struct ToLedger {
    router: Router,
    outbox: Outbox,
    narrator: Option<Sender<String>>,
    ring: Option<MessageRing>,
    listener: Option<Arc<dyn Listener>>,
    /// The run's start, once it is known; before it, events are residual backlog of earlier runs.
    start_ns: Option<u64>,
    residual: u64,
    /// The latest event's instant.
    last_ns: u64,
}

impl ToLedger {
    /// Tells the listener how far the tap has seen.
    fn seen(&self, channel: usize, seen_ns: u64) {
        if let Some(listener) = &self.listener {
            listener.seen(channel, seen_ns);
        }
    }
}

impl Sink for ToLedger {
    fn message(&mut self, message: &RawMessage<'_>) {
        let observed = self.router.observe(message);
        narrate(self.narrator.as_ref(), || {
            let key =
                message.key.map_or_else(String::new, |key| String::from_utf8_lossy(key).into());
            let shown = &message.payload[..message.payload.len().min(200)];
            let fits = observed.as_ref().map_or(0, |observation| observation.candidates.len());
            format!(
                "event on {} key {key}: {} (fits {fits} stages)",
                message.topic,
                String::from_utf8_lossy(shown)
            )
        });
        if self.start_ns.is_none_or(|start_ns| message.stamp_ns < start_ns) {
            self.residual += 1;
            return;
        }
        if let Some(observation) = observed {
            // Messages of one read share a stamp, but came one after the other: a nanosecond apart,
            // that an event overtook its predecessor is still seen.
            self.last_ns = message.stamp_ns.max(self.last_ns + 1);
            if let (Some(ring), false) = (&self.ring, observation.candidates.is_empty()) {
                ring.hold(self.last_ns, message);
            }
            if let (Some(listener), false) = (&self.listener, observation.candidates.is_empty()) {
                follow::tell(&**listener, self.last_ns, &observation.candidates, message);
            }
            self.outbox.push(self.last_ns, Fact::Observed(Box::new(observation)));
        }
    }

    fn unacceptable(&mut self, message: &RawMessage<'_>, reason: &str) {
        narrate(self.narrator.as_ref(), || format!("no event on {}: {reason}", message.topic));
        if self.start_ns.is_none_or(|start_ns| message.stamp_ns < start_ns) {
            self.residual += 1;
            return;
        }
        let observation = self.router.unacceptable(message, reason);
        self.outbox.push(message.stamp_ns, Fact::Observed(Box::new(observation)));
    }
}

/// The thread's body: from the tap's opening until `stop`, or until the tap is lost.
pub(crate) fn run_tap(spec: TapSpec) {
    let TapSpec { channel, index, mut tap, source, reports, stop, start, .. } = spec;
    let mut sink = ToLedger {
        router: spec.router,
        outbox: Outbox::new(source, spec.facts, FACTS_MAX),
        narrator: spec.narrator,
        ring: spec.ring,
        listener: spec.listener,
        start_ns: None,
        residual: 0,
        last_ns: 0,
    };
    let mut figures = Figures::new(&channel, source);
    let mut lost = None;
    while !stop.load(Ordering::Relaxed) {
        if sink.start_ns.is_none()
            && let Ok(start_ns) = start.try_recv()
        {
            sink.start_ns = Some(start_ns);
            figures.start_at(start_ns);
        }
        if let Err(error) = tap.poll(Duration::from_millis(2), &mut sink) {
            lost = Some(format!("tap {channel} was lost: {error}"));
        }
        for gap in tap.take_gaps() {
            // The coordinator reads until every tap has ended.
            let _ignored = reports.send(TapReport::Gap { channel: channel.clone(), gap });
        }
        if lost.is_some() {
            break;
        }
        if sink.start_ns.is_some() {
            sink.outbox.flush(tap.watermark_ns());
            sink.seen(index, tap.watermark_ns());
            if let Some(snapshot) = figures.each_second(now_ns(), tap.as_ref(), &mut sink) {
                // A lost snapshot shows as a gap in their numbers, which makes the run void.
                let _ignored = reports.try_send(TapReport::Snapshot(snapshot));
            }
        }
    }
    sink.outbox.finish(tap.watermark_ns());
    // Nobody waits for what a tap that has ended might have seen: one that is lost makes the run
    // void.
    sink.seen(index, u64::MAX);
    // The coordinator reads until every tap has ended.
    let snapshot = figures.take(now_ns(), tap.as_ref(), &mut sink);
    let _ignored = reports.send(TapReport::Snapshot(snapshot));
    if let Some(why) = lost {
        let _ignored = reports.send(TapReport::Lost(why));
    }
    let undecodable = sink.router.undecodable_samples().to_vec();
    let ended = TapReport::Ended { channel, undecodable, residual: sink.residual };
    let _ignored = reports.send(ended);
}

/// A tap's own figures, second by second.
struct Figures {
    recorder: Recorder,
    health: ThreadHealth,
    behind: SeriesId,
    reread: SeriesId,
    rereads_told: u64,
    refused_told: u64,
    snapshot_ns: u64,
}

impl Figures {
    fn new(channel: &str, source: SourceId) -> Self {
        let mut recorder = Recorder::new(u32::from(source.0));
        let mut series = |kind: Kind, metric: &str| {
            recorder.series(kind, SeriesKey::new(metric, &[("channel", channel)], SeriesPhase::Any))
        };
        let behind = series(Kind::Gauge, names::HEALTH_TAP_BEHIND_MS);
        let reread = series(Kind::Counter, names::EVENTS_REREAD);
        let health = ThreadHealth::new(&format!("tap {channel}"), &mut recorder);
        Self {
            recorder,
            health,
            behind,
            reread,
            rereads_told: 0,
            refused_told: 0,
            snapshot_ns: u64::MAX,
        }
    }

    fn start_at(&mut self, start_ns: u64) {
        self.recorder.start_at(start_ns);
        self.snapshot_ns = start_ns + SECOND_NS;
    }

    /// The second's snapshot, when a second is over.
    fn each_second(
        &mut self,
        now: u64,
        tap: &dyn Tap,
        sink: &mut ToLedger,
    ) -> Option<Box<Snapshot>> {
        if now < self.snapshot_ns {
            return None;
        }
        self.snapshot_ns += SECOND_NS * (1 + (now - self.snapshot_ns) / SECOND_NS);
        let behind_ns = tap.behind_ns().unwrap_or(0).max(now.saturating_sub(tap.watermark_ns()));
        self.recorder.set(self.behind, behind_ns as f64 / MILLISECOND_NS as f64);
        Some(self.take(now, tap, sink))
    }

    fn take(&mut self, now: u64, tap: &dyn Tap, sink: &mut ToLedger) -> Box<Snapshot> {
        let rereads = sink.router.rereads();
        self.recorder.add(self.reread, rereads - self.rereads_told);
        self.rereads_told = rereads;
        self.health.measure(now, &mut self.recorder);
        let refused = sink.outbox.take_refused();
        self.health.refused("facts to the ledger", refused, &mut self.recorder);
        let by_tap = tap.refused() - self.refused_told;
        self.refused_told += by_tap;
        self.health.refused("messages received", by_tap, &mut self.recorder);
        Box::new(self.recorder.take(now, None))
    }
}
