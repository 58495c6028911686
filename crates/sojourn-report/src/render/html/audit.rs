//! A page of the journeys that a key names: each its waterfall, and nothing else.

use minijinja::{Value, context};

use super::{
    environment,
    kept::{KeptRow, Page},
    serialised,
};
use crate::{
    audit::Selection,
    model::KeptJourney,
    render::{RenderError, STYLE, text},
};

/// What the template needs of a run.
#[derive(serde::Serialize)]
struct RunView {
    name: String,
    run_id: String,
    start: String,
    is_exact: bool,
    beyond: u64,
    journeys: Vec<Shown>,
}

/// A journey and what stands above its waterfall.
#[derive(serde::Serialize)]
struct Shown {
    row: KeptRow,
    outcome: String,
    facts: Vec<(&'static str, String)>,
}

pub(crate) fn page(selections: &[Selection]) -> Result<String, RenderError> {
    let mut environment = environment()?;
    environment.add_template("macros.html", include_str!("../../../assets/macros.html"))?;
    environment.add_template("audit.html", include_str!("../../../assets/audit.html"))?;
    let mut page = Page::new(0);
    let found = selections.iter().filter(|selection| !selection.journeys.is_empty());
    let runs: Vec<RunView> = found
        .map(|selection| RunView {
            name: selection.identity.name.clone(),
            run_id: selection.identity.run_id.clone(),
            start: selection.identity.start.clone(),
            is_exact: selection.is_exact,
            beyond: selection.beyond as u64,
            journeys: selection.journeys.iter().map(|it| shown(&mut page, it)).collect(),
        })
        .collect();
    let html = environment.get_template("audit.html")?.render(context! {
        runs => serialised(&runs),
        style => Value::from_safe_string(STYLE.to_owned()),
        definitions => Value::from_safe_string(super::definitions::html()),
    })?;
    Ok(html)
}

fn shown(page: &mut Page, journey: &KeptJourney) -> Shown {
    let mut facts = vec![
        ("journey", journey.journey.clone()),
        ("number", journey.id.to_string()),
        ("scheduled", journey.t0.clone()),
        ("phase", journey.phase.replace('_', "-")),
    ];
    let kept: Vec<String> =
        journey.kept_as.iter().map(|role| text::audit::class_words(role)).collect();
    facts.push(("kept as", kept.join(", ")));
    facts.extend(journey.reason.clone().map(|reason| ("why", reason)));
    facts.extend(journey.label.clone().map(|label| ("label", label)));
    facts.extend(journey.trace_id.clone().map(|trace| ("trace", trace)));
    Shown { row: page.drawn(journey, true), outcome: text::audit::outcome(journey), facts }
}
