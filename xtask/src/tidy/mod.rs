//! `cargo xtask tidy`: the rules of CONTRIBUTING.md that no compiler checks.
//!
//! Also a `#[test]`, so that `cargo test` alone finds an untidy file.

mod connectors;
mod crates;
mod files;
mod guide;
mod markdown;
mod mask;
mod rust;

use std::fmt;

use crate::{Failure, deny, phase::phase, shell::root};

/// A rule broken somewhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Relative to the root.
    path: String,
    /// From 1; 0 for the file as a whole.
    line: usize,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.message),
            line => write!(formatter, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// The whole task.
pub(crate) fn run() -> Result<(), Failure> {
    phase("tidy", check)?;
    Ok(())
}

/// Source rules and dependencies; fails with one line per problem.
pub(crate) fn check() -> Result<(), String> {
    let mut lines: Vec<String> = problems()?.iter().map(Problem::to_string).collect();
    lines.extend(deny::problems()?);
    if lines.is_empty() {
        return Ok(());
    }
    Err(format!("{} rules broken:\n  {}", lines.len(), lines.join("\n  ")))
}

/// What the project's own files break.
fn problems() -> Result<Vec<Problem>, String> {
    let files = files::read(&root())?;
    let mut problems = crates::problems(&root())?;
    problems.extend(connectors::problems(&files));
    problems.extend(guide::problems(&files));
    for file in &files {
        if file.path.ends_with(".rs") {
            problems.extend(rust::problems(&file.path, &file.text));
        } else {
            problems.extend(markdown::problems(file, &files, &root()));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_project_is_tidy() {
        let problems = super::problems().unwrap();
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
