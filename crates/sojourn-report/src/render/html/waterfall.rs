//! Bars along a journey's time: of a kept journey, or of the stages' medians.

use serde::Serialize;
use sojourn_analysis::words;

use super::axis::tenths;
use crate::model::{JourneyReport, KeptJourney, Span, SpanKind};

/// One row: a step or a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    /// Its name.
    pub(super) name: String,
    /// `step`, `stage`, `again` for a duplicate, `missing` for what was not seen, `unneeded` for
    /// what was not reached by a journey that is complete without it.
    pub(super) kind: &'static str,
    /// Bar's start, percent of the width.
    pub(super) x: f64,
    /// Bar's width, percent.
    pub(super) width: f64,
    /// A thin line from the bar's end to here, percent, where there is one.
    pub(super) whisker: Option<f64>,
    /// How long it took.
    pub(super) took: String,
    /// When it was over, since t0.
    pub(super) since: String,
    /// More to say: share, status.
    pub(super) remark: String,
    /// The journey's bottleneck.
    pub(super) longest: bool,
}

/// The flow of stages: each hop's median, placed at the stage's median since the start, with a line
/// to the p99.
pub(super) fn flow(journey: &JourneyReport) -> Vec<Row> {
    let ends = journey.stages.iter().filter_map(|stage| Some(stage.since_start_ns?.p99));
    let responses = journey.steps.iter().filter_map(|step| Some(step.response_ns.all?.p99));
    let end_ns = ends.chain(responses).max().unwrap_or(0).max(1) as f64;
    let percent = |ns: f64| tenths((ns / end_ns * 100.0).clamp(0.0, 100.0));
    let longest = journey
        .shares
        .iter()
        .filter(|_| journey.shares.len() > 1)
        .max_by_key(|share| share.p50_ns)
        .map(|share| share.name.as_str());
    let steps = journey.steps.iter().filter_map(|step| {
        let times = step.response_ns.all?;
        Some(Row {
            name: step.name.clone(),
            kind: "step",
            x: 0.0,
            width: percent(times.p50 as f64).max(0.4),
            whisker: Some(percent(times.p99 as f64)),
            took: words::duration(times.p50 as f64),
            since: words::duration(times.p50 as f64),
            remark: String::new(),
            longest: false,
        })
    });
    let stages = journey.stages.iter().map(|stage| {
        let (Some(hop), Some(since)) = (stage.hop_ns, stage.since_start_ns) else {
            return missing(&stage.name, 0.0, "not reached");
        };
        let share = journey.shares.iter().find(|share| share.name == stage.name);
        Row {
            name: stage.name.clone(),
            kind: "stage",
            x: percent((since.p50 - hop.p50.max(0)) as f64),
            width: percent(hop.p50.max(0) as f64).max(0.4),
            whisker: Some(percent(since.p99 as f64)),
            took: words::duration(hop.p50 as f64),
            since: words::duration(since.p50 as f64),
            remark: share
                .and_then(|share| share.p50_share)
                .map_or_else(String::new, words::percent),
            longest: longest == Some(stage.name.as_str()),
        }
    });
    steps.chain(stages).collect()
}

