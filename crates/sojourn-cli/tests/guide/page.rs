//! The commands that a page shows.

use super::blocks::{Block, blocks, page as text};

/// A command of a page.
#[derive(Clone, Debug)]
pub(super) struct Command {
    /// The page and the line.
    pub(super) place: String,
    /// As it stands there, without the comment behind it; of several lines one.
    pub(super) line: String,
}

impl Command {
    /// Its words, without the variables of the environment before them.
    pub(super) fn words(&self) -> Vec<&str> {
        let is_variable = |word: &&str| word.contains('=') && !word.starts_with('-');
        self.line.split_whitespace().skip_while(is_variable).collect()
    }

    pub(super) fn begins(&self, with: &str) -> bool {
        self.line.starts_with(with)
    }

    pub(super) fn has(&self, part: &str) -> bool {
        self.line.contains(part)
    }
}

/// The commands of a page's shell blocks, and of those that show a terminal, by the page's path
/// from the root.
pub(super) fn commands(page: &str) -> Vec<Command> {
    let found = blocks(page, &text(page));
    found.iter().flat_map(of_block).collect()
}

fn of_block(block: &Block) -> Vec<Command> {
    let is_terminal = block.language == "text";
    if block.language != "sh" && !is_terminal {
        return Vec::new();
    }
    let mut commands: Vec<Command> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (block.line + 1..).zip(block.text.lines()) {
        let line = match line.strip_prefix("$ ") {
            Some(line) => line,
            None if is_terminal => continue,
            None => line,
        };
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
        let (part, ends_so) = match line.strip_suffix('\\') {
            Some(part) => (part.trim_end(), true),
            None => (line, line.ends_with('|')),
        };
        match commands.last_mut().filter(|_| goes_on) {
            Some(command) => command.line = format!("{} {part}", command.line),
            None if part.is_empty() => {}
            None => {
                let place = format!("{}:{number}", block.page);
                commands.push(Command { place, line: part.to_owned() });
            }
        }
        goes_on = ends_so;
    }
    assert!(!goes_on, "{}: a command without an end", block.place());
    commands
}

/// The first block of a page that has this in it.
pub(crate) fn block(page: &str, part: &str) -> String {
    let found = blocks(page, &text(page)).into_iter().find(|block| block.text.contains(part));
    found.unwrap_or_else(|| panic!("{page} has no block with {part}")).text
}
