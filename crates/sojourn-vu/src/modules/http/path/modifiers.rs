//! What `@name` makes of a value.

use serde_json::{Map, Value as Json};

use super::{get, scan};

const NAMES: [&str; 13] = [
    "this", "pretty", "ugly", "valid", "reverse", "flatten", "join", "keys", "values", "tostr",
    "fromstr", "group", "dig",
];

/// Whether a path begins with one that there is.
pub(super) fn is_known(path: &str) -> bool {
    path.starts_with('@') && NAMES.contains(&scan::modifier(path).0)
}

/// The value modified; `None` where it can't be.
pub(super) fn apply(name: &str, argument: &str, value: &Json, depth: u32) -> Option<Json> {
    Some(match (name, value) {
        ("reverse", Json::Array(items)) => items.iter().rev().cloned().collect(),
        ("reverse", Json::Object(members)) => {
            let members = members.iter().rev();
            Json::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        ("flatten", Json::Array(items)) => {
            let mut flat = Vec::new();
            flatten(items, option(argument, "deep"), &mut flat);
            Json::Array(flat)
        }
        ("join", Json::Array(items)) => joined(items),
        ("keys", Json::Object(members)) => members.keys().map(String::as_str).collect(),
        ("keys" | "values", Json::Null) => Json::Array(Vec::new()),
        ("keys", Json::Array(items)) => items.iter().map(|_| Json::Null).collect(),
        ("values", Json::Object(members)) => members.values().cloned().collect(),
        ("tostr", value) => Json::String(value.to_string()),
        ("fromstr", Json::String(text)) => serde_json::from_str(text).ok()?,
        ("fromstr", _) => return None,
        ("group", Json::Object(members)) => grouped(members),
        ("group", _) => return None,
        ("dig", value) => {
            let mut found = Vec::new();
            let key = argument.trim_matches('"');
            dig(value, key, depth, &mut found);
            Json::Array(found)
        }
        (_, value) => value.clone(),
    })
}

fn option(argument: &str, name: &str) -> bool {
    let argument: Json = serde_json::from_str(argument).unwrap_or_default();
    argument[name] == true
}

fn flatten(items: &[Json], is_deep: bool, flat: &mut Vec<Json>) {
    for item in items {
        match item {
            Json::Array(inner) if is_deep => flatten(inner, true, flat),
            Json::Array(inner) => flat.extend(inner.iter().cloned()),
            other => flat.push(other.clone()),
        }
    }
}

/// Objects as one, of which the last value of a name counts.
fn joined(items: &[Json]) -> Json {
    let mut all = Map::new();
    for members in items.iter().filter_map(Json::as_object) {
        all.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    Json::Object(all)
}

/// `{a: [1, 2], b: [3, 4]}` as `[{a: 1, b: 3}, {a: 2, b: 4}]`.
fn grouped(members: &Map<String, Json>) -> Json {
    let mut groups: Vec<Map<String, Json>> = Vec::new();
    for (name, value) in members {
        for (place, value) in value.as_array().into_iter().flatten().enumerate() {
            if groups.len() <= place {
                groups.push(Map::new());
            }
            groups[place].insert(name.clone(), value.clone());
        }
    }
    groups.into_iter().map(Json::Object).collect()
}

/// What a path leads to within the value and all within it, the outer ones first.
fn dig(value: &Json, path: &str, depth: u32, found: &mut Vec<Json>) {
    found.extend(get(value, path, depth + 1));
    match value {
        Json::Array(items) => items.iter().for_each(|item| dig(item, path, depth, found)),
        Json::Object(members) => members.values().for_each(|item| dig(item, path, depth, found)),
        _ => {}
    }
}
