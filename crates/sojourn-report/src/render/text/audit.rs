//! Kept journeys for a terminal: each a waterfall with its offsets from t0; and how many there are.

use sojourn_analysis::words;

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
    table::fit,
};
use crate::{
    audit::Selection,
    model::{KeptClass, KeptCounts, KeptJourney, KeptMessage, Span, SpanKind},
};

/// Columns of the bars.
const BAR: usize = 34;
/// Columns of the names.
const NAME: usize = 18;
/// Columns of a time.
const TIME: usize = 8;
/// Characters of a message's body that are shown.
const BODY_SHOWN_MAX: usize = 1_024;

/// The journeys that a key names, run by run.
pub(crate) fn selections(selections: &[Selection], colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    for selection in selections.iter().filter(|selection| !selection.journeys.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        let identity = &selection.identity;
        let run = format!("{} · run {}", clean(&identity.name), clean(&identity.run_id));
        line(&mut out, &paint.dim(&run));
        if !selection.is_exact {
            let number = selection.journeys.len() + selection.beyond;
            let keys = words::plural(number as u64, "kept key begins", "kept keys begin");
            line(&mut out, &paint.dim(&format!("no such key; {keys} like it")));
        }
        for journey in &selection.journeys {
            out.push('\n');
            whole(&mut out, journey, &paint);
        }
        if selection.beyond > 0 {
            let more = words::count(selection.beyond as u64);
            line(&mut out, &paint.dim(&format!("\n{more} more: give more of the key")));
        }
    }
    out
}

/// How many journeys the run file keeps, and how to look at them.
pub(super) fn summary(out: &mut String, kept: &KeptCounts, paint: &Paint) {
    if kept.classes.iter().all(|class| class.kept == 0 && class.not_kept.unwrap_or(0) == 0) {
        return;
    }
    heading(out, "KEPT JOURNEYS", paint);
    let text = format!(
        "{}; `sojourn report RUN --journey KEY` shows one, `--output audit.ndjson` writes all",
        counts(kept)
    );
    line(out, &wrap(&text, "  ", 2, WIDTH));
}

/// The counts in words: `20 slowest, 3 lost (312 more lost journeys are not in the file, cap 10)`.
pub(crate) fn counts(kept: &KeptCounts) -> String {
    let parts: Vec<String> =
        kept.classes.iter().filter_map(|class| of_class(class, kept)).collect();
    let mut words = match parts.is_empty() {
        true => "none is kept".to_owned(),
        false => parts.join(", "),
    };
    if kept.duplicates_beyond > 0 {
        let beyond = words::count(kept.duplicates_beyond);
        words.push_str(&format!("; {beyond} duplicates that came after the end are not listed"));
    }
    words
}

fn of_class(class: &KeptClass, kept: &KeptCounts) -> Option<String> {
    let name = class_words(&class.class);
    let not_kept = class.not_kept.unwrap_or(0);
    let cap = kept.each_max.map_or_else(String::new, |cap| format!(", cap {}", words::count(cap)));
    match (class.kept, not_kept) {
        (0, 0) => None,
        (own, 0) => Some(format!("{} {name}", words::count(own))),
        (own, beyond) => Some(format!(
            "{} {name} ({} more {name} journeys are not in the file{cap})",
            words::count(own),
            words::count(beyond)
        )),
    }
}

/// A class of run files in words.
pub(crate) fn class_words(class: &str) -> String {
    match class {
        "in_flight_at_cutoff" => "in flight at the cutoff".to_owned(),
        "sample" => "drawn by lot".to_owned(),
        other => clean(&other.replace('_', " ")),
    }
}

/// What became of a journey: `lost: not complete after 11.0 s`.
pub(crate) fn outcome(journey: &KeptJourney) -> String {
    let duration = words::duration(journey.duration_ns as f64);
    let class = class_words(&journey.class);
    match journey.class.as_str() {
        "completed" | "late" => format!("{class}, took {duration}"),
        "lost" | "in_flight_at_cutoff" => format!("{class}, not complete after {duration}"),
        _ => format!("{class}, ended after {duration}"),
    }
}

