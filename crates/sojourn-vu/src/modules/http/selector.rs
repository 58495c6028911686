//! Parts of a JSON body by a path: `Response.json("users.0.name")`.
//!
//! Keys and indices with dots between; `\.` is a dot in a key. `#` is an array's length at the end
//! of a path, and elsewhere the rest of the path for each element. `*` and `?` in a key match as in
//! file names; the first match counts.

use serde_json::Value as Json;
use sojourn_script::js::{self, Ctx, Exception, Value};

/// The selected part as a script's value; undefined where there is none.
pub(super) fn select<'js>(ctx: &Ctx<'js>, body: &[u8], path: &str) -> js::Result<Value<'js>> {
    let parsed: Json = serde_json::from_slice(body).map_err(|error| {
        let told = format!(
            "cannot parse json due to an error at line {}, character {}, error: {error}",
            error.line(),
            error.column()
        );
        Exception::throw_message(ctx, &told)
    })?;
    match find(&parsed, &parts(path)) {
        Some(found) => ctx.json_parse(found.to_string()),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// A path's parts, escapes taken away.
fn parts(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '.' => parts.push(String::new()),
            '\\' => push(&mut parts, letters.next()),
            other => push(&mut parts, Some(other)),
        }
    }
    parts
}

fn push(parts: &mut [String], letter: Option<char>) {
    if let (Some(last), Some(letter)) = (parts.last_mut(), letter) {
        last.push(letter);
    }
}

fn find(value: &Json, path: &[String]) -> Option<Json> {
    let Some((first, rest)) = path.split_first() else { return Some(value.clone()) };
    match value {
        Json::Array(items) if first == "#" && rest.is_empty() => Some(items.len().into()),
        Json::Array(items) if first == "#" => {
            Some(items.iter().filter_map(|item| find(item, rest)).collect())
        }
        Json::Array(items) => find(items.get(first.parse::<usize>().ok()?)?, rest),
        Json::Object(entries) => {
            let inner = entries.get(first.as_str()).or_else(|| {
                let has_wildcard = first.contains(['*', '?']);
                let mut found = entries.iter().filter(|_| has_wildcard);
                found.find(|(key, _)| matches(first, key)).map(|(_, value)| value)
            });
            find(inner?, rest)
        }
        _ => None,
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut letters = pattern.chars();
    match letters.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = letters.as_str();
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| matches(rest, &text[at..]))
        }
        Some(wanted) => {
            let mut own = text.chars();
            own.next().is_some_and(|letter| {
                (wanted == '?' || wanted == letter) && matches(letters.as_str(), own.as_str())
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let json: Json = serde_json::json!({
            "name": {"first": "Tom", "a.b": 1},
            "friends": [{"age": 44}, {"age": 68, "name": "x"}],
        });
        let at = |path: &str| find(&json, &parts(path)).map(|found| found.to_string());
        assert_eq!(at("name.first").as_deref(), Some("\"Tom\""));
        assert_eq!(at("name.a\\.b").as_deref(), Some("1"));
        assert_eq!(at("name.f?rs*").as_deref(), Some("\"Tom\""));
        assert_eq!(at("friends.#").as_deref(), Some("2"));
        assert_eq!(at("friends.#.age").as_deref(), Some("[44,68]"));
        assert_eq!(at("friends.1.name").as_deref(), Some("\"x\""));
        assert_eq!(at("friends.2"), None);
        assert_eq!(at("nothing.here"), None);
    }
}
