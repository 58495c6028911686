//! What a whole process takes and has left: memory, processor time, descriptors, ports.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::process::{Resource, getrlimit};
use sojourn_clock::process_cpu_ns;
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};

use crate::machine::{count_of, ephemeral_ports};

/// The process as series.
#[derive(Debug)]
pub(crate) struct ProcessHealth {
    memory_bytes: SeriesId,
    cpu: SeriesId,
    descriptors: SeriesId,
    descriptors_left: SeriesId,
    ports: Option<Ports>,
    /// Where its memory stands; opened beforehand, since descriptors may run out.
    statm: Option<File>,
    /// When its processor time was last read, and what it was, nanoseconds.
    last: Option<(u64, u64)>,
}

/// Ports left, told by the process that coordinates alone: those of one address are all processes'.
#[derive(Debug)]
struct Ports {
    left: SeriesId,
    all: u64,
}

impl ProcessHealth {
    /// Of the calling process: of a process of generators by its name, else of the one that
    /// coordinates.
    pub(crate) fn new(name: Option<&str>, recorder: &mut Recorder) -> Self {
        let tags: Vec<_> = name.map(|name| (names::PROCESS, name)).into_iter().collect();
        let mut gauge = |metric: &str| {
            recorder.series(Kind::Gauge, SeriesKey::new(metric, &tags, SeriesPhase::Any))
        };
        Self {
            memory_bytes: gauge(names::HEALTH_MEMORY_BYTES),
            cpu: gauge(names::HEALTH_PROCESS_CPU),
            descriptors: gauge(names::HEALTH_DESCRIPTORS),
            descriptors_left: gauge(names::HEALTH_DESCRIPTORS_LEFT),
            ports: name.is_none().then(|| Ports {
                left: gauge(names::HEALTH_PORTS_LEFT),
                all: count_of(&ephemeral_ports()),
            }),
            statm: File::open("/proc/self/statm").ok(),
            last: None,
        }
    }

    /// Sets the levels as they stand; what the system does not tell stays unset.
    pub(crate) fn measure(&mut self, now_ns: u64, recorder: &mut Recorder) {
        self.take_cpu(now_ns, process_cpu_ns(), recorder);
        if let Some(bytes) = self.statm.as_ref().and_then(resident_bytes) {
            recorder.set(self.memory_bytes, bytes as f64);
        }
        recorder.set(self.descriptors, descriptors() as f64);
        if let Some(open) = open_descriptors() {
            recorder.set(self.descriptors_left, descriptors().saturating_sub(open) as f64);
            if let Some(ports) = &self.ports {
                // Every descriptor could be a connection to one target: never more ports than this.
                recorder.set(ports.left, ports.all.saturating_sub(open) as f64);
            }
        }
    }

    fn take_cpu(&mut self, now_ns: u64, cpu_ns: u64, recorder: &mut Recorder) {
        if let Some((then_ns, before_ns)) = self.last {
            let elapsed_ns = now_ns.saturating_sub(then_ns).max(1);
            recorder.set(self.cpu, cpu_ns.saturating_sub(before_ns) as f64 / elapsed_ns as f64);
        }
        self.last = Some((now_ns, cpu_ns));
    }
}

/// Resident memory (`/proc/self/statm`, second field, in pages).
fn resident_bytes(statm: &File) -> Option<u64> {
    // Seven numbers of at most twenty digits.
    let mut text = [0; 256];
    let length = statm.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Open descriptors: the size of `/proc/self/fd`, which Linux 6.2 and later know without listing
/// it.
fn open_descriptors() -> Option<u64> {
    let size = std::fs::metadata("/proc/self/fd").ok()?.len();
    (size > 0).then_some(size)
}

/// Descriptors that this process may open.
pub(crate) fn descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use sojourn_metrics::Store;

    use super::*;

    #[test]
    fn a_process_has_memory_and_ports() {
        let statm = File::open("/proc/self/statm").unwrap();
        let before = resident_bytes(&statm).unwrap();
        assert!(before > 100_000);
        let more = vec![1u8; 64 << 20];
        // Read anew each time; other tests may give some back meanwhile.
        assert!(resident_bytes(&statm).unwrap() > before + (more.len() as u64) / 2);
        assert!(count_of(&ephemeral_ports()) > 1_000);
    }

    #[test]
    fn processes_have_series_of_their_own() {
        let mut recorder = Recorder::new(0);
        let mut coordinator = ProcessHealth::new(None, &mut recorder);
        let mut other = ProcessHealth::new(Some("process 1"), &mut recorder);
        for (now_ns, cpu_ns) in [(1_000_000_000, 700), (3_000_000_000, 3_000_000_700)] {
            coordinator.measure(now_ns, &mut recorder);
            other.take_cpu(now_ns, cpu_ns, &mut recorder);
        }
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let gauge = |metric: &str, tags: &[(&str, &str)]| {
            store.gauge(&SeriesKey::new(metric, tags, SeriesPhase::Any)).map(|(last, _, _)| last)
        };
        let its = [(names::PROCESS, "process 1")];
        assert_eq!(gauge(names::HEALTH_PROCESS_CPU, &its), Some(1.5));
        assert_eq!(gauge(names::HEALTH_DESCRIPTORS, &[]), Some(descriptors() as f64));
        assert!(gauge(names::HEALTH_PROCESS_CPU, &[]).is_some());
        let told = |metric: &str| store.series().filter(|(key, _)| key.metric == metric).count();
        assert_eq!((told(names::HEALTH_PORTS_LEFT), told(names::HEALTH_DESCRIPTORS_LEFT)), (1, 2));
    }
}
