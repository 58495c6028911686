//! Where a request or a message carries its journey's trace context, beside what the plan gives it.

use serde_json::Value;

/// Header of the trace context.
const TRACEPARENT: &str = "traceparent";
/// The media type of a structured CloudEvent: one document holds attributes and data.
const STRUCTURED: &[u8] = b"application/cloudevents+json";

/// Names of the headers of what has these already: its own, and where it is a binary CloudEvent the
/// attribute too.
pub(crate) fn names_beside<V: AsRef<[u8]>>(headers: &[(&str, V)]) -> Vec<&'static str> {
    let has = |prefix: &str| {
        headers
            .iter()
            .any(|(name, _)| name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
    };
    let mut names = vec![TRACEPARENT];
    names.extend(has("ce-").then_some("ce-traceparent"));
    names.extend(has("ce_").then_some("ce_traceparent"));
    let is_set = |own: &&str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(own));
    names.retain(|name| !is_set(name));
    names
}

/// The body of a structured CloudEvent with the attribute; `None` where what has these headers is
/// none, or has the attribute already.
pub(crate) fn structured_with<V: AsRef<[u8]>>(
    headers: &[(&str, V)],
    body: &[u8],
    trace: &str,
) -> Option<Vec<u8>> {
    let is_structured = headers.iter().any(|(name, value)| {
        let essence = value.as_ref().split(|byte| *byte == b';').next().unwrap_or_default();
        name.eq_ignore_ascii_case("content-type")
            && essence.trim_ascii().eq_ignore_ascii_case(STRUCTURED)
    });
    // Only looked at where it says that it is one: what else a body holds is nobody's business.
    let document = is_structured.then(|| serde_json::from_slice::<Value>(body).ok()).flatten()?;
    let attributes = document.as_object()?;
    if !attributes.contains_key("specversion") || attributes.contains_key(TRACEPARENT) {
        return None;
    }
    // Put in front of the first attribute: the rest stays as the plan wrote it, to the byte.
    let brace = body.iter().position(|byte| *byte == b'{')?;
    let (head, rest) = body.split_at(brace + 1);
    let attribute = format!("\"{TRACEPARENT}\":\"{trace}\",");
    Some([head, attribute.as_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloud_event_carries_it_twice_and_the_plans_own_stays() {
        let names = |given: &[&'static str]| {
            let headers: Vec<_> = given.iter().map(|&name| (name, Vec::new())).collect();
            names_beside(&headers)
        };
        assert_eq!(names(&["kind"]), ["traceparent"]);
        assert_eq!(names(&["ce-type"]), ["traceparent", "ce-traceparent"]);
        assert_eq!(names(&["CE_id"]), ["traceparent", "ce_traceparent"]);
        assert_eq!(names(&["TraceParent", "ce-id"]), ["ce-traceparent"]);
    }

    #[test]
    fn a_structured_cloud_event_gets_the_attribute_and_nothing_else_changes() {
        let with = |content: &str, body: &str| {
            let made = structured_with(&[("Content-Type", content)], body.as_bytes(), "00-a-b-01");
            made.map(|body| String::from_utf8(body).unwrap())
        };
        let structured = "Application/CloudEvents+JSON; charset=utf-8";
        let event = r#" { "specversion": "1.0",  "data": {"a":1.50} }"#;
        let made = r#" {"traceparent":"00-a-b-01", "specversion": "1.0",  "data": {"a":1.50} }"#;
        assert_eq!(with(structured, event).as_deref(), Some(made));
        assert_eq!(with("application/json", event), None);
        let own = r#"{"specversion":"1.0","traceparent":"x"}"#;
        assert_eq!(with(structured, own), None);
        for other in ["{}", "[]", "{", "", r#"[{"specversion":"1.0"}]"#] {
            assert_eq!(with(structured, other), None, "{other}");
        }
        assert_eq!(structured_with::<&[u8]>(&[], event.as_bytes(), "x"), None);
    }
}