/// A kept journey's steps and stages.
pub(super) fn rows(kept: &KeptJourney) -> Vec<Row> {
    let last_ns = kept.spans.iter().filter_map(|span| span.to_ns).max().unwrap_or(0);
    let first_ns = kept.spans.iter().filter_map(|span| span.from_ns).min().unwrap_or(0).min(0);
    let again_ns = kept.duplicates.iter().map(|duplicate| duplicate.at_ns);
    let last_ns = again_ns.fold(last_ns, i64::max);
    let end_ns = last_ns.max(i64::try_from(kept.duration_ns).unwrap_or(i64::MAX));
    let width_ns = (end_ns as f64 - first_ns as f64).max(1.0);
    let percent =
        |ns: i64| tenths(((ns as f64 - first_ns as f64) / width_ns * 100.0).clamp(0.0, 100.0));
    let longest_ns = kept.spans.iter().filter_map(took_ns).max();
    // Such a journey needed none of what it did not reach.
    let is_complete = matches!(kept.class.as_str(), "completed" | "late");
    let again = kept.duplicates.iter().map(|duplicate| Row {
        name: format!("↻ {}", duplicate.stage),
        kind: "again",
        x: percent(duplicate.at_ns).min(99.6),
        width: 0.4,
        whisker: None,
        took: String::new(),
        since: words::duration(duplicate.at_ns as f64),
        remark: duplicate.kind.clone(),
        longest: false,
    });
    let spans = kept.spans.iter().map(|span| {
        let Some(to_ns) = span.to_ns else {
            if is_complete {
                return Row {
                    kind: "unneeded",
                    width: 0.0,
                    ..missing(&span.name, 0.0, "not reached")
                };
            }
            let remark = if span.kind == SpanKind::Step { "not answered" } else { "not seen" };
            return missing(&span.name, span.from_ns.map_or(100.0, percent), remark);
        };
        let from_ns = span.from_ns.unwrap_or(to_ns);
        // A negative hop is drawn backwards from the point it should have followed.
        let start = percent(from_ns.min(to_ns));
        let end = percent(from_ns.max(to_ns));
        let negative = to_ns < from_ns;
        Row {
            name: span.name.clone(),
            kind: if span.kind == SpanKind::Step { "step" } else { "stage" },
            x: start.min(99.6),
            width: tenths(end - start).max(0.4),
            whisker: None,
            took: words::duration(to_ns as f64 - from_ns as f64),
            since: words::duration(to_ns as f64),
            remark: match (span.status, negative) {
                (Some(status), _) => format!("HTTP {status}"),
                (None, true) => "before the point it follows".to_owned(),
                (None, false) => String::new(),
            },
            longest: kept.spans.len() > 2 && took_ns(span) == longest_ns,
        }
    });
    spans.chain(again).collect()
}

fn took_ns(span: &Span) -> Option<i64> {
    span.to_ns?.checked_sub(span.from_ns?)
}

/// A row of something that was not seen: hatched from where it was awaited.
fn missing(name: &str, x: f64, remark: &str) -> Row {
    Row {
        name: name.to_owned(),
        kind: "missing",
        x: x.min(99.0),
        width: tenths(100.0 - x.min(99.0)),
        whisker: None,
        took: "–".to_owned(),
        since: "–".to_owned(),
        remark: remark.to_owned(),
        longest: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(name: &str, from_ns: Option<i64>, to_ns: Option<i64>) -> Span {
        Span { name: name.into(), kind: SpanKind::Stage, from_ns, to_ns, status: None }
    }

    #[test]
    fn rows_lie_within_the_width_and_the_missing_are_marked() {
        let kept = KeptJourney {
            duration_ns: 100,
            spans: vec![
                span("a", Some(0), Some(10)),
                span("b", Some(10), Some(60)),
                span("early", Some(60), Some(40)),
                span("lost", Some(60), None),
                span("never", None, None),
            ],
            ..KeptJourney::default()
        };
        let rows = rows(&kept);
        assert!(rows.iter().all(|row| row.x >= 0.0 && row.x + row.width <= 100.05));
        assert_eq!((rows[1].x, rows[1].width, rows[1].longest), (10.0, 50.0, true));
        assert_eq!(rows[2].took, "−20 ns");
        assert_eq!(rows[2].remark, "before the point it follows");
        assert_eq!(rows[3].kind, "missing");
        assert_eq!((rows[3].x, rows[3].width), (60.0, 40.0));
    }

    #[test]
    fn extreme_instants_do_not_panic() {
        let kept = KeptJourney {
            duration_ns: u64::MAX,
            spans: vec![
                span("a", Some(i64::MIN), Some(i64::MAX)),
                span("b", Some(i64::MAX), Some(i64::MIN)),
            ],
            ..KeptJourney::default()
        };
        assert_eq!(rows(&kept).len(), 2);
    }
}
