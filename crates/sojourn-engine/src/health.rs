//! What a thread says about itself.

use sojourn_clock::{ThreadCpu, thread_cpu};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};

use crate::process_health::ProcessHealth;

/// What refuses names of series beyond a recorder's bound.
pub(crate) const SERIES: &str = "series of figures";
/// What refuses writes to a series of another kind: a defect.
pub(crate) const WRITES: &str = "writes to figures";

/// A thread's processor time and its refusals, as series.
#[derive(Debug)]
pub(crate) struct ThreadHealth {
    name: String,
    cpu: SeriesId,
    run_queue: SeriesId,
    /// Connections and lag budget; generators only.
    levels: Option<Levels>,
    watched: Option<Watched>,
    /// Of its process, where it is the one that tells of that.
    process: Option<ProcessHealth>,
    folded: Told,
    misused: Told,
    last: Option<(u64, ThreadCpu)>,
}

/// What a generator says of its client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connections {
    /// Connections that are open.
    pub(crate) open: usize,
    /// Connections begun since the client was made.
    pub(crate) opened: u64,
}

impl Connections {
    pub(crate) fn of(client: &sojourn_http::Client) -> Self {
        Self { open: client.connections(), opened: client.counters().connections_opened }
    }
}

/// Series of what a generator says of its client and of its arrivals.
#[derive(Debug)]
struct Levels {
    open: SeriesId,
    opened: Told,
    budget: SeriesId,
}

/// A count of the recorder's own, and how much of it has been told.
#[derive(Debug)]
struct Told {
    series: SeriesId,
    told: u64,
}

/// What is watched of a generator besides.
#[derive(Debug)]
struct Watched {
    busy_max: f64,
    busy_s: SeriesId,
    /// For how long in a row it has been busier than the limit, seconds.
    stretch_s: f64,
    stall_ms: SeriesId,
    /// Longest turn of its event loop since the last measurement.
    turn_ns_max: u64,
}

impl Told {
    fn tell(&mut self, count: u64, recorder: &mut Recorder) {
        recorder.add(self.series, count - self.told);
        self.told = count;
    }
}

impl ThreadHealth {
    /// The health of the calling thread. Made before the recorder's other series, so that there is
    /// room to say that there was none for those.
    pub(crate) fn new(name: &str, recorder: &mut Recorder) -> Self {
        let mut told = |queue: &str| {
            let queue = format!("{name}: {queue}");
            let key = SeriesKey::new(names::HEALTH_REFUSED, &[("queue", &queue)], SeriesPhase::Any);
            Told { series: recorder.series(Kind::Counter, key), told: 0 }
        };
        let (folded, misused) = (told(SERIES), told(WRITES));
        let mut gauge = |metric: &str| {
            let key = SeriesKey::new(metric, &[("thread", name)], SeriesPhase::Any);
            recorder.series(Kind::Gauge, key)
        };
        Self {
            cpu: gauge(names::HEALTH_CPU),
            run_queue: gauge(names::HEALTH_RUN_QUEUE),
            name: name.to_owned(),
            levels: None,
            watched: None,
            process: None,
            folded,
            misused,
            last: None,
        }
    }

    /// Watches how long in a row the thread is busier than `busy_max` of a processor.
    pub(crate) fn watch(mut self, busy_max: f64, recorder: &mut Recorder) -> Self {
        let tags = [("thread", self.name.as_str())];
        let mut gauge = |metric: &str| {
            recorder.series(Kind::Gauge, SeriesKey::new(metric, &tags, SeriesPhase::Any))
        };
        self.watched = Some(Watched {
            busy_max,
            busy_s: gauge(names::HEALTH_BUSY_S),
            stretch_s: 0.0,
            stall_ms: gauge(names::HEALTH_STALL_MS),
            turn_ns_max: 0,
        });
        self
    }

    /// Tells of the process of generators that the thread is one of, where it has a name.
    pub(crate) fn of_process(mut self, name: Option<&str>, recorder: &mut Recorder) -> Self {
        self.process = name.map(|name| ProcessHealth::new(Some(name), recorder));
        self
    }

    /// Takes the length of one turn of the event loop.
    pub(crate) fn turn(&mut self, turn_ns: u64) {
        if let Some(watched) = &mut self.watched {
            watched.turn_ns_max = watched.turn_ns_max.max(turn_ns);
        }
    }

    /// Sets the fractions of a processor used and waited for since the last call. To be called on
    /// the thread it is about.
    pub(crate) fn measure(&mut self, now_ns: u64, recorder: &mut Recorder) {
        self.take(now_ns, thread_cpu(), recorder);
        if let Some(process) = &mut self.process {
            process.measure(now_ns, recorder);
        }
        self.folded.tell(recorder.folded(), recorder);
        self.misused.tell(recorder.misused(), recorder);
    }

