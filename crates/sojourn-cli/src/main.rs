//! The `sojourn` command.

fn main() {}
