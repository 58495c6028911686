//! What the whole process has left: memory, descriptors, ports.

use rustix::process::{Resource, getrlimit};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};

use crate::machine::{count_of, ephemeral_ports};

/// The process as series.
#[derive(Debug)]
pub(crate) struct ProcessHealth {
    memory_bytes: SeriesId,
    descriptors_left: SeriesId,
    ports_left: SeriesId,
    ports: u64,
}

impl ProcessHealth {
    pub(crate) fn new(recorder: &mut Recorder) -> Self {
        let mut gauge = |metric: &str| {
            recorder.series(Kind::Gauge, SeriesKey::new(metric, &[], SeriesPhase::Any))
        };
        Self {
            memory_bytes: gauge(names::HEALTH_MEMORY_BYTES),
            descriptors_left: gauge(names::HEALTH_DESCRIPTORS_LEFT),
            ports_left: gauge(names::HEALTH_PORTS_LEFT),
            ports: count_of(&ephemeral_ports()),
        }
    }

    /// Sets the levels as they stand; what the system does not tell stays unset.
    pub(crate) fn measure(&self, recorder: &mut Recorder) {
        if let Some(bytes) = resident_bytes() {
            recorder.set(self.memory_bytes, bytes as f64);
        }
        if let Some(open) = open_descriptors() {
            recorder.set(self.descriptors_left, descriptors().saturating_sub(open) as f64);
            // Every descriptor could be a connection to one target: never more ports than this.
            recorder.set(self.ports_left, self.ports.saturating_sub(open) as f64);
        }
    }
}

/// Resident memory (`/proc/self/statm`, second field, in pages).
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
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
    use super::*;

    #[test]
    fn a_process_has_memory_and_ports() {
        assert!(resident_bytes().unwrap() > 100_000);
        assert!(count_of(&ephemeral_ports()) > 1_000);
    }
}
