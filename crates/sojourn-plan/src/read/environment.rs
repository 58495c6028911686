//! `${NAME}` and `${NAME:-default}` in values.

use super::node::{Content, Node, plain_value};
use super::problems::Problems;
use super::{Files, Overrides};

/// Puts variables in the place of `${NAME}` in every scalar below `node`. `$${` stands for `${`.
pub(super) fn substitute(
    node: &mut Node,
    source: &str,
    files: &dyn Files,
    overrides: &Overrides,
    problems: &mut Problems<'_>,
) {
    match &mut node.content {
        Content::Null => {}
        Content::List(items) => {
            for item in items {
                substitute(item, source, files, overrides, problems);
            }
        }
        Content::Map(entries) => {
            for (_, value) in entries {
                substitute(value, source, files, overrides, problems);
            }
        }
        Content::Scalar(scalar) => {
            if !scalar.text.contains("${") {
                return;
            }
            let lookup = |name: &str| {
                let given = overrides.environment.iter().rev();
                let given = given.clone().find(|(known, _)| known == name);
                given.map(|(_, value)| value.clone()).or_else(|| files.variable(name))
            };
            match replaced(&scalar.text, &lookup) {
                Ok((text, looked_up)) => {
                    let plain = source.get(node.range.clone()) == Some(scalar.text.as_str());
                    scalar.value = if plain { plain_value(&text) } else { text.clone().into() };
                    scalar.text = text;
                    scalar.secret = !looked_up.is_empty();
                    for value in &looked_up {
                        problems.keep_secret(value);
                    }
                    if plain && scalar.value.is_null() {
                        node.content = Content::Null;
                    }
                }
                Err(Wrong { part, message, hint }) => {
                    problems.within(node, &part, message, Some(hint));
                    problems.give_up_on(node);
                }
            }
        }
    }
}

struct Wrong {
    part: String,
    message: String,
    hint: String,
}

/// The text with variables in place, and the values that came from outside the file.
fn replaced(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, Vec<String>), Wrong> {
    let mut out = String::with_capacity(text.len());
    let mut looked_up = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at - 1]);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let Some(end) = inside.find('}') else {
            return Err(Wrong {
                part: rest[at..].to_owned(),
                message: "`${` without its `}`".to_owned(),
                hint: "write ${NAME} or ${NAME:-default}; `$${` stands for `${` itself".to_owned(),
            });
        };
        let (name, default) = match inside[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inside[..end], None),
        };
        let part = &rest[at..at + 2 + end + 1];
        if !is_name(name) {
            return Err(Wrong {
                part: part.to_owned(),
                message: format!("`{part}` names no variable"),
                hint: "write ${NAME} or ${NAME:-default}; `$${` stands for `${` itself".to_owned(),
            });
        }
        // As in a shell, `:-` also stands in for an empty value.
        match (lookup(name), default) {
            (Some(value), None) => {
                out.push_str(&value);
                looked_up.push(value);
            }
            (Some(value), Some(_)) if !value.is_empty() => {
                out.push_str(&value);
                looked_up.push(value);
            }
            (_, Some(default)) => out.push_str(default),
            (None, None) => {
                return Err(Wrong {
                    part: part.to_owned(),
                    message: format!("variable `{name}` is not set"),
                    hint: format!("set {name} in the environment, or write ${{{name}:-default}}"),
                });
            }
        }
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Ok((out, looked_up))
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let lookup = |name: &str| match name {
            "HOST" => Some("h".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let got = replaced(text, &lookup);
        let got = got.as_ref().map(|(text, _)| text.as_str());
        assert_eq!(got.map_err(|wrong| wrong.message.as_str()), expected, "{text}");
    }

    #[test]
    fn variables_defaults_and_escapes() {
        check("http://${HOST}:1/${HOST}", Ok("http://h:1/h"));
        check("${NONE:-a:-b}", Ok("a:-b"));
        check("${HOST:-a}", Ok("h"));
        check("${EMPTY:-a}", Ok("a"));
        check("[${EMPTY}]", Ok("[]"));
        check("$${HOST} $5 $", Ok("${HOST} $5 $"));
        check("${NONE}", Err("variable `NONE` is not set"));
        check("${HOST", Err("`${` without its `}`"));
        check("${a b}", Err("`${a b}` names no variable"));
        check("${}", Err("`${}` names no variable"));
    }
}
