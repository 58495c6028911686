//! The rules of a crate: its folder has its name, and it says what it is for.

use std::path::Path;

use crate::metadata::{Package, workspace};
use crate::tidy::Problem;

/// A sentence shorter than this says nothing.
const PURPOSE_LENGTH_MIN: usize = 40;

/// What the workspace's crates break.
pub(crate) fn problems(root: &Path) -> Result<Vec<Problem>, String> {
    let mut problems = Vec::new();
    for package in workspace()? {
        let manifest = package.manifest.clone();
        let text = std::fs::read_to_string(&manifest)
            .map_err(|error| format!("{}: {error}", manifest.display()))?;
        let mut messages = manifest_messages(&package, &text);
        for target in package.targets.iter().filter(|t| t.kind == "lib" || t.kind == "bin") {
            let source = std::fs::read_to_string(&target.source)
                .map_err(|error| format!("{}: {error}", target.source.display()))?;
            messages.extend(root_file_message(&target.kind, &source));
        }
        let path = manifest.strip_prefix(root).unwrap_or(&manifest);
        problems.extend(messages.into_iter().map(|message| Problem {
            path: path.display().to_string(),
            line: 0,
            message,
        }));
    }
    Ok(problems)
}

fn manifest_messages(package: &Package, manifest: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let folder = package.manifest.parent().and_then(Path::file_name);
    if folder.is_none_or(|folder| folder != package.name.as_str()) {
        messages.push(format!("the crate `{}` lies in a folder of another name", package.name));
    }
    if package.description.as_ref().is_none_or(String::is_empty) {
        messages.push("has no description".to_owned());
    }
    if !manifest.contains("[lints]\nworkspace = true") {
        messages.push("does not take the workspace's lints".to_owned());
    }
    messages
}

/// A library must say what it is for; a binary may be brief.
fn root_file_message(kind: &str, source: &str) -> Option<String> {
    let purpose: String =
        source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let enough = if kind == "lib" { PURPOSE_LENGTH_MIN } else { 1 };
    (purpose.chars().count() < enough)
        .then(|| format!("its {kind} file does not say in `//!` what the crate is for"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_can_be_broken() {
        let package = Package {
            name: "kit".to_owned(),
            version: "1.0.0".to_owned(),
            license: None,
            source: None,
            description: None,
            manifest: "/x/crates/tool/Cargo.toml".into(),
            targets: Vec::new(),
        };
        assert_eq!(manifest_messages(&package, "").len(), 3);
        let fine = Package {
            manifest: "/x/crates/kit/Cargo.toml".into(),
            description: Some("A kit".to_owned()),
            ..package
        };
        assert_eq!(manifest_messages(&fine, "[lints]\nworkspace = true\n").len(), 0);
        assert!(root_file_message("lib", "//! A kit.\n").is_some());
        assert!(root_file_message("bin", "//! A kit.\n").is_none());
        assert!(root_file_message("bin", "fn main() {}\n").is_some());
    }
}
