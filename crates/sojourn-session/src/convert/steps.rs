//! The steps of a session as the steps of a journey.

use std::collections::BTreeSet;

use super::texts::{Values, variable};
use super::yaml::Yaml;
use crate::compare::Comparison;
use crate::definition::{
    Action, Check, Condition, List, Payload, Place, PlaceholderKind, Request, Step,
};
use crate::target::{host_of, is_absolute};
use crate::text::{Part, Text};

/// Rounds of a loop that are written one after the other.
const ROUNDS_MAX: usize = 10;
/// Header fields that a request of a journey file makes itself.
const MADE_HEADERS: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];
/// Most steps of a journey.
const STEPS_MAX: usize = 100;
/// Redirects are followed as sessions do it.
const REDIRECTS_MAX: u32 = 10;
/// What an answer must be unless something is asked of its status: as in sessions.
const USUAL: [&str; 2] = ["2xx", "3xx"];

/// A session that becomes a journey.
pub(super) struct Walk<'a> {
    pub(super) values: Values<'a>,
    pub(super) steps: Vec<JourneyStep>,
    /// What a journey can't do, or does otherwise.
    pub(super) remarks: Vec<(Place, String)>,
    told: BTreeSet<(u32, u32, String)>,
    /// Behind this the session has ended.
    is_over: bool,
}

/// A step of a journey.
pub(super) struct JourneyStep {
    name: String,
    http: Yaml,
    extract: Vec<(String, String)>,
    expect: Vec<(String, Yaml)>,
}

