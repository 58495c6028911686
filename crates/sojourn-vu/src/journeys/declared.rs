//! Taps and stages that a script declares.
//!
//! A declaration is read by the reader of journey files.

use serde_json::{Map, Value, json};
use sojourn_plan::{Channel, HealthLimits, Journey, Plan, Stage, StageSource};

use super::ScriptFiles;

/// Most stages of all taps: the ledger keeps one bit for each.
const STAGES_MAX: usize = 32;

/// How long a thread of users may be silent before the run is void, ns: a native call of a script
/// (a large `JSON.parse`) can't be interrupted.
const SILENT_NS_MAX: u64 = 5 * sojourn_clock::SECOND_NS;

/// Everything declared, in the order of declaration.
#[derive(Default)]
pub(crate) struct Declared {
    taps: Vec<Tap>,
    stages: Vec<DeclaredStage>,
}

struct Tap {
    name: String,
    /// As written, with its key.
    written: Value,
    /// Where messages have their key, if the tap says.
    key: Option<String>,
    channel: Channel,
    /// As written, secrets replaced: for the report.
    shown: Value,
}

struct DeclaredStage {
    name: String,
    tap: usize,
    written: Value,
    stage: Stage,
}

impl Declared {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.taps.is_empty()
    }

    /// Declares a tap and, where it has a key, the stage of its name. Declared again as before it
    /// is the same; `is_frozen`: nothing new can come. Errs in words.
    pub(crate) fn tap(
        &mut self,
        name: &str,
        written: Value,
        is_frozen: bool,
        files: &ScriptFiles<'_>,
    ) -> Result<(), String> {
        if let Some(known) = self.taps.iter().find(|tap| tap.name == name) {
            return match known.written == written {
                true => Ok(()),
                false => Err(format!("the tap \"{name}\" is declared twice, and not the same")),
            };
        }
        if is_frozen {
            return Err(format!(
                "the tap \"{name}\" was not declared when the script's top level ran first"
            ));
        }
        let Value::Object(mut fields) = written.clone() else {
            return Err(format!(
                "the tap \"{name}\" is to be an object such as {{ kafka: {{…}} }}"
            ));
        };
        let key = match fields.remove("key") {
            None => None,
            Some(Value::String(key)) => Some(key),
            Some(other) => return Err(format!("tap \"{name}\": the key {other} is no selector")),
        };
        let channel = Value::Object(fields);
        let shown_key = key.as_deref().unwrap_or("key");
        let plan = read(name, &channel, &json!({}), (name, shown_key), files)?;
        let shown = serde_json::from_str::<Value>(&plan.text).unwrap_or_default();
        let shown = shown["channels"][name].clone();
        let read = plan.channels.into_iter().next();
        let channel = read.ok_or_else(|| format!("tap \"{name}\" has no channel"))?;
        self.taps.push(Tap { name: name.to_owned(), written, key, channel, shown });
        if self.taps.last().is_some_and(|tap| tap.key.is_some()) {
            self.stage(name, name, &Value::Null, false, files)?;
        }
        Ok(())
    }

    /// Declares a stage of a tap; likewise.
    pub(crate) fn stage(
        &mut self,
        tap: &str,
        name: &str,
        written: &Value,
        is_frozen: bool,
        files: &ScriptFiles<'_>,
    ) -> Result<(), String> {
        let at = self.tap_of(tap)?;
        if let Some(known) = self.stages.iter().find(|stage| stage.name == name) {
            return match known.tap == at && known.written == *written {
                true => Ok(()),
                false => Err(format!("the stage \"{name}\" is declared twice, and not the same")),
            };
        }
        if is_frozen {
            return Err(format!(
                "the stage \"{name}\" was not declared when the script's top level ran first"
            ));
        }
        if self.stages.len() >= STAGES_MAX {
            return Err(format!(
                "the stage \"{name}\" is one too many: a script has at most {STAGES_MAX}, those of \
                 its taps included"
            ));
        }
        let nothing = Map::new();
        let fields = written.as_object().unwrap_or(&nothing);
        if let Some(other) = fields.keys().find(|key| !["where", "key"].contains(&key.as_str())) {
            return Err(format!("stage \"{name}\": there is no \"{other}\", only where and key"));
        }
        let key = match fields.get("key") {
            Some(Value::String(key)) => key.clone(),
            Some(other) => return Err(format!("stage \"{name}\": the key {other} is no selector")),
            None => self.taps[at].key.clone().ok_or_else(|| {
                format!(
                    "stage \"{name}\": neither it nor its tap says where messages have their key, \
                     such as key: '$.orderId'"
                )
            })?,
        };
        let empty = json!({});
        let condition = fields.get("where").unwrap_or(&empty);
        let mut channel = self.taps[at].written.clone();
        channel.as_object_mut().and_then(|fields| fields.remove("key"));
        let plan = read(tap, &channel, condition, (name, &key), files)?;
        let read = plan.journeys.into_iter().next().and_then(|it| it.stages.into_iter().next());
        let mut stage = read.ok_or_else(|| format!("stage \"{name}\" can't be read"))?;
        if let StageSource::Event { channel, .. } = &mut stage.source {
            *channel = at;
        }
        let (name, written) = (name.to_owned(), written.clone());
        self.stages.push(DeclaredStage { name, tap: at, written, stage });
        Ok(())
    }

    /// A stage's number; errs in words.
    pub(crate) fn stage_of(&self, name: &str) -> Result<u8, String> {
        let at = self.stages.iter().position(|stage| stage.name == name);
        // At most STAGES_MAX.
        at.map(|at| at as u8).ok_or_else(|| match self.taps.iter().any(|tap| tap.name == name) {
            true => format!(
                "the tap \"{name}\" is no stage: it does not say where messages have their key"
            ),
            false => format!(
                "there is no stage \"{name}\": declare it at the script's top level, with \
                 tap(…).stage('{name}', {{ where: {{…}} }})"
            ),
        })
    }

    /// A tap's number; errs in words.
    pub(crate) fn tap_of(&self, name: &str) -> Result<usize, String> {
        let at = self.taps.iter().position(|tap| tap.name == name);
        at.ok_or_else(|| {
            format!("there is no tap \"{name}\": declare it at the script's top level")
        })
    }

    /// The tap's channel.
    pub(crate) fn channel(&self, tap: usize) -> Option<&Channel> {
        self.taps.get(tap).map(|tap| &tap.channel)
    }

    /// What the engine listens to: all channels, and all stages in one journey.
    pub(crate) fn pattern(&self, script: &str) -> Plan {
        let taps: Map<_, _> =
            self.taps.iter().map(|tap| (tap.name.clone(), tap.shown.clone())).collect();
        let stages: Map<_, _> = self
            .stages
            .iter()
            .map(|stage| {
                let tap = &self.taps[stage.tap].name;
                (stage.name.clone(), json!({ "tap": tap, "declared": stage.written }))
            })
            .collect();
        let text = serde_json::to_string_pretty(&json!({ "taps": taps, "stages": stages }));
        let stages = self.stages.iter().map(|stage| stage.stage.clone()).collect();
        let pattern = Journey {
            name: "pattern".to_owned(),
            steps: Vec::new(),
            stages,
            within_ns: 0,
            linger_ns: 0,
            trace: false,
            label: None,
            poison: None,
        };
        Plan {
            name: script.to_owned(),
            channels: self.taps.iter().map(|tap| tap.channel.clone()).collect(),
            journeys: vec![pattern],
            health: HealthLimits { silent_max_ns: SILENT_NS_MAX, ..HealthLimits::default() },
            text: text.unwrap_or_default(),
            ..Plan::default()
        }
    }
}

/// One channel and one stage, read. Errs in words.
fn read(
    tap: &str,
    channel: &Value,
    condition: &Value,
    (stage, key): (&str, &str),
    files: &ScriptFiles<'_>,
) -> Result<Plan, String> {
    let mut declared = json!({ "name": stage, "key": key });
    if condition.as_object().is_none_or(|condition| !condition.is_empty()) {
        declared["match"] = condition.clone();
    }
    sojourn_plan::read_declared(tap, channel, &declared, files).map_err(|told| {
        let what = if stage == tap { "tap" } else { "stage" };
        format!("{what} \"{stage}\": {told}")
    })
}
