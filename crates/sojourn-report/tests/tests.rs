//! Reports of hand-built models: one binary, a module per renderer.

/// The HTML report held against rules of accessibility.
mod accessible;
/// The HTML report in chromium.
mod browser;
/// Foreign clocks, and poisoned batches.
mod clocks;
/// What is found in a run's figures, and said in every format.
mod findings;
/// A run file that was written and read back.
mod from_run;
/// What the HTML report loads, escapes and weighs.
mod html;
/// The simulated run that the others render.
mod payments;
/// The page of `plot` in chromium.
mod plot;
/// Poisoned journeys apart from the others.
mod poison;
/// The system's own resources.
mod resources;
/// Reports on attack results against what Vegeta printed.
mod results;
/// Searches and sweeps.
mod several;
/// The terminal report against golden files, and within its columns; the JSON report.
mod text;
