//! A script of the suite: where it is and what its first lines say about how it is run.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// See `crates/sojourn-vu/tests/scripts/README.md`.
#[derive(Debug)]
pub(super) struct Script {
    /// Such as `http/batch.js`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) source: String,
    /// What the real k6 did; for a script that it was not given, what is right.
    pub(super) golden: Golden,
}

/// What is expected of a script.
#[derive(Debug)]
pub(super) enum Golden {
    Recorded(Value),
    Expected(Value),
}

/// Where all of them are.
pub(super) fn folder() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sojourn-vu/tests/scripts");
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All scripts, sorted by name.
pub(super) fn all() -> Vec<Script> {
    let folder = folder();
    let mut scripts = Vec::new();
    for part in std::fs::read_dir(&folder).unwrap() {
        let part = part.unwrap().path();
        let is_of_suite = !part.ends_with("lib") && !part.ends_with("golden");
        if part.is_dir() && is_of_suite {
            let files = std::fs::read_dir(&part).unwrap().map(|file| file.unwrap().path());
            let is_script = |path: &PathBuf| {
                path.extension().is_some_and(|extension| extension == "js" || extension == "ts")
            };
            scripts.extend(files.filter(is_script).filter_map(|path| Script::read(&folder, path)));
        }
    }
    scripts.sort_by(|one, other| one.name.cmp(&other.name));
    scripts
}

impl Script {
    /// `None` for a file that no golden file and no `Expect` speaks of.
    fn read(folder: &Path, path: PathBuf) -> Option<Self> {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let parse =
            |text: &str| serde_json::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let golden = match directive(&source, "Expect") {
            Some(expected) => Golden::Expected(parse(expected)),
            None => {
                let recorded = folder.join("golden").join(&name).with_extension("json");
                Golden::Recorded(parse(&std::fs::read_to_string(recorded).ok()?))
            }
        };
        Some(Self { name, path, source, golden })
    }

    /// What the first lines say under this name.
    pub(super) fn directive(&self, name: &str) -> Option<&str> {
        directive(&self.source, name)
    }

    /// The folder that it is in.
    pub(super) fn part(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

fn directive<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("// {name}: ");
    source.lines().take(8).find_map(|line| line.strip_prefix(start.as_str()))
}
