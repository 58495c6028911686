//! A mock from an OpenAPI 3 description: a route for each operation, answered with its example.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::book::answer::Answer;
use crate::book::pattern::Pattern;
use crate::book::{Book, Route};
use crate::message::{Body, Message};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// How deep schemas and references are followed: some refer to themselves.
const DEPTH_MAX: usize = 12;
/// Values of one example at most: schemas that refer to each other grow without end in breadth too.
const VALUES_MAX: usize = 2000;

/// Why a description cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenApiError {
    /// Neither JSON nor YAML.
    #[error("{file} is neither JSON nor YAML: {reason}")]
    Malformed {
        /// Which file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// No operation in it.
    #[error("{file} describes no operation: `paths` is missing or empty")]
    NoPaths {
        /// Which file.
        file: String,
    },
    /// Another version, or something else.
    #[error("{file} is not an OpenAPI 3 description: {found}")]
    NotOpenApi3 {
        /// Which file.
        file: String,
        /// What stands there instead.
        found: String,
    },
}

/// Reads a description, as JSON or YAML, into a mock.
///
/// # Errors
/// Why it cannot be used.
pub fn read_openapi(file: &str, text: &str, seed: u64) -> Result<Book, OpenApiError> {
    let file = || file.to_owned();
    let root: Value = serde_saphyr::from_str(text).map_err(|error| OpenApiError::Malformed {
        file: file(),
        reason: error.without_snippet().to_string(),
    })?;
    match (root["openapi"].as_str(), root["swagger"].as_str()) {
        (Some(version), _) if version.starts_with("3.") => {}
        (Some(version), _) => {
            return Err(OpenApiError::NotOpenApi3 {
                file: file(),
                found: format!("its version is {version}"),
            });
        }
        (None, Some(version)) => {
            let found = format!("it is Swagger {version}; convert it to OpenAPI 3 first");
            return Err(OpenApiError::NotOpenApi3 { file: file(), found });
        }
        (None, None) => {
            let found = "it has no `openapi: 3.…`".to_owned();
            return Err(OpenApiError::NotOpenApi3 { file: file(), found });
        }
    }
    let description =
        Description { root: &root, values_left: Cell::new(0), within: RefCell::default() };
    let mut warnings = Vec::new();
    let mut routes = description.routes(&mut warnings);
    if routes.is_empty() {
        return Err(OpenApiError::NoPaths { file: file() });
    }
    // `/users/me` before `/users/{id}`, whatever their order in the description.
    routes.sort_by_key(|route| route.pattern.openness());
    let mut book = Book::new(seed, routes);
    book.warnings = warnings;
    Ok(book)
}

struct Description<'a> {
    root: &'a Value,
    /// Of the example that is being made.
    values_left: Cell<usize>,
    /// Schemas within which it is, the outermost first.
    within: RefCell<Vec<*const Value>>,
}

impl<'a> Description<'a> {
    fn routes(&self, warnings: &mut Vec<String>) -> Vec<Route> {
        let base = self.base_path();
        let mut routes = Vec::new();
        for (path, item) in self.root["paths"].as_object().into_iter().flatten() {
            let item = self.resolved(item);
            let full = format!("{base}{path}");
            let pattern = match Pattern::read(&full) {
                Ok(pattern) => pattern,
                Err((_, message)) => {
                    warnings.push(format!("path `{path}` is left out: {message}"));
                    continue;
                }
            };
            for method in METHODS {
                if let Some(operation) = item.get(method) {
                    let method = method.to_ascii_uppercase();
                    let answer = Answer::ready(self.message(operation));
                    routes.push(Route {
                        name: format!("{method} {full}"),
                        method: Some(method),
                        pattern: pattern.clone(),
                        ..Route::catch_all(answer)
                    });
                }
            }
        }
        routes
    }

