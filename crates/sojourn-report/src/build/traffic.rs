//! Clients, connections and requests of all journeys together.

use std::collections::BTreeMap;

use sojourn_metrics::{Figure, Histogram, SeriesKey, SeriesPhase, apdex, names};

use super::{
    figures::{bins, distribution, steps},
    health::connections_max,
    lookup::Lookup,
    traffic_timeline,
};
use crate::model::{StatusRow, TagRow, TrafficReport};

/// The satisfying time of the report's Apdex: 500 ms, as of a requirement that names none.
const SATISFIED_NS: u64 = 500_000_000;

/// `None` where nothing was asked over HTTP.
pub(super) fn report(lookup: &Lookup<'_>) -> Option<TrafficReport> {
    let all = Requests::of(lookup, None);
    let is_http = |status: &str| status.parse::<u16>().is_ok();
    let opened = opened(lookup);
    let has_connections = opened.is_some_and(|opened| opened > 0);
    if all.count() == 0 || !(has_connections || all.statuses.keys().any(|it| is_http(it))) {
        return None;
    }
    let timeline = traffic_timeline::timeline(lookup);
    Some(TrafficReport {
        clients_max: lookup.gauge(names::CLIENTS, &[]).map(|(_, _, max)| max),
        connections_max: connections_max(lookup),
        connections_opened: opened,
        connections_opened_per_s_max: traffic_timeline::most_opened_per_s(&timeline),
        requests: all.count(),
        requests_per_s: lookup.per_steady_s(all.count()),
        failed: all.failed,
        apdex: all.apdex(),
        apdex_satisfied_ns: SATISFIED_NS,
        statuses: all.status_rows(),
        response_ns: distribution(Some(&all.response)),
        response_bins: bins(Some(&all.response)),
        response_steps: steps(&all.response),
        tags: tags(lookup),
        timeline: timeline.thin(crate::model::POINTS_MAX),
    })
}

/// Connections begun, by all generators.
fn opened(lookup: &Lookup<'_>) -> Option<u64> {
    let metric = names::HEALTH_CONNECTIONS_OPENED;
    let mut series = lookup.run.store.select(metric, &[], SeriesPhase::Any).peekable();
    series.peek()?;
    Some(lookup.run.store.sum(metric, &[], SeriesPhase::Any))
}

fn tags(lookup: &Lookup<'_>) -> Vec<TagRow> {
    let own = lookup.run.identity.journeys.iter().filter(|shape| shape.poison.is_none());
    let mut names: Vec<&str> = own.flat_map(|shape| &shape.steps).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let row = |name: &str| {
        let requests = Requests::of(lookup, Some(name));
        TagRow {
            tag: name.to_owned(),
            requests: requests.count(),
            requests_per_s: lookup.per_steady_s(requests.count()),
            failed: requests.failed,
            apdex: requests.apdex(),
            response_ns: distribution(Some(&requests.response)),
        }
    };
    let mut rows: Vec<TagRow> = names.into_iter().map(row).filter(|row| row.requests > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.requests));
    rows
}

/// Requests of the steady phase, of one step's name or of all.
#[derive(Default)]
struct Requests {
    statuses: BTreeMap<String, u64>,
    failed: u64,
    response: Histogram,
    good: Histogram,
}

impl Requests {
    fn of(lookup: &Lookup<'_>, step: Option<&str>) -> Self {
        let tag = step.map(|step| (names::STEP, step));
        let tags = tag.as_slice();
        let store = &lookup.run.store;
        let mut statuses = BTreeMap::new();
        let steady = SeriesPhase::Steady;
        for (key, figure) in store.select(names::STEP_REQUESTS, tags, steady) {
            if let (Some(status), Figure::Counter(count)) = (status_of(key), figure)
                && *count > 0
            {
                *statuses.entry(status.to_owned()).or_default() += count;
            }
        }
        Self {
            statuses,
            failed: store.sum(names::STEP_FAILED, tags, steady),
            response: store.merged(names::STEP_RESPONSE, tags, steady),
            good: store.merged(names::STEP_RESPONSE_OK, tags, steady),
        }
    }

    fn count(&self) -> u64 {
        self.statuses.values().sum()
    }

    fn apdex(&self) -> Option<f64> {
        apdex(&self.good, self.response.count(), SATISFIED_NS)
    }

    fn status_rows(&self) -> Vec<StatusRow> {
        let all = self.count() as f64;
        let row = |(status, count): (&String, &u64)| StatusRow {
            status: status.clone(),
            count: *count,
            fraction: *count as f64 / all,
        };
        self.statuses.iter().map(row).collect()
    }
}

fn status_of(key: &SeriesKey) -> Option<&str> {
    key.tag(names::STATUS)
}
