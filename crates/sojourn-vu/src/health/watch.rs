//! A thread's look at itself.

use std::collections::{BTreeMap, VecDeque};

use sojourn_clock::{MachineCpu, SECOND_NS, ThreadCpu, machine_cpu, thread_cpu};
use sojourn_k6::metrics::Trend;
use sojourn_plan::HealthLimits;

use super::{Busy, Noticed};

/// See the module's page. To be called on the thread that it is about.
pub(crate) struct Watch {
    number: u64,
    limits: HealthLimits,
    /// How late iterations with a schedule began, ms.
    lag: Trend,
    /// When it last looked, ns, and what it had had of the processor; `None` while no scenario
    /// runs.
    last: Option<(u64, ThreadCpu)>,
    /// How busy it was in each of the latest seconds: as many as make a stretch.
    window: VecDeque<f64>,
    busy: Busy,
    /// For how long it has been busier than it may be, seconds.
    stretch_s: f64,
    /// The machine when scenarios began, and what it has done since. One thread looks.
    machine: Option<(MachineCpu, MachineCpu)>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self {
            number: 0,
            limits: HealthLimits::default(),
            lag: Trend::new(false),
            last: None,
            window: VecDeque::new(),
            busy: Busy::default(),
            stretch_s: 0.0,
            machine: None,
        }
    }

    /// Scenarios begin on the thread of this number.
    pub(crate) fn begin(&mut self, number: u64, now_ns: u64) {
        self.number = number;
        self.last = Some((now_ns, thread_cpu()));
        if number == 0 {
            self.machine = machine_cpu().map(|begun| (begun, MachineCpu::default()));
        }
    }

    /// Scenarios have ended: what the thread does from here on is no load.
    pub(crate) fn end(&mut self) {
        self.look_at_machine();
        self.last = None;
    }

    /// An iteration with a schedule began so late.
    pub(crate) fn late(&mut self, lag_ns: u64) {
        self.lag.add(lag_ns as f64 / 1e6);
    }

    /// Looks, if a second is over.
    pub(crate) fn turn(&mut self, now_ns: u64) {
        if self.last.is_some_and(|(last_ns, _)| now_ns.saturating_sub(last_ns) >= SECOND_NS) {
            self.look(now_ns, thread_cpu());
            self.look_at_machine();
        }
    }

    fn look(&mut self, now_ns: u64, cpu: ThreadCpu) {
        let Some((last_ns, before)) = self.last.replace((now_ns, cpu)) else { return };
        let elapsed_ns = now_ns.saturating_sub(last_ns).max(1) as f64;
        let spent = cpu.since(&before);
        let share = (spent.cpu_ns + spent.run_queue_ns.unwrap_or(0)) as f64 / elapsed_ns;
        let is_busy = share > self.limits.busy_max;
        self.stretch_s = if is_busy { self.stretch_s + elapsed_ns / 1e9 } else { 0.0 };
        self.busy.longest_s = self.busy.longest_s.max(self.stretch_s);
        self.window.push_back(share);
        if self.window.len() as u64 > (self.limits.busy_for_ns / SECOND_NS).max(1) {
            self.window.pop_front();
        }
        let seconds = self.window.len();
        let mean = self.window.iter().sum::<f64>() / seconds as f64;
        // Until there are as many as make a stretch, it is the mean of all.
        if mean > self.busy.share || seconds > self.busy.seconds {
            (self.busy.share, self.busy.seconds) = (mean, seconds);
        }
    }

    fn look_at_machine(&mut self) {
        if self.last.is_some()
            && let Some((begun, spent)) = &mut self.machine
            && let Some(now) = machine_cpu()
        {
            *spent = now.since(begun);
        }
    }

    /// What it has noticed: of lag since the last time.
    pub(crate) fn take(&mut self) -> Noticed {
        let machine = self.machine.map(|(_, spent)| spent).filter(|spent| spent.all > 0);
        let busy = (self.busy.seconds > 0).then(|| (self.number, self.busy.clone()));
        Noticed {
            lag: std::mem::replace(&mut self.lag, Trend::new(false)),
            threads: BTreeMap::from_iter(busy),
            machine: machine.map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_stretch_is_told_and_how_long_it_was_too_busy() {
        let mut watch = Watch::new();
        watch.last = Some((0, ThreadCpu { cpu_ns: 0, run_queue_ns: Some(0) }));
        let mut cpu = ThreadCpu { cpu_ns: 0, run_queue_ns: Some(0) };
        let mut second = |number: u64, percent: u64, watch: &mut Watch| {
            // A tenth of it is time for which it had to wait.
            cpu.cpu_ns += percent * SECOND_NS / 100 * 9 / 10;
            cpu.run_queue_ns = cpu.run_queue_ns.map(|ns| ns + percent * SECOND_NS / 100 / 10);
            watch.look(number * SECOND_NS, cpu);
        };
        (1..=20).for_each(|number| second(number, 40, &mut watch));
        (21..=32).for_each(|number| second(number, 100, &mut watch));
        (33..=50).for_each(|number| second(number, 0, &mut watch));
        let noticed = watch.take();
        let busy = &noticed.threads[&0];
        assert_eq!((busy.seconds, busy.longest_s), (10, 12.0));
        assert!((busy.share - 1.0).abs() < 1e-9, "{busy:?}");
        // A few seconds are looked at as they are.
        let mut watch = Watch::new();
        watch.last = Some((0, ThreadCpu::default()));
        watch.look(SECOND_NS, ThreadCpu { cpu_ns: SECOND_NS, run_queue_ns: None });
        watch.look(2 * SECOND_NS, ThreadCpu { cpu_ns: SECOND_NS, run_queue_ns: None });
        let busy = &watch.take().threads[&0];
        assert_eq!((busy.share, busy.seconds), (0.5, 2));
    }
}
