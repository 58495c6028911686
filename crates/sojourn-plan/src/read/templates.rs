//! The template compiler: `{{ int(1, 5) }}` in text becomes holes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::render::write_percent;
use crate::{DataSource, Escape, Hole, Part, Template, VariableId};

use super::expression::{self, Argument, Expression};
use super::fields::shown;
use super::node::{Content, Node};
use super::problems::{Problems, suggestion};

/// Functions and names that every template knows, besides variables.
pub(super) const BUILT_IN: [&str; 9] =
    ["int", "uuid", "seq", "pick", "number", "row", "random_row", "key", "run_id"];

/// The first of the random streams that templates draw from; those below are for arrivals, the
/// choice of journeys and think times.
pub(super) const STREAMS_FROM: u64 = 1 << 32;
/// The first stream of what is compiled apart.
const STREAMS_APART_FROM: u64 = 1 << 40;

/// What a template may name at its place in the plan.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Variables set by now.
    pub variables: BTreeMap<String, VariableId>,
    /// Variables that only a later step sets.
    pub later: BTreeMap<String, VariableId>,
    /// Whether the journey's key is known.
    pub key: bool,
    /// Whether this belongs to a journey at all.
    pub in_journey: bool,
    /// Names, and first parts of dotted names, whose values the caller finds by their whole name:
    /// variables of [`Compiler::found`].
    pub found: &'static [&'static str],
}

/// Compiles templates; owns the numbering of random streams, in the order of compilation, which is
/// the order of the file's sections, journeys, steps and stages.
#[derive(Debug)]
pub struct Compiler {
    /// Rows that templates may name.
    pub data: Vec<Arc<DataSource>>,
    /// Names that templates use and the caller finds values for, by variable.
    pub found: Vec<Vec<String>>,
    streams: u64,
    /// Where numbering goes on after the next switch.
    streams_apart: u64,
}

impl Compiler {
    /// A compiler whose templates may name these rows.
    pub fn new(data: Vec<Arc<DataSource>>) -> Self {
        Self { data, found: Vec::new(), streams: STREAMS_FROM, streams_apart: STREAMS_APART_FROM }
    }

    /// Goes on with the other of two ranges of random streams: what is compiled between two
    /// switches does not change what any other template draws.
    pub(super) fn switch_streams(&mut self) {
        std::mem::swap(&mut self.streams, &mut self.streams_apart);
    }

    /// A scalar as a template, its holes written with `escape`.
    pub fn text(
        &mut self,
        node: &Node,
        escape: Escape,
        scope: &Scope,
        problems: &mut Problems<'_>,
    ) -> Option<Template> {
        let text = problems.text(node)?;
        self.compile(node, text, escape, scope, problems)
    }

    /// Text of a scalar (or a part of it, or of a file it names) as a template.
    pub fn compile(
        &mut self,
        node: &Node,
        text: &str,
        escape: Escape,
        scope: &Scope,
        problems: &mut Problems<'_>,
    ) -> Option<Template> {
        let mut parts = Parts::default();
        self.append(node, text, escape, scope, problems, &mut parts)?;
        Some(parts.into_template())
    }

    /// A value as JSON text, with templates in its strings. A string that is one hole with a number
    /// in it becomes a number.
    pub fn json(
        &mut self,
        node: &Node,
        scope: &Scope,
        problems: &mut Problems<'_>,
    ) -> Option<Template> {
        let mut parts = Parts::default();
        self.append_json(node, scope, problems, &mut parts)?;
        Some(parts.into_template())
    }

