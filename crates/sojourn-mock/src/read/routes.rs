//! Routes: which requests, and how they are treated.

use sojourn_plan::reading::{Content, Fields, Key, Node, bytes, given_or, value_tests};

use super::{Defaults, MockReader, shapes};
use crate::book::answer::Answer;
use crate::book::degrade::{Degradation, DegradationPoint};
use crate::book::limit::Limit;
use crate::book::pattern::Pattern;
use crate::book::{Condition, Route};

/// What an answer is made of; a route with `answers` has none of its own.
const ANSWER_FIELDS: [&str; 5] = ["status", "headers", "json", "body", "file"];

impl MockReader<'_> {
    pub(super) fn routes(&mut self, node: &Node, defaults: &Defaults) -> Vec<Route> {
        let Some(items) = self.reader.problems.list(node) else {
            return Vec::new();
        };
        if items.is_empty() {
            self.reader.problems.at(node, "a mock without routes", None);
        }
        items.iter().filter_map(|item| self.route(item, defaults)).collect()
    }

    fn route(&mut self, node: &Node, defaults: &Defaults) -> Option<Route> {
        let fields = Fields::of(node, &shapes::ROUTE, &mut self.reader.problems)?;
        let named = fields.get("route").and_then(|node| self.method_and_path(node));
        // Without a pattern its parts cannot be checked, so that none is found wrong.
        let pattern = named.as_ref().map_or_else(Pattern::any, |(_, _, pattern)| pattern.clone());
        let behaviour = self.behaviour(&fields, defaults);
        let conditions =
            given_or(fields.get("when"), Vec::new(), |node| self.conditions(node, &pattern));
        let answers = self.answers(node, &fields, &pattern);
        let sizes = given_or(fields.get("size"), Vec::new(), |node| self.sizes(node));
        let limit = given_or(fields.get("limit"), None, |node| self.limit(node).map(Some));
        let degradation =
            given_or(fields.get("degrade"), None, |node| self.degradation(node).map(Some));
        let callbacks =
            given_or(fields.get("callbacks"), Vec::new(), |node| self.callbacks(node, &pattern));
        let (name, method, pattern) = named?;
        let behaviour = behaviour?;
        let answers = answers?;
        let first = answers.first()?.0.clone();
        Some(Route {
            name,
            method,
            pattern,
            conditions: conditions?,
            answers,
            latency: behaviour.latency,
            sizes: sizes?,
            faults: behaviour.faults,
            close: behaviour.close,
            limit: limit?,
            degradation: degradation?,
            callbacks: callbacks?,
            ..Route::catch_all(first)
        })
    }

    fn method_and_path(&mut self, node: &Node) -> Option<(String, Option<String>, Pattern)> {
        let text = self.reader.problems.text(node)?.trim();
        let (method, path) = match text.split_once(char::is_whitespace) {
            Some((method, path)) => (Some(method), path.trim()),
            None => (None, text),
        };
        if let Some(method) = method.filter(|it| !it.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            let upper = method.to_ascii_uppercase();
            let hint = match upper.bytes().all(|byte| byte.is_ascii_uppercase()) {
                true => format!("methods are written in capitals: `{upper} {path}`"),
                false => "write `POST /path`, `/path` for any method, or `*`".to_owned(),
            };
            let message = format!("`{method}` is not a method");
            self.reader.problems.within(node, method, message, Some(hint));
            return None;
        }
        match Pattern::read(path) {
            Ok(pattern) => Some((text.to_owned(), method.map(str::to_owned), pattern)),
            Err((part, message)) => {
                let hint = "such as `/payments/{id}`, `/files/*` or `*`";
                self.reader.problems.within(node, &part, message, Some(hint.to_owned()));
                None
            }
        }
    }

    fn conditions(&mut self, node: &Node, pattern: &Pattern) -> Option<Vec<Condition>> {
        let mut conditions = Vec::new();
        let mut is_whole = true;
        for (key, value) in self.reader.problems.map(node)? {
            let parts: Vec<&str> = key.name.split('.').collect();
            let at = Node { range: key.range.clone(), content: Content::Null };
            let Some(place) = self.place(&at, &parts, pattern) else {
                is_whole = false;
                continue;
            };
            let before = self.reader.problems.count_found();
            for (_, test) in value_tests(key, value, &mut self.reader.problems) {
                conditions.push(Condition { place: place.clone(), test });
            }
            is_whole &= before == self.reader.problems.count_found();
        }
        is_whole.then_some(conditions)
    }

    fn answers(
        &mut self,
        node: &Node,
        fields: &Fields<'_>,
        pattern: &Pattern,
    ) -> Option<Vec<(Answer, f64)>> {
        let Some(list) = fields.get("answers") else {
            let answer = self.answer(fields, pattern)?;
            return Some(vec![(answer, 1.0)]);
        };
        if let Some((key, _)) = fields.given(&ANSWER_FIELDS).first() {
            self.both(key, "answers");
            return None;
        }
        let items = self.reader.problems.list(list)?;
        let mut shared: Vec<(Answer, f64)> = Vec::new();
        let mut rest = None;
        // What is wrong with one does not hide what is wrong with the next.
        let read: Vec<_> = items.iter().map(|item| self.shared_answer(item, pattern)).collect();
        for (item, answer) in items.iter().zip(read.into_iter().collect::<Option<Vec<_>>>()?) {
            match answer {
                (answer, Some(share)) => shared.push((answer, share)),
                (answer, None) if rest.is_none() => rest = Some(answer),
                (_, None) => {
                    let hint = "one may be without: it has what the others leave over";
                    let message = "a second answer without a share";
                    self.reader.problems.at(item, message, Some(hint.to_owned()));
                    return None;
                }
            }
        }
        let shares = shared.iter().map(|(_, share)| *share);
        self.shares_fit(list, shares.clone())?;
        let sum: f64 = shares.sum();
        match rest {
            // What the shares leave over is the first's.
            Some(rest) => shared.insert(0, (rest, 0.0)),
            None if sum >= 1.0 - 1e-9 => {}
            None => {
                let percent = (sum * 10_000.0).round() / 100.0;
                let message = format!("the shares are {percent}% together");
                let hint = "make them 100%, or leave one answer without a share";
                self.reader.problems.at(list, message, Some(hint.to_owned()));
                return None;
            }
        }
        if shared.is_empty() {
            self.reader.problems.at(node, "a route without an answer", None);
        }
        Some(shared)
    }

    /// One of several answers, and its share if it has one.
    fn shared_answer(&mut self, node: &Node, pattern: &Pattern) -> Option<(Answer, Option<f64>)> {
        let fields = Fields::of(node, &shapes::ANSWER, &mut self.reader.problems)?;
        let share = given_or(fields.get("share"), None, |node| {
            self.reader.problems.fraction(node).map(Some)
        });
        let latency = given_or(fields.get("latency"), None, |node| self.latency(node).map(Some));
        let mut answer = self.answer(&fields, pattern)?;
        answer.latency = latency?;
        Some((answer, share?))
    }

    /// Two names of which only one may stand.
    pub(super) fn both(&mut self, key: &Key, other: &str) {
        let message = format!("both `{}` and `{other}`", key.name);
        let hint = Some("leave one of them out".to_owned());
        self.reader.problems.at_byte(key.range.start, message, hint);
    }

    fn sizes(&mut self, node: &Node) -> Option<Vec<(u64, f64)>> {
        if node.scalar().is_some() {
            let size = self.reader.problems.bytes(node)?;
            return Some(vec![(size as u64, 1.0)]);
        }
        let mut sizes = Vec::new();
        for (key, value) in self.reader.problems.map(node)? {
            let share = self.reader.problems.fraction(value)?;
            match bytes(&key.name) {
                Ok(size) => sizes.push((size as u64, share)),
                Err(message) => {
                    let hint = Some("write sizes and their shares: `{ 1KB: 90%, 1MB: 10% }`");
                    let hint = hint.map(str::to_owned);
                    self.reader.problems.at_byte(key.range.start, message, hint);
                    return None;
                }
            }
        }
        self.shares_fit(node, sizes.iter().map(|(_, share)| *share))?;
        Some(sizes)
    }

    fn limit(&mut self, node: &Node) -> Option<Limit> {
        let (rate_node, burst) = if node.scalar().is_some() {
            (node, 1)
        } else {
            let fields = Fields::of(node, &shapes::LIMIT, &mut self.reader.problems)?;
            let burst = given_or(fields.get("burst"), 1, |node| {
                self.reader.problems.count(node, 1, 1_000_000)
            });
            (fields.get("rate")?, burst?)
        };
        let rate = self.reader.problems.rate(rate_node)?;
        if rate == 0.0 {
            self.reader.problems.at(rate_node, "a limit of nothing lets nobody through", None);
            return None;
        }
        Some(Limit::new(rate, burst))
    }

    fn degradation(&mut self, node: &Node) -> Option<Degradation> {
        let mut points = Vec::new();
        for item in self.reader.problems.list(node)? {
            points.push(self.degradation_point(item));
        }
        let points = points.into_iter().collect::<Option<Vec<_>>>()?;
        let course = Degradation::new(points);
        if course.is_none() {
            let hint = "list points in time, the earlier first: `- { at: 1m, latency: 3 }`";
            self.reader.problems.at(node, "no course through time", Some(hint.to_owned()));
        }
        course
    }

    fn degradation_point(&mut self, node: &Node) -> Option<DegradationPoint> {
        let fields = Fields::of(node, &shapes::DEGRADE, &mut self.reader.problems)?;
        let problems = &mut self.reader.problems;
        let at_ns = fields.get("at").and_then(|node| problems.duration(node));
        let factor = given_or(fields.get("latency"), 1.0, |node| problems.number(node));
        let errors = given_or(fields.get("errors"), 0.0, |node| problems.fraction(node));
        let (at_ns, factor, errors) = (at_ns?, factor?, errors?);
        if factor < 0.0 {
            problems.at(node, "latency cannot be negative", None);
            return None;
        }
        Some(DegradationPoint { at_ns, factor, errors })
    }
}
