//! Roots that send the events of several journeys in one request.

use crate::{
    Action, BATCH_MAX, Batch, BatchForm, Expect, Hole, HttpAction, KeyRule, Model, Part, Stage,
    StageSource, Step, Teller, Template, Until,
};

use super::Reader;
use super::fields::{Fields, given_or};
use super::journeys::Weighted;
use super::node::{Content, Node};
use super::selectors::{self, Place};
use super::shape::Kind::{Choice, Count, Selector};
use super::shape::{Field, Shape};
use super::steps::RawStep;

/// The words for a batch's form, in the order of [`BatchForm`].
const FORMS: [&str; 2] = ["array", "lines"];
const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

pub(crate) static BATCH: Shape = Shape {
    name: "a batch",
    doc: "One request with the events of several journeys, each with its own key.",
    fields: &[
        Field::new("of", Count, "Events of each request, 1 to 10000.").required(),
        Field::new("as", Choice(&FORMS), "A JSON `array` (default), or `lines`."),
        Field::new(
            "accepted",
            Selector,
            "Where the answer says which were accepted: a list of them, or their number; the first \
             so many were. Without it an answer as expected has accepted all.",
        ),
    ],
};

impl Reader<'_> {
    /// `50`, or `{ of: 50, accepted: body.ids }`.
    pub(super) fn batch(&mut self, node: &Node) -> Option<Batch> {
        if node.scalar().is_some() {
            let size = self.problems.count(node, 1, BATCH_MAX.into())?;
            // At most ten thousand: it fits.
            return Some(Batch { size: size as u32, form: BatchForm::Array, accepted: None });
        }
        let fields = Fields::of(node, &BATCH, &mut self.problems)?;
        let size = fields.get("of");
        let size = size.and_then(|node| self.problems.count(node, 1, BATCH_MAX.into()));
        let form = given_or(fields.get("as"), BatchForm::Array, |node| {
            let place = self.problems.choice(node, &FORMS)?;
            Some([BatchForm::Array, BatchForm::Lines][place])
        });
        let accepted = given_or(fields.get("accepted"), None, |node| {
            selectors::selector(node, Place::Answer, &mut self.problems).map(Some)
        });
        Some(Batch { size: size? as u32, form: form?, accepted: accepted? })
    }

    /// Reads a root's batch, and gives its request the content type of its form.
    pub(super) fn batch_of(&mut self, raw: &RawStep<'_>, action: &mut Action) -> Option<Batch> {
        let node = raw.fields.get("batch")?;
        let batch = self.batch(node)?;
        if let (Action::Http(http), BatchForm::Lines) = (action, batch.form)
            && !raw.fields.get("http").is_some_and(sets_content_type)
        {
            for (_, value) in http.headers.iter_mut().filter(|(name, _)| name == "Content-Type") {
                if matches!(value.parts.as_slice(), [Part::Literal(text)] if text == JSON) {
                    *value = Template::literal(LINES);
                }
            }
        }
        Some(batch)
    }

    /// One answer is for all journeys of a batch: what would need one of their own is refused.
    pub(super) fn check_batch(
        &mut self,
        raw: &[RawStep<'_>],
        steps: &[Step],
        stages: &[Stage],
        trace: bool,
    ) {
        let Some(first) = raw.iter().find_map(|raw| raw.fields.get("batch")) else { return };
        let keyed = raw.iter().position(|raw| raw.fields.get("key").is_some());
        if let Some(late) = keyed.filter(|place| *place > 0) {
            let hint = Some("make it at the first step: the others send it again".to_owned());
            let node = raw[late].fields.get("key").unwrap_or(first);
            self.problems.at(node, "the key of a batch at a later step", hint);
        }
        for raw in raw {
            self.check_batch_step(raw, steps);
            for (name, hint) in [
                ("extract", "take values from the journeys' own events"),
                (
                    "retry",
                    "events that were accepted would be sent twice: send what fails as it is",
                ),
            ] {
                if let Some(at) = raw.fields.get(name) {
                    let message = format!("`{name}` with `batch`: one answer is for many journeys");
                    self.problems.at(at, message, Some(hint.to_owned()));
                }
            }
        }
        if trace {
            let hint = Some("say `trace: false` in this root".to_owned());
            self.problems.at(first, "a batch with a trace: one request carries one", hint);
        }
        for raw in raw {
            let (Some(node), Some(step)) = (raw.fields.get("batch"), step_of(steps, raw)) else {
                continue;
            };
            match &step.action {
                Action::Http(http) => self.check_batch_request(raw, node, http),
                Action::Publish(_) => {
                    let hint = "a published message is one event: raise the rate instead";
                    let message = "`batch` for a message that is published";
                    self.problems.at(node, message, Some(hint.to_owned()));
                }
            }
        }
        let asks_answer = |stage: &&Stage| {
            let told = matches!(stage.expect, Expect::Told { by: Teller::Step(_), .. });
            told || matches!(stage.source, StageSource::Poll(_))
        };
        for stage in stages.iter().filter(asks_answer) {
            let what = match stage.source {
                StageSource::Poll(_) => "is polled",
                StageSource::Event { .. } => "is told its members by an answer",
            };
            let message = format!("stage `{}` {what}, but the root is a batch", stage.name);
            let hint = Some("a batch's journeys are followed by their events".to_owned());
            self.problems.at(first, message, hint);
        }
    }

    /// Every step of a batch's journeys sends the same events.
    fn check_batch_step(&mut self, raw: &RawStep<'_>, steps: &[Step]) {
        let step = step_of(steps, raw);
        if let (Some(KeyRule::Received { .. }), Some(at)) =
            (step.and_then(|step| step.key.as_ref()), raw.fields.get("key"))
        {
            let hint = Some("make it: `key: \"{{ uuid() }}\"`".to_owned());
            self.problems.at(at, "the keys of a batch can't come from its one answer", hint);
        }
        if let Some(after) = raw.after() {
            let hint = Some("a batch's journeys are followed by their events".to_owned());
            self.problems.at(after, "a step that waits for a stage, beside a batch", hint);
            return;
        }
        let Some(node) = raw.fields.get("batch") else {
            let message = format!("step `{}` without `batch`, beside a batch", raw.name);
            let hint = Some("every step sends the same events: repeat the `batch`".to_owned());
            self.problems.at(raw.node, message, hint);
            return;
        };
        let size = |step: &Step| step.batch.as_ref().map(|batch| batch.size);
        if let (Some(of), Some(first)) = (step.and_then(size), steps.first().and_then(size))
            && of != first
        {
            let message = format!("a batch of {of} after one of {first}");
            let hint = Some("every step sends the same events: say the same number".to_owned());
            self.problems.at(node, message, hint);
        }
    }

    fn check_batch_request(&mut self, raw: &RawStep<'_>, node: &Node, http: &HttpAction) {
        if http.body.is_none() {
            let hint = Some("`json:` says what one event is; it is written for each".to_owned());
            self.problems.at(node, "a batch without a body", hint);
        }
        if raw.fields.get("http").is_some_and(|http| has(http, "form")) {
            let hint = Some("write the event as `json` or `body`".to_owned());
            self.problems.at(node, "a batch of forms", hint);
        }
        if http.redirects_max > 0 {
            let hint = Some("leave `redirects` out".to_owned());
            self.problems.at(node, "a batch whose redirects are followed", hint);
        }
        self.check_batch_shares(node, http);
    }

    /// Path and headers are one for all of a batch, so that no journey's key can be in them.
    pub(super) fn check_batch_shares(&mut self, node: &Node, http: &HttpAction) {
        let mut shared = std::iter::once(&http.path).chain(http.headers.iter().map(|(_, it)| it));
        let has_key = |template: &Template| {
            template.parts.iter().any(|part| matches!(part, Part::Hole { hole: Hole::Key, .. }))
        };
        if shared.any(has_key) {
            let hint = Some("the journeys of a batch share path and headers".to_owned());
            self.problems.at(node, "`key` outside the body of a batch", hint);
        }
    }

    /// A user waits for one journey, not for a batch of them.
    pub(super) fn check_batch_users(
        &mut self,
        node: &Node,
        model: &Model,
        chosen: &[(usize, f64)],
        journeys: &[Weighted],
    ) {
        if !matches!(model, Model::Closed { until: Until::Journey, .. }) {
            return;
        }
        for &(place, _) in chosen {
            let journey = &journeys[place].journey;
            if journey.batch().is_some() && !journey.stages.is_empty() {
                let name = &journey.name;
                let message = format!("users can't wait for the journeys of a batch (`{name}`)");
                let hint = Some("say `until: root`, or give a rate".to_owned());
                self.problems.at(node, message, hint);
            }
        }
    }
}

/// The step that a mapping has become, if it could be read.
fn step_of<'s>(steps: &'s [Step], raw: &RawStep<'_>) -> Option<&'s Step> {
    steps.iter().find(|step| step.name == raw.name)
}

fn has(node: &Node, name: &str) -> bool {
    let Content::Map(entries) = &node.content else { return false };
    entries.iter().any(|(key, _)| key.name == name)
}

/// Whether a request's mapping says its content type itself.
fn sets_content_type(http: &Node) -> bool {
    let Content::Map(entries) = &http.content else { return false };
    let headers = entries.iter().find(|(key, _)| key.name == "headers").map(|(_, node)| node);
    match headers.map(|node| &node.content) {
        Some(Content::Map(entries)) => {
            entries.iter().any(|(key, _)| key.name.eq_ignore_ascii_case("content-type"))
        }
        _ => false,
    }
}
