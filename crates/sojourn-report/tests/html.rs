//! The HTML report as text: what it may load, what it escapes, how large it may grow.

use std::collections::BTreeSet;

use sojourn_metrics::names;
use sojourn_report::{
    ReportModel,
    model::{
        ErrorRow, ProcessHealth, ResourceReport, StageRow, Statistic, StatusRow, TagRow,
        ThreadHealth, TimeSeries, Timeline,
    },
    render,
};

use crate::payments;

fn html(model: &ReportModel) -> String {
    render::html(model).expect("the template renders")
}

/// Every value of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn it_loads_nothing() {
    for html in [html(&payments::model()), html(&payments::empty())] {
        for loading in [" src=", "url(", "@import", "<iframe", "<img", "fetch(", "import("] {
            assert!(!html.contains(loading), "{loading}");
        }
        for href in attributes(&html, "href") {
            assert!(href.starts_with('#') || href == "data:,", "{href}");
        }
    }
    // The plan's own text may name addresses; nothing else does.
    let mut model = payments::model();
    model.identity.plan.clear();
    assert!(!html(&model).contains("://"));
}

#[test]
fn foreign_names_are_text() {
    let evil =
        "</script></style><script>alert(1)</script>\" onload=\"alert(2)' &amp; {{ 123457*1001 }}";
    let mut model = payments::model();
    model.identity.name = evil.into();
    model.identity.labels.push((evil.into(), evil.into()));
    model.identity.plan = evil.into();
    model.identity.channels.push((evil.into(), evil.into()));
    model.verdict.headline = evil.into();
    model.verdict.cut_off = Some(evil.into());
    model.notes.push(evil.into());
    model.thresholds[0].text = evil.into();
    model.health.threads[0].thread = evil.into();
    model.ledger.journeys[0].name = evil.into();
    model.ledger.events[0].channel = evil.into();
    model.conclusions[0].text = evil.into();
    let journey = &mut model.journeys[0];
    journey.name = evil.into();
    journey.stages[0].name = evil.into();
    for series in &mut journey.timeline.series {
        if series.of == "initiated" {
            series.of = evil.into();
        }
    }
    journey.steps[0].name = evil.into();
    journey.steps[0].statuses.push(StatusRow { status: evil.into(), ..StatusRow::default() });
    journey.steps[0].errors.push(ErrorRow { reason: evil.into(), count: 1 });
    journey.kept[0].key = Some(evil.into());
    journey.kept[0].reason = Some(evil.into());
    journey.kept[0].spans[1].name = evil.into();
    let evil_html = html(&model);
    let good_html = html(&payments::model());
    for tag in ["<script", "</script", "<style", "</style"] {
        assert_eq!(evil_html.matches(tag).count(), good_html.matches(tag).count(), "{tag}");
    }
    assert!(!evil_html.contains(" onload=\""));
    assert!(!evil_html.contains("123580457"), "a name was taken for a template");
    assert!(evil_html.matches("&lt;script&gt;alert(1)").count() > 20);
}

#[test]
fn every_figure_links_to_a_definition_that_is_there() {
    let html = html(&payments::model());
    let ids = attributes(&html, "id");
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len(), "an id appears twice");
    let links: BTreeSet<_> =
        attributes(&html, "href").into_iter().filter_map(|href| href.strip_prefix('#')).collect();
    assert!(links.iter().filter(|link| link.starts_with("def-")).count() > 40);
    for link in links {
        assert!(distinct.contains(&link), "#{link} leads nowhere");
    }
}

/// Seconds of an hour.
const HOUR_S: u64 = 3_600;

/// A line of an hour, no second of it like the one before.
fn hour_long(of: &str, like: &TimeSeries, most: f64) -> TimeSeries {
    let value = |second: u64| Some(((second * 7_919) % 10_007) as f64 / 10_007.0 * most);
    TimeSeries { of: of.into(), values: (0..HOUR_S).map(value).collect(), ..like.clone() }
}

fn hour_of(series: Vec<TimeSeries>) -> Timeline {
    Timeline {
        starts_ns: (0..HOUR_S).map(|second| second * 1_000_000_000).collect(),
        end_ns: HOUR_S * 1_000_000_000,
        seconds_per_point: 1,
        series,
    }
}

