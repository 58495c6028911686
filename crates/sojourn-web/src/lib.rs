//! The dashboard in a browser: a run as it goes on, and the runs of a folder.
//!
//! A run shows each of its frames ([`Dashboard::show`]), which costs it one serialisation; whoever
//! looks gets it as a server-sent event. The report so far, reports of earlier runs and comparisons
//! are made when they are asked for, from run files, on a thread of their own: one at a time, and
//! not again before the machine has rested from the last. Everything is served from the binary;
//! the pages ask nobody else. Connections are bounded ([`CONNECTIONS_MAX`]).

mod dashboard;
mod doors;
mod error;
mod guard;
mod history;
mod lines;
mod runs;
mod server;

pub use dashboard::{Dashboard, WebSettings};
pub use doors::CONNECTIONS_MAX;
pub use error::WebError;
