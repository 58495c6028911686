//! The ledger: one line per journey and phase, one per channel.

use sojourn_analysis::words;

use super::{WIDTH, heading, paint::Paint, table::Table};
use crate::model::{EventLine, JourneyLine, Ledger};

pub(super) fn ledger(out: &mut String, ledger: &Ledger, paint: &Paint) {
    let balance = if ledger.balanced { "adds up" } else { "DOES NOT ADD UP" };
    heading(out, &format!("LEDGER ({balance})"), paint);
    journeys(out, ledger);
    if !ledger.events.is_empty() {
        out.push('\n');
        events(out, ledger);
    }
}

fn journeys(out: &mut String, ledger: &Ledger) {
    let mut table = Table::new(&[
        "journeys",
        "started",
        "missed",
        "completed",
        "late",
        "lost",
        "failed",
        "root failed",
        "in flight",
    ]);
    let mut lines: Vec<&JourneyLine> = ledger.journeys.iter().collect();
    if lines.len() != 1 {
        lines.push(&ledger.journeys_total);
    }
    // Behind the total, which they are not in.
    lines.extend(&ledger.poisoned);
    for journey in lines {
        for (counts, phase) in [(&journey.steady, "steady"), (&journey.whole_run, "whole run")] {
            let numbers = [
                counts.started,
                counts.missed,
                counts.completed,
                counts.late,
                counts.lost,
                counts.failed,
                counts.root_failed,
                counts.in_flight_at_cutoff,
            ];
            table.row(&format!("{}, {phase}", journey.name), numbers.map(words::count));
        }
    }
    table.render(out, WIDTH);
}

fn events(out: &mut String, ledger: &Ledger) {
    let mut table = Table::new(&[
        "events",
        "seen",
        "matched",
        "duplicate",
        "after fail",
        "orphan",
        "foreign",
        "unattrib",
        "undecod",
        "reread",
    ]);
    let mut lines: Vec<&EventLine> = ledger.events.iter().collect();
    if lines.len() != 1 {
        lines.push(&ledger.events_total);
    }
    for event in lines {
        let counts = &event.whole_run;
        let numbers = [
            counts.seen,
            counts.matched,
            counts.duplicates(),
            counts.after_failure,
            counts.orphan,
            counts.foreign,
            counts.unattributed,
            counts.undecodable,
            counts.reread,
        ];
        table.row(&event.channel, numbers.map(words::count));
    }
    table.render(out, WIDTH);
}
