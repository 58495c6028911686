//! The report as one HTML file that needs nothing else: styles, script, charts and definitions are
//! inlined. Charts are SVG drawn here, readable without script; the script adds values under the
//! pointer, zoom, and switching lines off.
//!
//! Everything that is printed goes through the template engine's escaping. Only our own assets and
//! the definitions are inserted as they are.

pub(crate) mod audit;
mod axis;
mod bars;
pub(super) mod capacity;
mod curve;
mod definitions;
mod kept;
mod lines;
pub(crate) mod page;
mod resources;
pub(super) mod sweep;
mod traffic;
mod view;
mod waterfall;

use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, Value, context, syntax::SyntaxConfig, value::Serde,
};
use serde::Serialize;
use sojourn_analysis::words;

use crate::{
    ReportModel,
    model::{AmendmentRow, Health, TapHealth, ThreadHealth, requirements_met},
    render::{RenderError, STYLE, WORDS_SCRIPT},
};

/// The templates, by the name that includes use.
const TEMPLATES: [(&str, &str); 17] = [
    ("report.html", include_str!("../../assets/report.html")),
    ("health.html", include_str!("../../assets/health.html")),
    ("ledger.html", include_str!("../../assets/ledger.html")),
    ("journey.html", include_str!("../../assets/journey.html")),
    ("kept.html", include_str!("../../assets/kept.html")),
    ("batch.html", include_str!("../../assets/batch.html")),
    ("labels.html", include_str!("../../assets/labels.html")),
    ("clocks.html", include_str!("../../assets/clocks.html")),
    ("checks.html", include_str!("../../assets/checks.html")),
    ("limits.html", include_str!("../../assets/limits.html")),
    ("poison.html", include_str!("../../assets/poison.html")),
    ("requirements.html", include_str!("../../assets/requirements.html")),
    ("resources.html", include_str!("../../assets/resources.html")),
    ("steps.html", include_str!("../../assets/steps.html")),
    ("charts.html", include_str!("../../assets/charts.html")),
    ("traffic.html", include_str!("../../assets/traffic.html")),
    ("macros.html", include_str!("../../assets/macros.html")),
];

/// What moves in the report.
const SCRIPT: &str = include_str!("../../assets/script.js");

pub(super) fn report(model: &ReportModel) -> Result<String, RenderError> {
    let mut environment = environment()?;
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    let journeys = view::journeys(model);
    let traffic = traffic::view(model).map(|traffic| {
        let starts_s = view::starts_s(&traffic.timeline);
        (traffic, starts_s)
    });
    let data = view::data(&journeys, traffic.as_ref());
    let data = script_json(&serde_json::to_string(&data)?);
    let html = environment.get_template("report.html")?.render(context! {
        model => serialised(model),
        mark => model.verdict.outcome.mark(),
        busiest => serialised(busiest(&model.health)),
        slowest_tap => serialised(slowest_tap(&model.health)),
        refused => model.health.refused.iter().map(|refusal| refusal.count).sum::<u64>(),
        journeys => serialised(&journeys),
        requirements_met => requirements_met(&model.requirements),
        traffic => serialised(traffic.as_ref().map(|(traffic, _)| traffic)),
        amendments => amendments(model),
        resources => serialised(resources::rows(model)),
        data => Value::from_safe_string(data),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(format!("{WORDS_SCRIPT}{SCRIPT}")),
        definitions => Value::from_safe_string(definitions::html()),
    })?;
    Ok(html)
}

fn amendments(model: &ReportModel) -> Vec<String> {
    model.identity.amendments.iter().map(AmendmentRow::in_words).collect()
}

fn busiest(health: &Health) -> Option<&ThreadHealth> {
    let measured = health.threads.iter().filter(|thread| thread.cpu_max.is_some());
    measured.max_by(|a, b| a.cpu_max.unwrap_or(0.0).total_cmp(&b.cpu_max.unwrap_or(0.0)))
}

fn slowest_tap(health: &Health) -> Option<&TapHealth> {
    let taps = health.taps.iter();
    taps.max_by(|a, b| a.behind_ms_max.total_cmp(&b.behind_ms_max))
}

pub(crate) fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("duration", figure(words::duration));
    environment.add_filter("number", figure(words::number));
    environment.add_filter("index", figure(|index| format!("{index:.3}")));
    environment.add_filter("percent", figure(words::percent));
    environment.add_filter("bytes", figure(words::bytes));
    environment.add_filter("quantile", figure(words::quantile));
    environment.add_filter("offset", |value: i64| words::offset(value));
    environment.add_filter("count", |value: u64| words::count(value));
    Ok(environment)
}

/// A filter that prints a figure, and a dash where there is none.
fn figure(print: fn(f64) -> String) -> impl Fn(Value) -> Result<String, minijinja::Error> {
    move |value| match value.is_none() {
        true => Ok("–".to_owned()),
        // What does not exist is no number either.
        false => f64::try_from(value).map(print),
    }
}

/// The value; of one that does not exist an error that names it.
pub(crate) fn existing(value: Value) -> Result<Value, minijinja::Error> {
    match value.is_undefined() {
        // The error that minijinja makes of that knows where the value is from.
        true => f64::try_from(value).map(Value::from),
        false => Ok(value),
    }
}

pub(crate) fn serialised(value: impl Serialize) -> Value {
    Value::from(Serde(value))
}

/// JSON that may stand within a script element: nothing in it can end the element.
pub(crate) fn script_json(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
