//! The summary as one HTML file that needs nothing else: what must hold, lines over time, checks,
//! and all figures as the text summary has them.

use std::fmt::Write as _;

use super::listed;
use super::number::script;
use super::source::Source;
use super::text::{Mode, text};

/// How the test went in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Since the scenarios began.
    pub elapsed_s: f64,
    /// Users that run scenarios.
    pub users: f64,
    /// Iterations that began.
    pub iterations_per_s: f64,
    /// Requests by HTTP.
    pub requests_per_s: f64,
    /// The 99th percentile of `http_req_duration` so far, where there are any.
    pub request_ms_p99: Option<f64>,
}

/// What the page is of.
#[derive(Clone, Copy, Debug)]
pub struct PageOf<'a> {
    /// The script.
    pub name: &'a str,
    /// What the test came to, in words.
    pub outcome: &'a str,
    /// How it went, in order.
    pub moments: &'a [Moment],
}

/// A line over time: what it is called, and its value of a moment.
type Line = (&'static str, fn(&Moment) -> Option<f64>);

const LINES: [Line; 4] = [
    ("Users", |it| Some(it.users)),
    ("Iterations per second", |it| Some(it.iterations_per_s)),
    ("HTTP requests per second", |it| Some(it.requests_per_s)),
    ("http_req_duration so far, p(99), ms", |it| it.request_ms_p99),
];

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
    padding:0 1rem;color:#1a1a1a;background:#fff}\
    table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}\
    pre{overflow-x:auto;font-size:13px;line-height:1.35}svg{width:100%;height:auto}\
    polyline{fill:none;stroke:#2a6fb0;stroke-width:1.5}figure{margin:1rem 0}\
    @media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}\
    polyline{stroke:#7fb4e6}}";

/// The page.
pub fn page(source: &Source<'_>, of: &PageOf<'_>) -> String {
    let name = escaped(of.name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>{name}</title><style>{STYLE}</style></head><body>\n<h1>{name}</h1>\n<p>{}</p>\n",
        escaped(of.outcome)
    );
    push_thresholds(&mut out, source);
    for (title, value) in LINES {
        push_line(&mut out, title, of.moments, value);
    }
    push_checks(&mut out, source);
    let figures = text(source, Mode::Full, false);
    push(&mut out, format_args!("<h2>Figures</h2>\n<pre>{}</pre>\n", escaped(&figures)));
    out.push_str("</body></html>\n");
    out
}

fn push(out: &mut String, what: std::fmt::Arguments<'_>) {
    // A text takes everything.
    out.write_fmt(what).ok();
}

fn push_thresholds(out: &mut String, source: &Source<'_>) {
    let all = listed::thresholds(source);
    if all.is_empty() {
        return;
    }
    out.push_str("<h2>Thresholds</h2>\n<table>\n");
    for (heading, _, lines) in all {
        for line in lines {
            let (mark, word) = if line.ok { ("✓", "holds") } else { ("✗", "failed") };
            let (heading, text) = (escaped(&heading), escaped(line.text));
            let measured = escaped(&format!("{}={}", line.label, line.value));
            push(
                out,
                format_args!(
                    "<tr><td>{mark} {word}</td><td>{heading}</td><td>{text}</td><td>{measured}\
                     </td></tr>\n"
                ),
            );
        }
    }
    out.push_str("</table>\n");
}

fn push_checks(out: &mut String, source: &Source<'_>) {
    let checks = source.totals.checks().by_name();
    if checks.is_empty() {
        return;
    }
    out.push_str("<h2>Checks</h2>\n<table>\n<tr><th>check</th><th>✓</th><th>✗</th></tr>\n");
    for (name, held, failed) in checks {
        let name = escaped(name);
        push(out, format_args!("<tr><td>{name}</td><td>{held}</td><td>{failed}</td></tr>\n"));
    }
    out.push_str("</table>\n");
}

/// A line from the bottom up: nothing where there is nothing to see of it.
fn push_line(out: &mut String, title: &str, moments: &[Moment], value: fn(&Moment) -> Option<f64>) {
    let points = moments.iter().filter_map(|at| Some((at.elapsed_s, value(at)?)));
    let points: Vec<_> =
        points.filter(|(at_s, value)| at_s.is_finite() && value.is_finite()).collect();
    let top = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let last_s = points.iter().map(|(at_s, _)| *at_s).fold(0.0, f64::max);
    if points.len() < 2 || top <= 0.0 || last_s <= 0.0 {
        return;
    }
    let mut drawn = String::new();
    for (at_s, value) in points {
        let (x, y) = (at_s / last_s * WIDTH, HEIGHT - value.max(0.0) / top * HEIGHT);
        push(&mut drawn, format_args!("{x:.1},{y:.1} "));
    }
    let top = script((top * 100.0).round() / 100.0);
    push(
        out,
        format_args!(
            "<figure><figcaption>{title}: up to {top} over {last_s:.0} s</figcaption>\
             <svg viewBox=\"0 -2 {WIDTH} {0}\" role=\"img\" aria-label=\"{title}\">\
             <polyline points=\"{drawn}\"/></svg></figure>\n",
            HEIGHT + 4.0
        ),
    );
}

/// Text that may stand anywhere in the page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::metrics::{Registry, Totals};
    use crate::thresholds::Thresholds;

    use super::*;

    fn made(of: &PageOf<'_>) -> String {
        let mut registry = Registry::new();
        let thresholds = Thresholds::new(&mut registry, []).unwrap();
        let totals = Totals::default();
        let source = Source {
            registry: &registry,
            totals: &totals,
            thresholds: &thresholds,
            elapsed_ns: 1_000_000_000,
            trend_stats: &[],
            time_unit: None,
            generator: None,
        };
        page(&source, of)
    }

    #[test]
    fn what_scripts_are_called_is_text_and_nothing_else() {
        let of = PageOf { name: "<script>\"&'", outcome: "a < b", moments: &[] };
        let page = made(&of);
        assert!(page.contains("<h1>&lt;script&gt;&quot;&amp;&#39;</h1>"), "{page}");
        assert!(page.contains("<p>a &lt; b</p>") && !page.contains("<script"), "{page}");
        assert!(!page.contains("<svg"), "nothing to draw: {page}");
    }

    #[test]
    fn a_line_goes_from_the_first_moment_to_the_last_and_up_to_the_greatest() {
        let moment = |elapsed_s: f64, users: f64| Moment { elapsed_s, users, ..Moment::default() };
        let moments = [moment(0.0, 0.0), moment(5.0, 4.0), moment(10.0, 2.0)];
        let page = made(&PageOf { name: "x", outcome: "passed", moments: &moments });
        let drawn = "points=\"0.0,120.0 320.0,0.0 640.0,60.0 \"";
        assert!(page.contains(drawn) && page.contains("Users: up to 4 over 10 s"), "{page}");
        assert_eq!(page.matches("<svg").count(), 1, "the others are nothing all the time: {page}");
    }
}