    /// Takes a reading; a wait that the kernel does not tell stays unset, and the thread's own time
    /// alone says whether it is busy.
    fn take(&mut self, now_ns: u64, cpu: ThreadCpu, recorder: &mut Recorder) {
        if let Some((then_ns, before)) = self.last {
            let elapsed = now_ns.saturating_sub(then_ns).max(1) as f64;
            let spent = cpu.since(&before);
            let on_processor = spent.cpu_ns as f64 / elapsed;
            let waiting = spent.run_queue_ns.map(|waited_ns| waited_ns as f64 / elapsed);
            recorder.set(self.cpu, on_processor);
            if let Some(waiting) = waiting {
                recorder.set(self.run_queue, waiting);
            }
            if let Some(watched) = &mut self.watched {
                let is_busy = on_processor + waiting.unwrap_or(0.0) > watched.busy_max;
                watched.stretch_s = if is_busy { watched.stretch_s + elapsed / 1e9 } else { 0.0 };
                recorder.set(watched.busy_s, watched.stretch_s);
                let stall_ns = std::mem::take(&mut watched.turn_ns_max);
                recorder.set(watched.stall_ms, stall_ns as f64 / 1e6);
            }
        }
        self.last = Some((now_ns, cpu));
    }

    /// Counts what a bounded queue of this thread refused.
    pub(crate) fn refused(&self, queue: &str, count: u64, recorder: &mut Recorder) {
        if count > 0 {
            let queue = format!("{}: {queue}", self.name);
            let key = SeriesKey::new(names::HEALTH_REFUSED, &[("queue", &queue)], SeriesPhase::Any);
            let series = recorder.series(Kind::Counter, key);
            recorder.add(series, count);
        }
    }

    /// Tells of connections, and how late arrivals may begin, nanoseconds.
    pub(crate) fn levels(
        &mut self,
        connections: Connections,
        budget_ns: u64,
        recorder: &mut Recorder,
    ) {
        let tags = [(names::GENERATOR, self.name.as_str())];
        let levels = self.levels.get_or_insert_with(|| {
            let key = |metric: &str| SeriesKey::new(metric, &tags, SeriesPhase::Any);
            let opened = key(names::HEALTH_CONNECTIONS_OPENED);
            Levels {
                open: recorder.series(Kind::Gauge, key(names::HEALTH_CONNECTIONS)),
                opened: Told { series: recorder.series(Kind::Counter, opened), told: 0 },
                budget: recorder.series(Kind::Gauge, key(names::HEALTH_LAG_BUDGET_MS)),
            }
        });
        recorder.set(levels.open, connections.open as f64);
        levels.opened.tell(connections.opened, recorder);
        recorder.set(levels.budget, budget_ns as f64 / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use sojourn_clock::SECOND_NS;
    use sojourn_metrics::Store;

    use super::*;

    #[test]
    fn series_without_room_and_wrong_writes_are_told_as_refused() {
        let mut recorder = Recorder::new(0);
        let mut health = ThreadHealth::new("g", &mut recorder);
        let series = |number: u32, recorder: &mut Recorder| {
            let key = SeriesKey::new("c", &[("n", &number.to_string())], SeriesPhase::Any);
            recorder.series(Kind::Counter, key)
        };
        let first = series(0, &mut recorder);
        for number in 1..2_100 {
            series(number, &mut recorder);
        }
        let mut store = Store::new();
        for second in 1..3 {
            recorder.record(first, 1);
            health.measure(second * SECOND_NS, &mut recorder);
            store.apply(&recorder.take(second, None)).unwrap();
        }
        let refused = |what: &str| {
            let queue = format!("g: {what}");
            let key = SeriesKey::new(names::HEALTH_REFUSED, &[("queue", &queue)], SeriesPhase::Any);
            store.counter(&key)
        };
        // Besides the first 2,000 there are the four of the thread's health.
        assert_eq!((refused(SERIES), refused(WRITES)), (104, 2));
    }

    #[test]
    fn a_wait_that_cannot_be_read_is_unknown_not_huge_and_not_zero() {
        let mut recorder = Recorder::new(0);
        let mut health = ThreadHealth::new("g", &mut recorder).watch(0.95, &mut recorder);
        let second = SECOND_NS / 2;
        let readings = [
            ThreadCpu { cpu_ns: 1_000, run_queue_ns: Some(7 * SECOND_NS) },
            ThreadCpu { cpu_ns: 1_000 + second, run_queue_ns: None },
            ThreadCpu { cpu_ns: 1_000 + 2 * second, run_queue_ns: Some(8 * SECOND_NS) },
        ];
        for (number, cpu) in (0..).zip(readings) {
            health.take(number * SECOND_NS, cpu, &mut recorder);
        }
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let gauge = |metric: &str| {
            store.gauge(&SeriesKey::new(metric, &[("thread", "g")], SeriesPhase::Any))
        };
        assert_eq!(gauge(names::HEALTH_CPU), Some((0.5, 0.5, 0.5)));
        assert_eq!(gauge(names::HEALTH_RUN_QUEUE), None);
        assert_eq!(gauge(names::HEALTH_BUSY_S), Some((0.0, 0.0, 0.0)));
    }
}
