//! Reports of hand-built models: one binary, a module per renderer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// The HTML pages held against rules of accessibility.
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
/// JUnit's XML, read by an XML parser.
mod junit;
/// Markdown, read as GitHub reads it.
mod markdown;
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
/// The JSON report against its schema.
mod schema;
/// The seconds of a run: CSV and histogram logs against the samples.
mod seconds;
/// Searches and sweeps.
mod several;
/// Templates of the user's own.
mod template;
/// The terminal report against golden files, and within its columns; the JSON report.
mod text;
