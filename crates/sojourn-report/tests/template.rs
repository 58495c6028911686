//! Templates of the user's own.

use std::path::Path;

use sojourn_report::render::{Template, TemplateError};

use crate::payments;

fn render(template: &str, report: &str) -> Result<String, TemplateError> {
    Template::new("notes.tmpl", template.to_owned(), Path::new(report))?.render(&payments::model())
}

#[test]
fn a_template_sees_the_json_report_and_prints_figures_as_the_others_do() {
    let template = "\
{{ identity.name }}: {{ verdict.outcome }}
{% for journey in journeys %}
{% for quantile in journey.quantiles if quantile.q in [0.5, 0.999] %}
{{ journey.name }} {{ quantile.q | quantile }} {{ '> ' if quantile.beyond }}{{ quantile.ns | duration }}
{% endfor %}
{% endfor %}
{{ ledger.journeys_total.steady.started | count }} started
{{ thresholds | selectattr('held', 'false') | map(attribute='text') | join(', ') }}
{{ health.delivered | percent }} {{ identity.suite | tojson }}
";
    let expected = "\
payments: fail
payment p50 22.5 s
payment p99.9 > 30.0 s
3,000 started
lost == 0
100 % \"nightly\"
";
    assert_eq!(render(template, "notes.txt").unwrap(), expected);
}

#[test]
fn what_is_inserted_into_html_is_escaped() {
    let template = "{{ traffic.tags[0].tag }}";
    assert_eq!(render(template, "page.html").unwrap(), "submit &lt;b&gt;");
    assert_eq!(render(template, "page.xml").unwrap(), "submit &lt;b&gt;");
    assert_eq!(render(template, "page.txt").unwrap(), "submit <b>");
}

#[test]
fn errors_name_the_file_and_the_line() {
    let told = |template| render(template, "x.txt").unwrap_err().to_string();
    let unclosed = told("one\n{% if x %}\n");
    assert!(unclosed.starts_with("notes.tmpl, line "), "{unclosed}");
    assert!(told("one\n{{ x }\n").starts_with("notes.tmpl, line 2: syntax error"));
    assert!(told("{{ 1 | nothing }}").starts_with("notes.tmpl, line 1: unknown filter"));
    assert!(told("\n{% include 'other' %}").starts_with("notes.tmpl, line 2: template not found"));
}

#[test]
fn a_field_that_does_not_exist_is_named_wherever_it_stands() {
    for (template, missing) in [
        ("{{ identity.nmae }}", "identity.nmae"),
        ("{{ identity.nmae | upper }}", "identity.nmae"),
        ("{{ health.deliverd | percent }}", "health.deliverd"),
        ("{{ ledger.journeys_total.steady.losst | count }}", "ledger.journeys_total.steady.losst"),
        ("{{ identity.siute | tojson }}", "identity.siute"),
        ("{% if identity.nmae %}x{% endif %}", "identity.nmae"),
        ("{% for row in treshholds %}x{% endfor %}", "treshholds"),
        ("{% for row in thresholds if not row.hold %}x{% endfor %}", "row.hold"),
        ("{{ verdict.outcome ~ verdict.whyy }}", "verdict.whyy"),
    ] {
        let told = render(&format!("a\n\n{template}\n"), "x.txt").unwrap_err().to_string();
        assert_eq!(told, format!("notes.tmpl, line 3: `{missing}` is undefined"), "{template}");
    }
    // What a run may lack is null, not missing.
    assert_eq!(render("{{ none | duration }}", "x.txt").unwrap(), "–");
}

/// The first block of this language in a page, and what follows it.
fn block<'a>(page: &'a str, language: &str) -> (&'a str, &'a str) {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
    rest.split_once("```").expect("its end")
}

#[test]
fn the_example_of_the_docs_prints_what_they_say() {
    let page = include_str!("../../../docs/reports.md");
    let (template, rest) = block(page, "jinja");
    let (expected, _) = block(rest, "text");
    assert_eq!(render(template, "message.txt").unwrap(), expected);
}
