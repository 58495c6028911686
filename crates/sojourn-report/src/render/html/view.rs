//! What the template needs beside the model: each journey's charts and waterfalls.

use serde::Serialize;
use sojourn_metrics::names;

use super::{
    axis::Unit,
    bars::{self, BarChart},
    kept::{self, KeptView},
    lines::{self, LineChart, Subject},
    resources,
    traffic::TrafficView,
    waterfall::{self, Row},
};
use crate::model::{JourneyReport, ReportModel, Statistic, TimeSeries, Timeline};

/// Values that the page's line charts may hold together: above it they are thinned further, so that
/// the page of an hour with many stages stays below a megabyte.
const VALUES_MAX: usize = 20_000;
/// Points that a chart keeps even so.
const POINTS_MIN: usize = 60;

/// A journey's drawings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct JourneyView {
    /// The flow of stages.
    pub(super) flow: Vec<Row>,
    /// Hop latency over time, a chart per stage; then response times, a chart per step.
    pub(super) latency: Vec<LineChart>,
    /// Journeys waiting for each stage, over time.
    pub(super) in_flight: Option<LineChart>,
    /// Age of the oldest in flight, over time.
    pub(super) oldest: Option<LineChart>,
    /// Arrivals and completions per second.
    pub(super) rates: Option<LineChart>,
    /// What waited in the brokers: messages, bytes, ages.
    pub(super) backlog: Vec<LineChart>,
    /// The system's own resources.
    pub(super) resources: Vec<LineChart>,
    /// Hop distributions.
    pub(super) distributions: Vec<BarChart>,
    /// Kept journeys.
    pub(super) kept: KeptView,
    /// Seconds of the run that one point stands for.
    pub(super) seconds_per_point: u64,
    /// Start of each point, seconds since the run's start.
    #[serde(skip)]
    starts_s: Vec<f64>,
    /// End of the last.
    #[serde(skip)]
    end_s: f64,
}

pub(super) fn journeys(model: &ReportModel) -> Vec<JourneyView> {
    let series: usize = model.journeys.iter().map(|journey| journey.timeline.series.len()).sum();
    let points_max = (VALUES_MAX / series.max(1)).max(POINTS_MIN);
    let mut page = kept::Page::new(model.journeys.len());
    model
        .journeys
        .iter()
        .enumerate()
        .map(|(index, journey)| view(model, index, journey, (points_max, &mut page)))
        .collect()
}

fn view(
    model: &ReportModel,
    index: usize,
    journey: &JourneyReport,
    (points_max, page): (usize, &mut kept::Page),
) -> JourneyView {
    let timeline = journey.timeline.clone().thin(points_max);
    let draw = Draw { model, timeline: &timeline, journey: index };
    let hops = journey.stages.iter().map(|stage| (names::STAGE_HOP, &stage.name, "hop"));
    let responses =
        journey.steps.iter().map(|step| (names::STEP_RESPONSE, &step.name, "response-time"));
    let latency = hops
        .chain(responses)
        .enumerate()
        .filter_map(|(chart, (metric, of, definition))| {
            draw.latency(&format!("latency-{chart}"), metric, of, definition)
        })
        .collect();
    JourneyView {
        flow: waterfall::flow(journey),
        latency,
        in_flight: draw.in_flight(journey),
        oldest: draw.oldest(),
        rates: draw.rates(),
        backlog: draw.backlog(),
        resources: draw.resources(),
        distributions: bars::charts(&journey.stages),
        kept: page.view(&journey.kept),
        seconds_per_point: timeline.seconds_per_point,
        starts_s: starts_s(&timeline),
        end_s: timeline.end_ns as f64 / 1e9,
    }
}

/// Draws a journey's charts over time.
struct Draw<'a> {
    model: &'a ReportModel,
    timeline: &'a Timeline,
    journey: usize,
}

