//! What a thread says about itself.

use sojourn_clock::{ThreadCpu, thread_cpu};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};

/// A thread's processor time and its refusals, as series.
#[derive(Debug)]
pub(crate) struct ThreadHealth {
    name: String,
    cpu: SeriesId,
    run_queue: SeriesId,
    connections: Option<SeriesId>,
    /// Only generators are watched: the limit, the series, and the present stretch in seconds.
    busy: Option<(f64, SeriesId, f64)>,
    last: Option<(u64, ThreadCpu)>,
}

impl ThreadHealth {
    /// The health of the calling thread.
    pub(crate) fn new(name: &str, recorder: &mut Recorder) -> Self {
        let mut gauge = |metric: &str| {
            let key = SeriesKey::new(metric, &[("thread", name)], SeriesPhase::Any);
            recorder.series(Kind::Gauge, key)
        };
        Self {
            cpu: gauge(names::HEALTH_CPU),
            run_queue: gauge(names::HEALTH_RUN_QUEUE),
            name: name.to_owned(),
            connections: None,
            busy: None,
            last: None,
        }
    }

    /// Watches how long in a row the thread is busier than `busy_max` of a processor.
    pub(crate) fn watch(mut self, busy_max: f64, recorder: &mut Recorder) -> Self {
        let tags = [("thread", self.name.as_str())];
        let key = SeriesKey::new(names::HEALTH_BUSY_S, &tags, SeriesPhase::Any);
        self.busy = Some((busy_max, recorder.series(Kind::Gauge, key), 0.0));
        self
    }

    /// Sets the fractions of a processor used and waited for since the last call. To be called on
    /// the thread it is about.
    pub(crate) fn measure(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let cpu = thread_cpu();
        if let Some((then_ns, before)) = self.last {
            let elapsed = now_ns.saturating_sub(then_ns).max(1) as f64;
            let on_processor = (cpu.cpu_ns - before.cpu_ns) as f64 / elapsed;
            let waiting = (cpu.run_queue_ns - before.run_queue_ns) as f64 / elapsed;
            recorder.set(self.cpu, on_processor);
            recorder.set(self.run_queue, waiting);
            if let Some((busy_max, series, stretch_s)) = &mut self.busy {
                let is_busy = on_processor + waiting > *busy_max;
                *stretch_s = if is_busy {
                    *stretch_s + elapsed / 1e9
                } else {
                    0.0
                };
                recorder.set(*series, *stretch_s);
            }
        }
        self.last = Some((now_ns, cpu));
    }

    /// Counts what a bounded queue of this thread refused.
    pub(crate) fn refused(&self, queue: &str, count: u64, recorder: &mut Recorder) {
        if count > 0 {
            let queue = format!("{}: {queue}", self.name);
            let key = SeriesKey::new(
                names::HEALTH_REFUSED,
                &[("queue", &queue)],
                SeriesPhase::Any,
            );
            let series = recorder.series(Kind::Counter, key);
            recorder.add(series, count);
        }
    }

    /// Sets the number of open connections.
    pub(crate) fn connections(&mut self, open: usize, recorder: &mut Recorder) {
        let series = *self.connections.get_or_insert_with(|| {
            let tags = [("generator", self.name.as_str())];
            let key = SeriesKey::new(names::HEALTH_CONNECTIONS, &tags, SeriesPhase::Any);
            recorder.series(Kind::Gauge, key)
        });
        recorder.set(series, open as f64);
    }
}
