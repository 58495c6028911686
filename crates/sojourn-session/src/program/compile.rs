//! From a definition's steps to instructions.

mod events;
mod texts;

use std::collections::HashMap;
use std::sync::Arc;

use sojourn_plan::{PlanError, PlanErrors};

use super::{Base, Body, Instruction, Program, Request, SessionCode, TemplateId};
use crate::data::{Content, Data};
use crate::definition::{
    Action, Check, Condition, Definition, Extraction, Items, List, Payload, Place, Session, Step,
    Wait,
};
use crate::target::{ENDS_AUTHORITY, host_of, is_absolute};
use crate::text::Text;

/// Most instructions of a program.
const INSTRUCTIONS_MAX: usize = 1_000_000;
/// Most variables, and most picked rows, of a session.
const SLOTS_MAX: usize = 1_000;

impl Program {
    /// Compiles a definition. Steps of excluded tags are left out. Errs with columns that tables do
    /// not have and with what is too much, each at its place in the script.
    pub fn compile(definition: &Definition, data: &Data) -> Result<Self, PlanErrors> {
        let mut compiler = Compiler::new(definition, data);
        for session in &definition.sessions {
            compiler.session(session);
        }
        if compiler.errors.is_empty() {
            Ok(compiler.program)
        } else {
            Err(PlanErrors(compiler.errors))
        }
    }
}

struct Compiler<'a> {
    definition: &'a Definition,
    data: &'a Data,
    program: Program,
    /// From sources to tables.
    tables: HashMap<u32, u32>,
    /// Of the present session.
    slots: HashMap<String, u16>,
    rows: HashMap<u32, u16>,
    depth: u16,
    depth_max: u16,
    /// The key of the expectations in a row, while there is no end to the row.
    row_key: Option<Text>,
    errors: Vec<PlanError>,
}

impl<'a> Compiler<'a> {
    fn new(definition: &'a Definition, data: &'a Data) -> Self {
        let program = Program {
            code: Vec::new(),
            places: Vec::new(),
            templates: Vec::new(),
            requests: Vec::new(),
            messages: Vec::new(),
            expectations: Vec::new(),
            rows: Vec::new(),
            extractors: Vec::new(),
            lists: Vec::new(),
            tables: Vec::new(),
            generators: definition.generators.clone(),
            checks: Vec::new(),
            tags: Vec::new(),
            sessions: Vec::new(),
            endless: Vec::new(),
            targets: definition.targets.clone(),
            data: data.clone(),
        };
        Self {
            definition,
            data,
            program,
            tables: HashMap::new(),
            slots: HashMap::new(),
            rows: HashMap::new(),
            depth: 0,
            depth_max: 0,
            row_key: None,
            errors: Vec::new(),
        }
    }

    fn session(&mut self, session: &Session) {
        (self.depth, self.depth_max) = (0, 0);
        self.slots.clear();
        self.rows.clear();
        let start = self.here();
        self.steps(&session.steps);
        let whole = Place { file: "".into(), line: 0, column: 0 };
        let place = session.steps.last().map_or(whole, |step| step.place.clone());
        self.emit(Instruction::End, &place);
        if self.slots.len() > SLOTS_MAX || self.rows.len() > SLOTS_MAX {
            let message = format!(
                "session `{}` has more than {SLOTS_MAX} variables or picked rows",
                session.name
            );
            self.errors.push(place.error(message, None));
        }
        let mut variables = vec![String::new(); self.slots.len()];
        for (name, slot) in self.slots.drain() {
            variables[usize::from(slot)] = name;
        }
        self.program.sessions.push(SessionCode {
            name: session.name.clone(),
            start,
            variables,
            counters: self.depth_max,
            // Bounded just above.
            rows: self.rows.len() as u16,
        });
    }

    fn here(&self) -> u32 {
        // Bounded by `INSTRUCTIONS_MAX`.
        self.program.code.len() as u32
    }

    fn emit(&mut self, instruction: Instruction, place: &Place) -> usize {
        if self.program.code.len() == INSTRUCTIONS_MAX {
            let message = format!("more than {INSTRUCTIONS_MAX} instructions");
            self.errors.push(place.error(message, None));
        }
        if self.program.code.len() > INSTRUCTIONS_MAX {
            return INSTRUCTIONS_MAX;
        }
        self.program.code.push(instruction);
        self.program.places.push(place.clone());
        self.program.code.len() - 1
    }

