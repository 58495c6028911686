//! Texts of sessions as the templates of journey files.

use std::collections::{BTreeMap, BTreeSet};

use url::form_urlencoded;

use super::yaml::Yaml;
use crate::data::{Content, Data};
use crate::definition::{Column, Definition, PlaceholderKind, SourceKind};
use crate::generator::Generator;
use crate::text::{Escape, Part, Text};

/// Names that templates know already.
const OWN: [&str; 10] =
    ["int", "uuid", "seq", "pick", "row", "random_row", "key", "run_id", "number", "true"];
/// Most of a file that is written into a journey file, for want of another way to say it.
const FILE_INLINED_BYTES_MAX: usize = 64 << 10;
/// Variables within variables.
const DEPTH_MAX: u32 = 20;

/// What is known of a session's values at a step.
pub(super) struct Values<'a> {
    pub(super) definition: &'a Definition,
    pub(super) data: &'a Data,
    /// Variables that an earlier step takes out of an answer.
    pub(super) extracted: BTreeSet<String>,
    /// Variables that are texts.
    pub(super) inlined: BTreeMap<String, Text>,
    /// Variables that no journey could have.
    pub(super) lost: BTreeSet<String>,
    /// Files with rows that are used: their names, and paths.
    pub(super) sources: &'a mut BTreeMap<String, String>,
}

/// A variable's name, as templates can write it.
pub(super) fn variable(name: &str) -> String {
    let is_own = OWN.contains(&name);
    let plain: String =
        name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    let is_start = plain.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    if is_own || !is_start { format!("v_{plain}") } else { plain }
}

fn literal(text: &str) -> String {
    text.replace("{{", "{{ '{{' }}")
}

/// Puts a piece of a template behind others. A brace before another one would open a value.
fn join(out: &mut String, piece: &str) {
    if out.ends_with('{') && piece.starts_with('{') {
        out.pop();
        out.push_str("{{ '{' }}");
    }
    out.push_str(piece);
}

