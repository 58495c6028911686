//! Clients, connections and requests of all journeys together.

use sojourn_analysis::words;

use super::{
    WIDTH, entry, heading,
    journey::time,
    line,
    paint::{Paint, clean},
    table::Table,
};
use crate::model::{Bin, TagRow, TrafficReport};

/// Columns of the longest bar.
const BAR: usize = 40;
/// Tags that are listed; the others are in the HTML and JSON reports.
const TAGS_MAX: usize = 20;

pub(super) fn traffic(out: &mut String, traffic: Option<&TrafficReport>, paint: &Paint) {
    let Some(traffic) = traffic else { return };
    heading(out, "TRAFFIC", paint);
    if let Some(most) = traffic.clients_max {
        entry(out, "clients", &format!("at most {} at once", words::number(most)));
    }
    connections(out, traffic);
    let mut text = words::count(traffic.requests);
    if let Some(per_s) = traffic.requests_per_s {
        text.push_str(&format!(" ({}/s)", words::number(per_s)));
    }
    if traffic.failed > 0 {
        text.push_str(&format!(", {} of them failed", words::count(traffic.failed)));
    }
    if let Some(score) = traffic.apdex {
        let satisfied = words::duration(traffic.apdex_satisfied_ns as f64);
        text.push_str(&format!(" · Apdex {score:.3} of {satisfied}"));
    }
    entry(out, "requests", &text);
    let statuses = traffic.statuses.iter().map(|row| {
        let share = words::percent(row.fraction);
        format!("{} {} ({share})", clean(&row.status), words::count(row.count))
    });
    entry(out, "status", &statuses.collect::<Vec<_>>().join(", "));
    bars(out, &traffic.response_steps);
    tags(out, &traffic.tags);
}

fn connections(out: &mut String, traffic: &TrafficReport) {
    let most = traffic.connections_max.map(|most| format!("at most {} open", words::number(most)));
    let opened = traffic.connections_opened.map(|opened| {
        let most = traffic.connections_opened_per_s_max.unwrap_or(0.0);
        format!("{} begun, at most {}/s", words::count(opened), words::number(most))
    });
    let parts: Vec<String> = most.into_iter().chain(opened).collect();
    if !parts.is_empty() {
        entry(out, "connected", &parts.join(" · "));
    }
}

/// The distribution of the response times, a bar for each step of 1, 2, 5.
fn bars(out: &mut String, bins: &[Bin]) {
    let all: u64 = bins.iter().map(|bin| bin.count).sum();
    let Some(most) = bins.iter().map(|bin| bin.count).max().filter(|most| *most > 0) else {
        return;
    };
    line(out, "\n  response time");
    for bin in bins {
        let length = (bin.count as f64 / most as f64 * BAR as f64).round() as usize;
        let bar = match length {
            0 if bin.count > 0 => "▏".to_owned(),
            length => "█".repeat(length),
        };
        let share = words::percent(bin.count as f64 / all as f64);
        let text = format!(
            "  {:>8} – {:>8} {:>12} {share:>8}  {bar}",
            words::duration(bin.low_ns),
            words::duration(bin.high_ns),
            words::count(bin.count),
        );
        line(out, &text);
    }
}

/// Requests by tag, where there is more than one.
fn tags(out: &mut String, tags: &[TagRow]) {
    if tags.len() < 2 {
        return;
    }
    out.push('\n');
    let mut table =
        Table::new(&["tag", "requests", "RPS", "failed", "Apdex", "p50", "p95", "p99", "max"]);
    let dash = || "–".to_owned();
    for row in tags.iter().take(TAGS_MAX) {
        let response = row.response_ns.as_ref();
        table.row(
            &row.tag,
            [
                words::count(row.requests),
                row.requests_per_s.map_or_else(dash, words::number),
                words::count(row.failed),
                row.apdex.map_or_else(dash, |score| format!("{score:.3}")),
                time(response, |response| response.p50),
                time(response, |response| response.p95),
                time(response, |response| response.p99),
                time(response, |response| response.max),
            ],
        );
    }
    table.render(out, WIDTH);
    if tags.len() > TAGS_MAX {
        let more = words::count((tags.len() - TAGS_MAX) as u64);
        line(out, &format!("  and {more} more tags, in the HTML and JSON reports"));
    }
}
