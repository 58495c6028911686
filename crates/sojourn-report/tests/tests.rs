//! Reports of hand-built models: one binary, a module per renderer.

mod payments;
/// The terminal report against a golden file, and within its columns.
mod text;
