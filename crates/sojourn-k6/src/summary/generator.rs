//! Whether the figures are the target's, or those of the machine that made the load.

use serde_json::{Value, json};

use super::data;
use super::number;
use super::source::Source;
use super::table::{Cells, GREEN, Palette, RED, Row, Widths};
use crate::metrics::Contains;

/// What is known of who made the load, beside the limits that it has to keep.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generator {
    /// Why the figures may not be believed; empty where they may.
    pub causes: Vec<String>,
    /// Iterations that were due.
    pub scheduled: u64,
    /// Those that never began.
    pub dropped: u64,
    /// Of those that were due, which share may be dropped.
    pub dropped_max: f64,
    /// Lag at p99 of iterations with a schedule, ms; `None` where there were none.
    pub lag_p99_ms: Option<f64>,
    /// What it may be.
    pub lag_max_ms: f64,
    /// The thread that was busiest; `None` in tests that were over at once.
    pub busiest: Option<Busiest>,
    /// How busy a thread may be, as a fraction.
    pub busy_max: f64,
    /// The machine; `None` where its system does not tell.
    pub machine: Option<MachineUse>,
}

/// A thread of users in its busiest stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Busiest {
    /// Its name.
    pub thread: String,
    /// On a processor or waiting for one, as a fraction of the time.
    pub busy: f64,
    /// Length of the stretch.
    pub seconds: usize,
}

/// Processor time of a machine, as fractions of what all its processors have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineUse {
    /// Used, by whatever ran there.
    pub busy: f64,
    /// Taken by the hypervisor.
    pub stolen: f64,
}

impl Generator {
    /// The verdict in one line, and below it what it rests on.
    pub(super) fn push(&self, out: &mut String, source: &Source<'_>, palette: &Palette) {
        let verdict = match self.causes.as_slice() {
            [] => palette.paint(GREEN, "within its limits"),
            causes => palette.paint(RED, &format!("VOID: {}", causes.join("; "))),
        };
        out.push_str(&format!("    generator: {verdict}\n"));
        let rows = self.rows(source);
        let widths = Widths::of(rows.iter());
        for row in &rows {
            row.push(out, &widths, source.trend_stats, palette);
        }
    }

    fn rows(&self, source: &Source<'_>) -> Vec<Row> {
        let row = |name: &str, value: String, beside: String| Row {
            prefix: " ".repeat(6),
            inset: 2,
            name: name.to_owned(),
            cells: Cells::Plain(value, vec![beside]),
        };
        let share = self.dropped as f64 / self.scheduled.max(1) as f64;
        let limit = number::percent(self.dropped_max);
        let of = format!("of {limit}, {} out of {}", self.dropped, self.scheduled);
        let mut rows = vec![row("dropped", number::percent(share), of)];
        if let Some(lag_ms) = self.lag_p99_ms {
            let time = |ms| number::value(ms, Contains::Time, source.time_unit);
            rows.push(row("lag p(99)", time(lag_ms), format!("of {}", time(self.lag_max_ms))));
        }
        if let Some(Busiest { thread, busy, seconds }) = &self.busiest {
            let limit = number::percent(self.busy_max);
            let of = format!("of {limit}, {thread} over its busiest {seconds}s");
            rows.push(row("busy thread", number::percent(*busy), of));
        }
        if let Some(machine) = self.machine {
            let stolen = number::percent(machine.stolen);
            let beside = format!("busy, {stolen} taken by the hypervisor");
            rows.push(row("machine", number::percent(machine.busy), beside));
        }
        rows
    }

    /// The same for machines.
    pub(super) fn value(&self) -> Value {
        let number = data::number;
        json!({
            "void": !self.causes.is_empty(),
            "causes": self.causes,
            "iterations": { "due": self.scheduled, "dropped": self.dropped },
            "dropped_max": number(self.dropped_max),
            "lag_p99_ms": self.lag_p99_ms.map(number),
            "lag_p99_max_ms": number(self.lag_max_ms),
            "busiest": self.busiest.as_ref().map(|busiest| json!({
                "thread": busiest.thread,
                "busy": number(busiest.busy),
                "seconds": busiest.seconds,
            })),
            "busy_max": number(self.busy_max),
            "machine": self.machine.map(|machine| json!({
                "busy": number(machine.busy),
                "stolen": number(machine.stolen),
            })),
        })
    }
}
