//! The commands that a page shows.

use std::path::Path;

/// A command of a page.
#[derive(Clone, Debug)]
pub(super) struct Command {
    /// The page and the line.
    pub(super) place: String,
    /// As it stands there, without the comment behind it.
    pub(super) line: String,
}

/// The commands of a page's shell blocks, by its path from the root.
pub(super) fn commands(page: &str) -> Vec<Command> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let mut is_shell = false;
    let mut commands = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            is_shell = line == "```sh";
        } else if is_shell {
            let (line, _) = line.split_once(" #").unwrap_or((line, ""));
            assert!(!line.ends_with('\\'), "{page}:{number}: a line that goes on");
            if !line.trim().is_empty() {
                let line = line.trim().to_owned();
                commands.push(Command { place: format!("{page}:{number}"), line });
            }
        }
    }
    commands
}
