//! Looking at an answer: checks, extracted values, the key.

use std::cell::OnceCell;

use serde_json::Value;
use sojourn_http::Response;
use sojourn_plan::{Check, KeyRule, Selector};

/// An answer whose body is read as JSON at most once, and only if asked.
pub(crate) struct Answer<'a> {
    response: &'a Response,
    json: OnceCell<Option<Value>>,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(response: &'a Response) -> Self {
        Self { response, json: OnceCell::new() }
    }

    /// The first condition that does not hold, in words; `None` when all do. Without conditions a
    /// 2xx or 3xx status is expected.
    pub(crate) fn unexpected(&self, checks: &[Check]) -> Option<String> {
        if checks.is_empty() {
            let expected = (200..400).contains(&self.response.status);
            return (!expected)
                .then(|| format!("status {}, expected 2xx or 3xx", self.response.status));
        }
        checks.iter().find_map(|check| self.failure_of(check))
    }

    /// The value that a selector points at.
    pub(crate) fn select(&self, selector: &Selector) -> Option<Value> {
        match selector {
            Selector::Status => Some(Value::from(self.response.status)),
            Selector::Header(name) => {
                self.response.header(name).map(|value| String::from_utf8_lossy(value).into())
            }
            Selector::Body(path) => path.find(self.json()?).cloned(),
            Selector::Text => Some(String::from_utf8_lossy(&self.response.body).into()),
            Selector::Regex(regex) => {
                let text = String::from_utf8_lossy(&self.response.body);
                let found = regex.captures(&text)?;
                let group = found.get(1).or_else(|| found.get(0))?;
                Some(group.as_str().into())
            }
            Selector::MessageKey | Selector::Topic | Selector::Type => None,
        }
    }

    /// A selected value as text; `None` for a missing, null or empty one.
    pub(crate) fn text(&self, selector: &Selector) -> Option<String> {
        match self.select(selector)? {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        }
        .filter(|text| !text.is_empty())
    }

    /// Why a selector finds nothing, in words.
    pub(crate) fn missing(&self, what: &str, selector: &Selector) -> String {
        if matches!(selector, Selector::Body(_)) && self.json().is_none() {
            return format!("{what}: the body is not JSON (status {})", self.response.status);
        }
        format!("{what}: not in the answer (status {})", self.response.status)
    }

    fn failure_of(&self, check: &Check) -> Option<String> {
        let value = self.select(&check.selector);
        if check.test.holds(value.as_ref()) {
            return None;
        }
        if matches!(check.selector, Selector::Status) {
            return Some(format!("status {}, expected {}", self.response.status, check.text));
        }
        if value.is_none() {
            return Some(self.missing(&format!("check {}", check.text), &check.selector));
        }
        Some(format!("check {} did not hold", check.text))
    }

    fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_slice(&self.response.body).ok()).as_ref()
    }
}

/// The key that an answer yields under a rule; `None` where the rule does not look at answers.
pub(crate) fn key_of(answer: &Answer<'_>, rule: &KeyRule) -> Option<Result<String, String>> {
    match rule {
        KeyRule::Made(_) => None,
        KeyRule::Received { selector, format } => Some(
            answer
                .text(selector)
                .map(|value| format.replace("{}", &value))
                .ok_or_else(|| answer.missing("no key", selector)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_plan::{JsonPath, PathStep, Test};

    use super::*;

    fn body(text: &str) -> Response {
        Response { status: 200, body: text.as_bytes().to_vec(), ..Response::default() }
    }

    fn path(name: &str) -> Selector {
        Selector::Body(JsonPath {
            text: format!("$.{name}"),
            plain: Some(vec![PathStep::Name(name.to_owned())]),
            compiled: serde_json_path::JsonPath::parse(&format!("$.{name}")).unwrap(),
        })
    }

    #[test]
    fn a_key_is_read_and_formatted() {
        let response = body(r#"{"paymentId":"7"}"#);
        let answer = Answer::new(&response);
        let rule = KeyRule::Received { selector: path("paymentId"), format: "pay:{}".into() };
        assert_eq!(key_of(&answer, &rule), Some(Ok("pay:7".into())));
    }

    #[test]
    fn a_null_or_empty_key_is_none() {
        for text in [r#"{"paymentId":null}"#, r#"{"paymentId":""}"#, "{}"] {
            let response = body(text);
            assert_eq!(Answer::new(&response).text(&path("paymentId")), None, "{text}");
        }
    }

    #[test]
    fn a_body_that_is_not_json_is_named() {
        let response = body("<html>");
        let answer = Answer::new(&response);
        let rule = KeyRule::Received { selector: path("id"), format: "{}".into() };
        let error = key_of(&answer, &rule).unwrap().unwrap_err();
        assert!(error.contains("the body is not JSON"), "{error}");
    }

    #[test]
    fn without_conditions_2xx_and_3xx_are_expected() {
        for (status, expected) in [(200, true), (302, true), (404, false), (500, false)] {
            let response = Response { status, ..Response::default() };
            assert_eq!(Answer::new(&response).unexpected(&[]).is_none(), expected, "{status}");
        }
    }

    #[test]
    fn a_status_that_differs_is_said() {
        let response = Response { status: 503, ..Response::default() };
        let check = Check {
            text: "status == 200".into(),
            selector: Selector::Status,
            test: Test::Equals(Value::from(200)),
        };
        let reason = Answer::new(&response).unexpected(&[check]).unwrap();
        assert!(reason.contains("503"), "{reason}");
    }
}