impl JourneyStep {
    pub(super) fn yaml(&self) -> Yaml {
        let mut entries = vec![("name", Yaml::text(&self.name)), ("http", self.http.clone())];
        if !self.expect.is_empty() {
            let mut expect = self.expect.clone();
            if !expect.iter().any(|(selector, _)| selector == "status") {
                let usual = USUAL.map(Yaml::text).to_vec();
                expect.insert(0, ("status".to_owned(), Yaml::List(usual)));
            }
            entries.push(("expect", Yaml::Map(expect)));
        }
        if !self.extract.is_empty() {
            let pair = |(name, from): &(String, String)| (variable(name), Yaml::text(from));
            entries.push(("extract", Yaml::Map(self.extract.iter().map(pair).collect())));
        }
        Yaml::map(entries)
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(values: Values<'a>) -> Self {
        let (steps, remarks) = (Vec::new(), Vec::new());
        Self { values, steps, remarks, told: BTreeSet::new(), is_over: false }
    }

    pub(super) fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            if !self.is_over {
                self.step(step);
            }
        }
    }

    fn remark(&mut self, place: &Place, message: impl Into<String>) {
        let message = message.into();
        if self.told.insert((place.line, place.column, message.clone())) {
            self.remarks.push((place.clone(), message));
        }
    }

    fn step(&mut self, step: &Step) {
        let place = &step.place;
        match &step.action {
            Action::Request(request) if self.is_excluded(request) => {}
            Action::Request(request) => {
                if let Err(why) = self.request(request, place) {
                    for extraction in &request.extractions {
                        self.values.lost.insert(extraction.variable.clone());
                    }
                    let verb = request.verb.to_lowercase();
                    self.remark(place, format!("{verb}() is left out: {why}"));
                }
            }
            Action::Wait(_) => {
                self.remark(place, "the pause is left out: journeys have none between their steps");
            }
            Action::Times(count, steps) => self.times(count, steps, place),
            Action::ForEver(steps) => {
                let message = "forEver() goes around once: users who come again and again are the \
                               `users` of a journey file's load";
                self.remark(place, message);
                self.steps(steps);
                self.is_over = true;
            }
            Action::ForEach(items, steps) => match &items.list {
                List::Texts(texts) if texts.len() <= ROUNDS_MAX => {
                    for text in texts {
                        self.set(&items.variable, text, place);
                        self.steps(steps);
                    }
                }
                _ => self.remark(place, "forEach() is left out: journeys have no loops"),
            },
            Action::If(..) => {
                self.remark(place, "if() is left out with both its branches: journeys have none");
            }
            Action::While(..) => {
                self.remark(place, "while() is left out: journeys have no loops");
            }
            Action::Abort => self.is_over = true,
            Action::Check(check) => {
                if let Err(why) = self.check(check) {
                    self.remark(place, format!("`{}` is left out: {why}", check.name));
                } else if !check.is_assertion {
                    let message = "a check that fails fails the journey, which then ends";
                    self.remark(place, message);
                }
            }
            Action::Set { name, value } => self.set(name, value, place),
            Action::Pick(_) => {
                let message = "rows are taken in turn, one for each journey, not at random";
                self.remark(place, message);
            }
            Action::Log(_) => self.remark(place, "log() is left out: journeys have no log"),
            Action::Publish(_) => self.remark(
                place,
                "publish() is left out: write its channel into the file, and a step with `publish`",
            ),
            Action::Expect(_) => self.remark(
                place,
                "expect() is left out: write its channel into the file, and a stage",
            ),
        }
    }

    fn is_excluded(&self, request: &Request) -> bool {
        let excluded = &self.values.definition.options.exclude_tags;
        request.tag.as_ref().is_some_and(|tag| excluded.contains(tag))
    }

    fn times(&mut self, count: &Text, steps: &[Step], place: &Place) {
        let rounds = count.as_literal().and_then(|text| text.parse::<usize>().ok());
        match rounds {
            Some(rounds) if rounds <= ROUNDS_MAX => {
                for _ in 0..rounds {
                    self.steps(steps);
                }
            }
            _ => {
                let message = format!(
                    "times() goes around once: journeys have no loops, and more than {ROUNDS_MAX} \
                     rounds are not written one after the other"
                );
                self.remark(place, message);
                self.steps(steps);
            }
        }
    }

    fn set(&mut self, name: &str, value: &Text, place: &Place) {
        if self.values.is_generated(value) {
            self.values.inlined.remove(name);
            self.values.lost.insert(name.to_owned());
            let message = format!(
                "`{name}` is left out: a journey draws a value anew wherever it stands, it can't \
                 be kept"
            );
            self.remark(place, message);
            return;
        }
        // What it is made of now: another value of those names later is not meant.
        let mut made = Text::default();
        for part in &value.parts {
            match part {
                Part::Literal(text) => made.push_literal(text),
                Part::Value { placeholder, .. } => match self.inlined(*placeholder) {
                    Some(text) => made.append(&text),
                    None => made.parts.push(part.clone()),
                },
            }
        }
        self.values.lost.remove(name);
        self.values.inlined.insert(name.to_owned(), made);
    }

    fn inlined(&self, placeholder: u32) -> Option<Text> {
        let kind = &self.values.definition.placeholders.get(placeholder as usize)?.kind;
        match kind {
            PlaceholderKind::Variable(name) => self.values.inlined.get(name).cloned(),
            _ => None,
        }
    }

    fn request(&mut self, request: &Request, place: &Place) -> Result<(), String> {
        if self.steps.len() == STEPS_MAX {
            return Err(format!("a journey has at most {STEPS_MAX} steps here"));
        }
        let url = self.url(&request.url)?;
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            if MADE_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                let message = format!("the header {name} is left out: journeys make it themselves");
                self.remark(place, message);
                continue;
            }
            // As clients send it.
            let value = self.values.template(value)?.replace(char::is_control, " ");
            headers.push((name.clone(), Yaml::Text(value)));
        }
        let sets =
            |name: &str| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if request.gzip && !sets("accept-encoding") {
            headers.push(("Accept-Encoding".to_owned(), Yaml::text("gzip")));
        }
        if request.authentication.is_some() && !sets("authorization") {
            let message = "the password is not written: set BASIC_AUTHORIZATION, which is \
                           name:password in base 64";
            self.remark(place, message);
            let value = "Basic ${BASIC_AUTHORIZATION:-none}";
            headers.push(("Authorization".to_owned(), Yaml::plain(format!("\"{value}\""))));
        }
        let mut entries = vec![("method", Yaml::text(&request.verb)), ("url", Yaml::text(url))];
        if !headers.is_empty() {
            entries.push(("headers", Yaml::Map(headers)));
        }
        match &request.payload {
            Payload::None => {}
            Payload::Text { text, is_form } => entries.push(self.values.body(text, *is_form)?),
            Payload::File(source) => entries.push(("body", self.values.file(*source)?)),
        }
        entries.push(("timeout", Yaml::plain("60s")));
        entries.push(("redirects", Yaml::plain(REDIRECTS_MAX)));
        let name = self.name(request);
        let extract = self.extract(request, place);
        let (http, expect) = (Yaml::map(entries), Vec::new());
        self.steps.push(JourneyStep { name, http, extract, expect });
        Ok(())
    }

    fn url(&mut self, url: &Text) -> Result<String, String> {
        let start = url.start();
        if start.is_empty() && !url.parts.is_empty() {
            return Err("a journey's request names its host before it runs".to_owned());
        }
        let written = self.values.url(url)?;
        let written = written.split('#').next().unwrap_or_default().to_owned();
        if !is_absolute(start) {
            let slash = if start.starts_with('/') { "" } else { "/" };
            return Ok(format!("{slash}{written}"));
        }
        let authority = &start[start.find("://").map_or(0, |at| at + 3)..];
        let is_whole = authority.contains(['/', '?']) || url.parts.len() == 1;
        let is_target =
            host_of(start).is_some_and(|host| self.values.definition.targets.allows(host));
        match (is_whole, is_target) {
            (true, true) => Ok(written),
            (true, false) => Err("its host is no target".to_owned()),
            (false, _) => Err("a journey's request names its host before it runs".to_owned()),
        }
    }

    fn extract(&mut self, request: &Request, place: &Place) -> Vec<(String, String)> {
        let mut extract: Vec<(String, String)> = Vec::new();
        for extraction in &request.extractions {
            let name = &extraction.variable;
            self.values.inlined.remove(name);
            self.values.extracted.remove(name);
            // The answer to HEAD has no body to look into.
            let is_there = request.verb != "HEAD" || !extraction.from.needs_body();
            match extraction.from.selector().filter(|_| is_there) {
                Some(selector) => {
                    self.values.lost.remove(name);
                    self.values.extracted.insert(name.clone());
                    extract.retain(|(known, _)| known != name);
                    extract.push((name.clone(), selector));
                }
                None => {
                    self.values.lost.insert(name.clone());
                    let message = format!("`{name}` is left out: journeys can't point at it");
                    self.remark(place, message);
                }
            }
        }
        extract
    }

    /// Letters, digits, `_` and `-`; no name twice.
    fn name(&self, request: &Request) -> String {
        let from = match &request.tag {
            Some(tag) => tag.clone(),
            None => {
                let url = request.url.start();
                let at = if is_absolute(url) { url.find("://").map_or(0, |at| at + 3) } else { 0 };
                let path = &url[at..];
                format!("{} {}", request.verb.to_lowercase(), path.split('?').next().unwrap_or(""))
            }
        };
        let name = plain_name(&from, "step");
        let is_free = |name: &String| !self.steps.iter().any(|step| step.name == *name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default()
    }

    /// What must hold becomes a condition on the answer before it.
    fn check(&mut self, check: &Check) -> Result<(), String> {
        let Condition { left, compare, right } = &check.condition;
        let wanted = right.as_literal().ok_or("it compares with a value that is not fixed")?;
        let [Part::Value { placeholder, .. }] = left.parts.as_slice() else {
            return Err("what it looks at is no single value".to_owned());
        };
        let step = self.steps.last_mut().ok_or("there is no request before it")?;
        let definition = self.values.definition;
        let kind = definition.placeholders.get(*placeholder as usize).map(|it| &it.kind);
        let selector = match kind {
            Some(PlaceholderKind::Status) => "status".to_owned(),
            Some(PlaceholderKind::Variable(name)) => {
                let found = step.extract.iter().find(|(known, _)| known == name);
                let (_, selector) =
                    found.ok_or("what it looks at is not from the answer just before it")?;
                selector.clone()
            }
            _ => return Err("what it looks at is not from an answer".to_owned()),
        };
        if step.expect.iter().any(|(known, _)| *known == selector) {
            return Err("something is asked of that value already".to_owned());
        }
        step.expect.push((selector, condition(*compare, wanted)?));
        Ok(())
    }
}

