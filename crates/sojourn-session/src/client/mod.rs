//! A client: a state machine that walks through a program. It reads no clock and opens no socket:
//! it says what is to be done next, and is told what came of it.

mod memory;
mod outgoing;
mod write;

use crate::answer::Answer;
use crate::extract::Looked;
use crate::program::{Instruction, Program};
use memory::Written;

pub use memory::Memory;
pub use outgoing::{Action, Ended, Fault, Outgoing, OutgoingMessage};

/// One client. Its size beside that of its variables' texts is
/// [`Program::client_bytes`](crate::Program::client_bytes).
#[derive(Debug)]
pub struct Client {
    /// Number among all clients, from which its random numbers come.
    number: u64,
    /// Next instruction.
    at: u32,
    /// How many random numbers it has drawn.
    drawn: u32,
    /// Status of the last answer; 0 where none came.
    status: u16,
    state: State,
    /// Counters of loops, then picked rows.
    numbers: Box<[u32]>,
    counters: u16,
    variables: Box<[Box<str>]>,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To go on.
    Ready,
    /// An answer.
    Asked,
    /// An event; a client that needs it ends without.
    Expecting { is_required: bool },
    /// Nothing: it has ended.
    Over(Over),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// An assertion did not hold; told at the next step.
    Failed,
    Told,
}

/// What came of what a client asked for.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// It begins; a wait is over, something was written, counted, sent or denied.
    Go,
    /// An answer to its request.
    Answer(Answer<'a>),
    /// No answer came: the connection failed, or time ran out.
    Failed,
    /// The event that it waited for; its status has no meaning.
    Event(Answer<'a>),
    /// The event did not come in time.
    Missed,
}

/// What happens next, without what is written for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    Request(u32),
    Denied(u32),
    Wait(u64),
    Publish(u32),
    Expect(u32),
    Check(u32, bool),
    Log,
    Done(Ended),
}

/// Most instructions of one step: a loop that asks for nothing lets others go on.
const INSTRUCTIONS_MAX: u32 = 10_000;

/// Most bytes of a variable.
const VALUE_BYTES_MAX: usize = 1 << 20;

impl Client {
    /// A client at the beginning of a session; of one that there is not, a client that has ended.
    /// `number` is its own among all clients of a run.
    pub fn new(program: &Program, session: usize, number: u64) -> Self {
        let code = program.sessions.get(session);
        let count = |of: fn(&crate::program::SessionCode) -> u16| code.map_or(0, of);
        let (counters, rows) = (count(|code| code.counters), count(|code| code.rows));
        let mut numbers = vec![0; usize::from(counters)];
        // No table has such a row: fields of a row that was not picked are empty.
        numbers.resize(numbers.len() + usize::from(rows), u32::MAX);
        Self {
            number,
            at: code.map_or(0, |code| code.start),
            drawn: 0,
            status: 0,
            state: if code.is_some() { State::Ready } else { State::Over(Over::Told) },
            numbers: numbers.into(),
            counters,
            variables: vec![Box::default(); code.map_or(0, |code| code.variables.len())].into(),
        }
    }

