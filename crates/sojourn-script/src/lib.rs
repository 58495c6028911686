//! JavaScript and TypeScript for load: the engine room.
//!
//! A script's calls look as if they blocked, as its authors expect (`sleep(1)`, `http.get(url)`),
//! yet thousands of scripts share a thread. So each runs on a [`Fiber`], a coroutine with a stack
//! of its own: a function of ours that has to wait suspends it from within, and whoever owns the
//! thread resumes it later. One fiber has one [`Engine`] (a QuickJS runtime), made on the fiber's
//! own stack, since the runtime measures how deep it is from where it was made.
//!
//! A [`Bundle`] is what a script consists of: its modules, found, read, translated (TypeScript,
//! CommonJS, JSON) and compiled once, then shared by all engines as bytecode. The first engine
//! collects it, all others only read it.
//!
//! Nothing in here knows what scripts are for: functions and modules offered to them come from
//! outside, as [`Builtins`].

mod builtins;
mod bundle;
mod commonjs;
mod depth;
mod engine;
mod error;
mod facade;
mod fiber;
mod heap;
mod intrinsics;
mod loader;
mod members;
mod names;
mod resolve;
mod source_map;
mod typescript;
mod uses;

pub use builtins::Builtins;
pub use bundle::{Bundle, Fetch, Sources};
pub use depth::{Depth, too_deep};
pub use engine::{Engine, Inside, Limits};
pub use error::ScriptError;
pub use fiber::{Fiber, StackSlot, Stacks, suspend};
pub use heap::take_small_pages;
pub use intrinsics::buffers;
pub use loader::{begun_in, built_in, calling};
pub use rquickjs as js;
pub use uses::{Use, uses};
