//! Foreign clocks: their offsets, and durations by them, each between two bounds.

use sojourn_analysis::words;

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
};
use crate::model::{Between, ClockDuration, ClockReport};

pub(super) fn clocks(out: &mut String, clocks: &[ClockReport], paint: &Paint) {
    if clocks.is_empty() {
        return;
    }
    heading(out, "FOREIGN CLOCKS", paint);
    for clock in clocks {
        let text = format!("{}: {}", clean(&clock.name), standing(clock));
        let text = wrap(&text, "  ", 4, WIDTH);
        line(out, &if clock.contradiction.is_some() { paint.red(&text) } else { text });
        for row in &clock.unread {
            let text = format!("{} × not read: {}", words::count(row.count), clean(&row.reason));
            line(out, &wrap(&text, "    ", 4, WIDTH));
        }
        for duration in &clock.durations {
            line(out, &wrap(&of(duration), "    ", 6, WIDTH));
        }
    }
}

/// How it stands to ours.
fn standing(clock: &ClockReport) -> String {
    let answers = words::plural(clock.answers, "answer", "answers");
    let events = words::plural(clock.events, "event", "events");
    if let Some(contradiction) = &clock.contradiction {
        let first = contradiction
            .first_ns
            .map_or_else(String::new, |ns| format!(", first at {}", words::duration(ns as f64)));
        let by = words::duration(contradiction.by_ns as f64);
        return format!(
            "its readings contradict each other by {by}{first}: it was set or drifts, or there are \
             several clocks; no figures ({answers}, {events})"
        );
    }
    match clock.offset_ns {
        Some(offset) => format!(
            "{} to {} from this machine's, by {answers} and {events}",
            words::offset(offset.least_ns),
            words::offset(offset.most_ns)
        ),
        None => format!("no answer has shown it ({events})"),
    }
}

fn of(duration: &ClockDuration) -> String {
    let ClockDuration { mean, p50, p95, p99, max, .. } = duration;
    let figures = [("mean", mean), ("p50", p50), ("p95", p95), ("p99", p99), ("max", max)];
    let figures = figures.map(|(name, figure)| format!("{name} {}", between(figure)));
    format!(
        "{}: {} → {}, {} ×: {}",
        clean(&duration.journey),
        clean(&duration.from),
        clean(&duration.to),
        words::count(duration.count),
        figures.join(" · ")
    )
}

fn between(figure: &Between) -> String {
    let [least, most] = [figure.least_ns, figure.most_ns].map(|ns| words::duration(ns as f64));
    format!("{least} … {most}")
}
