//! A session as commands of curl: what it would ask, for a person to read and to try.

use crate::definition::{Action, Column, Definition, Payload, PlaceholderKind, Request, visit};
use crate::target::is_absolute;
use crate::text::{Escape, Part, Text};
use crate::trace::is_secret_name;

/// The requests of one session, each as a command, in the order in which they stand in the script;
/// branches and loops are not shown. Values that are known only while a client runs are shown as
/// `{{name}}`. Passwords and the values of header fields whose
/// names sound secret are left out.
pub fn curl_commands(definition: &Definition, session: usize) -> Vec<String> {
    let mut commands = Vec::new();
    if let Some(session) = definition.sessions.get(session) {
        visit(&session.steps, &mut |step| {
            if let Action::Request(request) = &step.action {
                commands.push(command(definition, request));
            }
        });
    }
    commands
}

fn command(definition: &Definition, request: &Request) -> String {
    let mut command = match request.verb.as_str() {
        "GET" => "curl".to_owned(),
        "HEAD" => "curl --head".to_owned(),
        verb => format!("curl -X {verb}"),
    };
    let mut add = |option: &str, value: &str| {
        command.push(' ');
        command.push_str(option);
        if !value.is_empty() {
            command.push(' ');
            command.push_str(&quoted(value));
        }
    };
    if request.gzip {
        add("--compressed", "");
    }
    for (name, value) in &request.headers {
        let value = if is_secret_name(name) { "***".to_owned() } else { shown(definition, value) };
        add("-H", &format!("{name}: {value}"));
    }
    if let Some((name, _)) = &request.authentication {
        add("-u", &format!("{}:***", shown(definition, name)));
    }
    match &request.payload {
        Payload::None => {}
        Payload::Text { text, is_form } => {
            let has_type =
                request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            if !is_form && !has_type {
                // curl would call it a form.
                add("-H", "Content-Type:");
            }
            add("--data-raw", &shown(definition, text));
        }
        Payload::File(source) => {
            let path = definition.sources.get(*source as usize).map_or("", |source| &source.path);
            add("--data-binary", &format!("@{path}"));
        }
    }
    let url = shown(definition, &request.url);
    let base = match definition.targets.base(&url) {
        Ok(origin) if !is_absolute(&url) && !url.starts_with("{{") => {
            let slash = if url.starts_with('/') { "" } else { "/" };
            format!("{origin}{slash}")
        }
        _ => String::new(),
    };
    add(&quoted(&format!("{base}{url}")), "");
    command
}

/// Text with the names of its values.
fn shown(definition: &Definition, text: &Text) -> String {
    let mut out = String::new();
    for part in &text.parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Value { placeholder, escape } => {
                let kind = definition.placeholders.get(*placeholder as usize).map(|it| &it.kind);
                let name = match kind {
                    Some(PlaceholderKind::Variable(name)) => name.clone(),
                    Some(PlaceholderKind::Generated(_)) => "generated".to_owned(),
                    Some(PlaceholderKind::Cell { column: Column::Name(name), .. }) => name.clone(),
                    Some(PlaceholderKind::Cell { column: Column::Index(at), .. }) => {
                        format!("column {at}")
                    }
                    Some(PlaceholderKind::Status) | None => "status".to_owned(),
                };
                let quote = if *escape == Escape::JsonValue { "\"" } else { "" };
                out.push_str(&format!("{quote}{{{{{name}}}}}{quote}"));
            }
        }
    }
    out
}

/// Text in quotes of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