impl Draw<'_> {
    fn subject(&self, id: &str, title: String, definition: &'static str, unit: Unit) -> Subject {
        Subject {
            id: format!("chart-{}-{id}", self.journey),
            title,
            definition,
            unit,
            warm_up_ns: self.model.identity.warm_up_ns,
            drain_from_ns: self.model.identity.arrivals_end_ns,
        }
    }

    fn latency(
        &self,
        id: &str,
        metric: &str,
        of: &str,
        definition: &'static str,
    ) -> Option<LineChart> {
        let series: Vec<(String, &TimeSeries)> = [Statistic::P50, Statistic::P95, Statistic::P99]
            .into_iter()
            .filter_map(|statistic| {
                let series = self.timeline.find(metric, of, statistic)?;
                Some((statistic.word().to_owned(), series))
            })
            .collect();
        let subject = self.subject(id, of.to_owned(), definition, Unit::Ns);
        lines::chart(self.timeline, subject, &series)
    }

    fn in_flight(&self, journey: &JourneyReport) -> Option<LineChart> {
        let mut series: Vec<(String, &TimeSeries)> = journey
            .stages
            .iter()
            .filter_map(|stage| {
                let found =
                    self.timeline.find(names::STAGE_IN_FLIGHT, &stage.name, Statistic::Max)?;
                Some((format!("waiting for {}", stage.name), found))
            })
            .collect();
        let all = self.timeline.find(names::JOURNEYS_IN_FLIGHT, "", Statistic::Max);
        series.extend(all.map(|all| ("journeys in flight".to_owned(), all)));
        let title = "In flight".to_owned();
        let subject = self.subject("in-flight", title, "in-flight", Unit::Count);
        lines::chart(self.timeline, subject, &series)
    }

    fn oldest(&self) -> Option<LineChart> {
        let ages = self.timeline.find(names::JOURNEYS_OLDEST_AGE_MS, "", Statistic::Max)?;
        let ages = in_ns("oldest in flight", ages);
        let title = "Age of the oldest in flight".to_owned();
        let subject = self.subject("oldest", title, "oldest-age", Unit::Ns);
        lines::chart(self.timeline, subject, &[(ages.of.clone(), &ages)])
    }

    /// One chart for each unit; ages are drawn as durations.
    fn backlog(&self) -> Vec<LineChart> {
        let all = || self.timeline.series.iter().filter(|series| series.metric == names::BACKLOG);
        let messages = || all().filter(|series| !is_age(series) && !is_bytes(series));
        let ages: Vec<TimeSeries> = all()
            .filter(|series| is_age(series))
            .map(|series| in_ns(&series.of.replace(": oldest_age_ms", ""), series))
            .collect();
        let draw = |id: &str, title: &str, unit, series: Vec<&TimeSeries>| {
            let subject = self.subject(id, title.to_owned(), "broker-backlog", unit);
            let named: Vec<_> = series.iter().map(|series| (series.of.clone(), *series)).collect();
            lines::chart(self.timeline, subject, &named)
        };
        let charts = [
            draw("backlog", "Broker backlog, messages", Unit::Count, messages().collect()),
            draw(
                "backlog-bytes",
                "Broker backlog, bytes",
                Unit::Count,
                all().filter(|series| is_bytes(series)).collect(),
            ),
            draw("backlog-age", "Age of the oldest that waits", Unit::Ns, ages.iter().collect()),
        ];
        charts.into_iter().flatten().collect()
    }

    fn resources(&self) -> Vec<LineChart> {
        let drawings = resources::drawings(self.timeline).into_iter();
        drawings
            .filter_map(|drawing| {
                let subject =
                    self.subject(&drawing.id, drawing.title, drawing.definition, drawing.unit);
                lines::chart(self.timeline, subject, &drawing.series)
            })
            .collect()
    }

    fn rates(&self) -> Option<LineChart> {
        let series: Vec<(String, &TimeSeries)> = [
            (names::JOURNEYS_STARTED, "arrivals"),
            (names::JOURNEYS_COMPLETED, "completions"),
            (names::JOURNEYS_FAILED, "lost or failed"),
        ]
        .into_iter()
        .filter_map(|(metric, name)| {
            let series = self.timeline.find(metric, "", Statistic::PerSecond)?;
            Some((name.to_owned(), series))
        })
        .collect();
        let title = "Arrivals and completions".to_owned();
        let subject = self.subject("rates", title, "over-time", Unit::PerSecond);
        lines::chart(self.timeline, subject, &series)
    }
}

/// A series of milliseconds in the unit that durations are drawn in.
fn in_ns(of: &str, series: &TimeSeries) -> TimeSeries {
    TimeSeries {
        of: of.to_owned(),
        values: series.values.iter().map(|value| value.map(|ms| ms * 1e6)).collect(),
        ..series.clone()
    }
}

fn is_age(series: &TimeSeries) -> bool {
    series.of.ends_with(": oldest_age_ms")
}

fn is_bytes(series: &TimeSeries) -> bool {
    series.of.ends_with(": waiting_bytes")
}

/// The values that the script shows under the pointer.
#[derive(Debug, Serialize)]
pub(super) struct JourneyData<'a> {
    starts: &'a [f64],
    end: f64,
    charts: Vec<ChartData<'a>>,
}

/// One chart's values.
#[derive(Debug, Serialize)]
struct ChartData<'a> {
    id: &'a str,
    unit: Unit,
    names: Vec<&'a str>,
    values: &'a [Vec<Option<f64>>],
}

/// One entry for each journey, and a last one for what is drawn of the traffic.
pub(super) fn data<'a>(
    journeys: &'a [JourneyView],
    traffic: Option<&'a (TrafficView, Vec<f64>)>,
) -> Vec<JourneyData<'a>> {
    let of_journeys = journeys.iter().map(|journey| JourneyData {
        starts: &journey.starts_s,
        end: journey.end_s,
        charts: journey
            .latency
            .iter()
            .chain(&journey.in_flight)
            .chain(&journey.rates)
            .chain(&journey.oldest)
            .chain(&journey.backlog)
            .chain(&journey.resources)
            .map(ChartData::of)
            .collect(),
    });
    let of_traffic = traffic.map(|(traffic, starts_s)| JourneyData {
        starts: starts_s,
        end: traffic.timeline.end_ns as f64 / 1e9,
        charts: traffic.charts.iter().map(ChartData::of).collect(),
    });
    of_journeys.chain(of_traffic).collect()
}

/// Where points begin, seconds since the run's start.
pub(super) fn starts_s(timeline: &Timeline) -> Vec<f64> {
    timeline.starts_ns.iter().map(|ns| (*ns as f64 / 1e8).round() / 10.0).collect()
}

impl<'a> ChartData<'a> {
    fn of(chart: &'a LineChart) -> Self {
        Self {
            id: &chart.id,
            unit: chart.unit,
            names: chart.lines.iter().map(|line| line.name.as_str()).collect(),
            values: &chart.values,
        }
    }
}