    /// Goes on to what is next. `memory` is lent by all clients of a thread in turn; what the
    /// action shows stands in it until the next step. An input that the client did not wait for
    /// counts as none.
    pub fn step<'a>(
        &mut self,
        program: &'a Program,
        memory: &'a mut Memory,
        input: Input<'_>,
    ) -> Action<'a> {
        let next = self.next(program, memory, input);
        Action::of(next, program, memory)
    }

    /// Whether it has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Over(_))
    }

    /// Whether it is in a loop that goes on until the test ends.
    pub fn is_in_endless_loop(&self, program: &Program) -> bool {
        program.endless.iter().any(|within| within.contains(&self.at))
    }

    /// A variable's value, for who looks on.
    pub fn variable(&self, program: &Program, name: &str) -> Option<&str> {
        let code = program.sessions.iter().rev().find(|code| code.start <= self.at)?;
        let slot = code.variables.iter().position(|known| known == name)?;
        self.variables.get(slot).map(|value| &**value)
    }

    fn next(&mut self, program: &Program, memory: &mut Memory, input: Input<'_>) -> Next {
        let mut looked = None;
        match (self.state, input) {
            (State::Over(Over::Told), _) => return Next::Done(Ended::Completed),
            (State::Over(Over::Failed), _) => return self.end(Ended::AssertionFailed),
            (State::Asked, Input::Answer(answer)) => {
                self.status = answer.status;
                looked = Some(Looked::new(answer));
            }
            (State::Asked, _) => self.status = 0,
            (State::Expecting { .. }, Input::Event(event)) => looked = Some(Looked::new(event)),
            (State::Expecting { is_required: true }, _) => return self.end(Ended::EventMissed),
            (State::Expecting { .. } | State::Ready, _) => {}
        }
        self.state = State::Ready;
        for _ in 0..INSTRUCTIONS_MAX {
            match self.instruction(program, memory, looked.as_mut()) {
                Ok(Some(next)) => return next,
                Ok(None) => {}
                Err(fault) => return self.end(Ended::Faulted(fault, self.at.saturating_sub(1))),
            }
        }
        Next::Wait(0)
    }

    fn end(&mut self, ended: Ended) -> Next {
        self.state = State::Over(Over::Told);
        Next::Done(ended)
    }

    /// Does the next instruction; gives what is to be done, if anything.
    fn instruction(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        looked: Option<&mut Looked<'_>>,
    ) -> Result<Option<Next>, Fault> {
        let Some(&instruction) = program.code.get(self.at as usize) else {
            return Ok(Some(self.end(Ended::Completed)));
        };
        self.at += 1;
        let next = match instruction {
            Instruction::Request(request) => {
                return self.request(program, memory, request).map(Some);
            }
            Instruction::Publish(message) => {
                self.write_message(program, memory, message)?;
                Next::Publish(message)
            }
            Instruction::Expect(number) => {
                let expected = &program.expectations[number as usize];
                self.write(program, memory, expected.key, Written::Key)?;
                self.state = State::Expecting { is_required: expected.is_required };
                Next::Expect(number)
            }
            Instruction::Wait(_)
            | Instruction::WaitUniform(..)
            | Instruction::WaitExponential(_) => {
                Next::Wait(self.wait(program, memory, instruction)?)
            }
            Instruction::Check { check, left, compare, right } => {
                Next::Check(check, self.holds(program, memory, left, compare, right)?)
            }
            Instruction::Assert { check, left, compare, right } => {
                let is_ok = self.holds(program, memory, left, compare, right)?;
                if !is_ok {
                    self.state = State::Over(Over::Failed);
                }
                Next::Check(check, is_ok)
            }
            Instruction::Log(message) => {
                self.write(program, memory, message, Written::Text)?;
                Next::Log
            }
            Instruction::Abort => self.end(Ended::Aborted),
            Instruction::End => self.end(Ended::Completed),
            silent => {
                self.silently(program, memory, looked, silent)?;
                return Ok(None);
            }
        };
        Ok(Some(next))
    }

    /// Does an instruction that nobody outside sees.
    fn silently(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        looked: Option<&mut Looked<'_>>,
        instruction: Instruction,
    ) -> Result<(), Fault> {
        match instruction {
            Instruction::Jump(to) => self.at = to,
            Instruction::Unless { left, compare, right, to } => {
                let holds = self.holds(program, memory, left, compare, right)?;
                self.at = if holds { self.at } else { to };
            }
            Instruction::Times { counter, count, behind } => {
                let count = self.count(program, memory, count)?;
                self.numbers[usize::from(counter)] = count;
                if count == 0 {
                    self.at = behind;
                }
            }
            Instruction::Again { counter, start } => {
                let left = &mut self.numbers[usize::from(counter)];
                *left -= 1;
                if *left > 0 {
                    self.at = start;
                }
            }
            Instruction::Begin { counter } => self.numbers[usize::from(counter)] = 0,
            Instruction::NextText { counter, list, slot, behind } => {
                let at = self.numbers[usize::from(counter)] as usize;
                match program.lists[list as usize].get(at) {
                    Some(&item) => {
                        self.numbers[usize::from(counter)] += 1;
                        self.set(program, memory, slot, item)?;
                    }
                    None => self.at = behind,
                }
            }
            Instruction::NextJson { counter, list, slot, behind } => {
                let from = self.numbers[usize::from(counter)];
                match write::next_item(&self.variables[usize::from(list)], from) {
                    Some((item, read)) => {
                        self.numbers[usize::from(counter)] = read;
                        self.variables[usize::from(slot)] = item.into();
                    }
                    None => self.at = behind,
                }
            }
            Instruction::Set { slot, value } => self.set(program, memory, slot, value)?,
            Instruction::Pick { row, table } => {
                let rows = program.tables[table as usize].rows() as u64;
                let picked = self.draws(memory.seed).below(rows);
                // A table has fewer than 2^32 cells.
                self.numbers[usize::from(self.counters + row)] = picked as u32;
            }
            Instruction::Extract { slot, extractor } => {
                let extractor = &program.extractors[extractor as usize];
                let found = looked.and_then(|looked| looked.find(extractor)).unwrap_or_default();
                self.keep(slot, &found)?;
            }
            // The others are seen from outside.
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, slot: u16, value: &str) -> Result<(), Fault> {
        if value.len() > VALUE_BYTES_MAX {
            return Err(Fault::TooLong);
        }
        self.variables[usize::from(slot)] = value.into();
        Ok(())
    }
}