/// One journey whole.
fn whole(out: &mut String, journey: &KeptJourney, paint: &Paint) {
    let name = paint.bold(&clean(&journey.name()));
    let outcome = outcome(journey);
    let outcome = match journey.class.as_str() {
        "completed" => paint.green(&outcome),
        "late" | "in_flight_at_cutoff" => paint.yellow(&outcome),
        _ => paint.red(&outcome),
    };
    line(out, &format!("{name}  {outcome}"));
    let phase = journey.phase.replace('_', "-");
    let poison = journey.poison_of.as_ref().map_or("", |_| ", poisoned");
    let facts = format!(
        "journey {}{poison}, number {}, {} · scheduled {}, {} into the run · begun {} late",
        clean(&journey.journey),
        journey.id,
        clean(&phase),
        clean(&journey.t0),
        words::duration(journey.t0_ns as f64),
        words::duration(journey.t1_ns as f64),
    );
    line(out, &wrap(&facts, "  ", 2, WIDTH));
    let kept: Vec<String> = journey.kept_as.iter().map(|role| class_words(role)).collect();
    if !kept.is_empty() {
        line(out, &wrap(&format!("kept as {}", kept.join(", ")), "  ", 2, WIDTH));
    }
    if let Some(reason) = &journey.reason {
        line(out, &wrap(&clean(reason), "  ", 2, WIDTH));
    }
    if let Some(label) = &journey.label {
        line(out, &wrap(&format!("label {}", clean(label)), "  ", 2, WIDTH));
    }
    if let Some(trace) = &journey.trace_id {
        line(out, &format!("  trace {}", clean(trace)));
    }
    out.push('\n');
    waterfall(out, journey);
    messages(out, &journey.messages, paint);
}

/// Bars from t0 to the journey's end, or the last that came of it.
fn waterfall(out: &mut String, journey: &KeptJourney) {
    let scale = Scale::of(journey);
    let end = words::duration(scale.end_ns as f64);
    let first = match scale.start_ns {
        0 => "t0".to_owned(),
        before => words::duration(before as f64),
    };
    let axis = format!("{first}{end:>width$}", width = BAR.saturating_sub(first.chars().count()));
    line(out, &format!("  {:NAME$}  {axis}  {:>TIME$} {:>TIME$}", "", "hop", "since t0"));
    for span in &journey.spans {
        let is_complete = matches!(journey.class.as_str(), "completed" | "late");
        let (bar, hop, since, remark) = match span.to_ns {
            // Such a journey needed none of what it did not reach.
            None if is_complete => (" ".repeat(BAR), "–".into(), "–".into(), "not reached".into()),
            _ => row(span, &scale),
        };
        let name = fit(&clean(&span.name), NAME);
        let text = format!("  {name}  {bar}  {hop:>TIME$} {since:>TIME$}  {remark}");
        line(out, &text);
    }
    for duplicate in &journey.duplicates {
        let name = fit(&format!("↻ {}", clean(&duplicate.stage)), NAME);
        let bar = scale.mark(duplicate.at_ns);
        let since = words::duration(duplicate.at_ns as f64);
        let kind = clean(&duplicate.kind);
        line(out, &format!("  {name}  {bar}  {:>TIME$} {since:>TIME$}  {kind}", ""));
    }
    if journey.duplicates_beyond > 0 {
        let beyond = words::count(journey.duplicates_beyond);
        line(out, &format!("  {beyond} further duplicates are not listed"));
    }
}

/// A span's bar, its length, its end since t0, and a remark.
fn row(span: &Span, scale: &Scale) -> (String, String, String, String) {
    let none = || "–".to_owned();
    let Some(to_ns) = span.to_ns else {
        let remark = if span.kind == SpanKind::Step { "not answered" } else { "not seen" };
        let bar = span
            .from_ns
            .map_or_else(|| " ".repeat(BAR), |from_ns| scale.bar(from_ns, scale.end_ns, '·'));
        return (bar, none(), none(), remark.to_owned());
    };
    let from_ns = span.from_ns.unwrap_or(to_ns);
    let (fill, remark) = match (span.kind, span.status, span.from_ns) {
        (SpanKind::Step, Some(status), _) => ('▒', format!("HTTP {status}")),
        (SpanKind::Step, None, _) => ('▒', String::new()),
        (SpanKind::Stage, _, None) => ('█', "predecessor not seen".to_owned()),
        (SpanKind::Stage, _, Some(_)) if to_ns < from_ns => {
            ('◄', "before what it follows".to_owned())
        }
        (SpanKind::Stage, ..) => ('█', String::new()),
    };
    let hop = span.from_ns.map_or_else(none, |from| words::duration(to_ns as f64 - from as f64));
    (scale.bar(from_ns, to_ns, fill), hop, words::duration(to_ns as f64), remark)
}

