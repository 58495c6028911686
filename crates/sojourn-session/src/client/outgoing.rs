//! What a client says is to be done.

use super::Next;
use super::memory::Memory;
use crate::program::{Body, Program, Request};

/// What is to be done next. Texts stand in the thread's [`Memory`].
#[derive(Debug)]
pub enum Action<'a> {
    /// Send a request; answer by [`Input::Answer`](crate::Input::Answer) or
    /// [`Input::Failed`](crate::Input::Failed).
    Request(Outgoing<'a>),
    /// Count a request that must not be sent: its host is no target (or it has none). Go on by
    /// [`Input::Failed`](crate::Input::Failed).
    Denied {
        /// Which request of the program.
        number: usize,
        /// The URL.
        url: &'a str,
        /// The request's tag.
        tag: Option<&'a str>,
    },
    /// Go on after so many nanoseconds; after 0 as soon as others had their turn.
    Wait {
        /// How long.
        ns: u64,
    },
    /// Send a message, then go on.
    Publish(OutgoingMessage<'a>),
    /// Wait for an event; answer by [`Input::Event`](crate::Input::Event) or
    /// [`Input::Missed`](crate::Input::Missed).
    Expect {
        /// Which expectation of the program it is: an index into
        /// [`EventLoad::expected`](crate::EventLoad::expected).
        number: usize,
        /// Where it shows.
        stage: &'a str,
        /// Its key.
        key: &'a str,
        /// How long it may take, nanoseconds.
        within_ns: u64,
        /// How many events of the key there must be.
        count: u16,
        /// Under which it is reported.
        tag: Option<&'a str>,
        /// Whether its payload is looked into.
        needs_body: bool,
    },
    /// Count a check, then go on.
    Check {
        /// Index into [`Program::checks`].
        check: usize,
        /// Whether it held.
        is_ok: bool,
    },
    /// Write a line to the user's log, then go on.
    Log(&'a str),
    /// The client has ended.
    Done(Ended),
}

/// Why a client has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It did all its steps.
    Completed,
    /// By `abort()`.
    Aborted,
    /// An assertion did not hold; it was counted before.
    AssertionFailed,
    /// An event that it needed did not come.
    EventMissed,
    /// A step could not be done: why, and the instruction, see [`Program::place`].
    Faulted(Fault, u32),
}

impl Ended {
    /// Why it did not do all its steps, in words; `None` where it did.
    pub fn why(&self, program: &Program) -> Option<String> {
        Some(match *self {
            Self::Completed => return None,
            Self::Aborted => "aborted by its script".to_owned(),
            Self::AssertionFailed => "an assertion did not hold".to_owned(),
            Self::EventMissed => "an event did not come".to_owned(),
            Self::Faulted(fault, at) => match program.place(at) {
                Some(place) => format!("{}:{}: {fault}", place.file, place.line),
                None => fault.to_string(),
            },
        })
    }
}

/// Why a step could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A wait or a count is no number of that kind when its value is known.
    #[error("a value that must be a number of at least 0 is none")]
    NotANumber,
    /// A variable of more than 1 MiB, or another text of more than 64 MiB.
    #[error("a value is too long")]
    TooLong,
}

impl Program {
    /// The place in the script of an instruction: file, line and column, from 1.
    pub fn place(&self, instruction: u32) -> Option<&crate::Place> {
        self.places.get(instruction as usize)
    }
}

/// A request, put together.
#[derive(Debug)]
pub struct Outgoing<'a> {
    number: usize,
    request: &'a Request,
    program: &'a Program,
    memory: &'a Memory,
}

impl<'a> Outgoing<'a> {
    /// Which request of the program it is: an index into
    /// [`SessionLoad::steps`](crate::SessionLoad::steps).
    pub fn number(&self) -> usize {
        self.number
    }

    /// `GET`.
    pub fn verb(&self) -> &'a str {
        &self.request.verb
    }

    /// The whole URL. What may not stand in a request line is percent-encoded, all else is as the
    /// script put it together.
    pub fn url(&self) -> &'a str {
        &self.memory.url
    }

    /// Header fields: those of the script, then those that its options ask for. Whoever sends it
    /// adds what it is called by, and ids.
    pub fn headers(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        headers(self.memory)
    }

    /// The body; empty where there is none.
    pub fn body(&self) -> &'a [u8] {
        match &self.request.body {
            Body::None => &[],
            Body::Text(_) => self.memory.body.as_bytes(),
            Body::File(bytes) => bytes,
        }
    }

    /// Whether it has a body at all.
    pub fn has_body(&self) -> bool {
        !matches!(self.request.body, Body::None)
    }

    /// Under which it is reported.
    pub fn tag(&self) -> Option<&'a str> {
        tag(self.program, self.request.tag)
    }

    /// Whether anything looks into the answer: its header fields or its body.
    pub fn needs_body(&self) -> bool {
        self.request.needs_body
    }
}

/// A message, put together.
#[derive(Debug)]
pub struct OutgoingMessage<'a> {
    /// Which message of the program it is: an index into
    /// [`EventLoad::published`](crate::EventLoad::published).
    pub number: usize,
    /// Where it goes.
    pub channel: &'a str,
    /// What it says.
    pub payload: &'a str,
    /// Its key.
    pub key: Option<&'a str>,
    /// Under which it is reported.
    pub tag: Option<&'a str>,
    memory: &'a Memory,
}

impl<'a> OutgoingMessage<'a> {
    /// Header fields.
    pub fn headers(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        headers(self.memory)
    }
}

fn headers(memory: &Memory) -> impl Iterator<Item = (&str, &str)> {
    let field = |&(start, middle, end): &(usize, usize, usize)| {
        (&memory.fields[start..middle], &memory.fields[middle..end])
    };
    memory.spans.iter().map(field)
}

fn tag(program: &Program, tag: Option<u32>) -> Option<&str> {
    tag.map(|tag| program.tags[tag as usize].as_str())
}

impl<'a> Action<'a> {
    pub(super) fn of(next: Next, program: &'a Program, memory: &'a Memory) -> Self {
        match next {
            Next::Request(number) => {
                let request = &program.requests[number as usize];
                Self::Request(Outgoing { number: number as usize, request, program, memory })
            }
            Next::Denied(number) => {
                let tag = tag(program, program.requests[number as usize].tag);
                Self::Denied { number: number as usize, url: &memory.url, tag }
            }
            Next::Wait(ns) => Self::Wait { ns },
            Next::Publish(number) => {
                let message = &program.messages[number as usize];
                Self::Publish(OutgoingMessage {
                    number: number as usize,
                    channel: &message.channel,
                    payload: &memory.body,
                    key: message.key.map(|_| memory.key.as_str()),
                    tag: tag(program, message.tag),
                    memory,
                })
            }
            Next::Expect(number) => {
                let expected = &program.expectations[number as usize];
                Self::Expect {
                    number: number as usize,
                    stage: &expected.stage,
                    key: &memory.key,
                    within_ns: expected.within_ns,
                    count: expected.count,
                    tag: tag(program, expected.tag),
                    needs_body: expected.needs_body,
                }
            }
            Next::Check(check, is_ok) => Self::Check { check: check as usize, is_ok },
            Next::Log => Self::Log(&memory.text),
            Next::Done(ended) => Self::Done(ended),
        }
    }
}
