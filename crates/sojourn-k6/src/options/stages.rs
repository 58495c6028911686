//! Stages: how long, and to what number of users or what rate.

use serde_json::{Value, json};

use crate::{
    duration::Nanos,
    options::{
        error::Wrong,
        table::{Kind, object, read, shown},
    },
};

/// One stage of a ramp, as written; what is missing is found by validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// How long it takes; zero jumps.
    pub duration: Option<Nanos>,
    /// Where it ends: virtual users, or iterations per `timeUnit`.
    pub target: Option<i64>,
}

impl Stage {
    /// Keys of a stage in JSON.
    pub(crate) const KEYS: &'static [&'static str] = &["duration", "target"];

    fn from_pair(pair: &str) -> Result<Self, Wrong> {
        let (duration, target) = pair
            .split_once(':')
            .map_or((pair, None), |(duration, target)| (duration, Some(target)));
        let duration = Nanos::parse_go(duration)
            .map_err(|error| Wrong::new(format!("stage `{pair}`: {error}")))?;
        let target = target.filter(|target| !target.is_empty());
        Ok(Self { duration: Some(duration), target: target.map(i64::from_text).transpose()? })
    }
}

impl Kind for Stage {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let mut stage = Self::default();
        for (key, value) in object(value, "a stage such as {duration: \"10s\", target: 5}")? {
            if key.eq_ignore_ascii_case("duration") {
                stage.duration = read(value).map_err(|wrong| wrong.within("duration"))?;
            } else if key.eq_ignore_ascii_case("target") {
                stage.target = read(value).map_err(|wrong| wrong.within("target"))?;
            }
        }
        Ok(stage)
    }

    fn to_json(&self) -> Value {
        json!({"duration": shown(self.duration.as_ref()), "target": shown(self.target.as_ref())})
    }
}

impl Kind for Vec<Stage> {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let list = value.as_array().ok_or_else(|| Wrong::type_of(value, "a list of stages"))?;
        let stages = list.iter().enumerate();
        stages.map(|(at, stage)| Stage::from_json(stage).map_err(|e| e.within(at))).collect()
    }

    /// `10s:5,20s:10`: durations and targets.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        if text.is_empty() {
            return Ok(Self::new());
        }
        text.split(',').map(Stage::from_pair).collect()
    }

    fn to_json(&self) -> Value {
        self.iter().map(Kind::to_json).collect()
    }
}