    /// The path of the first server, with the defaults of its variables, without a slash at its
    /// end.
    fn base_path(&self) -> String {
        let server = &self.root["servers"][0];
        let mut url = server["url"].as_str().unwrap_or_default().to_owned();
        for (name, variable) in server["variables"].as_object().into_iter().flatten() {
            let default = variable["default"].as_str().unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), default);
        }
        let path = match url.split_once("://") {
            Some((_, rest)) => rest.split_once('/').map(|(_, path)| format!("/{path}")),
            None => Some(url),
        };
        path.unwrap_or_default().trim_end_matches('/').to_owned()
    }

    /// What an operation answers when all goes well.
    fn message(&self, operation: &Value) -> Message {
        let empty = Map::new();
        let responses = operation["responses"].as_object().unwrap_or(&empty);
        let numbered = responses.iter().filter_map(|(code, response)| {
            let code = code.to_ascii_uppercase().replace('X', "0");
            Some((code.parse::<u16>().ok().filter(|it| (200..=599).contains(it))?, response))
        });
        let chosen = numbered.min_by_key(|(status, _)| *status);
        let (status, response) = match chosen {
            Some((status, response)) if status < 300 => (status, self.resolved(response)),
            other => match responses.get("default") {
                Some(response) => (200, self.resolved(response)),
                None => {
                    other.map_or((200, &Value::Null), |(status, it)| (status, self.resolved(it)))
                }
            },
        };
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        let body = match self.content(response) {
            Some((content_type, value)) => {
                let is_json = content_type.contains("json");
                headers.push(("content-type".to_owned(), content_type.clone().into_bytes()));
                match value {
                    Value::String(text) if !is_json => text.into_bytes(),
                    value => format!("{value}\n").into_bytes(),
                }
            }
            None => Vec::new(),
        };
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let header = self.resolved(header);
            let is_ours =
                ["content-type", "content-length"].contains(&name.to_lowercase().as_str());
            if let Some(value) = self.example(header).filter(|_| !is_ours) {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                headers.push((name.clone(), text.into_bytes()));
            }
        }
        let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        Message::new(status, pairs, Body::Bytes(Arc::from(body)))
    }

    /// Media type and example of a response's content: JSON where there is some.
    fn content(&self, response: &Value) -> Option<(String, Value)> {
        let content = response["content"].as_object()?;
        let json = content.iter().find(|(media_type, _)| media_type.contains("json"));
        let (media_type, media) = json.or_else(|| content.iter().next())?;
        Some((media_type.clone(), self.example(media).unwrap_or(Value::Null)))
    }

    /// The example of a media type or header: given, the first of several, or made by its schema.
    fn example(&self, media: &Value) -> Option<Value> {
        if let Some(example) = media.get("example") {
            return Some(example.clone());
        }
        let several = media["examples"].as_object().and_then(|examples| examples.values().next());
        if let Some(first) = several {
            return Some(self.resolved(first)["value"].clone());
        }
        self.values_left.set(VALUES_MAX);
        media.get("schema").map(|schema| self.sample(schema, DEPTH_MAX))
    }

    /// A value that fits a schema.
    fn sample(&self, schema: &Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        let left = self.values_left.get();
        if depth == 0 || left == 0 || self.is_within_twice(schema) {
            return Value::Null;
        }
        self.values_left.set(left - 1);
        self.within.borrow_mut().push(schema);
        let value = self.sample_once(schema, depth);
        self.within.borrow_mut().pop();
        value
    }

    /// Whether a schema has been entered twice already: a friend's friend shows enough.
    fn is_within_twice(&self, schema: &Value) -> bool {
        self.within.borrow().iter().filter(|it| std::ptr::eq(**it, schema)).count() >= 2
    }

    fn sample_once(&self, schema: &Value, depth: usize) -> Value {
        for given in ["example", "default", "const"] {
            if let Some(value) = schema.get(given) {
                return value.clone();
            }
        }
        for listed in ["examples", "enum"] {
            if let Some(first) = schema[listed].as_array().and_then(|values| values.first()) {
                return first.clone();
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return self.merged(parts, schema, depth);
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(first) = schema[choice].as_array().and_then(|schemas| schemas.first()) {
                return self.sample(first, depth - 1);
            }
        }
        match type_of(schema) {
            "array" => {
                let count = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 3) as usize;
                let items = schema.get("items").map(|items| self.resolved(items));
                if items.is_some_and(|items| self.is_within_twice(items)) {
                    return Value::Array(Vec::new());
                }
                // Each made anew: copies of copies would grow without being counted.
                let item = |_| match items {
                    Some(items) => self.sample(items, depth - 1),
                    None => Value::Null,
                };
                Value::Array((0..count).map(item).collect())
            }
            "boolean" => Value::Bool(true),
            "integer" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
            "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1.5)),
            "object" => Value::Object(self.properties(schema, depth)),
            "string" => Value::String(text_of(schema).into_owned()),
            _ => Value::Null,
        }
    }

    fn properties(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let told = properties.filter(|(_, it)| self.resolved(it)["writeOnly"] != json!(true));
        told.map(|(name, it)| (name.clone(), self.sample(it, depth - 1))).collect()
    }

    /// One object of all parts.
    fn merged(&self, parts: &[Value], schema: &Value, depth: usize) -> Value {
        let mut object = self.properties(schema, depth);
        let mut other = None;
        for part in parts {
            match self.sample(part, depth - 1) {
                Value::Object(fields) => object.extend(fields),
                value => other = Some(value),
            }
        }
        match other {
            Some(value) if object.is_empty() => value,
            _ => Value::Object(object),
        }
    }

    /// What a `$ref` within the description points at.
    fn resolved<'v>(&self, value: &'v Value) -> &'v Value
    where
        'a: 'v,
    {
        let mut value = value;
        for _ in 0..DEPTH_MAX {
            let pointer = value["$ref"].as_str().and_then(|text| text.strip_prefix('#'));
            match pointer.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => value = target,
                None => return value,
            }
        }
        value
    }
}

/// The type of a schema; of several the first that is not null; of none what it looks like.
fn type_of(schema: &Value) -> &str {
    let named = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|it| *it != "null"),
        other => other.as_str(),
    };
    let looks_like = if schema.get("properties").is_some() { "object" } else { "" };
    named.unwrap_or(looks_like)
}

fn text_of(schema: &Value) -> Cow<'_, str> {
    let text = match schema["format"].as_str().unwrap_or_default() {
        "binary" | "byte" => "c29qb3Vybg==",
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:34:56Z",
        "email" => "someone@example.com",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "time" => "12:34:56Z",
        "uri" | "url" => "https://example.com/",
        "uuid" => "0f0e8f5c-6f0a-4a3b-9a53-2b1c7d8e9f00",
        _ => "text",
    };
    let least = schema["minLength"].as_u64().unwrap_or(0).min(1000) as usize;
    if text.len() < least {
        Cow::Owned(text.repeat(least.div_ceil(4)))
    } else {
        Cow::Borrowed(text)
    }
}
