//! The rows above everything: where the run stands, its rate, its ledger, its generator.

use sojourn_analysis::words;
use sojourn_live::frame::{Frame, FrameStretch, Health};

use super::canvas::{Canvas, columns};
use crate::{palette::Role, view::View};

/// Columns of the names before the rows.
const NAMES: u16 = 11;
/// From this share of a limit on the generator is said to be near it, as reports say it.
const NEAR_SHARE: f64 = sojourn_analysis::generator::NEAR_SHARE;
/// Below this width, rows have less space between figures, and no zeros that mean nothing.
const ROOMY: u16 = 100;
/// Least share of what was asked for that is no remark.
const DELIVERED_MIN: f64 = 0.99;

/// Draws it; how many rows it took.
pub(super) fn draw(view: &View, canvas: &mut Canvas<'_>) -> u16 {
    let frame = &view.frame;
    stands(view, canvas);
    let mut row = 1;
    let is_roomy = canvas.width() >= ROOMY;
    let named = |canvas: &mut Canvas<'_>, row: &mut u16, name: &str, words: Vec<_>| {
        canvas.put(0, *row, NAMES, name, Role::Quiet);
        let closer = |(text, role): (String, Role)| (text.trim_start().to_owned(), role);
        let words = match is_roomy {
            true => words,
            false => words.into_iter().map(closer).collect(),
        };
        canvas.row(NAMES, *row, &words);
        *row += 1;
    };
    named(canvas, &mut row, "rate", rate(frame));
    named(canvas, &mut row, "journeys", journeys(frame, is_roomy));
    if !frame.checks.is_empty() {
        named(canvas, &mut row, "checks", checks(frame));
    }
    named(canvas, &mut row, "generator", generator(&frame.health));
    if let Some(defect) = frame.health.defects.last() {
        let count = frame.health.defects.len();
        let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        named(canvas, &mut row, "✘ void", vec![(format!("{defect}{more}"), Role::Bad)]);
    }
    row
}

/// Where the run stands, and how much of it is done.
fn stands(view: &View, canvas: &mut Canvas<'_>) {
    let frame = &view.frame;
    let stretch = match frame.stretch {
        FrameStretch::Preparing => "preparing",
        FrameStretch::WarmUp => "warm-up",
        FrameStretch::Steady => "steady",
        FrameStretch::Drain => "drain",
        FrameStretch::Over => "over",
    };
    let paused = if view.is_paused { "▌▌ display held" } else { "" };
    let left = [
        (frame.name.clone(), Role::Strong),
        (frame.of.clone(), Role::Plain),
        (stretch.to_owned(), Role::Plain),
        (paused.to_owned(), Role::Caution),
    ];
    let has_end = frame.planned_ns > 0;
    let planned = if has_end { format!(" / {}", clock(frame.planned_ns)) } else { String::new() };
    let times = format!("{}{planned}", clock(frame.elapsed_ns));
    let room = canvas.width().saturating_sub(columns(&times) + 1);
    let from = canvas.part(0, 0, room, 1).row(0, 0, &left);
    canvas.right(room, 0, columns(&times) + 1, &times, Role::Plain);
    if has_end && frame.stretch != FrameStretch::Preparing {
        let width = room.saturating_sub(from + 1);
        let track: String = "─".repeat(width.into());
        canvas.put(from, 0, width, &track, Role::Quiet);
        let share = frame.elapsed_ns as f64 / frame.planned_ns as f64;
        canvas.bar(from, 0, width, share, Role::Bar);
    }
}

