//! What this program is, in the four lines of Vegeta's `-version`.

use std::ffi::OsString;

/// The commit and the day are those that whoever builds a release names in `SOJOURN_COMMIT` and
/// `SOJOURN_DATE`.
pub(crate) fn lines() -> String {
    let unknown = "unknown";
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!(
        "Version: {}\nCommit: {}\nRuntime: {} {}/{architecture}\nDate: {}",
        env!("CARGO_PKG_VERSION"),
        option_env!("SOJOURN_COMMIT").unwrap_or(unknown),
        env!("SOJOURN_COMPILER"),
        std::env::consts::OS,
        option_env!("SOJOURN_DATE").unwrap_or(unknown),
    )
}

/// Whether a command line is Vegeta's question in place of a command. With two dashes it is that of
/// other programs, which have a line of their own for it.
pub(crate) fn is_asked(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|word| word == "-version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_four_lines_and_one_dash_asks_for_them() {
        let lines = lines();
        let names: Vec<&str> = lines.lines().filter_map(|line| line.split(": ").next()).collect();
        assert_eq!(names, ["Version", "Commit", "Runtime", "Date"]);
        assert!(lines.contains("Runtime: rust1."), "{lines}");
        let asked =
            |words: &[&str]| is_asked(&words.iter().map(Into::into).collect::<Vec<OsString>>());
        assert!(asked(&["sojourn", "-version"]));
        assert!(!asked(&["sojourn", "--version"]) && !asked(&["sojourn", "run", "-version"]));
    }
}
