//! The HTML report as text: what it may load, what it escapes, how large it may grow.

use std::collections::BTreeSet;

use sojourn_report::{
    ReportModel,
    model::{ErrorRow, StatusRow, TimeSeries, Timeline},
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

#[test]
fn an_hour_with_many_stages_and_losses_stays_below_a_megabyte() {
    let mut model = payments::model();
    let journey = &mut model.journeys[0];
    let stages = journey.stages.clone();
    let mut timeline = Timeline {
        starts_ns: (0..3_600).map(|second| second * 1_000_000_000).collect(),
        end_ns: 3_600_000_000_000,
        seconds_per_point: 1,
        series: Vec::new(),
    };
    journey.stages.clear();
    for copy in 0..4 {
        for stage in &stages {
            let name = format!("{}-{copy}", stage.name);
            for series in &journey.timeline.series {
                if series.of == stage.name {
                    timeline.series.push(TimeSeries {
                        of: name.clone(),
                        values: (0..3_600u64)
                            .map(|second| Some(((second * 7_919) % 10_007) as f64 * 1e6))
                            .collect(),
                        ..series.clone()
                    });
                }
            }
            let mut stage = stage.clone();
            stage.name = name;
            journey.stages.push(stage);
        }
    }
    journey.timeline = timeline;
    let lost = journey.kept[2].clone();
    journey.kept.extend(vec![lost; 2_000]);
    let size = html(&model).len();
    assert!(size < 1_000_000, "{size} bytes");
    assert!(html(&model).contains("Each point is the highest of"));
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
