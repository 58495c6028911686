//! Condition maps: `{ status: 200, body.amount: { greater: 0 } }`.

use serde_json::Value;

use crate::{Check, Selector, Test};

use super::fields::shown;
use super::node::{Content, Key, Node};
use super::problems::{Problems, suggestion};
use super::selectors::{self, Place};

/// What a condition may be made of, besides a value to be equal to.
pub(crate) const OPERATORS: [&str; 11] = [
    "present",
    "equals",
    "not",
    "one_of",
    "matches",
    "contains",
    "less",
    "less_or_equal",
    "greater",
    "greater_or_equal",
    "absent",
];

/// Reads a condition map.
pub(super) fn conditions(node: &Node, place: Place, problems: &mut Problems<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    for (key, value) in problems.map(node).unwrap_or_default() {
        match selectors::parse(&key.name, place) {
            Ok(selector) => tests(key, value, &selector, problems, &mut checks),
            Err(wrong) => {
                let message = format!("`{}` {}", shown(&key.name), wrong.message);
                problems.at_byte(key.range.start, message, wrong.hint);
            }
        }
    }
    checks
}

/// Reads the conditions on one value, whatever it is a value of, each with its text.
pub fn value_tests(key: &Key, node: &Node, problems: &mut Problems<'_>) -> Vec<(String, Test)> {
    let mut checks = Vec::new();
    // Only a status has conditions of its own, such as `2xx`.
    tests(key, node, &Selector::Text, problems, &mut checks);
    checks.into_iter().map(|check| (check.text, check.test)).collect()
}

fn tests(
    key: &Key,
    node: &Node,
    selector: &Selector,
    problems: &mut Problems<'_>,
    checks: &mut Vec<Check>,
) {
    let mut add = |operator: &str, node: &Node, test: Test, problems: &Problems<'_>| {
        let operator = match operator {
            "" => String::new(),
            operator => format!(" {}", operator.replace('_', " ")),
        };
        let shown = written(node, problems);
        let colon = if operator.is_empty() { ":" } else { "" };
        checks.push(Check {
            text: format!("{}{colon}{operator} {shown}", key.name),
            selector: selector.clone(),
            test,
        });
    };
    match &node.content {
        Content::Map(entries) => {
            for (operator, operand) in entries {
                if let Some(test) = operator_test(operator, operand, selector, problems) {
                    add(&operator.name, operand, test, problems);
                }
            }
        }
        Content::List(_) => {
            if let Some(test) = one_of(node, selector, problems) {
                add("", node, test, problems);
            }
        }
        Content::Null | Content::Scalar(_) => {
            if let Some(test) = equals(node, selector, problems) {
                add("", node, test, problems);
            }
        }
    }
}

/// An operand for the check's text.
fn written(node: &Node, problems: &Problems<'_>) -> String {
    match &node.content {
        Content::Null => "null".to_owned(),
        Content::Scalar(_) => problems.offending(node),
        Content::List(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, problems)).collect();
            format!("[{}]", items.join(", "))
        }
        Content::Map(_) => "{…}".to_owned(),
    }
}

fn operator_test(
    operator: &Key,
    node: &Node,
    selector: &Selector,
    problems: &mut Problems<'_>,
) -> Option<Test> {
    let or_equal = operator.name.ends_with("_or_equal");
    match operator.name.as_str() {
        "present" => Some(match problems.flag(node)? {
            true => Test::Present,
            false => Test::Absent,
        }),
        "absent" => Some(match problems.flag(node)? {
            true => Test::Absent,
            false => Test::Present,
        }),
        "equals" => Some(Test::Equals(operand(node, problems)?)),
        "not" => match status_class(node, selector) {
            Some(_) => {
                let hint = "list the classes that pass: `status: [2xx, 3xx]`";
                problems.at(node, "a class of status can't be negated", Some(hint.to_owned()));
                None
            }
            None => Some(Test::Differs(operand(node, problems)?)),
        },
        "one_of" => one_of(node, selector, problems),
        "matches" => {
            let text = problems.text(node)?;
            match selectors::regex(text) {
                Ok(regex) => Some(Test::Matches(regex)),
                Err(wrong) => {
                    let shown = problems.offending(node);
                    problems.at(node, format!("`{shown}` {}", wrong.message), wrong.hint);
                    None
                }
            }
        }
        "contains" => Some(Test::Contains(problems.text(node)?.to_owned())),
        "less" | "less_or_equal" => Some(Test::Less { than: problems.number(node)?, or_equal }),
        "greater" | "greater_or_equal" => {
            Some(Test::Greater { than: problems.number(node)?, or_equal })
        }
        unknown => {
            problems.at_byte(
                operator.range.start,
                format!("unknown condition `{}`", shown(unknown)),
                suggestion(unknown, OPERATORS),
            );
            None
        }
    }
}

