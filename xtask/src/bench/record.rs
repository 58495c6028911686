//! Writes figures into `bench/README.md`, between markers, with the machine they were taken on.

use std::path::Path;

use crate::shell::{capture, command};

/// Replaces the section `name` of the file with the tables.
pub(crate) fn write(root: &Path, name: &str, tables: &str) -> Result<(), String> {
    let path = root.join("bench/README.md");
    let explain = |error: std::io::Error| format!("bench/README.md: {error}");
    let text = std::fs::read_to_string(&path).map_err(explain)?;
    let section = format!("{}\n\n{tables}", machine());
    let replaced = replace(&text, name, &section)
        .ok_or_else(|| format!("bench/README.md has no markers for `{name}`"))?;
    std::fs::write(&path, replaced).map_err(explain)
}

fn replace(text: &str, name: &str, section: &str) -> Option<String> {
    let begin = format!("<!-- figures:{name} -->\n");
    let end = format!("<!-- end:{name} -->");
    let from = text.find(&begin)? + begin.len();
    let to = from + text[from..].find(&end)?;
    Some(format!("{}{section}{}", &text[..from], &text[to..]))
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
        let once = replace(text, "a", "new\n").unwrap();
        assert_eq!(once, text.replace("old", "new"));
        assert_eq!(replace(&once, "a", "new\n").unwrap(), once);
        assert_eq!(replace(text, "c", "new\n"), None);
    }

    #[test]
    fn the_file_has_the_markers() {
        let path = crate::shell::root().join("bench/README.md");
        let text = std::fs::read_to_string(path).unwrap();
        let comparisons = crate::bench::COMPARISONS.map(|(name, _)| name);
        for name in comparisons.into_iter().chain(["crates"]) {
            assert!(replace(&text, name, "").is_some(), "{name}");
        }
    }
}
