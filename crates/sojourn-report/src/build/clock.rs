//! Foreign clocks: the interval that all readings leave for an offset, and durations between
//! bounds.

use sojourn_metrics::names;
use sojourn_record::{JourneyShape, StageShape};

use super::{
    figures::{distribution, signed},
    lookup::{Lookup, Tags},
};
use crate::model::{Between, ClockDuration, ClockReport, Contradiction, Distribution, ErrorRow};

/// What the times of one clock differ by at most from those it shows, whole milliseconds cut off.
const RESOLUTION_NS: i64 = 1_000_000;

/// A report of each clock, in the order of their names.
pub(super) fn reports(lookup: &Lookup<'_>) -> Vec<ClockReport> {
    let mut names = lookup.tag_values(names::CLOCK_UNREAD, &[], names::CLOCK);
    names.extend(lookup.tag_values(names::CLOCK_OFFSET_LEAST, &[], names::CLOCK));
    names.extend(lookup.tag_values(names::CLOCK_OFFSET_LEAST_NEGATIVE, &[], names::CLOCK));
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| report(lookup, name)).collect()
}

fn report(lookup: &Lookup<'_>, name: &str) -> ClockReport {
    let clock = (names::CLOCK, name);
    let tags = [clock];
    let of = |positive: &str, negative: &str| {
        signed(lookup.trend_of_run(positive, &tags), lookup.trend_of_run(negative, &tags))
    };
    let least = of(names::CLOCK_OFFSET_LEAST, names::CLOCK_OFFSET_LEAST_NEGATIVE);
    let most = of(names::CLOCK_OFFSET_MOST, names::CLOCK_OFFSET_MOST_NEGATIVE);
    let count = |bounds: &Option<Distribution>| bounds.map_or(0, |bounds| bounds.count);
    let answers = count(&most);
    let events = count(&least).saturating_sub(answers);
    let interval = least.zip(most).map(|(least, most)| (least.max, most.min));
    let contradiction =
        interval.filter(|(least_ns, most_ns)| least_ns > most_ns).map(|(least_ns, most_ns)| {
            let first = lookup.trend_of_run(names::CLOCK_CONTRADICTED, &tags);
            let by_ns = least_ns.saturating_sub(most_ns);
            Contradiction { by_ns, first_ns: first.map(|first| first.totals().min) }
        });
    let agreed = interval.filter(|_| contradiction.is_none());
    let durations = match agreed {
        Some(_) => durations(lookup, clock),
        None => Vec::new(),
    };
    ClockReport {
        name: name.to_owned(),
        answers,
        events,
        offset_ns: agreed.map(|(least_ns, most_ns)| Between { least_ns, most_ns }),
        contradiction,
        unread: unread(lookup, clock),
        durations,
    }
}

fn unread(lookup: &Lookup<'_>, clock: (&str, &str)) -> Vec<ErrorRow> {
    let reasons = lookup.tag_values(names::CLOCK_UNREAD, &[clock], names::REASON);
    let row = |reason: &str| {
        let count = lookup.whole(names::CLOCK_UNREAD, &[clock, (names::REASON, reason)]);
        ErrorRow { reason: reason.to_owned(), count }
    };
    reasons.into_iter().map(row).filter(|row| row.count > 0).collect()
}

/// In the order of journeys, steps and stages.
fn durations(lookup: &Lookup<'_>, clock: (&str, &str)) -> Vec<ClockDuration> {
    let shapes = lookup.run.identity.journeys.iter();
    shapes.flat_map(|shape| of_journey(lookup, clock, shape)).collect()
}

fn of_journey(
    lookup: &Lookup<'_>,
    clock: (&str, &str),
    shape: &JourneyShape,
) -> Vec<ClockDuration> {
    let journey = (names::JOURNEY, shape.name.as_str());
    let mut rows = Vec::new();
    for (place, step) in shape.steps.iter().enumerate() {
        let tags = [clock, journey, (names::STEP, step.as_str())];
        let due = if place == 0 { "scheduled" } else { "due" };
        let words = (format!("{step} {due}"), format!("{step} accepted"));
        let metrics = [names::CLOCK_ACCEPT_LEAST, names::CLOCK_ACCEPT_MOST];
        rows.extend(between_bounds(lookup, metrics, &tags).map(|row| named(row, shape, words)));
    }
    for stage in &shape.stages {
        rows.extend(of_stage(lookup, [clock, journey], (shape, stage)));
    }
    rows
}

fn of_stage(
    lookup: &Lookup<'_>,
    [clock, journey]: [(&str, &str); 2],
    (shape, stage): (&JourneyShape, &StageShape),
) -> Vec<ClockDuration> {
    let tags = [clock, journey, (names::STAGE, stage.name.as_str())];
    let created = format!("{} created", stage.name);
    let first = shape.steps.first().map_or("root", String::as_str);
    let apart = signed(
        lookup.trend(names::CLOCK_BETWEEN, &tags),
        lookup.trend(names::CLOCK_BETWEEN_NEGATIVE, &tags),
    );
    let apart = apart.map(|apart| {
        let words = (format!("{first} accepted"), created.clone());
        // Each of the two has its own part of a millisecond cut off.
        named(row([&apart, &apart], [-RESOLUTION_NS, RESOLUTION_NS]), shape, words)
    });
    let metrics = [names::CLOCK_SEEN_LEAST, names::CLOCK_SEEN_MOST];
    let seen = between_bounds(lookup, metrics, &tags);
    let seen = seen.map(|row| named(row, shape, (created, format!("{} seen", stage.name))));
    apart.into_iter().chain(seen).collect()
}

fn between_bounds(
    lookup: &Lookup<'_>,
    metrics: [&str; 2],
    tags: Tags<'_>,
) -> Option<ClockDuration> {
    let [least, most] = metrics.map(|metric| distribution(lookup.trend(metric, tags)));
    Some(row([&least?, &most?], [0, 0]))
}

/// Figures of the lower and of the upper bounds, each with something added.
fn row([least, most]: [&Distribution; 2], [below_ns, above_ns]: [i64; 2]) -> ClockDuration {
    let figure = |of: fn(&Distribution) -> i64| Between {
        least_ns: of(least).saturating_add(below_ns),
        most_ns: of(most).saturating_add(above_ns),
    };
    ClockDuration {
        count: least.count,
        mean: figure(|bounds| bounds.mean.round() as i64),
        p50: figure(|bounds| bounds.p50),
        p95: figure(|bounds| bounds.p95),
        p99: figure(|bounds| bounds.p99),
        max: figure(|bounds| bounds.max),
        ..ClockDuration::default()
    }
}

fn named(row: ClockDuration, shape: &JourneyShape, (from, to): (String, String)) -> ClockDuration {
    ClockDuration { journey: shape.name.clone(), from, to, ..row }
}
