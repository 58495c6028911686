//! Which generator threads had no processor left to give.

use std::collections::HashMap;

use sojourn_clock::SECOND_NS;
use sojourn_metrics::{Snapshot, Store, Value, names};

/// Watches each generator thread's time on a processor plus its wait for one.
#[derive(Debug, Default)]
pub(super) struct Saturation {
    /// Per thread: nanoseconds in a row above the limit, and the longest such stretch.
    threads: HashMap<String, (u64, u64)>,
}

impl Saturation {
    /// Looks at one generator snapshot, whose figures are already in `store`.
    pub(super) fn look(&mut self, snapshot: &Snapshot, store: &Store, busy_max: f64) {
        let length_ns = snapshot.end_ns.saturating_sub(snapshot.start_ns);
        let mut busy: HashMap<String, f64> = HashMap::new();
        for (series, value) in &snapshot.values {
            let (Some(key), Value::Gauge { last, .. }) =
                (store.key_of(snapshot.source, *series), value)
            else {
                continue;
            };
            let is_load = key.metric == names::HEALTH_CPU || key.metric == names::HEALTH_RUN_QUEUE;
            if let (true, Some(thread)) = (is_load, key.tag("thread")) {
                *busy.entry(thread.to_owned()).or_default() += last;
            }
        }
        for (thread, fraction) in busy {
            let (in_a_row_ns, longest_ns) = self.threads.entry(thread).or_default();
            *in_a_row_ns = if fraction > busy_max {
                *in_a_row_ns + length_ns
            } else {
                0
            };
            *longest_ns = (*longest_ns).max(*in_a_row_ns);
        }
    }

    /// Threads that were above the limit for `busy_for_ns` in a row, in words.
    pub(super) fn saturated(&self, busy_max: f64, busy_for_ns: u64) -> Vec<String> {
        let mut saturated: Vec<String> = self
            .threads
            .iter()
            .filter(|(_, (_, longest_ns))| *longest_ns >= busy_for_ns)
            .map(|(thread, (_, longest_ns))| {
                format!(
                    "{thread} was more than {:.0} % busy for {} s in a row (limit {} s): use --threads, \
                     or a machine of its own",
                    busy_max * 100.0,
                    longest_ns / SECOND_NS,
                    busy_for_ns / SECOND_NS
                )
            })
            .collect();
        saturated.sort();
        saturated
    }
}
