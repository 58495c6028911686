//! Reading a mock file, with the machinery that reads journey files: whatever is wrong is named
//! with file, line, column and a suggestion, everything at once.

mod answers;
mod callbacks;
mod openapi;
mod routes;
mod shapes;

use std::sync::Arc;

use sojourn_plan::reading::{Fields, Node, Reader, Scope, given_or, schema_of};
use sojourn_plan::{Channel, Files, Hole, Overrides, Part, PlanErrors, Template};

use crate::book::fault::Fault;
use crate::book::pattern::Pattern;
use crate::book::values::{FOUND, Place};
use crate::book::{Book, Route};
use crate::callbacks::Callback;
use crate::latency::{Latency, RunFiles, read_latency};
use crate::queue::Queue;
use shapes::FILE;

pub(crate) use answers::content_type_of;
pub use openapi::{OpenApiError, read_openapi};

/// What fills in where a route says nothing.
#[derive(Clone)]
struct Defaults {
    latency: Latency,
    faults: Vec<(Fault, f64)>,
    close: f64,
}

/// Reads a mock file's text. Files that it names are read through `files`; run files that laws are
/// taken from are looked for among `runs`.
///
/// # Errors
/// Everything wrong with the file, each with its place.
pub fn read_mock(
    file: &str,
    text: &str,
    files: &dyn Files,
    runs: &RunFiles,
    overrides: &Overrides,
) -> Result<Book, PlanErrors> {
    let (reader, root) = Reader::begin(file, text, files, overrides)?;
    let mut mock = MockReader {
        reader,
        runs,
        channels: Vec::new(),
        callbacks: Vec::new(),
        warnings: Vec::new(),
    };
    let book = mock.book(&root, overrides);
    match book {
        Some(book) if mock.reader.problems.is_empty() => Ok(book),
        _ => Err(mock.reader.problems.into_errors()),
    }
}

/// The JSON Schema of mock files.
pub fn mock_schema() -> serde_json::Value {
    schema_of("Sojourn mock file", &FILE)
}

struct MockReader<'a> {
    reader: Reader<'a>,
    runs: &'a RunFiles,
    /// That callbacks may publish to.
    channels: Vec<Arc<Channel>>,
    callbacks: Vec<Callback>,
    warnings: Vec<String>,
}