fn equals(node: &Node, selector: &Selector, problems: &mut Problems<'_>) -> Option<Test> {
    match status_class(node, selector) {
        Some(pattern) => status_regex(&[pattern]),
        None => {
            let value = operand(node, problems)?;
            status_in_range(node, selector, problems)?;
            Some(Test::Equals(value))
        }
    }
}

fn one_of(node: &Node, selector: &Selector, problems: &mut Problems<'_>) -> Option<Test> {
    let items = problems.list(node)?;
    if items.is_empty() {
        problems.at(node, "one of nothing never holds", None);
        return None;
    }
    if !items.iter().any(|item| status_class(item, selector).is_some()) {
        let mut values = Vec::new();
        for item in items {
            let value = operand(item, problems)?;
            status_in_range(item, selector, problems)?;
            values.push(value);
        }
        return Some(Test::OneOf(values));
    }
    let mut patterns = Vec::new();
    for item in items {
        match status_class(item, selector) {
            Some(pattern) => patterns.push(pattern),
            None => {
                status_in_range(item, selector, problems)?;
                patterns.push(item.text().unwrap_or_default().to_owned());
            }
        }
    }
    status_regex(&patterns)
}

/// `2xx` as a pattern, where a status is tested.
fn status_class(node: &Node, selector: &Selector) -> Option<String> {
    let text = node.text()?;
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"))?;
    let is_class =
        matches!(selector, Selector::Status) && matches!(class, "1" | "2" | "3" | "4" | "5");
    is_class.then(|| format!("{class}[0-9]{{2}}"))
}

fn status_regex(patterns: &[String]) -> Option<Test> {
    let pattern = format!("^(?:{})$", patterns.join("|"));
    regex::Regex::new(&pattern).ok().map(Test::Matches)
}

fn status_in_range(node: &Node, selector: &Selector, problems: &mut Problems<'_>) -> Option<()> {
    let status = node.text().and_then(|text| text.parse::<u16>().ok());
    let fits = status.is_some_and(|status| (100..600).contains(&status));
    if matches!(selector, Selector::Status) && !fits {
        let shown = problems.offending(node);
        problems.at(
            node,
            format!("`{shown}` is not an HTTP status"),
            Some("write a number from 100 to 599, or a class such as `2xx`".to_owned()),
        );
        return None;
    }
    Some(())
}

/// A value to compare with, as JSON.
fn operand(node: &Node, problems: &mut Problems<'_>) -> Option<Value> {
    let hint = "compare with a fixed value, or use `matches` or `present`";
    fixed(node, ("a condition can't hold a template", hint), problems)
}

/// A value without templates, as JSON; what to say of one that has some, and the hint.
pub(super) fn fixed(
    node: &Node,
    no_template: (&str, &str),
    problems: &mut Problems<'_>,
) -> Option<Value> {
    match &node.content {
        Content::Null => Some(Value::Null),
        Content::Scalar(scalar) if scalar.text.contains("{{") => {
            problems.within(node, "{{", no_template.0, Some(no_template.1.to_owned()));
            None
        }
        Content::Scalar(scalar) => Some(scalar.value.clone()),
        Content::List(items) => items
            .iter()
            .map(|item| fixed(item, no_template, problems))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        Content::Map(entries) => entries
            .iter()
            .map(|(key, value)| Some((key.name.clone(), fixed(value, no_template, problems)?)))
            .collect::<Option<serde_json::Map<_, _>>>()
            .map(Value::Object),
    }
}
