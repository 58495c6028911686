//! The program that a definition becomes: one flat list of instructions for all sessions, and the
//! texts, requests and tables that they speak of. Nothing in it changes while clients run.

mod compile;
mod names;

pub(crate) use names::{Named, NamedStep};

use std::ops::Range;
use std::sync::Arc;

use crate::compare::Comparison;
use crate::data::{Bytes, Data, Offer, Table};
use crate::definition::Place;
use crate::extract::Extractor;
use crate::generator::Generator;
use crate::target::Targets;
use crate::text::Escape;

/// See the module's page.
#[derive(Debug)]
pub struct Program {
    pub(crate) code: Vec<Instruction>,
    /// Where each instruction comes from.
    pub(crate) places: Vec<Place>,
    pub(crate) templates: Vec<Template>,
    pub(crate) requests: Vec<Request>,
    pub(crate) messages: Vec<Message>,
    pub(crate) expectations: Vec<Expectation>,
    /// All expectations, in rows.
    pub(crate) rows: Vec<Row>,
    pub(crate) extractors: Vec<Extractor>,
    pub(crate) lists: Vec<Vec<TemplateId>>,
    pub(crate) tables: Vec<Arc<Table>>,
    pub(crate) generators: Vec<Generator>,
    pub(crate) checks: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) sessions: Vec<SessionCode>,
    /// Loops that go on until the test ends.
    pub(crate) endless: Vec<Range<u32>>,
    pub(crate) targets: Targets,
    /// What tables and bodies are of.
    pub(crate) data: Data,
}

/// Index into [`Program::templates`].
pub(crate) type TemplateId = u32;

/// What is done next. `to` and the like are indices into the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Sends a request and waits for its answer.
    Request(u32),
    /// Takes a value out of the answer or event that has just come.
    Extract {
        slot: u16,
        extractor: u32,
    },
    /// Pauses; texts are seconds.
    Wait(TemplateId),
    WaitUniform(TemplateId, TemplateId),
    WaitExponential(TemplateId),
    Jump(u32),
    /// Goes on if the comparison holds, else jumps.
    Unless {
        left: TemplateId,
        compare: Comparison,
        right: TemplateId,
        to: u32,
    },
    /// Sets a counter, or jumps behind the loop if there is nothing to count.
    Times {
        counter: u16,
        count: TemplateId,
        behind: u32,
    },
    /// Counts down, and jumps to the loop's first step unless it was the last time.
    Again {
        counter: u16,
        start: u32,
    },
    /// Sets a counter to zero.
    Begin {
        counter: u16,
    },
    /// Sets a variable to the next item of a list, or jumps if there is none.
    NextText {
        counter: u16,
        list: u32,
        slot: u16,
        behind: u32,
    },
    /// Likewise of a variable that holds a JSON list; the counter is how far it was read.
    NextJson {
        counter: u16,
        list: u16,
        slot: u16,
        behind: u32,
    },
    Set {
        slot: u16,
        value: TemplateId,
    },
    /// Picks a row.
    Pick {
        row: u16,
        table: u32,
    },
    Check {
        check: u32,
        left: TemplateId,
        compare: Comparison,
        right: TemplateId,
    },
    /// Likewise, and ends the client if it does not hold.
    Assert {
        check: u32,
        left: TemplateId,
        compare: Comparison,
        right: TemplateId,
    },
    Log(TemplateId),
    Publish(u32),
    Expect(u32),
    Abort,
    /// The session is over.
    End,
}

/// Text that is put together while a client runs.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pub(crate) parts: Box<[Piece]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(Box<str>),
    Variable { slot: u16, escape: Escape },
    Generated { generator: u32, escape: Escape },
    Cell { row: u16, table: u32, column: u32, escape: Escape },
    Status,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) base: Base,
    pub(crate) url: TemplateId,
    pub(crate) headers: Vec<(String, TemplateId)>,
    /// What the script does not set itself.
    pub(crate) is_form: bool,
    pub(crate) is_gzip: bool,
    pub(crate) authentication: Option<(TemplateId, TemplateId)>,
    pub(crate) body: Body,
    pub(crate) tag: Option<u32>,
    pub(crate) needs_body: bool,
}

/// What a URL stands on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// It is relative to this.
    Origin(String),
    /// It names its host, which may be asked.
    Own,
    /// Its host shows when it is put together.
    Unknown,
}

#[derive(Debug)]
pub(crate) enum Body {
    None,
    Text(TemplateId),
    File(Bytes),
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) channel: String,
    pub(crate) payload: TemplateId,
    pub(crate) key: Option<TemplateId>,
    pub(crate) headers: Vec<(String, TemplateId)>,
    pub(crate) tag: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Expectation {
    pub(crate) stage: String,
    pub(crate) key: TemplateId,
    pub(crate) within_ns: u64,
    pub(crate) count: u16,
    pub(crate) is_required: bool,
    pub(crate) tag: Option<u32>,
    pub(crate) needs_body: bool,
    /// Whether anything is taken out of the event.
    pub(crate) extracts: bool,
}

/// Expectations of one key that follow one another: a journey of events.
#[derive(Debug)]
pub(crate) struct Row {
    /// Index into [`Program::sessions`].
    pub(crate) session: usize,
    /// Indices into [`Program::expectations`].
    pub(crate) expectations: Vec<u32>,
}

/// A session's part of the program, and what its clients keep.
#[derive(Debug)]
pub(crate) struct SessionCode {
    pub(crate) name: String,
    pub(crate) start: u32,
    /// Names of the variables, by their slots.
    pub(crate) variables: Vec<String>,
    pub(crate) counters: u16,
    pub(crate) rows: u16,
}

impl Program {
    /// Names of the sessions, in the definition's order.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(|session| session.name.as_str())
    }

    /// Names of checks and assertions, each once.
    pub fn checks(&self) -> &[String] {
        &self.checks
    }

    /// Tags of requests, messages and events, each once.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Hosts that may be asked, also by redirects.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// What other processes of this machine need to have its large files without reading them, as
    /// long as this program is there.
    pub fn offer(&self) -> Offer {
        self.data.offer()
    }

    /// How many instructions there are.
    pub fn length(&self) -> usize {
        self.code.len()
    }

    /// Whether there is a request.
    pub fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Whether clients write to the user's log.
    pub fn has_log(&self) -> bool {
        self.code.iter().any(|instruction| matches!(instruction, Instruction::Log(_)))
    }

    /// Lets loops that go on until the test ends go around once and end the client then, for a
    /// test that has no end of its own. How many there are.
    pub fn end_endless_loops(&mut self) -> usize {
        let endless = std::mem::take(&mut self.endless);
        for within in &endless {
            // The jump back is a loop's last instruction.
            if let Some(last) = self.code.get_mut(within.end.saturating_sub(1) as usize) {
                *last = Instruction::End;
            }
        }
        endless.len()
    }

    /// Bytes that a client of a session takes, but for the texts of its variables: itself, four
    /// bytes for each loop within loops and each picked row, sixteen for each variable.
    pub fn client_bytes(&self, session: usize) -> usize {
        let own = size_of::<crate::Client>();
        self.sessions.get(session).map_or(own, |session| {
            let numbers = usize::from(session.counters) + usize::from(session.rows);
            own + numbers * size_of::<u32>() + session.variables.len() * size_of::<Box<str>>()
        })
    }
}
