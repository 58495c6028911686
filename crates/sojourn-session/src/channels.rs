//! Channels and stages that a script declares, read by the reader of journey files.

use serde_json::{Map, Value, json};
use sojourn_plan::{Channel, Expect, Files, PlanError, PlanErrors, Stage, read_declared, reading};

use crate::definition::{Action, Declared, Definition, Place, visit};

/// Fields that a stage may have.
const STAGE_FIELDS: [&str; 5] = ["on", "match", "check", "key", "member"];

/// What a definition's channels and stages come to.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    pub(crate) channels: Vec<Channel>,
    pub(crate) stages: Vec<KnownStage>,
    /// Texts of the script that no report may show.
    secrets: Vec<String>,
}

/// A stage, and the channel that it is seen on.
#[derive(Clone, Debug)]
pub(crate) struct KnownStage {
    /// Index into [`Channels::channels`].
    pub(crate) channel: usize,
    pub(crate) stage: Stage,
}

impl Channels {
    /// Reads them; files that they name are handed to `files`, as are variables of `${NAME}`. Errs
    /// with all that is wrong, and with steps that name what there is not, each at its place.
    pub fn load(definition: &Definition, files: &dyn Files) -> Result<Self, PlanErrors> {
        let mut loading =
            Loading { files, read: Self::default(), keys: Vec::new(), errors: vec![] };
        for channel in &definition.channels {
            loading.channel(channel);
        }
        for stage in &definition.stages {
            loading.stage(stage, definition);
        }
        if loading.errors.is_empty() {
            for session in &definition.sessions {
                visit(&session.steps, &mut |step| loading.check(&step.action, &step.place));
            }
        }
        match loading.errors.is_empty() {
            true => Ok(loading.read),
            false => Err(PlanErrors(loading.errors)),
        }
    }

    /// A script's text without the secrets that are written in it.
    pub fn without_secrets(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| text.replace(secret.as_str(), "***"))
    }

    /// A stage's number.
    pub(crate) fn stage(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|known| known.stage.name == name)
    }

    /// A channel's number.
    pub(crate) fn channel(&self, name: &str) -> Option<usize> {
        self.channels.iter().position(|known| known.name == name)
    }
}

struct Loading<'a> {
    files: &'a dyn Files,
    read: Channels,
    /// Where messages of each channel have their key, if it says.
    keys: Vec<Option<String>>,
    errors: Vec<PlanError>,
}

