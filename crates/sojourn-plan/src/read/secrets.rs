//! The file's text with its secrets replaced, to be shown and kept.
//!
//! What came from `${NAME}` stands in the text as `${NAME}` anyway. Masked are: values under names
//! that sound secret (headers, connector properties, fields of bodies), passwords in URLs, and
//! parameters of URLs and JSON texts with such names.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::node::{Content, Node};

/// What a secret is replaced with.
const MASK: &str = "***";

/// Parts of names whose values are secret, in lower case and without `-` and `_`.
const SECRET_NAMES: [&str; 12] = [
    "authorization",
    "cookie",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "jaas",
];

/// Names whose values say where something is, not what it is.
const NOT_VALUES: [&str; 7] =
    ["extract", "expect", "check", "match", "until", "message_id", "marker"];

/// The source with every secret replaced by `***`.
pub(super) fn masked(source: &str, root: &Node) -> String {
    let mut ranges = Vec::new();
    collect(root, "", source, &mut ranges);
    for pattern in [&*IN_URLS, &*IN_PAIRS, &*SIGNING] {
        for captures in pattern.captures_iter(source) {
            ranges.extend(captures.get(1).map(|found| found.range()));
        }
    }
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for range in ranges {
        if range.start < at {
            continue;
        }
        let written = &source[range.clone()];
        out.push_str(&source[at..range.start]);
        match written.chars().next() {
            Some(quote @ ('"' | '\'')) => out.push_str(&format!("{quote}{MASK}{quote}")),
            // `*` would begin an alias.
            _ if is_scalar_start(source, range.start) => out.push_str(&format!("\"{MASK}\"")),
            _ => out.push_str(MASK),
        }
        if written.ends_with('\n') {
            out.push('\n');
        }
        at = range.end;
    }
    out.push_str(&source[at..]);
    out
}

/// The ranges of secret scalars.
fn collect(node: &Node, name: &str, source: &str, ranges: &mut Vec<Range<usize>>) {
    match &node.content {
        Content::Null => {}
        Content::List(items) => items.iter().for_each(|item| collect(item, name, source, ranges)),
        Content::Map(entries) => {
            for (key, value) in entries {
                if NOT_VALUES.contains(&key.name.as_str()) {
                    continue;
                }
                let name = match is_secret(name) {
                    true => name,
                    false => key.name.as_str(),
                };
                collect(value, name, source, ranges);
            }
        }
        Content::Scalar(_) => {
            let written = source.get(node.range.clone()).unwrap_or_default();
            if is_secret(name) && !is_reference(written) && !node.range.is_empty() {
                ranges.push(node.range.clone());
            }
        }
    }
}

fn is_secret(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| !"-_. ".contains(*c)).flat_map(char::to_lowercase).collect();
    SECRET_NAMES.iter().any(|part| plain.contains(part))
}

/// Whether text is nothing but `${NAME}` and `{{ name }}`, with perhaps a scheme before it.
fn is_reference(written: &str) -> bool {
    REFERENCE.is_match(written)
}

/// Whether a scalar starts here, rather than a part of one.
fn is_scalar_start(source: &str, at: usize) -> bool {
    let before = &source[..at];
    before.ends_with([' ', '\n', '\t', '[', '{', ','])
}

fn pattern(text: &str) -> Regex {
    #[expect(clippy::unwrap_used, reason = "constant patterns, compiled by the tests")]
    Regex::new(text).unwrap()
}

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let hole = r"\$\{[A-Za-z0-9_]+\}|\{\{[\sA-Za-z0-9_.()-]*\}\}";
    pattern(&format!(r#"^["']?(?i:bearer |basic )?(?:{hole})+["']?\s*$"#))
});

/// The password of `scheme://user:password@host`.
static IN_URLS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']*:([^/\s@"']+)@"#));

/// The value of `token=…` in a URL or form text, and of `"token": "…"` in a JSON text.
static IN_PAIRS: LazyLock<Regex> = LazyLock::new(|| {
    let names = r"[\w-]*(?i:password|passwd|secret|token|api[_-]?key|access[_-]?key)[\w-]*";
    pattern(&format!(r#"(?:[?&'"\s]{names}=|\\?"{names}\\?"\s*:\s*\\?")([^&\s"'\\${{}}]+)"#))
});

/// The key of a signing secret of Standard Webhooks.
static SIGNING: LazyLock<Regex> = LazyLock::new(|| pattern("whsec_([A-Za-z0-9+/=]+)"));

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let root = match Node::parse(source) {
            Ok(root) => root,
            Err(wrong) => panic!("{source}: {}", wrong.message),
        };
        let text = masked(source, &root);
        assert_eq!(text, expected);
        assert!(Node::parse(&text).is_ok(), "{text} should still be YAML");
    }

    #[test]
    fn secrets_under_their_names() {
        check(
            "headers: { Authorization: Bearer abc, X-Api-Key: 'k', accept: json }",
            "headers: { Authorization: \"***\", X-Api-Key: '***', accept: json }",
        );
        check("cookie: \"a=b\" # kept", "cookie: \"***\" # kept");
        check("sasl.password: |\n  s3cret\nnext: 1\n", "sasl.password: |\n  \"***\"\nnext: 1\n");
        check("password: 1234", "password: \"***\"");
        check(
            "credentials: { user: u, pass: [p] }",
            "credentials: { user: \"***\", pass: [\"***\"] }",
        );
        check("a: &s hunter2\npassword: *s\n", "a: &s \"***\"\npassword: *s\n");
    }

    #[test]
    fn references_are_kept() {
        for text in [
            "authorization: Bearer ${TOKEN}",
            "authorization: \"Bearer {{ token }}\"",
            "password: ${PASSWORD}",
            "extract: { token: body.access_token }",
            "key: $.aggregateId",
        ] {
            check(text, text);
        }
        check("password: ${PASSWORD:-hunter2}", "password: \"***\"");
    }

    #[test]
    fn secrets_within_values() {
        check("target: http://u:p4ss@h:1/x", "target: http://u:***@h:1/x");
        check("url: /a?token=abc&b=1", "url: /a?token=***&b=1");
        check("url: '/a?api_key=abc'", "url: '/a?api_key=***'");
        check(
            "body: '{\"password\": \"hunter2\", \"a\": 1}'",
            "body: '{\"password\": \"***\", \"a\": 1}'",
        );
        check(
            "body: \"{\\\"password\\\":\\\"hunter2\\\"}\"",
            "body: \"{\\\"password\\\":\\\"***\\\"}\"",
        );
        check("standard: whsec_c2VjcmV0 # kept", "standard: whsec_*** # kept");
        check("url: http://h/${PATH_PART}:x@y", "url: http://h/${PATH_PART}:x@y");
    }
}