impl Values<'_> {
    /// A template of this text. Errs in words.
    pub(super) fn template(&mut self, text: &Text) -> Result<String, String> {
        self.written(text, &literal, 0)
    }

    /// The same of the path of a URL: what can't stand in a request line is encoded.
    pub(super) fn url(&mut self, text: &Text) -> Result<String, String> {
        let encoded = |text: &str| {
            let mut out = String::new();
            for byte in text.bytes() {
                match byte {
                    0x21..=0x7e => out.push(char::from(byte)),
                    _ => out.push_str(&format!("%{byte:02X}")),
                }
            }
            literal(&out)
        };
        self.written(text, &encoded, 0)
    }

    fn written(
        &mut self,
        text: &Text,
        literal: &dyn Fn(&str) -> String,
        depth: u32,
    ) -> Result<String, String> {
        let mut out = String::new();
        for part in &text.parts {
            match part {
                Part::Literal(text) => join(&mut out, &literal(text)),
                Part::Value { placeholder, .. } => {
                    join(&mut out, &self.value(*placeholder, literal, depth)?);
                }
            }
        }
        Ok(out)
    }

    fn value(
        &mut self,
        placeholder: u32,
        literal: &dyn Fn(&str) -> String,
        depth: u32,
    ) -> Result<String, String> {
        let kind = self.definition.placeholders.get(placeholder as usize).map(|it| &it.kind);
        match kind {
            Some(PlaceholderKind::Variable(name)) => self.variable(name, literal, depth),
            Some(PlaceholderKind::Generated(number)) => {
                let generator = self.definition.generators.get(*number as usize);
                generated(generator.copied())
            }
            Some(PlaceholderKind::Cell { pick, column }) => self.cell(*pick, column),
            Some(PlaceholderKind::Status) | None => {
                Err("a status can only be compared, not written".to_owned())
            }
        }
    }

    fn variable(
        &mut self,
        name: &str,
        literal: &dyn Fn(&str) -> String,
        depth: u32,
    ) -> Result<String, String> {
        if depth > DEPTH_MAX {
            return Err(format!("`{name}` is made of too many other variables"));
        }
        if self.lost.contains(name) {
            return Err(format!("`{name}` is a value that a journey can't have"));
        }
        match self.inlined.get(name).cloned() {
            Some(text) => self.written(&text, literal, depth + 1),
            None if self.extracted.contains(name) => Ok(format!("{{{{ {} }}}}", variable(name))),
            // Variables are empty until they are set.
            None => Ok(String::new()),
        }
    }

    fn cell(&mut self, pick: u32, column: &Column) -> Result<String, String> {
        let unknown = || "its file is not known".to_owned();
        let definition = self.definition;
        let pick = definition.picks.get(pick as usize).ok_or_else(unknown)?;
        let source = definition.sources.get(pick.source as usize).ok_or_else(unknown)?;
        let path = &source.path;
        match &source.kind {
            SourceKind::Structured { delimiter: b',', has_header: true, fields }
                if fields.is_empty() => {}
            _ => {
                return Err(format!(
                    "`{path}` is not of the one form that journeys read: commas, and a line that \
                     names the columns"
                ));
            }
        }
        let column = match column {
            Column::Name(name) => name.clone(),
            Column::Index(at) => match self.data.sources.get(pick.source as usize) {
                Some(Content::Rows(table)) => table.columns().get(*at).cloned().unwrap_or_default(),
                _ => String::new(),
            },
        };
        if variable(&column) != column {
            return Err(format!("the column `{column}` of `{path}` can't be named in a template"));
        }
        let stem = path.rsplit('/').next().unwrap_or(path);
        let name = variable(stem.split('.').next().unwrap_or(stem));
        let known = self.sources.entry(name.clone()).or_insert_with(|| path.clone());
        if known != path {
            return Err(format!("`{path}` and `{known}` have one name"));
        }
        Ok(format!("{{{{ row.{name}.{column} }}}}"))
    }

    /// Whether a value of this text is another one at each use.
    pub(super) fn is_generated(&self, text: &Text) -> bool {
        text.placeholders().any(|placeholder| {
            match self.definition.placeholders.get(placeholder as usize).map(|it| &it.kind) {
                Some(PlaceholderKind::Generated(_) | PlaceholderKind::Status) => true,
                Some(PlaceholderKind::Variable(name)) => self.lost.contains(name),
                _ => false,
            }
        })
    }

    /// A body, as a field of a request and its value.
    pub(super) fn body(
        &mut self,
        text: &Text,
        is_form: bool,
    ) -> Result<(&'static str, Yaml), String> {
        if is_form && let Some(fields) = self.form(text)? {
            return Ok(("form", fields));
        }
        let is_json = text.parts.iter().any(|part| match part {
            Part::Value { escape, .. } => matches!(escape, Escape::JsonText | Escape::JsonValue),
            Part::Literal(_) => false,
        });
        if is_json { self.json(text) } else { Ok(("body", Yaml::text(self.template(text)?))) }
    }

    /// A body that a file has. Journeys read such a file as a template, sessions send it as it is:
    /// where these differ, the body stands in the journey file itself.
    pub(super) fn file(&self, source: u32) -> Result<Yaml, String> {
        let path = self.definition.sources.get(source as usize).map(|source| &source.path);
        let bytes = match self.data.sources.get(source as usize) {
            Some(Content::Bytes(bytes)) => bytes,
            _ => return Err("its file is not known".to_owned()),
        };
        let path = path.map_or("", String::as_str);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            format!(
                "`{path}` is no UTF-8 text from byte {} on, and bodies of journeys are text",
                error.valid_up_to() + 1
            )
        })?;
        let Some(at) = text.find("{{") else {
            return Ok(Yaml::map(vec![("file", Yaml::text(path))]));
        };
        if text.len() > FILE_INLINED_BYTES_MAX {
            let line = text[..at].matches('\n').count() + 1;
            return Err(format!(
                "`{path}` has `{{{{` in line {line}, which a journey reads as the start of a \
                 value, and is too long to be written into the journey file instead (more than \
                 {} KiB)",
                FILE_INLINED_BYTES_MAX >> 10
            ));
        }
        Ok(Yaml::text(literal(text)))
    }

    /// The fields of a form; `None` where a name comes twice.
    fn form(&mut self, text: &Text) -> Result<Option<Yaml>, String> {
        // Values have no `&`: each is written between those of the form.
        let mut marked = String::new();
        let mut values = Vec::new();
        for part in &text.parts {
            match part {
                Part::Literal(text) => marked.push_str(text),
                Part::Value { placeholder, .. } => {
                    marked.push('\u{1}');
                    values.push(self.value(*placeholder, &literal, 0)?);
                }
            }
        }
        let mut values = values.into_iter();
        let mut fields: Vec<(String, Yaml)> = Vec::new();
        for (name, value) in form_urlencoded::parse(marked.as_bytes()) {
            if fields.iter().any(|(known, _)| *known == name) || name.contains('\u{1}') {
                return Ok(None);
            }
            let mut template = String::new();
            for (at, piece) in value.split('\u{1}').enumerate() {
                if at > 0 {
                    join(&mut template, &values.next().unwrap_or_default());
                }
                join(&mut template, &literal(piece));
            }
            fields.push((name.into_owned(), Yaml::Text(template)));
        }
        Ok(Some(Yaml::Map(fields)))
    }

    fn json(&mut self, text: &Text) -> Result<(&'static str, Yaml), String> {
        let mut out = String::new();
        for part in &text.parts {
            match part {
                Part::Literal(text) => join(&mut out, &literal(text)),
                Part::Value { placeholder, escape } => {
                    let value = self.value(*placeholder, &literal, 0)?;
                    let quote = if *escape == Escape::JsonValue { "\"" } else { "" };
                    join(&mut out, &format!("{quote}{value}{quote}"));
                }
            }
        }
        match serde_json::from_str(&out) {
            Ok(value) => Ok(("json", Yaml::of_json(&value))),
            Err(_) => Err("its payload is no JSON once values stand in it".to_owned()),
        }
    }
}

fn generated(generator: Option<Generator>) -> Result<String, String> {
    match generator {
        Some(Generator::RandomNumber { low, high }) => Ok(format!("{{{{ int({low}, {high}) }}}}")),
        Some(Generator::RandomUuid) => Ok("{{ uuid() }}".to_owned()),
        Some(Generator::Sequence { start, step: 1 }) => Ok(format!("{{{{ seq({start}) }}}}")),
        _ => Err("journeys make random numbers, UUIDs and sequences of step 1 only".to_owned()),
    }
}
