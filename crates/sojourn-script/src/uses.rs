//! What a script uses of the modules that it imports, by reading it only.

use std::collections::BTreeSet;
use std::path::Path;

use url::Url;

use crate::members;
use crate::resolve;

/// A module that is used, or a name of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// As it is imported: `k6/http`, or an address.
    pub module: String,
    /// An export, or a property of the default export, and a member of that if one is seen: of
    /// `exec.vu.tags.own` it is `vu`, `tags`. Empty for the module alone.
    pub names: Vec<String>,
}

/// Most files that are followed.
const FILES_MAX: usize = 10_000;

/// What the script in this file, and all files that it imports, use of modules that are no files.
/// The error names the file that can't be read or is no script.
pub fn uses(entry: &Path) -> Result<BTreeSet<Use>, String> {
    let path = entry.canonicalize().map_err(|error| format!("{}: {error}", entry.display()))?;
    let url = Url::from_file_path(path).map_err(|()| "not a path of a file".to_owned())?;
    let (mut found, mut seen, mut waiting) = (BTreeSet::new(), BTreeSet::new(), vec![url]);
    while let Some(url) = waiting.pop() {
        if !seen.insert(url.clone()) || seen.len() > FILES_MAX {
            continue;
        }
        let Ok(path) = url.to_file_path() else { continue };
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if path.extension().is_some_and(|ending| ending == "json") {
            continue;
        }
        let uses = members::of_text(url.as_str(), &text)
            .map_err(|problem| format!("{}: {problem}", path.display()))?;
        for used in uses {
            let is_path = used.module.starts_with(['.', '/']) || used.module.starts_with("file:");
            match resolve::resolve(&url, &used.module, &Path::is_file) {
                Ok(next) if next.scheme() == "file" && (is_path || !is_builtin(&used.module)) => {
                    waiting.push(next);
                }
                _ => {
                    found.insert(used);
                }
            }
        }
    }
    Ok(found)
}

/// Names that are never looked for in `node_modules`.
fn is_builtin(module: &str) -> bool {
    module == "k6" || module.starts_with("k6/") || module == "sojourn"
}