/// From instants to columns.
struct Scale {
    start_ns: i64,
    end_ns: i64,
}

impl Scale {
    fn of(journey: &KeptJourney) -> Self {
        let spans = journey.spans.iter().flat_map(|span| [span.from_ns, span.to_ns]).flatten();
        let all = spans.chain(journey.duplicates.iter().map(|duplicate| duplicate.at_ns));
        let end_ns = i64::try_from(journey.duration_ns).unwrap_or(i64::MAX);
        let (start_ns, end_ns) =
            all.fold((0, end_ns), |(start, end): (i64, i64), at| (start.min(at), end.max(at)));
        Self { start_ns, end_ns }
    }

    fn column(&self, at_ns: i64) -> usize {
        let width_ns = (self.end_ns as f64 - self.start_ns as f64).max(1.0);
        let share = (at_ns as f64 - self.start_ns as f64) / width_ns;
        ((share * BAR as f64) as usize).min(BAR - 1)
    }

    /// From one instant to another, whichever comes first; at least one column.
    fn bar(&self, from_ns: i64, to_ns: i64, fill: char) -> String {
        let (first, last) = (self.column(from_ns.min(to_ns)), self.column(from_ns.max(to_ns)));
        let is_in = |column: usize| (first..=last).contains(&column);
        (0..BAR).map(|column| if is_in(column) { fill } else { ' ' }).collect()
    }

    fn mark(&self, at_ns: i64) -> String {
        self.bar(at_ns, at_ns, '↻')
    }
}

/// What was kept of its messages.
fn messages(out: &mut String, messages: &[KeptMessage], paint: &Paint) {
    for message in messages {
        let at = words::duration(message.at_ns as f64);
        let stage = clean(&message.stage);
        if !message.is_held {
            line(out, &paint.dim(&format!("  message of {stage} at {at}: no longer held")));
            continue;
        }
        let key =
            message.key.as_deref().map_or_else(String::new, |it| format!(" key {}", clean(it)));
        let bytes = words::bytes(message.bytes as f64);
        let head = format!("message of {stage} at {at}, {bytes}: {}{key}", clean(&message.topic));
        line(out, &wrap(&head, "  ", 4, WIDTH));
        for (name, value) in &message.headers {
            line(out, &wrap(&format!("{}: {}", clean(name), clean(value)), "    ", 6, WIDTH));
        }
        let body: String = message.body.chars().take(BODY_SHOWN_MAX).collect();
        let digits = if message.is_text { "" } else { "(no text, hexadecimal) " };
        line(out, &wrap(&format!("{digits}{}", clean(&body)), "    ", 4, WIDTH));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Duplicate;

    fn span(name: &str, from_ns: Option<i64>, to_ns: Option<i64>) -> Span {
        Span { name: name.into(), kind: SpanKind::Stage, from_ns, to_ns, status: None }
    }

    #[test]
    fn bars_stay_within_their_columns_whatever_the_instants() {
        let journey = KeptJourney {
            duration_ns: u64::MAX,
            spans: vec![
                span("a", Some(i64::MIN), Some(i64::MAX)),
                span("b", Some(i64::MAX), Some(i64::MIN)),
                span(&"n".repeat(90), None, None),
            ],
            duplicates: vec![Duplicate { stage: "a".into(), kind: "redelivery".into(), at_ns: -5 }],
            ..KeptJourney::default()
        };
        let scale = Scale::of(&journey);
        for at_ns in [i64::MIN, -1, 0, 1, i64::MAX] {
            assert!(scale.column(at_ns) < BAR);
        }
        let mut out = String::new();
        waterfall(&mut out, &journey);
        assert_eq!(out.lines().count(), 5);
    }

    #[test]
    fn counts_name_the_cap_and_what_lies_beyond() {
        let class = |class: &str, kept, not_kept| KeptClass { class: class.into(), kept, not_kept };
        let kept = KeptCounts {
            classes: vec![
                class("lost", 10_000, Some(312)),
                class("late", 0, Some(0)),
                class("slowest", 20, None),
            ],
            each_max: Some(10_000),
            duplicates_beyond: 0,
        };
        let words =
            "10,000 lost (312 more lost journeys are not in the file, cap 10,000), 20 slowest";
        assert_eq!(counts(&kept), words);
    }
}
