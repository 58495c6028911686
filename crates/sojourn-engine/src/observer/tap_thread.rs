//! A tap's thread: poll, stamp (in the connector), decode, hand over.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossbeam_channel::Sender;
use sojourn_broker::{RawMessage, Router, Sink, Tap};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_ledger::{Batch, Fact, SourceId};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Snapshot, names};

use crate::{generator::Outbox, health::ThreadHealth, options::narrate};

/// Facts that wait for a place in the ledger's channel.
const FACTS_MAX: usize = 1_000_000;

/// What a tap thread is made with.
pub(crate) struct TapSpec {
    pub(crate) channel: String,
    pub(crate) tap: Box<dyn Tap>,
    pub(crate) router: Router,
    pub(crate) source: SourceId,
    pub(crate) facts: Sender<Batch>,
    pub(crate) reports: Sender<TapReport>,
    pub(crate) stop: Arc<AtomicBool>,
    /// The instant before which events are of earlier runs, once the run's start is known.
    pub(crate) start: crossbeam_channel::Receiver<u64>,
    pub(crate) narrator: Option<Sender<String>>,
}

/// What a tap thread says to the coordinator.
pub(crate) enum TapReport {
    /// One second's figures.
    Snapshot(Box<Snapshot>),
    /// The tap is lost: the run is void.
    Lost(String),
    /// It ended as asked; samples of what could not be decoded, and events seen before the start.
    Ended {
        channel: String,
        undecodable: Vec<String>,
        residual: u64,
    },
}

struct ToLedger {
    router: Router,
    outbox: Outbox,
    narrator: Option<Sender<String>>,
    /// Set at the run's start; before it, events are residual backlog of earlier runs.
    started: bool,
    residual: u64,
}

impl Sink for ToLedger {
    fn message(&mut self, message: &RawMessage<'_>) {
        let observed = self.router.observe(message);
        narrate(self.narrator.as_ref(), || {
            let key = message
                .key
                .map_or_else(String::new, |key| String::from_utf8_lossy(key).into());
            let shown = &message.payload[..message.payload.len().min(200)];
            let fits = observed
                .as_ref()
                .map_or(0, |observation| observation.candidates.len());
            format!(
                "event on {} key {key}: {} (fits {fits} stages)",
                message.topic,
                String::from_utf8_lossy(shown)
            )
        });
        if !self.started {
            self.residual += 1;
            return;
        }
        if let Some(observation) = observed {
            self.outbox
                .push(message.stamp_ns, Fact::Observed(Box::new(observation)));
        }
    }
}

/// The thread's body: from the tap's opening until `stop`, or until the tap is lost.
pub(crate) fn run_tap(spec: TapSpec) {
    let TapSpec {
        channel,
        mut tap,
        router,
        source,
        facts,
        reports,
        stop,
        start,
        narrator,
    } = spec;
    let mut sink = ToLedger {
        router,
        outbox: Outbox::new(source, facts, FACTS_MAX),
        narrator,
        started: false,
        residual: 0,
    };
    let mut recorder = Recorder::new(u32::from(source.0));
    let mut health = ThreadHealth::new(&format!("tap {channel}"), &mut recorder);
    let gauge = |metric: &str, recorder: &mut Recorder| {
        let key = SeriesKey::new(metric, &[("channel", &channel)], SeriesPhase::Any);
        recorder.series(Kind::Gauge, key)
    };
    let behind = gauge(names::HEALTH_TAP_BEHIND_MS, &mut recorder);
    let key = SeriesKey::new(
        names::EVENTS_REREAD,
        &[("channel", &channel)],
        SeriesPhase::Any,
    );
    let reread = recorder.series(Kind::Counter, key);
    let mut rereads_told = 0;
    let mut snapshot_ns = now_ns() + SECOND_NS;
    let mut lost = None;
    while !stop.load(Ordering::Relaxed) {
        if !sink.started
            && let Ok(start_ns) = start.try_recv()
        {
            sink.started = true;
            recorder.start_at(start_ns);
            snapshot_ns = start_ns + SECOND_NS;
        }
        if let Err(error) = tap.poll(Duration::from_millis(2), &mut sink) {
            lost = Some(format!("tap {channel} was lost: {error}"));
            break;
        }
        if !sink.started {
            continue;
        }
        let watermark_ns = tap.watermark_ns();
        sink.outbox.flush(watermark_ns);
        let now = now_ns();
        if now >= snapshot_ns {
            let behind_ns = tap
                .behind_ns()
                .unwrap_or(0)
                .max(now.saturating_sub(watermark_ns));
            recorder.set(behind, behind_ns as f64 / MILLISECOND_NS as f64);
            recorder.add(reread, sink.router.rereads() - rereads_told);
            rereads_told = sink.router.rereads();
            health.measure(now, &mut recorder);
            health.refused(
                "facts to the ledger",
                sink.outbox.take_refused(),
                &mut recorder,
            );
            // A lost snapshot shows as a gap in their numbers, which makes the run void.
            let _ignored = reports.try_send(TapReport::Snapshot(Box::new(recorder.take(now, None))));
            snapshot_ns += SECOND_NS * (1 + (now - snapshot_ns) / SECOND_NS);
        }
    }
    flush_rest(&mut sink.outbox);
    recorder.add(reread, sink.router.rereads() - rereads_told);
    health.measure(now_ns(), &mut recorder);
    // The coordinator reads until every tap has ended.
    let _ignored = reports.send(TapReport::Snapshot(Box::new(recorder.take(now_ns(), None))));
    if let Some(why) = lost {
        let _ignored = reports.send(TapReport::Lost(why));
    }
    let undecodable = sink.router.undecodable_samples().to_vec();
    let _ignored = reports.send(TapReport::Ended {
        channel,
        undecodable,
        residual: sink.residual,
    });
}

/// Hands the last facts over, with the word that nothing follows.
fn flush_rest(outbox: &mut Outbox) {
    let give_up_ns = now_ns() + SECOND_NS;
    loop {
        outbox.flush(u64::MAX);
        if outbox.pending() == 0 || now_ns() > give_up_ns {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
