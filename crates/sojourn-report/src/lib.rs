//! Reports from a run file: text, JSON, HTML.
//!
//! A [`ReportModel`] is built once from a run file; every renderer reads nothing else, so that all
//! of them print the same figures. What each figure means is defined once, in
//! `docs/definitions.md`, which the HTML report carries and links to.
//!
//! [`compare`] holds two runs against each other.
//! [`capacity`] and [`sweep`] report on several runs together: a search for the highest rate that
//! holds, and one plan for several values of its variables.
//!
//! [`doctor`] reports on what was checked before a run.
//!
//! [`results`] reports on attack results instead: one record a request, in Vegeta's layouts.
//!
//! Names, keys and reasons are foreign input: the renderers escape them.

pub mod audit;
mod build;
pub mod capacity;
pub mod compare;
pub mod doctor;
pub mod model;
pub mod render;
pub mod results;
mod run_line;
mod schema;
pub mod sweep;

pub use model::ReportModel;
pub use run_line::RunLine;
pub use schema::schema;
