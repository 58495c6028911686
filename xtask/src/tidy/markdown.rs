//! Links in Markdown files that point into the project must lead somewhere.

use std::path::{Component, Path, PathBuf};

use crate::tidy::Problem;
use crate::tidy::files::File;

/// Links of `file` to files that do not exist, or to headings that their file does not have.
pub(crate) fn problems(file: &File, files: &[File], root: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, target) in links(&file.text) {
        if let Some(message) = broken(&target, file, files, root) {
            problems.push(Problem { path: file.path.clone(), line, message });
        }
    }
    problems
}

fn broken(target: &str, file: &File, files: &[File], root: &Path) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let resolved = if path.is_empty() {
        PathBuf::from(&file.path)
    } else if let Some(from_root) = path.strip_prefix('/') {
        PathBuf::from(from_root)
    } else {
        let folder = Path::new(&file.path).parent().unwrap_or_else(|| Path::new(""));
        match flat(&folder.join(path)) {
            Some(inside) => inside,
            None => return Some(format!("link to `{target}`, outside the project")),
        }
    };
    if !path.is_empty() && !root.join(&resolved).exists() {
        return Some(format!("link to `{target}`, which does not exist"));
    }
    if heading.is_empty() {
        return None;
    }
    let linked = files.iter().find(|other| Path::new(&other.path) == resolved)?;
    let is_markdown = linked.path.ends_with(".md");
    (is_markdown && !has_heading(&linked.text, heading))
        .then(|| format!("link to `{target}`, but there is no such heading"))
}

/// Without `.` and `..`; none when it leads out of the project.
fn flat(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !flat.pop() {
                    return None;
                }
            }
            part => flat.push(part),
        }
    }
    Some(flat)
}

/// Every target of an inline link, image or reference, with its line; code is passed over.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        if let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            links.push((number, clean(target)));
        }
        for (at, opening) in line.match_indices("](") {
            let target = &line[at + opening.len()..];
            if let Some(end) = target.find(')') {
                links.push((number, clean(&target[..end])));
            }
        }
    }
    links.retain(|(_, target)| !target.is_empty());
    links
}

/// The target without a title and angle brackets.
fn clean(target: &str) -> String {
    let first = target.split_whitespace().next().unwrap_or_default();
    first.trim_matches(['<', '>']).to_owned()
}

/// The lines outside fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Whether a heading or an explicit anchor has this name, as GitHub derives it: lower case, spaces
/// to hyphens, punctuation dropped.
fn has_heading(text: &str, name: &str) -> bool {
    let anchored = [format!("id=\"{name}\""), format!("name=\"{name}\"")];
    if anchored.iter().any(|anchor| text.contains(anchor)) {
        return true;
    }
    prose(text).filter(|(_, line)| line.starts_with('#')).any(|(_, line)| {
        let title = line.trim_start_matches('#').trim();
        let derived: String = title
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        derived == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn links_are_found_outside_code() {
        let text = "See [a](b.md) and ![c](d.png \"t\").\n```\n[x](y)\n```\n`[x](y)` [e]\n\n\
                    [e]: <f.md>\n";
        let expected = [(1, "b.md"), (1, "d.png"), (7, "f.md")];
        let found = links(text);
        let found: Vec<_> = found.iter().map(|(line, to)| (*line, to.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn targets_are_judged() {
        let root = crate::shell::root();
        let other = file("xtask/notes.md", "# A title, with `code`\n\n<a id=\"here\"></a>\n");
        let own = file("xtask/own.md", "## Own part\n");
        let files = [other, own];
        for (target, fine) in [
            ("https://example.org/x", true),
            ("Cargo.toml", true),
            ("../Cargo.toml", true),
            ("/Cargo.toml", true),
            ("./src", true),
            ("nowhere.md", false),
            ("../../../etc/passwd", false),
            ("#own-part", true),
            ("#other-part", false),
        ] {
            let found = broken(target, &files[1], &files, &root);
            assert_eq!(found.is_none(), fine, "{target}: {found:?}");
        }
        assert!(has_heading(&files[0].text, "a-title-with-code"));
        assert!(has_heading(&files[0].text, "here"));
        assert!(!has_heading(&files[0].text, "title"));
    }
}
