//! Thresholds as options hold them; what their texts mean is not decided here.

use serde_json::{Value, json};

use crate::{
    duration::Nanos,
    options::{
        error::Wrong,
        table::{Kind, object, read},
    },
};

/// One condition on a metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdOption {
    /// The condition: `p(95)<500`.
    pub threshold: String,
    /// Whether a failure ends the run at once.
    pub abort_on_fail: bool,
    /// How long a failure may not end the run, from its start.
    pub delay_abort_eval: Option<Nanos>,
}

/// Conditions by metric expression (`http_req_duration{status:200}`), in the order written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thresholds(pub Vec<(String, Vec<ThresholdOption>)>);

impl Kind for ThresholdOption {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        if let Some(text) = value.as_str() {
            return Ok(Self { threshold: text.to_owned(), ..Self::default() });
        }
        let mut threshold = Self::default();
        for (key, value) in object(value, "a threshold: a text, or {threshold, abortOnFail}")? {
            let within = |wrong: Wrong| wrong.within(key);
            match key.to_ascii_lowercase().as_str() {
                "threshold" => {
                    threshold.threshold = read(value).map_err(within)?.unwrap_or_default()
                }
                "abortonfail" => {
                    threshold.abort_on_fail = read(value).map_err(within)?.unwrap_or_default();
                }
                "delayaborteval" => threshold.delay_abort_eval = read(value).map_err(within)?,
                _ => {}
            }
        }
        Ok(threshold)
    }

    fn to_json(&self) -> Value {
        if !self.abort_on_fail {
            return Value::String(self.threshold.clone());
        }
        json!({
            "threshold": self.threshold,
            "abortOnFail": self.abort_on_fail,
            "delayAbortEval": self.delay_abort_eval.map_or(Value::Null, |delay| delay.to_json()),
        })
    }
}

impl Kind for Thresholds {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let mut thresholds = Vec::new();
        for (metric, list) in object(value, "an object of thresholds by metric")? {
            let within = |wrong: Wrong| wrong.within(metric);
            let list = match list {
                Value::Null => &Vec::new(),
                Value::Array(list) => list,
                other => return Err(within(Wrong::type_of(other, "a list of thresholds"))),
            };
            let list: Result<Vec<_>, _> = list.iter().map(ThresholdOption::from_json).collect();
            thresholds.push((metric.clone(), list.map_err(within)?));
        }
        Ok(Self(thresholds))
    }

    fn to_json(&self) -> Value {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        let entries = sorted.into_iter();
        entries
            .map(|(metric, list)| {
                let list: Value = list.iter().map(Kind::to_json).collect();
                (metric.clone(), list)
            })
            .collect()
    }
}
