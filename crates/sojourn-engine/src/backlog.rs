//! What waits in the brokers for the system's own consumers, read once a second beside the load.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender};
use sojourn_broker::{Backlog, BrokerError, Reading, Registry};
use sojourn_clock::now_ns;
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, names};
use sojourn_plan::{Channel, Plan};

use crate::{RunError, every_second::every_second, observer::TapReport};

/// Longest wait for all the answers of one second.
const TIMEOUT: Duration = Duration::from_millis(800);

/// A channel whose backlog the plan asks for.
pub(crate) struct Reader {
    channel: String,
    backlog: Box<dyn Backlog>,
    /// What went wrong has been told.
    told: bool,
}

/// What the thread is made with.
pub(crate) struct BacklogSpec {
    pub(crate) readers: Vec<Reader>,
    /// Its recorder's own.
    pub(crate) number: u32,
    pub(crate) reports: Sender<TapReport>,
    pub(crate) notes: Sender<String>,
    pub(crate) start: Receiver<u64>,
    pub(crate) stop: Arc<AtomicBool>,
}

/// The readers of every channel whose backlog the plan asks for. Each is asked once, so that a name
/// that the broker does not know is said before anything is sent.
pub(crate) fn readers(plan: &Plan, registry: &Registry) -> Result<Vec<Reader>, RunError> {
    let readers = plan.channels.iter().filter_map(|channel| reader(channel, registry).transpose());
    let readers = readers.map(|read| read.map(|(reader, _)| reader));
    Ok(readers.collect::<Result<Vec<Reader>, BrokerError>>()?)
}

/// The reader of a channel whose backlog the plan asks for, and what it read first.
pub(crate) fn reader(
    channel: &Channel,
    registry: &Registry,
) -> Result<Option<(Reader, Vec<Reading>)>, BrokerError> {
    let Some(mut backlog) = registry.of(channel)?.backlog(channel)? else { return Ok(None) };
    let mut readings = Vec::new();
    backlog.read(Duration::from_secs(5), &mut readings)?;
    Ok(Some((Reader { channel: channel.name.clone(), backlog, told: false }, readings)))
}

/// The thread's body: from the run's start until `stop`.
pub(crate) fn run(spec: BacklogSpec) {
    let BacklogSpec { mut readers, number, reports, notes, start, stop } = spec;
    let Ok(start_ns) = start.recv() else {
        // Never started: there is nothing to read.
        return;
    };
    let mut recorder = Recorder::new(number);
    recorder.start_at(start_ns);
    let timeout = TIMEOUT / u32::try_from(readers.len()).unwrap_or(u32::MAX).max(1);
    every_second(start_ns, &stop, |_| {
        for reader in &mut readers {
            read(reader, timeout, &mut recorder, &notes);
        }
        // A lost snapshot shows as a gap in their numbers.
        let snapshot = Box::new(recorder.take(now_ns(), None));
        let _ignored = reports.try_send(TapReport::Snapshot(snapshot));
    });
}

fn read(reader: &mut Reader, timeout: Duration, recorder: &mut Recorder, notes: &Sender<String>) {
    let mut readings = Vec::new();
    if let Err(error) = reader.backlog.read(timeout, &mut readings)
        && !reader.told
    {
        let channel = &reader.channel;
        let note = format!("backlog of {channel}: not read every second: {error}");
        reader.told = notes.try_send(note).is_ok();
    }
    for Reading { of, figure, value } in readings {
        let tags =
            [(names::CHANNEL, &*reader.channel), (names::OF, &*of), (names::FIGURE, figure.name())];
        let key = SeriesKey::new(names::BACKLOG, &tags, SeriesPhase::Any);
        let series = recorder.series(Kind::Gauge, key);
        recorder.set(series, value);
    }
}