impl MockReader<'_> {
    fn book(&mut self, root: &Node, overrides: &Overrides) -> Option<Book> {
        let fields = Fields::of(root, &FILE, &mut self.reader.problems)?;
        let problems = &mut self.reader.problems;
        let seed = given_or(fields.get("seed"), 0, |node| problems.count(node, 0, u64::MAX));
        let query_overrides = given_or(fields.get("overrides"), false, |node| problems.flag(node));
        let queue = given_or(fields.get("queue"), None, |node| self.queue(node).map(Some));
        if let Some(node) = fields.get("data") {
            self.reader.compiler.data = self.reader.data(node);
        }
        if let Some(node) = fields.get("channels") {
            self.channels = self.reader.channels(node).into_iter().map(Arc::new).collect();
        }
        let usual = Defaults { latency: Latency::Fixed(0), faults: Vec::new(), close: 0.0 };
        let defaults = self.behaviour(&fields, &usual);
        // What is wrong above the routes does not hide what is wrong in them.
        let defaults = defaults.unwrap_or(usual);
        let routes =
            fields.get("routes").map_or_else(Vec::new, |node| self.routes(node, &defaults));
        self.warn_unreachable(&routes);
        let found = std::mem::take(&mut self.reader.compiler.found);
        let place = |parts: &Vec<String>| {
            Place::of(&parts.iter().map(String::as_str).collect::<Vec<_>>()).ok()
        };
        let mut book = Book::new(overrides.seed.or(seed)?, routes);
        book.query_overrides = query_overrides?;
        book.queue = queue?;
        book.data = std::mem::take(&mut self.reader.compiler.data);
        // Each has been checked where it stands.
        book.places = found.iter().map(place).collect::<Option<_>>()?;
        book.callbacks = std::mem::take(&mut self.callbacks);
        book.warnings = std::mem::take(&mut self.warnings);
        Some(book)
    }

    /// Latency, faults and closing, as given or as usual.
    fn behaviour(&mut self, fields: &Fields<'_>, usual: &Defaults) -> Option<Defaults> {
        let latency =
            given_or(fields.get("latency"), usual.latency.clone(), |node| self.latency(node));
        let faults = given_or(fields.get("faults"), usual.faults.clone(), |node| self.faults(node));
        let close =
            given_or(fields.get("close"), usual.close, |node| self.reader.problems.fraction(node));
        Some(Defaults { latency: latency?, faults: faults?, close: close? })
    }

    fn latency(&mut self, node: &Node) -> Option<Latency> {
        let text = self.reader.problems.text(node)?;
        match read_latency(text, self.runs) {
            Ok(law) => Some(law),
            Err(wrong) => {
                self.reader.problems.within(node, &wrong.part, wrong.message, wrong.hint);
                None
            }
        }
    }

    fn queue(&mut self, node: &Node) -> Option<Queue> {
        let text = self.reader.problems.text(node)?;
        match Queue::read(text, self.runs) {
            Ok(queue) => Some(queue),
            Err(wrong) => {
                self.reader.problems.within(node, &wrong.part, wrong.message, wrong.hint);
                None
            }
        }
    }

    fn faults(&mut self, node: &Node) -> Option<Vec<(Fault, f64)>> {
        let fields = Fields::of(node, &shapes::FAULTS, &mut self.reader.problems)?;
        let problems = &mut self.reader.problems;
        let over_ns =
            given_or(fields.get("dribble_over"), 1_000_000_000, |node| problems.duration(node));
        let kinds = [
            ("close", Fault::Close),
            ("reset", Fault::Reset),
            ("silence", Fault::Silence),
            ("truncate", Fault::Truncate),
            ("malformed", Fault::Malformed),
            ("dribble", Fault::Dribble(over_ns.unwrap_or_default())),
        ];
        let mut faults = Vec::new();
        for (name, fault) in kinds {
            if let Some(node) = fields.get(name) {
                faults.push(self.reader.problems.fraction(node).map(|share| (fault, share)));
            }
        }
        let faults = faults.into_iter().collect::<Option<Vec<_>>>()?;
        self.shares_fit(node, faults.iter().map(|(_, share)| *share))?;
        over_ns.map(|_| faults)
    }

    /// Reports shares that are more than the whole.
    fn shares_fit(&mut self, node: &Node, shares: impl Iterator<Item = f64>) -> Option<()> {
        let sum: f64 = shares.sum();
        if sum <= 1.0 + 1e-9 {
            return Some(());
        }
        let percent = (sum * 10_000.0).round() / 100.0;
        let message = format!("the shares are {percent}% together");
        self.reader.problems.at(node, message, Some("at most 100%".to_owned()));
        None
    }

    /// What templates of this file may name.
    fn scope() -> Scope {
        Scope { found: &FOUND, ..Scope::default() }
    }

    /// Reports names in a template that no request of this pattern has.
    fn check_template(
        &mut self,
        node: &Node,
        template: &Template,
        pattern: &Pattern,
    ) -> Option<()> {
        let mut is_good = true;
        for part in &template.parts {
            let Part::Hole { hole: Hole::Variable(id), .. } = part else {
                continue;
            };
            let found = self.reader.compiler.found.get(usize::from(id.0));
            let Some(parts) = found.cloned() else {
                continue;
            };
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            is_good &= self.place(node, &parts, pattern).is_some();
        }
        is_good.then_some(())
    }

    /// A value of a request, or what is wrong with its name.
    fn place(&mut self, node: &Node, parts: &[&str], pattern: &Pattern) -> Option<Place> {
        let name = parts.join(".");
        let (message, hint) = match Place::of(parts) {
            Ok(Place::PathPart(part)) if !pattern.parameters().any(|known| known == part) => {
                let hint = match pattern.parameters().count() {
                    0 => Some(format!("write `{{{part}}}` in the route's path")),
                    _ => sojourn_plan::reading::suggestion(&part, pattern.parameters()),
                };
                (format!("the path has no part `{part}`"), hint)
            }
            Ok(place) => return Some(place),
            Err(message) => {
                let hint = "a request has `method`, `path.NAME`, `query.NAME`, `header.NAME`, \
                            `cookie.NAME`, `body` and `body.PATH`";
                (message, Some(hint.to_owned()))
            }
        };
        self.reader.problems.within(node, &name, message, hint);
        None
    }

    /// A route behind one that takes everything it could take answers nothing.
    fn warn_unreachable(&mut self, routes: &[Route]) {
        for (place, route) in routes.iter().enumerate() {
            let covers = |earlier: &&Route| {
                earlier.conditions.is_empty()
                    && (earlier.method.is_none() || earlier.method == route.method)
                    && (earlier.pattern == route.pattern || earlier.pattern == Pattern::any())
            };
            if let Some(earlier) = routes[..place].iter().find(covers) {
                self.warnings.push(format!(
                    "route `{}` is never reached: `{}` before it takes its requests",
                    route.name, earlier.name
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
