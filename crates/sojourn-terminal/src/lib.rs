//! The live terminal: frames of a run as text, and the thread that owns the screen.
//!
//! [`draw`] is pure: a frame and a [`View`] (what was chosen with keys) to cells. [`Screen`] owns
//! the terminal: raw mode, the alternate screen, keys; it draws only when there is something new
//! and gives the terminal back whatever happens. What the keys ask for it hands to [`Controls`].
//!
//! It draws on standard error: standard output carries reports.

mod draw;
mod history;
mod keys;
mod palette;
mod screen;
mod terminal;
mod view;

pub use draw::draw;
pub use keys::{Asked, asked};
pub use screen::{Controls, Screen};
pub use terminal::{restore, tell};
pub use view::View;