fn rate(frame: &Frame) -> Vec<(String, Role)> {
    let (asked, started) = (frame.asked_per_s, frame.delivered_per_s);
    // One arrival either way is where a second was cut.
    let is_short = started < asked * DELIVERED_MIN - 1.0;
    let sign = if is_short { "! " } else { "" };
    let role = if is_short { Role::Caution } else { Role::Plain };
    let factor = match frame.rate_factor {
        1.0 => String::new(),
        factor => format!("({factor} × the plan's)"),
    };
    let clients = frame.clients.map(|clients| format!("clients {}", words::count(clients as u64)));
    let of = frame.counts.missed;
    vec![
        (format!("asked {}", per_s(asked)), Role::Plain),
        (format!(" {sign}started {}", per_s(started)), role),
        (factor, Role::Strong),
        (format!(" in flight {}", words::count(frame.in_flight)), Role::Plain),
        (clients.unwrap_or_default(), Role::Plain),
        (if of > 0 { format!(" ! missed {}", words::count(of)) } else { String::new() }, Role::Bad),
    ]
}

fn journeys(frame: &Frame, is_roomy: bool) -> Vec<(String, Role)> {
    let counts = &frame.counts;
    let bad = |name: &str, count: u64, role: Role| match count {
        0 if !is_roomy => (String::new(), role),
        0 => (format!("{name} 0"), Role::Quiet),
        _ => (format!("{name} {}", words::count(count)), role),
    };
    vec![
        (format!("started {}", words::count(counts.started)), Role::Plain),
        (format!(" completed {}", words::count(counts.completed)), Role::Plain),
        bad(" late", counts.late, Role::Caution),
        bad(" lost", counts.lost, Role::Bad),
        bad(" failed", counts.failed, Role::Bad),
        bad(" root failed", counts.root_failed, Role::Bad),
    ]
}

fn checks(frame: &Frame) -> Vec<(String, Role)> {
    let (mut held, mut failed) = (0u64, 0u64);
    for check in &frame.checks {
        held = check.held.saturating_add(held);
        failed = check.failed.saturating_add(failed);
    }
    let worst = frame.checks.iter().filter(|check| check.failed > 0);
    let worst = worst.max_by_key(|check| check.failed);
    let worst = worst.map_or_else(String::new, |check| format!("(most: {})", check.name));
    let role = if failed > 0 { Role::Bad } else { Role::Quiet };
    vec![
        (format!("held {}", words::count(held)), Role::Plain),
        (format!(" failed {}", words::count(failed)), role),
        (worst, role),
    ]
}

fn generator(health: &Health) -> Vec<(String, Role)> {
    let lag = health.lag_p99_ns.or(health.lag_p99_so_far_ns);
    let lag = lag.map_or_else(|| "–".to_owned(), |ns| words::duration(ns as f64));
    let makes_load = |name: &str| name.starts_with("generator");
    let busiest = health.threads.iter().filter(|thread| makes_load(&thread.name));
    let busiest = busiest.map(|thread| thread.cpu + thread.waiting.unwrap_or(0.0));
    let cpu = words::percent(busiest.fold(0.0, f64::max));
    let refused = match health.refused {
        0 => String::new(),
        count => format!(" ! refused {}", words::count(count)),
    };
    let (nearest, role) = match &health.nearest {
        None => (String::new(), Role::Plain),
        Some(near) if near.share >= 1.0 => (format!(" ✘ is the limit: {}", near.text), Role::Bad),
        Some(near) if near.share >= NEAR_SHARE => {
            (format!(" ! near its limit: {}", near.text), Role::Caution)
        }
        Some(near) => {
            (format!(" ✔ {} of its limit", words::percent(near.share.max(0.0))), Role::Good)
        }
    };
    let limit = words::duration(health.lag_max_ns as f64);
    let limit = if health.lag_max_ns > 0 { format!(" of {limit}") } else { String::new() };
    vec![
        (format!("lag p99 {lag}{limit}"), Role::Plain),
        (format!(" busy {cpu}"), Role::Plain),
        (refused, Role::Bad),
        (nearest, role),
    ]
}

/// A rate: `110/s`.
pub(super) fn per_s(per_s: f64) -> String {
    let digits = if per_s > 0.0 && per_s < 99.95 { format!("{per_s:.1}") } else { String::new() };
    if digits.is_empty() { format!("{}/s", words::number(per_s.round())) } else { digits + "/s" }
}

/// Minutes and seconds: `01:30`, from an hour on with hours.
pub(super) fn clock(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}
