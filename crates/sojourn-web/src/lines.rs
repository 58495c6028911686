//! Which figures of a frame are drawn as lines over the run.

use sojourn_live::frame::{Frame, FrameStretch, JourneyFrame};

use crate::history::{Chart, LineName, Point};

/// The points of a frame. Of a run that is over there are none: its last words cover no second.
pub(crate) fn points(frame: &Frame) -> Vec<Point> {
    if frame.stretch == FrameStretch::Over {
        return Vec::new();
    }
    let of_run = |chart, line: &str, value| point(chart, "", line, value);
    let mut points = vec![
        of_run(Chart::Rate, "asked", Some(frame.asked_per_s)),
        of_run(Chart::Rate, "delivered", Some(frame.delivered_per_s)),
        of_run(Chart::Lag, "lag p99", frame.health.lag_p99_ns.map(|ns| ns as f64)),
    ];
    for journey in &frame.journeys {
        of_journey(journey, &mut points);
    }
    points
}

fn of_journey(journey: &JourneyFrame, points: &mut Vec<Point>) {
    let mut add = |chart, line: &str, value| points.push(point(chart, &journey.name, line, value));
    add(Chart::InFlight, "in flight", Some(journey.in_flight as f64));
    add(Chart::Completed, "started", Some(journey.started_per_s));
    add(Chart::Completed, "completed", Some(journey.completed_per_s));
    add(Chart::Duration, "p50", journey.duration.p50_ns);
    add(Chart::Duration, "p99", journey.duration.p99_ns);
    for stage in &journey.stages {
        // Nobody waits for what need not come.
        if stage.is_required {
            add(Chart::Waiting, &stage.name, Some(stage.waiting as f64));
        }
        add(Chart::HopP50, &stage.name, stage.hop.p50_ns);
        add(Chart::HopP99, &stage.name, stage.hop.p99_ns);
    }
    for step in &journey.steps {
        add(Chart::StepP99, &step.name, step.response.p99_ns);
    }
}

fn point(chart: Chart, journey: &str, line: &str, value: Option<f64>) -> Point {
    let name = LineName { chart, journey: journey.to_owned(), line: line.to_owned() };
    Point { name, value }
}
