//! What the table of stages has no room for: alternatives, failures by reason, members, traces.

use sojourn_analysis::{backlog::Backlog, saturation::StageGrowth, words};

use super::{
    WIDTH,
    journey::time,
    line,
    paint::{clean, wrap},
    table::Table,
};
use crate::model::{BranchRow, FailureRow, JourneyReport, StageRow};

/// How many were in flight at most, and how old the oldest was.
pub(super) fn in_flight(out: &mut String, journey: &JourneyReport) {
    let most = journey.in_flight_max.filter(|most| *most > 0.0).map(|most| {
        let oldest = journey.oldest_age_ns_max.map_or_else(String::new, |age_ns| {
            format!("; the oldest {} old", words::duration(age_ns as f64))
        });
        format!("at most {} at once{oldest}", words::number(most))
    });
    most.iter().for_each(|text| line(out, &wrap(text, "  in flight ", 12, WIDTH)));
}

/// Stages whose backlog grows.
pub(super) fn growths(out: &mut String, growths: &[StageGrowth]) {
    for growth in growths {
        if let Backlog::Growing { slope } = &growth.backlog {
            let text = format!(
                "waiting for {} grew by {}/s ± {}/s",
                clean(&growth.stage),
                words::number(slope.per_s),
                words::number(slope.half_width_per_s)
            );
            line(out, &wrap(&text, "  growth    ", 12, WIDTH));
        }
    }
}

/// The alternatives of a journey.
pub(super) fn branches(out: &mut String, branches: &[BranchRow]) {
    if branches.is_empty() {
        return;
    }
    out.push('\n');
    let mut table =
        Table::new(&["alternative", "journeys", "share", "p50", "p95", "p99", "max", "second"]);
    for branch in branches {
        let duration = branch.duration_ns.as_ref();
        table.row(
            &branch.stage,
            [
                words::count(branch.journeys),
                branch.ratio.map_or_else(|| "–".to_owned(), words::percent),
                time(duration, |duration| duration.p50),
                time(duration, |duration| duration.p95),
                time(duration, |duration| duration.p99),
                time(duration, |duration| duration.max),
                words::count(branch.second),
            ],
        );
    }
    table.render(out, WIDTH);
}

/// When the first and the last member of a fan-out stage came.
pub(super) fn members(out: &mut String, stage: &StageRow) {
    let (Some(first), Some(last)) = (&stage.first_member_ns, &stage.since_start_ns) else {
        return;
    };
    let figures = |of: &crate::model::Distribution| {
        format!("p50 {} · p99 {}", words::duration(of.p50 as f64), words::duration(of.p99 as f64))
    };
    let text = format!(
        "{}: first since start {}; last {}",
        clean(&stage.name),
        figures(first),
        figures(last)
    );
    line(out, &wrap(&text, "  members   ", 12, WIDTH));
}

/// How many events of each stage carry their journey's trace.
pub(super) fn trace(out: &mut String, stages: &[StageRow]) {
    let traced = stages.iter().filter_map(|stage| Some((stage, stage.trace?)));
    let parts: Vec<String> = traced
        .filter(|(_, trace)| trace.total() > 0)
        .map(|(stage, trace)| {
            let other = match trace.other {
                0 => String::new(),
                other => format!(" ({} another one)", words::count(other)),
            };
            let (own, all) = (words::count(trace.own), words::count(trace.total()));
            format!("{} {own} of {all}{other}", clean(&stage.name))
        })
        .collect();
    if !parts.is_empty() {
        line(out, &wrap(&format!("carried by {}", parts.join(" · ")), "  trace     ", 12, WIDTH));
    }
}

/// Reasons that are listed; the others are in the HTML and JSON reports.
const REASONS_MAX: usize = 10;

/// Failed journeys by reason.
pub(super) fn failures(out: &mut String, failures: &[FailureRow]) {
    for row in failures.iter().take(REASONS_MAX) {
        let reason =
            row.reason.as_deref().map_or_else(String::new, |said| format!(": {}", clean(said)));
        let text = format!(
            "{} ({}) by {}{reason}",
            words::count(row.count),
            words::percent(row.fraction),
            clean(&row.what)
        );
        line(out, &wrap(&text, "  failed    ", 12, WIDTH));
    }
    if failures.len() > REASONS_MAX {
        let more = words::count((failures.len() - REASONS_MAX) as u64);
        line(out, &format!("  and {more} more reasons, in the HTML and JSON reports"));
    }
}
