//! Journey files as their writers meet them: what a good one becomes, what is said about a bad one.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

// Roots that send several journeys at once.
mod batches;
// What is wrong with a file, and where.
mod channels;
mod errors;
// What load entries become.
mod loads;
// Whatever the text, reading it ends without a panic and names a place in it.
mod mutations;
// What files become.
mod plans;
// Poisoned roots.
mod poison;
// Examples, first files and every block of the documentation.
mod published;
// Resources that are read beside the load.
mod resources;
// The JSON Schema agrees with the reader.
mod schema;
// Target files of attacks.
mod targets;
// Reading from memory.
mod util;