    fn append_json(
        &mut self,
        node: &Node,
        scope: &Scope,
        problems: &mut Problems<'_>,
        parts: &mut Parts,
    ) -> Option<()> {
        let mut is_whole = true;
        match &node.content {
            Content::Null => parts.literal("null"),
            Content::Scalar(scalar) if scalar.value.is_string() => {
                if let Some(hole) = self.lone_number(node, &scalar.text, scope, problems) {
                    parts.hole(hole, Escape::JsonValue);
                } else {
                    parts.literal("\"");
                    self.append(node, &scalar.text, Escape::Json, scope, problems, parts)?;
                    parts.literal("\"");
                }
            }
            Content::Scalar(scalar) => parts.literal(&scalar.value.to_string()),
            Content::List(items) => {
                parts.literal("[");
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        parts.literal(",");
                    }
                    is_whole &= self.append_json(item, scope, problems, parts).is_some();
                }
                parts.literal("]");
            }
            Content::Map(entries) => {
                parts.literal("{");
                for (at, (key, value)) in entries.iter().enumerate() {
                    parts.literal(if at > 0 { ",\"" } else { "\"" });
                    parts.literal(&json_inside(&key.name));
                    parts.literal("\":");
                    is_whole &= self.append_json(value, scope, problems, parts).is_some();
                }
                parts.literal("}");
            }
        }
        is_whole.then_some(())
    }

    /// The hole of `{{ int(1, 5) }}` and its like, when the text is nothing else. Problems are left
    /// to the ordinary way of reading it.
    fn lone_number(
        &mut self,
        node: &Node,
        text: &str,
        scope: &Scope,
        problems: &mut Problems<'_>,
    ) -> Option<Hole> {
        let inside = text.strip_prefix("{{")?;
        let end = expression::end_of_hole(inside)?;
        if end + 2 != inside.len() {
            return None;
        }
        let expression = expression::parse(&inside[..end]).ok()?;
        let expression = match expression {
            Expression::Call { name, mut arguments } if name == "number" => {
                match (arguments.pop(), arguments.is_empty()) {
                    (Some(Argument::Expression(inner)), true) => *inner,
                    _ => return None,
                }
            }
            other if is_numeric(&other) => other,
            _ => return None,
        };
        self.hole(node, &inside[..end], &expression, scope, problems)
    }

    fn append(
        &mut self,
        node: &Node,
        text: &str,
        escape: Escape,
        scope: &Scope,
        problems: &mut Problems<'_>,
        parts: &mut Parts,
    ) -> Option<()> {
        let mut rest = text;
        let mut is_whole = true;
        while let Some(at) = rest.find("{{") {
            parts.literal(&escaped_literal(&rest[..at], escape));
            let inside = &rest[at + 2..];
            let Some(end) = expression::end_of_hole(inside) else {
                let hint = "write {{ name }}; for `{{` itself write {{ '{{' }}";
                problems.within(node, "{{", "`{{` without its `}}`", Some(hint.to_owned()));
                return None;
            };
            let source = &inside[..end];
            rest = &inside[end + 2..];
            match expression::parse(source) {
                Ok(Expression::Text(text)) => parts.literal(&escaped_literal(&text, escape)),
                Ok(expression) => match self.hole(node, source, &expression, scope, problems) {
                    Some(hole) => parts.hole(hole, escape),
                    None => is_whole = false,
                },
                Err(message) => {
                    let part = source.trim();
                    let message = format!("`{}`: {message}", shown(part));
                    let hint = "such as {{ int(1, 100) }}, {{ pick('a', 'b') }} or {{ name }}";
                    problems.within_both(node, source, part, message, Some(hint.to_owned()));
                    is_whole = false;
                }
            }
        }
        parts.literal(&escaped_literal(rest, escape));
        is_whole.then_some(())
    }

    /// The hole of an expression; `source` is its text.
    fn hole(
        &mut self,
        node: &Node,
        source: &str,
        expression: &Expression,
        scope: &Scope,
        problems: &mut Problems<'_>,
    ) -> Option<Hole> {
        let resolved = match expression {
            Expression::Text(_) => Err((String::new(), "text".to_owned(), None)),
            Expression::Name(path) => self.named(path, scope),
            Expression::Call { name, arguments } => self
                .called(name, arguments)
                .map_err(|(message, hint)| (name.clone(), message, hint)),
        };
        match resolved {
            Ok(hole) => Some(hole),
            Err((part, message, hint)) => {
                problems.within_both(node, source, &part, message, hint);
                None
            }
        }
    }

    fn called(
        &mut self,
        name: &str,
        arguments: &[Argument],
    ) -> Result<Hole, (String, Option<String>)> {
        let usage = |form: &str| (format!("`{name}` takes other values"), Some(form.to_owned()));
        match (name, arguments) {
            ("int", [low, high]) => {
                let form = "write int(1, 100): whole numbers, the lower first";
                let (low, high) = (low.whole(), high.whole());
                let (low, high) = low.zip(high).ok_or_else(|| usage(form))?;
                if low > high {
                    return Err((
                        format!("int({low}, {high}) has no value"),
                        Some("write the lower number first".to_owned()),
                    ));
                }
                let stream = self.stream();
                Ok(Hole::Int { low, high, stream })
            }
            ("int", _) => Err(usage("write int(1, 100)")),
            ("uuid", []) => Ok(Hole::Uuid { stream: self.stream() }),
            ("uuid", _) => Err(usage("write uuid()")),
            ("seq", []) => Ok(Hole::Seq { from: 0 }),
            ("seq", [from]) => {
                let from = from.whole().and_then(|from| u64::try_from(from).ok());
                let from = from.ok_or_else(|| usage("write seq() or seq(1000)"))?;
                Ok(Hole::Seq { from })
            }
            ("seq", _) => Err(usage("write seq() or seq(1000)")),
            ("pick", []) => Err(usage("write pick('GBP', 'EUR')")),
            ("pick", choices) => {
                let choices = choices.iter().map(Argument::choice).collect::<Option<_>>();
                Ok(Hole::Pick {
                    choices: choices.ok_or_else(|| usage("write pick('GBP', 'EUR')"))?,
                    stream: self.stream(),
                })
            }
            ("number", _) => Err((
                "`number` must be a JSON value of its own".to_owned(),
                Some("write \"{{ number(row.users.age) }}\" as a whole value in `json`".to_owned()),
            )),
            _ => Err((
                format!("unknown function `{}`", shown(name)),
                suggestion(name, ["int", "uuid", "seq", "pick", "number"]),
            )),
        }
    }

    fn named(
        &mut self,
        path: &[String],
        scope: &Scope,
    ) -> Result<Hole, (String, String, Option<String>)> {
        let text = path.join(".");
        let fail = |message: String, hint: Option<String>| Err((text.clone(), message, hint));
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["row", rest @ ..] => self.row(rest, false).or_else(|(m, h)| fail(m, h)),
            ["random_row", rest @ ..] => self.row(rest, true).or_else(|(m, h)| fail(m, h)),
            ["key"] if scope.key => Ok(Hole::Key),
            ["key"] if scope.in_journey => fail(
                "`key` is not known yet".to_owned(),
                Some("it is from the step that makes it, or after the one that yields it".into()),
            ),
            ["key"] => fail("`key` belongs to a journey".to_owned(), None),
            ["run_id"] => Ok(Hole::RunId),
            ["uuid"] => Ok(Hole::Uuid { stream: self.stream() }),
            ["seq"] => Ok(Hole::Seq { from: 0 }),
            [first, ..] if scope.found.contains(first) => {
                let known = self.found.iter().position(|known| known == path);
                let place = known.unwrap_or_else(|| {
                    self.found.push(path.to_vec());
                    self.found.len() - 1
                });
                match u16::try_from(place) {
                    Ok(place) => Ok(Hole::Variable(VariableId(place))),
                    Err(_) => fail("more than 65,536 names".to_owned(), None),
                }
            }
            [name] => match (scope.variables.get(*name), scope.later.get(*name)) {
                (Some(id), _) => Ok(Hole::Variable(*id)),
                (None, Some(_)) => fail(
                    format!("`{name}` is used before anything extracts it"),
                    Some("move the step that extracts it before this one".to_owned()),
                ),
                (None, None) => {
                    let known = scope.variables.keys().map(String::as_str);
                    let known = known.chain(scope.found.iter().copied());
                    fail(
                        format!("unknown name `{}`", shown(name)),
                        suggestion(name, known.chain(BUILT_IN)),
                    )
                }
            },
            _ => fail(
                format!("unknown name `{}`", shown(&text)),
                Some("only `row.SOURCE.COLUMN` and `random_row.SOURCE.COLUMN` have dots".into()),
            ),
        }
    }

    fn row(&mut self, path: &[&str], random: bool) -> Result<Hole, (String, Option<String>)> {
        let names = || self.data.iter().map(|data| data.name.as_str());
        let (source, column) = match path {
            [column] if self.data.len() == 1 => (0, *column),
            [source, column] => {
                let place = self.data.iter().position(|data| data.name == *source);
                let place = place.ok_or_else(|| {
                    let message = format!("unknown data source `{}`", shown(source));
                    (message, suggestion(source, names()))
                })?;
                (place, *column)
            }
            _ if self.data.is_empty() => {
                let hint = "declare it: `data: { users: { csv: users.csv } }`";
                return Err(("there is no data".to_owned(), Some(hint.to_owned())));
            }
            _ => {
                let hint = "write row.SOURCE.COLUMN";
                return Err(("which row?".to_owned(), Some(hint.to_owned())));
            }
        };
        let data = &self.data[source];
        let place = data.columns.iter().position(|name| name == column);
        let column = place.ok_or_else(|| {
            let message = format!("`{}` has no column `{}`", data.name, shown(column));
            (message, suggestion(column, data.columns.iter().map(String::as_str)))
        })?;
        Ok(Hole::Row { source, column, stream: random.then(|| self.stream()) })
    }

    fn stream(&mut self) -> u64 {
        self.streams += 1;
        self.streams
    }
}

