//! Writes figures into `bench/README.md`, between markers, with the machine they were taken on.

use std::path::Path;

use super::{merge, table::Table};
use crate::shell::{capture, command};

/// Replaces the section `name` of the file with the tables.
pub(crate) fn write(root: &Path, name: &str, tables: &str) -> Result<(), String> {
    change(root, name, |_| format!("{}\n\n{tables}", machine()))
}

/// Puts the rows of a table into the one of the section `name`; others stay.
pub(crate) fn merge(root: &Path, name: &str, table: &Table) -> Result<(), String> {
    change(root, name, |section| merge::merge(section, &machine(), table))
}

fn change(root: &Path, name: &str, new: impl FnOnce(&str) -> String) -> Result<(), String> {
    let path = root.join("bench/README.md");
    let explain = |error: std::io::Error| format!("bench/README.md: {error}");
    let text = std::fs::read_to_string(&path).map_err(explain)?;
    let changed = replace(&text, name, new)
        .ok_or_else(|| format!("bench/README.md has no markers for `{name}`"))?;
    std::fs::write(&path, changed).map_err(explain)
}

fn replace(text: &str, name: &str, new: impl FnOnce(&str) -> String) -> Option<String> {
    let begin = format!("<!-- figures:{name} -->\n");
    let end = format!("<!-- end:{name} -->");
    let from = text.find(&begin)? + begin.len();
    let to = from + text[from..].find(&end)?;
    Some(format!("{}{}{}", &text[..from], new(&text[from..to]), &text[to..]))
}

/// One line: processor, kernel, revision.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let said = |program, arguments: &[&str]| {
        capture(&mut command(program, arguments)).unwrap_or_default().trim().to_owned()
    };
    let kernel = said("uname", &["-r"]);
    let revision = said("git", &["rev-parse", "--short", "HEAD"]);
    format!("{cores} × {model}, Linux {kernel}, revision {revision}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_section_changes() {
        let text =
            "top\n<!-- figures:a -->\nold\n<!-- end:a -->\n<!-- figures:b -->\n<!-- end:b -->";
        let new = |_: &str| "new\n".to_owned();
        let once = replace(text, "a", new).unwrap();
        assert_eq!(once, text.replace("old", "new"));
        assert_eq!(replace(&once, "a", new).unwrap(), once);
        assert_eq!(replace(text, "c", new), None);
    }

    #[test]
    fn the_file_has_the_markers() {
        let path = crate::shell::root().join("bench/README.md");
        let text = std::fs::read_to_string(path).unwrap();
        let comparisons = crate::bench::COMPARISONS.map(|(name, _)| name);
        for name in comparisons.into_iter().chain(["crates"]) {
            assert!(replace(&text, name, str::to_owned).is_some(), "{name}");
        }
    }
}
