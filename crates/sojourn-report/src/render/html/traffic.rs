//! Clients, connections and requests of all journeys together, drawn.

use serde::Serialize;
use sojourn_metrics::names;

use super::{
    axis::Unit,
    bars::{self, BarChart},
    lines::{self, LineChart, Subject},
};
use crate::{
    build::traffic_timeline::{BY_STATUS, BY_TAG},
    model::{ReportModel, Statistic, TimeSeries, Timeline},
};

/// Points that each line keeps.
const POINTS_MAX: usize = 300;
/// Values that all lines may hold together: of many they are thinned further, so that the page of
/// an hour with many tags stays below a megabyte.
const VALUES_MAX: usize = 4_000;
/// Points that a line keeps even so.
const POINTS_MIN: usize = 60;

/// What is drawn of a run's traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct TrafficView {
    /// Over time.
    pub(super) charts: Vec<LineChart>,
    /// Response times.
    pub(super) distribution: Option<BarChart>,
    /// Seconds of the run that one point stands for.
    pub(super) seconds_per_point: u64,
    /// Over time, thinned.
    #[serde(skip)]
    pub(super) timeline: Timeline,
}

/// `None` without requests.
pub(super) fn view(model: &ReportModel) -> Option<TrafficView> {
    let traffic = model.traffic.as_ref()?;
    let points = VALUES_MAX / traffic.timeline.series.len().max(1);
    let timeline = traffic.timeline.clone().thin(points.clamp(POINTS_MIN, POINTS_MAX));
    let all = |metric: &str| {
        let series = timeline.series.iter().filter(|series| series.metric == metric);
        series.map(|series| (series.of.clone(), series)).collect()
    };
    let one = |name: &str, metric: &str, statistic| -> Vec<(String, &TimeSeries)> {
        let series = timeline.find(metric, "", statistic);
        series.map(|series| (name.to_owned(), series)).into_iter().collect()
    };
    let (most, rate) = (Statistic::Max, Statistic::PerSecond);
    let mut bytes = one("received", names::STEP_RECEIVED_BYTES, rate);
    bytes.extend(one("sent", names::STEP_SENT_BYTES, rate));
    let opened = one("begun", names::HEALTH_CONNECTIONS_OPENED, rate);
    let drawings = [
        ("Clients", "clients-at-once", Unit::Count, one("at once", names::CLIENTS, most)),
        (
            "Open connections",
            "memory-and-connections",
            Unit::Count,
            one("open", names::HEALTH_CONNECTIONS, most),
        ),
        ("New connections", "new-connections", Unit::PerSecond, opened),
        ("Status codes over time", "status-codes", Unit::PerSecond, all(BY_STATUS)),
        ("Requests by tag", "requests-by-tag", Unit::PerSecond, all(BY_TAG)),
        ("Bytes a second", "data-transfer", Unit::Bytes, bytes),
    ];
    let charts = drawings.into_iter().enumerate().filter_map(|(at, drawing)| {
        let (title, definition, unit, series) = drawing;
        let subject = Subject {
            id: format!("chart-traffic-{at}"),
            title: title.to_owned(),
            definition,
            unit,
            warm_up_ns: model.identity.warm_up_ns,
            drain_from_ns: model.identity.arrivals_end_ns,
        };
        lines::chart(&timeline, subject, &series)
    });
    Some(TrafficView {
        charts: charts.collect(),
        distribution: bars::responses(&traffic.response_bins, traffic.response_ns.as_ref()),
        seconds_per_point: timeline.seconds_per_point,
        timeline,
    })
}