/// A journey of so many stages, with what was read of the system beside it.
fn lengthen_journey(model: &mut ReportModel) {
    let journey = &mut model.journeys[0];
    let stages = std::mem::take(&mut journey.stages);
    let mut series = Vec::new();
    for copy in 0..4 {
        for stage in &stages {
            let name = format!("{}-{copy}", stage.name);
            let own = journey.timeline.series.iter().filter(|series| series.of == stage.name);
            series.extend(own.map(|own| hour_long(&name, own, 1e10)));
            journey.stages.push(StageRow { name, ..stage.clone() });
        }
    }
    let of_resource = TimeSeries {
        metric: names::RESOURCE.into(),
        of: String::new(),
        statistic: Statistic::Max,
        values: Vec::new(),
    };
    let declared = model.resources[0].clone();
    for copy in 0..8 {
        let name = format!("payments-api-{copy}");
        for (figure, most) in
            [(names::CORES, 4.0), (names::LIMIT_CORES, 4.0), (names::MEMORY_BYTES, 1e9)]
        {
            series.push(hour_long(&format!("{name}: {figure}"), &of_resource, most));
        }
        let of = format!("queue_{copy}{{pod=a}}: {}", names::VALUE);
        series.push(hour_long(&of, &of_resource, 5e4));
        model.resources.push(ResourceReport { name, ..declared.clone() });
    }
    journey.timeline = hour_of(series);
    let lost = journey.kept[2].clone();
    journey.kept.extend(vec![lost; 2_000]);
}

/// Traffic of many tags and statuses.
fn lengthen_traffic(model: &mut ReportModel) {
    let traffic = model.traffic.as_mut().unwrap();
    let mut series = Vec::new();
    for own in &traffic.timeline.series {
        let copies = match own.metric.as_str() {
            "step.requests.by_status" => 16,
            "step.requests.by_tag" => 24,
            _ => 0,
        };
        let copied = (0..copies).map(|copy| hour_long(&format!("{} {copy}", own.of), own, 900.0));
        series.extend([hour_long(&own.of, own, 900.0)].into_iter().chain(copied));
    }
    traffic.timeline = hour_of(series);
    let (tag, status) = (traffic.tags[0].clone(), traffic.statuses[0].clone());
    traffic.tags.extend((0..24).map(|copy| TagRow { tag: format!("tag {copy}"), ..tag.clone() }));
    let status = |copy| StatusRow { status: format!("5{copy:02}"), ..status.clone() };
    traffic.statuses.extend((0..16).map(status));
}

/// A fleet of processes, each with its threads.
fn widen_generator(model: &mut ReportModel) {
    let thread = model.health.threads[0].clone();
    for process in 0..100 {
        let name = format!("generator-{process}");
        model.health.threads.extend((0..4).map(|thread_of| ThreadHealth {
            thread: format!("{name}/g{thread_of}"),
            ..thread.clone()
        }));
        model.health.processes.push(ProcessHealth {
            process: name,
            memory_bytes_max: Some(1.2e8),
            descriptors_max: Some(1_043.0),
            descriptors_limit: Some(1_048_576.0),
            cpu_mean: Some(1.732),
            cpu_max: Some(3.99),
        });
    }
}

#[test]
fn an_hour_with_everything_at_its_longest_stays_below_a_megabyte() {
    let mut model = payments::model();
    lengthen_journey(&mut model);
    lengthen_traffic(&mut model);
    widen_generator(&mut model);
    let html = html(&model);
    // All of it is there.
    for words in [
        "Each point is the highest of",
        "payments-api-7, limit",
        "queue_7{pod=a}",
        "submit &lt;b&gt; 23",
        "202 15",
        "generator-99",
        "completed-3",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
}

#[test]
fn a_run_that_was_cut_off_says_so_first() {
    let html = html(&payments::empty());
    let banner = html.find("The run file was cut off").expect("a banner");
    assert!(banner < html.find("Generator health").expect("health"));
    assert!(!html.contains("NaN") && !html.contains("inf%"));
}

#[test]
fn journeys_without_stages_or_steps_render() {
    let mut model = payments::model();
    model.journeys[0].stages.clear();
    model.journeys[0].shares.clear();
    assert!(html(&model).contains("HTTP steps"));
    model.journeys[0].steps.clear();
    model.journeys[0].quantiles.clear();
    model.journeys[0].duration_ns = None;
    model.journeys[0].timeline = Timeline::default();
    model.journeys[0].kept.clear();
    assert!(html(&model).contains("No journey was seen to its end"));
    model.journeys.clear();
    model.ledger.events.clear();
    html(&model);
}
