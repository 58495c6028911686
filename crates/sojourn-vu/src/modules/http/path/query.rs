//! Queries: `#(age>45)`, `#(name%"D*")`, `#(nets.#(=="fb"))`.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::{get, scan};

/// Longer ones stand before their beginnings.
const OPERATORS: [&str; 9] = ["==", "!=", "!%", "<=", ">=", "<", ">", "=", "%"];

/// Whether the query holds for an element.
pub(super) fn holds(element: &Json, query: &str, depth: u32) -> bool {
    let (path, operator, wanted) = parts(query.trim());
    let found = match path {
        "" => Some(element.clone()),
        path => get(element, path, depth + 1),
    };
    match (operator, found) {
        ("", found) => found.is_some(),
        (_, found) if wanted.starts_with('~') => {
            let truth = like(found.as_ref(), &wanted[1..]);
            if operator == "!=" { !truth } else { truth }
        }
        (_, None) => false,
        (operator, Some(found)) => compare(&found, operator, wanted),
    }
}

/// Path, operator, value; without an operator the whole is a path.
fn parts(query: &str) -> (&str, &str, &str) {
    let (mut depth, mut is_quoted) = (0_u32, false);
    for (at, letter) in query.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ => {
                let rest = &query[at..];
                let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
                // A literal at the path's beginning has the same sign.
                if let Some(operator) = operator {
                    let wanted = rest[operator.len()..].trim();
                    return (query[..at].trim(), operator, wanted);
                }
            }
        }
    }
    (query, "", "")
}

/// `~true` and the like: whether a value counts as that; what is not there is null and false.
fn like(found: Option<&Json>, wanted: &str) -> bool {
    let is_true = || match found {
        Some(Json::Bool(is)) => *is,
        Some(Json::Number(number)) => number.as_f64().is_some_and(|number| number != 0.0),
        Some(Json::String(text)) => {
            matches!(text.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True")
        }
        _ => false,
    };
    match wanted {
        "true" => is_true(),
        "false" => !is_true(),
        "null" => found.is_none_or(Json::is_null),
        "*" => found.is_some(),
        _ => false,
    }
}

fn compare(found: &Json, operator: &str, wanted: &str) -> bool {
    let plain = wanted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = plain.map_or_else(
        || wanted.to_owned(),
        |plain| serde_json::from_str(wanted).unwrap_or_else(|_| plain.to_owned()),
    );
    let order = match found {
        Json::String(own) if operator == "%" => return scan::is_like(own, &text),
        Json::String(own) if operator == "!%" => return !scan::is_like(own, &text),
        Json::String(own) => own.as_str().cmp(&text),
        Json::Number(own) => {
            let (own, wanted) = (own.as_f64().unwrap_or(0.0), text.parse().unwrap_or(0.0));
            let Some(order) = own.partial_cmp(&wanted) else { return false };
            order
        }
        Json::Bool(own) => match text.as_str() {
            "true" => own.cmp(&true),
            "false" => own.cmp(&false),
            _ => return operator == "!=",
        },
        Json::Null if text == "null" => Ordering::Equal,
        _ => return operator == "!=",
    };
    match operator {
        "=" | "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => false,
    }
}
