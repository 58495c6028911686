//! The rule of connectors: what each of them has lies in a file of the same name.

use super::Problem;
use super::files::File;

/// Traits of the seam, and the file of a connector that implements them.
const PLACES: [(&str, &str); 5] = [
    ("Connect", "lib.rs"),
    ("Tap", "tap.rs"),
    ("Publisher", "publish.rs"),
    ("Consumer", "consume.rs"),
    ("Backlog", "backlog.rs"),
];
/// Creates what a channel names.
const PROVISION: &str = "pub(crate) fn provision(";

/// What the connectors' files break.
pub(crate) fn problems(files: &[File]) -> Vec<Problem> {
    files.iter().flat_map(problems_of).collect()
}

fn problems_of(file: &File) -> Vec<Problem> {
    let name = file.path.strip_prefix("crates/sojourn-broker-").and_then(|path| {
        let (_, inside) = path.split_once("/src/")?;
        Some(inside)
    });
    let Some(name) = name.filter(|name| !name.contains("tests")) else { return Vec::new() };
    let misplaced = |(at, line): (usize, &str)| {
        let (what, place) = belongs(line)?;
        (place != name).then(|| Problem {
            path: file.path.clone(),
            line: at + 1,
            message: format!("{what} lies in `{place}` in every connector"),
        })
    };
    file.text.lines().enumerate().filter_map(misplaced).collect()
}

/// What a line begins, and the file where that belongs.
fn belongs(line: &str) -> Option<(&'static str, &'static str)> {
    if line.starts_with(PROVISION) {
        return Some(("`provision`", "provision.rs"));
    }
    let of = line.strip_prefix("impl")?;
    let (head, _) = of.split_once(" for ")?;
    let implemented = head.rsplit(' ').next()?;
    PLACES.into_iter().find(|(trait_name, _)| *trait_name == implemented)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_elsewhere_is_named() {
        let text =
            "impl Tap for A {}\nimpl<S: Stream> Publisher for A<S> {}\nimpl Debug for A {}\n";
        let problems = |path: &str| {
            let file = File { path: path.to_owned(), text: text.to_owned() };
            problems_of(&file).iter().map(|problem| problem.line).collect::<Vec<_>>()
        };
        assert_eq!(problems("crates/sojourn-broker-x/src/tap.rs"), [2]);
        assert_eq!(problems("crates/sojourn-broker-x/src/publish.rs"), [1]);
        assert_eq!(problems("crates/sojourn-broker-x/src/wire/tap.rs"), [1, 2]);
        assert!(problems("crates/sojourn-broker-x/tests/tap.rs").is_empty());
        assert!(problems("crates/sojourn-engine/src/tap.rs").is_empty());
        assert_eq!(
            belongs("pub(crate) fn provision(a: &A) {}"),
            Some(("`provision`", "provision.rs"))
        );
    }
}
