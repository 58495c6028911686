//! `sojourn wrk`: wrk's command line, Lua scripts and output, without Sojourn's engine.
//!
//! The engine makes the load and knows of scripts only a trait ([`sojourn_engine::Script`]); here
//! is what implements it. Words: a *state* is a Lua state, one for each generator thread and one
//! where `setup` and `done` run; the *host* is our side of them; the *site* is what the URL names.
//!
//! - [`parse`] reads the command line, [`usage`] explains it.
//! - [`Host`] loads a script, prepares it, makes the engine's [`sojourn_engine::Scripted`] of it,
//!   and runs `done`.
//! - [`Figures`] are what is reported, [`report`] how.
//!
//! Invariants: a script can end a load, never break it: its errors name file and line, its memory
//! is bounded, and a loop without an end is interrupted. No figure is corrected, none left out.

mod error;
mod figures;
mod layout;
mod message;
mod script;
mod spectrum;
mod units;
mod words;

pub use error::ScriptError;
pub use figures::{Errors, Figures};
pub use layout::{beginning, report};
pub use script::{Host, ScriptFile, Site};
pub use words::{Asked, WordError, Words, parse, usage};
