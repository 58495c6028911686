//! Reports on attack results: the figures of `report`, in Vegeta's layouts, and the page of `plot`.
//!
//! [`Metrics`] takes results one by one and holds figures only, so that reports of any length fit
//! into memory; [`Layout`] prints them. What each figure means is defined in `docs/from-vegeta.md`.

mod digest;
pub mod duration;
mod hdrplot;
mod histogram;
mod json;
mod layout;
mod metrics;
mod plot;
mod run_report;
mod text;

pub use histogram::{BucketError, Buckets};
pub use layout::{Layout, LayoutError};
pub use metrics::{ERRORS_MAX, Figures, Metrics};
pub use plot::{Plot, PlotError};
pub use run_report::print_run;
