//! A browser's recording (HAR) as a session script.

use std::fmt::Write as _;

use serde::Deserialize;
use url::Url;

use crate::text::is_token;

/// Why a recording can't be read, as a fragment.
#[derive(Debug, thiserror::Error)]
pub enum HarError {
    /// Not JSON, or not of the form of recordings.
    #[error("not a HAR file: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Nothing in it was asked over http or https.
    #[error("there is no request over http or https in it")]
    Empty,
}

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    started_date_time: String,
    request: Asked,
    #[serde(default)]
    response: Answered,
    #[serde(default, rename = "_resourceType")]
    resource_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Field>,
    post_data: Option<Posted>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Posted {
    #[serde(default)]
    text: String,
}

#[derive(Default, Deserialize)]
struct Answered {
    #[serde(default)]
    content: ContentOf,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContentOf {
    #[serde(default)]
    mime_type: String,
}

/// Kinds of resources, as browsers call them, that a page brings along.
const ASSETS: [&str; 5] = ["stylesheet", "script", "image", "font", "media"];

/// Endings of paths that pages bring along.
const ASSET_ENDINGS: [&str; 16] = [
    ".css", ".js", ".mjs", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".woff",
    ".woff2", ".ttf", ".mp4", ".webm", ".map",
];

/// Fields that belong to a connection or to a browser's own state.
const LEFT_OUT: [&str; 12] = [
    "host",
    "connection",
    "content-length",
    "cookie",
    "accept-encoding",
    "user-agent",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
    "origin",
];

/// Verbs that scripts have.
const VERBS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

/// Pauses are written where at least this long went by between two requests, seconds.
const PAUSE_S_MIN: f64 = 0.5;

/// Writes a script that asks what a recording has asked, in its order and with its pauses. What a
/// page brings along (styles, scripts, pictures, fonts) is tagged `asset`. Cookies are left out:
/// clients get their own.
pub fn har_script(text: &str) -> Result<String, HarError> {
    let text = text.trim_start_matches('\u{feff}');
    let har: Har = serde_json::from_str(text)?;
    let mut origins: Vec<String> = Vec::new();
    let mut steps = String::new();
    let mut last_s = None;
    for entry in &har.log.entries {
        let verb = entry.request.method.to_ascii_lowercase();
        let Ok(url) = Url::parse(&entry.request.url) else { continue };
        if !matches!(url.scheme(), "http" | "https") || !VERBS.contains(&verb.as_str()) {
            continue;
        }
        let origin = url.origin().ascii_serialization();
        if !origins.contains(&origin) {
            origins.push(origin);
        }
        let started = entry.started_date_time.parse::<jiff::Timestamp>().ok();
        let started_s = started.map(|instant| instant.as_millisecond() as f64 / 1_000.0);
        let pause_s = last_s.zip(started_s).map_or(0.0, |(last, now): (f64, f64)| now - last);
        if pause_s >= PAUSE_S_MIN {
            // Writing to a string never fails.
            writeln!(steps, "  session.wait({pause_s:.1});").ok();
        }
        last_s = started_s.or(last_s);
        steps.push_str(&step(entry, &verb, &url));
    }
    if origins.is_empty() {
        return Err(HarError::Empty);
    }
    let targets: Vec<_> = origins.iter().map(|origin| literal(origin)).collect();
    Ok(format!(
        "definition.setTargets([{}]);\n\n\
         definition.setArrivalPhases([\n  {{ duration: 60, rate: 1 }},\n]);\n\n\
         definition.session(\"recorded\", function (session) {{\n{steps}}});\n",
        targets.join(", ")
    ))
}

fn step(entry: &Entry, verb: &str, url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Names and passwords in a URL are secrets; the target would refuse them, too.
    url.set_username("").ok();
    url.set_password(None).ok();
    let mut options = Vec::new();
    if is_asset(entry, &url) {
        options.push("    tag: \"asset\",\n".to_owned());
    }
    let kept = entry.request.headers.iter().filter(|field| is_kept(&field.name));
    let headers: String = kept
        .map(|field| {
            let (name, value) = (literal(&field.name), literal(&field.value));
            let out = if is_token(&field.name) { "" } else { "// no name of a header: " };
            format!("      {out}{name}: {value},\n")
        })
        .collect();
    if !headers.is_empty() {
        options.push(format!("    headers: {{\n{headers}    }},\n"));
    }
    if let Some(posted) = entry.request.post_data.as_ref().filter(|posted| !posted.text.is_empty())
    {
        options.push(format!("    payload: {},\n", literal(&posted.text)));
    }
    let url = literal(url.as_str());
    match options.concat() {
        none if none.is_empty() => format!("  session.{verb}({url});\n"),
        options => format!("  session.{verb}({url}, {{\n{options}  }});\n"),
    }
}

fn is_asset(entry: &Entry, url: &Url) -> bool {
    let kind = entry.response.content.mime_type.to_ascii_lowercase();
    let path = url.path().to_ascii_lowercase();
    let is_kind = ["image/", "font/", "audio/", "video/", "text/css"]
        .iter()
        .any(|start| kind.starts_with(start))
        || kind.contains("javascript");
    ASSETS.contains(&entry.resource_type.as_str())
        || is_kind
        || ASSET_ENDINGS.iter().any(|ending| path.ends_with(ending))
}

fn is_kept(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_browsers = name.starts_with(':') || name.starts_with("sec-") || name.starts_with("if-");
    !is_browsers && !name.is_empty() && !LEFT_OUT.contains(&name.as_str())
}

/// A literal of JavaScript: JSON, whose two line separators older engines take for line ends.
fn literal(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