impl Loading<'_> {
    fn error(&mut self, place: &Place, message: String, hint: Option<String>) {
        self.errors.push(place.error(message, hint));
    }

    fn channel(&mut self, declared: &Declared) {
        let Declared { name, written, place } = declared;
        let mut written = written.clone();
        let key = match written.shift_remove("key") {
            None => None,
            Some(Value::String(key)) => Some(key),
            Some(other) => {
                let message = format!("the key {other} of the channel `{name}` is no selector");
                return self.error(place, message, Some("such as \"$.id\" or \"key\"".to_owned()));
            }
        };
        let written = Value::Object(written);
        let stage = json!({ "name": name, "key": key.as_deref().unwrap_or("key") });
        let plan = match read_declared(name, &written, &stage, self.files) {
            Ok(plan) => plan,
            Err(problem) => return self.error(place, problem, None),
        };
        let shown = serde_json::from_str::<Value>(&plan.text).unwrap_or_default();
        hidden(&written, &shown["channels"][name.as_str()], &mut self.read.secrets);
        let stage = plan.journeys.into_iter().flat_map(|journey| journey.stages).next();
        let (Some(channel), Some(stage)) = (plan.channels.into_iter().next(), stage) else {
            return self.error(place, format!("the channel `{name}` can't be read"), None);
        };
        let number = self.read.channels.len();
        self.read.channels.push(channel);
        if key.is_some() {
            self.read.stages.push(KnownStage { channel: number, stage });
        }
        self.keys.push(key);
    }

    fn stage(&mut self, declared: &Declared, definition: &Definition) {
        let Declared { name, written, place } = declared;
        if let Some(other) = written.keys().find(|key| !STAGE_FIELDS.contains(&key.as_str())) {
            let message = format!("the stage `{name}` has no `{other}`");
            let hint = reading::suggestion(other, STAGE_FIELDS);
            return self.error(place, message, hint);
        }
        let on = written.get("on").and_then(Value::as_str).unwrap_or_default();
        let channels = || definition.channels.iter();
        let Some(channel) = self.read.channel(on) else {
            // A channel that could not be read has been told of.
            if !channels().any(|known| known.name == on) {
                let message = format!("the stage `{name}` is on no channel: there is none `{on}`");
                let hint = reading::suggestion(on, channels().map(|known| known.name.as_str()));
                self.error(place, message, hint);
            }
            return;
        };
        if self.read.stage(name).is_some() {
            return self.error(place, format!("there are two stages `{name}`"), None);
        }
        let mut fields: Map<String, Value> = written.clone();
        fields.insert("name".to_owned(), name.as_str().into());
        if !fields.contains_key("key") {
            let Some(key) = self.keys.get(channel).cloned().flatten() else {
                let message =
                    format!("the stage `{name}` does not say where events have their key");
                return self.error(place, message, Some("key: \"$.id\"".to_owned()));
            };
            fields.insert("key".to_owned(), key.into());
        }
        let found = channels().find(|known| known.name == on);
        let mut on_fields = found.map_or_else(Map::new, |known| known.written.clone());
        on_fields.shift_remove("key");
        match read_declared(on, &Value::Object(on_fields), &Value::Object(fields), self.files) {
            Ok(plan) => {
                let stage = plan.journeys.into_iter().flat_map(|journey| journey.stages).next();
                self.read.stages.extend(stage.map(|stage| KnownStage { channel, stage }));
            }
            Err(problem) => self.error(place, problem, None),
        }
    }

    /// Whether what a step names is there.
    fn check(&mut self, action: &Action, place: &Place) {
        match action {
            Action::Publish(publish) => {
                let name = publish.channel.as_str();
                let Some(number) = self.read.channel(name) else {
                    let known = self.read.channels.iter().map(|known| known.name.as_str());
                    let hint = reading::suggestion(name, known)
                        .or_else(|| Some(format!("definition.addChannel(\"{name}\", {{ … }})")));
                    return self.error(place, format!("there is no channel `{name}`"), hint);
                };
                let connector = &self.read.channels[number].connector;
                let word = connector.word();
                if !connector.publishes() {
                    let message = format!("a {word} channel such as `{name}` can only listen");
                    self.error(place, message, None);
                } else if connector.usual_topic().is_none() {
                    let message = format!("`{name}` names no single place to publish to");
                    let hint = "declare a channel with one topic for it".to_owned();
                    self.error(place, message, Some(hint));
                }
            }
            Action::Expect(expect) => {
                let name = expect.stage.as_str();
                let Some(number) = self.read.stage(name) else {
                    let known = self.read.stages.iter().map(|known| known.stage.name.as_str());
                    let hint = reading::suggestion(name, known).or_else(|| {
                        Some("definition.addStage, or a channel with a `key`, makes one".to_owned())
                    });
                    return self.error(place, format!("there is no stage `{name}`"), hint);
                };
                if expect.count > 1 && self.read.stages[number].stage.member.is_none() {
                    let count = expect.count;
                    let message =
                        format!("{count} events of the stage `{name}` would be all alike");
                    let hint =
                        "say in the stage what tells them apart: member: \"$.id\"".to_owned();
                    self.error(place, message, Some(hint));
                }
            }
            _ => {}
        }
    }
}

impl KnownStage {
    /// As a stage of a journey, reached by so many members, after another stage or at first.
    pub(crate) fn of_journey(&self, channel: usize, count: u16, after: Option<usize>) -> Stage {
        let mut stage =
            Stage { after, expect: Expect::Members(count.into()), ..self.stage.clone() };
        if let sojourn_plan::StageSource::Event { channel: of, .. } = &mut stage.source {
            *of = channel;
        }
        stage
    }
}

/// Texts that are shown otherwise than they are written.
fn hidden(written: &Value, shown: &Value, found: &mut Vec<String>) {
    match (written, shown) {
        (Value::Object(written), shown) => {
            written.iter().for_each(|(name, value)| hidden(value, &shown[name.as_str()], found));
        }
        (Value::Array(written), shown) => {
            written.iter().enumerate().for_each(|(at, value)| hidden(value, &shown[at], found));
        }
        (Value::String(written), Value::String(shown)) if written != shown => {
            found.push(written.clone());
        }
        _ => {}
    }
}
