//! Session scripts: tests written in JavaScript that cost nothing per request.
//!
//! A script runs once. What it declares is a [`Definition`]: targets, arrival phases, and sessions
//! as trees of steps, in which values that are known only while a client runs are placeholders in
//! text. A definition and its files become a [`Program`], one flat list of instructions. A
//! [`Client`] is a place in it, counters and variables: a state machine that says what is to be
//! done next and is told what came of it.
//!
//! [`nfr`] reads files of requirements and says which of them figures meet. [`har_script`] makes a
//! script of a browser's recording, [`journey_file`] a journey file of a definition,
//! [`k6_obstacles`] lists what stands between a k6 script and a session, and [`curl_commands`]
//! shows what a session would ask. A [`Dump`] tells what clients did, client by client.
//!
//! Nothing in here reads a clock, opens a socket or starts a thread; randomness is a function of a
//! seed and a client's number. `docs/session-dsl.md` tells what every call means.

mod answer;
mod channels;
mod client;
mod compare;
mod convert;
mod curl;
mod data;
mod definition;
#[cfg(feature = "evaluate")]
mod evaluate;
mod extract;
mod generator;
mod har;
mod load;
mod log;
mod mix;
pub mod nfr;
#[cfg(feature = "evaluate")]
mod params;
mod program;
mod target;
mod text;
mod trace;

pub use answer::Answer;
pub use channels::Channels;
pub use client::{Action, Client, Ended, Fault, Input, Memory, Outgoing, OutgoingMessage};
pub use compare::Comparison;
pub use convert::{JourneyFile, journey_file};
#[cfg(feature = "evaluate")]
pub use convert::{Obstacles, k6_obstacles};
pub use curl::curl_commands;
pub use data::{Data, Offer};
pub use definition::{
    Action as StepAction, Check, Column, Condition, Declared, Definition, Expect, Extraction,
    Items, List, Payload, Phase, Pick, Place, Placeholder, PlaceholderKind, Publish, Request,
    SIZINGS, Session, Source, SourceKind, Step, TestOptions, Wait,
};
#[cfg(feature = "evaluate")]
pub use evaluate::{Budget, DefineError, Defines, evaluate, evaluate_with};
pub use extract::Extractor;
pub use generator::Generator;
pub use har::{HarError, har_script};
pub use load::{EventLoad, Expected, Published, SessionLoad, session_load, validation_load};
pub use log::{LogLine, client_name, one_line};
pub use mix::{Mix, MixError};
pub use program::Program;
pub use target::{Target, TargetError, Targets};
pub use text::{Escape, Part, Text};
pub use trace::{Dump, SHOWN_BYTES_MAX, Shown, Trace, Traced};