/// Parts of a template in the making: neighbouring literals become one.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn literal(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Literal(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Part::Literal(text.to_owned())),
        }
    }

    fn hole(&mut self, hole: Hole, escape: Escape) {
        self.0.push(Part::Hole { hole, escape });
    }

    fn into_template(self) -> Template {
        Template { parts: self.0 }
    }
}

/// Whether an expression's values are numbers.
fn is_numeric(expression: &Expression) -> bool {
    match expression {
        Expression::Call { name, arguments } => match name.as_str() {
            "int" | "seq" => true,
            "pick" => arguments.iter().all(|argument| matches!(argument, Argument::Number(_))),
            _ => false,
        },
        Expression::Name(path) => path.len() == 1 && path[0] == "seq",
        Expression::Text(_) => false,
    }
}

/// Text between holes, as it must stand in the output.
fn escaped_literal(text: &str, escape: Escape) -> String {
    match escape {
        Escape::Json | Escape::JsonValue => json_inside(text),
        Escape::Raw | Escape::Header => text.to_owned(),
        Escape::Url => {
            // A URL's own structure stays; what may not stand in a request line is encoded.
            let mut out = Vec::with_capacity(text.len());
            for byte in text.bytes() {
                match byte {
                    0..=32
                    | 127..
                    | b'"'
                    | b'<'
                    | b'>'
                    | b'\\'
                    | b'^'
                    | b'`'
                    | b'{'
                    | b'|'
                    | b'}' => write_percent(byte, &mut out),
                    _ => out.push(byte),
                }
            }
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}

fn json_inside(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    crate::render::write_json_text(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