/// `{ less: 400 }` and the like.
fn condition(compare: Comparison, wanted: &str) -> Result<Yaml, String> {
    let number = || {
        let is_number = wanted.parse::<f64>().is_ok_and(f64::is_finite);
        let message = "journeys compare numbers, not texts, by size";
        if is_number { Ok(Yaml::plain(wanted)) } else { Err(message.to_owned()) }
    };
    let value = || number().unwrap_or_else(|_| Yaml::text(wanted));
    Ok(match compare {
        // What is not found is empty in a session.
        Comparison::Equal if wanted.is_empty() => {
            Yaml::map(vec![("present", Yaml::plain("false"))])
        }
        Comparison::Unequal if wanted.is_empty() => {
            Yaml::map(vec![("present", Yaml::plain("true"))])
        }
        Comparison::Equal => value(),
        Comparison::Unequal => Yaml::map(vec![("not", value())]),
        Comparison::Above => Yaml::map(vec![("greater", number()?)]),
        Comparison::AtLeast => Yaml::map(vec![("greater_or_equal", number()?)]),
        Comparison::Below => Yaml::map(vec![("less", number()?)]),
        Comparison::AtMost => Yaml::map(vec![("less_or_equal", number()?)]),
    })
}

/// Letters, digits, `_` and `-` of a text; `other` where there are none.
pub(super) fn plain_name(text: &str, other: &str) -> String {
    let mut name = String::new();
    for letter in text.chars().take(60) {
        match letter {
            letter if letter.is_alphanumeric() || letter == '_' => name.push(letter),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { other.to_owned() } else { name.to_owned() }
}