    /// Lets the jump at `at` lead here.
    fn land(&mut self, at: usize) {
        let here = self.here();
        match &mut self.program.code[at] {
            Instruction::Jump(to)
            | Instruction::Unless { to, .. }
            | Instruction::Times { behind: to, .. }
            | Instruction::NextText { behind: to, .. }
            | Instruction::NextJson { behind: to, .. } => *to = here,
            _ => {}
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        self.row_key = None;
        for step in steps {
            if !self.goes_on_in_row(&step.action) {
                self.row_key = None;
            }
            self.step(step);
        }
        self.row_key = None;
    }

    fn step(&mut self, step: &Step) {
        let place = &step.place;
        match &step.action {
            Action::Request(request) if self.is_excluded(request.tag.as_deref()) => {}
            Action::Publish(publish) if self.is_excluded(publish.tag.as_deref()) => {}
            Action::Expect(expect) if self.is_excluded(expect.tag.as_deref()) => {}
            Action::Request(request) => self.request(request, place),
            Action::Wait(wait) => {
                let wait = self.wait(wait);
                self.emit(wait, place);
            }
            Action::Times(count, steps) => self.times(count, steps, place),
            Action::If(condition, steps, otherwise) => {
                let skip = self.unless(condition, place);
                self.steps(steps);
                if otherwise.is_empty() {
                    self.land(skip);
                } else {
                    let end = self.emit(Instruction::Jump(0), place);
                    self.land(skip);
                    self.steps(otherwise);
                    self.land(end);
                }
            }
            Action::ForEver(steps) => {
                let start = self.here();
                self.steps(steps);
                self.emit(Instruction::Jump(start), place);
                let end = self.here();
                self.program.endless.push(start..end);
            }
            Action::While(condition, steps) => {
                let start = self.here();
                let end = self.unless(condition, place);
                self.steps(steps);
                self.emit(Instruction::Jump(start), place);
                self.land(end);
            }
            Action::ForEach(items, steps) => self.for_each(items, steps, place),
            Action::Abort => {
                self.emit(Instruction::Abort, place);
            }
            Action::Check(check) => self.check(check, place),
            Action::Set { name, value } => {
                let value = self.template(value);
                let slot = self.slot(name);
                self.emit(Instruction::Set { slot, value }, place);
            }
            Action::Pick(pick) => self.pick(*pick, place),
            Action::Log(message) => {
                let message = self.template(message);
                self.emit(Instruction::Log(message), place);
            }
            Action::Publish(publish) => self.publish(publish, place),
            Action::Expect(expect) => self.expect(expect, place),
        }
    }

    fn is_excluded(&self, tag: Option<&str>) -> bool {
        let excluded = &self.definition.options.exclude_tags;
        tag.is_some_and(|tag| excluded.iter().any(|known| known == tag))
    }

    fn wait(&mut self, wait: &Wait) -> Instruction {
        match wait {
            Wait::Fixed(seconds) => Instruction::Wait(self.template(seconds)),
            Wait::Uniform(low, high) => {
                Instruction::WaitUniform(self.template(low), self.template(high))
            }
            Wait::Exponential(mean) => Instruction::WaitExponential(self.template(mean)),
        }
    }

    fn counter(&mut self) -> u16 {
        self.depth += 1;
        self.depth_max = self.depth_max.max(self.depth);
        self.depth - 1
    }

    fn times(&mut self, count: &Text, steps: &[Step], place: &Place) {
        let count = self.template(count);
        let counter = self.counter();
        let begin = self.emit(Instruction::Times { counter, count, behind: 0 }, place);
        let start = self.here();
        self.steps(steps);
        self.emit(Instruction::Again { counter, start }, place);
        self.land(begin);
        self.depth -= 1;
    }

    fn unless(&mut self, condition: &Condition, place: &Place) -> usize {
        let (left, right) = (self.template(&condition.left), self.template(&condition.right));
        self.emit(Instruction::Unless { left, compare: condition.compare, right, to: 0 }, place)
    }

    fn for_each(&mut self, items: &Items, steps: &[Step], place: &Place) {
        let slot = self.slot(&items.variable);
        let counter = self.counter();
        let next = match &items.list {
            List::Texts(texts) => {
                let texts = texts.iter().map(|text| self.template(text)).collect();
                self.program.lists.push(texts);
                let list = self.program.lists.len() as u32 - 1;
                self.emit(Instruction::Begin { counter }, place);
                self.emit(Instruction::NextText { counter, list, slot, behind: 0 }, place)
            }
            List::Json(text) => {
                let value = self.template(text);
                let list = self.slot(&format!("{} list", items.variable));
                self.emit(Instruction::Set { slot: list, value }, place);
                self.emit(Instruction::Begin { counter }, place);
                self.emit(Instruction::NextJson { counter, list, slot, behind: 0 }, place)
            }
        };
        self.steps(steps);
        // Bounded by `INSTRUCTIONS_MAX`.
        self.emit(Instruction::Jump(next as u32), place);
        self.land(next);
        self.depth -= 1;
    }

    fn check(&mut self, check: &Check, place: &Place) {
        let Check { name, condition: Condition { left, compare, right }, is_assertion } = check;
        let (left, right, compare) = (self.template(left), self.template(right), *compare);
        let check = index_of(&mut self.program.checks, name);
        self.emit(
            match is_assertion {
                true => Instruction::Assert { check, left, compare, right },
                false => Instruction::Check { check, left, compare, right },
            },
            place,
        );
    }

    fn pick(&mut self, pick: u32, place: &Place) {
        let source = self.definition.picks.get(pick as usize).map(|pick| pick.source);
        let Some(table) = source.and_then(|source| self.table(source)) else {
            self.errors.push(place.error("the file of this row was not read", None));
            return;
        };
        let row = self.row(pick);
        self.emit(Instruction::Pick { row, table }, place);
    }

    fn row(&mut self, pick: u32) -> u16 {
        let next = self.rows.len().min(SLOTS_MAX) as u16;
        *self.rows.entry(pick).or_insert(next)
    }

    fn table(&mut self, source: u32) -> Option<u32> {
        if let Some(&known) = self.tables.get(&source) {
            return Some(known);
        }
        let Content::Rows(table) = self.data.sources.get(source as usize)? else { return None };
        self.program.tables.push(Arc::clone(table));
        let number = self.program.tables.len() as u32 - 1;
        self.tables.insert(source, number);
        Some(number)
    }

    fn tag(&mut self, tag: Option<&String>) -> Option<u32> {
        tag.map(|tag| index_of(&mut self.program.tags, tag))
    }

    fn extractions(&mut self, all: &[Extraction], place: &Place) {
        for Extraction { variable, from } in all {
            self.program.extractors.push(from.clone());
            let extractor = self.program.extractors.len() as u32 - 1;
            let slot = self.slot(variable);
            self.emit(Instruction::Extract { slot, extractor }, place);
        }
    }

    fn headers(&mut self, all: &[(String, Text)]) -> Vec<(String, TemplateId)> {
        all.iter().map(|(name, value)| (name.clone(), self.template(value))).collect()
    }

    fn request(&mut self, request: &crate::definition::Request, place: &Place) {
        let sets =
            |name: &str| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let is_form = matches!(request.payload, Payload::Text { is_form: true, .. });
        let body = match &request.payload {
            Payload::None => Body::None,
            Payload::Text { text, .. } => Body::Text(self.template(text)),
            Payload::File(source) => match self.data.sources.get(*source as usize) {
                Some(Content::Bytes(bytes)) => Body::File(bytes.clone()),
                _ => {
                    self.errors.push(place.error("the file of this body was not read", None));
                    Body::None
                }
            },
        };
        let authentication = request.authentication.as_ref().filter(|_| !sets("authorization"));
        let compiled = Request {
            verb: request.verb.clone(),
            base: self.base(&request.url),
            url: self.template(&request.url),
            headers: self.headers(&request.headers),
            is_form: is_form && !sets("content-type"),
            is_gzip: request.gzip && !sets("accept-encoding"),
            authentication: authentication
                .map(|(name, password)| (self.template(name), self.template(password))),
            body,
            tag: self.tag(request.tag.as_ref()),
            // For header fields too: an answer's head is kept only with its body.
            needs_body: !request.extractions.is_empty(),
        };
        self.program.requests.push(compiled);
        let number = self.program.requests.len() as u32 - 1;
        self.emit(Instruction::Request(number), place);
        self.extractions(&request.extractions, place);
    }

    fn base(&self, url: &Text) -> Base {
        let start = url.start();
        let begins_unknown = start.is_empty() && !url.parts.is_empty();
        if begins_unknown {
            return Base::Unknown;
        }
        if is_absolute(start) {
            let rest = start.split_once("://").map_or("", |(_, rest)| rest);
            let is_whole = url.parts.len() == 1 || rest.contains(ENDS_AUTHORITY);
            let is_known =
                is_whole && host_of(start).is_some_and(|host| self.program.targets.allows(host));
            return if is_known { Base::Own } else { Base::Unknown };
        }
        match self.program.targets.base(start) {
            Ok(origin) if start.starts_with('/') => Base::Origin(origin.to_owned()),
            Ok(origin) => Base::Origin(format!("{origin}/")),
            Err(_) => Base::Unknown,
        }
    }

    fn slot(&mut self, name: &str) -> u16 {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let slot = self.slots.len().min(usize::from(u16::MAX)) as u16;
        self.slots.insert(name.to_owned(), slot);
        slot
    }
}

/// The place of a name among others, which it joins if it is new.
fn index_of(names: &mut Vec<String>, name: &str) -> u32 {
    let known = names.iter().position(|known| known == name);
    let index = known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    // At most as many as steps.
    index as u32
}
