//! What the REST interface is told and tells: documents of JSON:API.

use serde_json::{Map, Value, json};
use sojourn_k6::summary::{Source, Terminal, TrendStat, data};

use crate::run::{Answer, Change, Figures, Stage, Status};

/// A document of an error.
pub(super) fn error(status: u16, why: &str) -> Value {
    json!({ "errors": [{ "status": status.to_string(), "title": "Error", "detail": why }] })
}

/// How the test goes, or what `setup` returned.
pub(super) fn answer(answer: Answer) -> Option<Value> {
    match answer {
        Answer::Status(status) => Some(of(resource("status", "default", attributes(status)))),
        Answer::SetupData(data) => {
            let data = data.and_then(|json| serde_json::from_str::<Value>(&json).ok());
            Some(of(resource("setupData", "default", json!({ "data": data }))))
        }
        Answer::Figures(_) | Answer::Done | Answer::Refused(_) => None,
    }
}

/// What is to be changed, from the body of a request.
pub(super) fn change(body: &[u8]) -> Result<Change, String> {
    let document: Value =
        serde_json::from_slice(body).map_err(|error| format!("the body is no JSON: {error}"))?;
    let attributes = &document["data"]["attributes"];
    if !attributes.is_object() {
        return Err("the body lacks `data.attributes`: {\"data\": {\"attributes\": {\"paused\": \
                    false}, \"id\": \"default\", \"type\": \"status\"}}"
            .to_owned());
    }
    let switch = |name: &str| match &attributes[name] {
        Value::Null => Ok(None),
        Value::Bool(on) => Ok(Some(*on)),
        other => Err(format!("`{name}` is {other}: true or false")),
    };
    let count = |name: &str| match &attributes[name] {
        Value::Null => Ok(None),
        value => value.as_u64().map(Some).ok_or_else(|| format!("`{name}` is {value}: a count")),
    };
    Ok(Change {
        paused: switch("paused")?,
        vus: count("vus")?,
        vus_max: count("vus-max")?,
        stopped: switch("stopped")?,
    })
}

/// All metrics, or the one of this name, if there is one.
pub(super) fn metrics(answer: Answer, name: Option<&str>) -> Option<Value> {
    let Answer::Figures(figures) = answer else { return None };
    let mut told = told(&figures);
    let metrics = told["metrics"].as_object_mut()?;
    match name {
        Some(name) => metrics.get(name).map(|entry| of(metric(name, entry))),
        None => {
            let all: Vec<Value> = metrics.iter().map(|(name, entry)| metric(name, entry)).collect();
            Some(of(all.into()))
        }
    }
}

/// All groups, the unnamed outermost one first, or the one of this id, if there is one.
pub(super) fn groups(answer: Answer, id: Option<&str>) -> Option<Value> {
    let Answer::Figures(figures) = answer else { return None };
    let mut all = Vec::new();
    flatten(&told(&figures)["root_group"], Value::Null, &mut all);
    match id {
        Some(id) => all.into_iter().find(|group| group["id"] == id).map(of),
        None => Some(of(all.into())),
    }
}

fn told(figures: &Figures) -> Value {
    let trend_stats = TrendStat::defaults();
    let source = Source {
        registry: &figures.registry,
        totals: &figures.totals,
        thresholds: &figures.thresholds,
        elapsed_ns: figures.elapsed_ns,
        trend_stats: &trend_stats,
        time_unit: None,
        generator: None,
    };
    data(&source, Terminal::default(), None)
}

fn metric(name: &str, entry: &Value) -> Value {
    let thresholds = entry["thresholds"].as_object();
    let is_tainted =
        thresholds.map(|thresholds| thresholds.values().any(|one| one["ok"] == Value::Bool(false)));
    let attributes = json!({
        "type": entry["type"],
        "contains": entry["contains"],
        "tainted": is_tainted,
        "sample": entry["values"],
    });
    resource("metrics", name, attributes)
}

fn flatten(group: &Value, parent: Value, all: &mut Vec<Value>) {
    let none = Vec::new();
    let own = group["groups"].as_array().unwrap_or(&none);
    let link = |group: &Value| json!({ "type": "groups", "id": group["id"] });
    let attributes = json!({
        "path": group["path"],
        "name": group["name"],
        "checks": group["checks"],
    });
    let mut this = resource("groups", group["id"].as_str().unwrap_or_default(), attributes);
    this["relationships"] = json!({
        "groups": { "data": own.iter().map(link).collect::<Vec<_>>() },
        "parent": { "data": parent },
    });
    all.push(this);
    for inner in own {
        flatten(inner, link(group), all);
    }
}

fn attributes(status: Status) -> Value {
    json!({
        "status": status.stage as u8,
        "paused": status.is_paused,
        "vus": status.vus,
        "vus-max": status.vus_max,
        "stopped": status.is_stopped,
        "running": matches!(status.stage, Stage::Setup | Stage::Running | Stage::Teardown),
        "tainted": status.is_tainted,
    })
}

fn resource(kind: &str, id: &str, attributes: Value) -> Value {
    json!({ "type": kind, "id": id, "attributes": attributes })
}

fn of(data: Value) -> Value {
    Value::Object(Map::from_iter([("data".to_owned(), data)]))
}
