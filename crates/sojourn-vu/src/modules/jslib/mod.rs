//! Modules that scripts import by URL and that are built in, so that they need no network.
//!
//! `map.json` says which URLs they stand for. A URL gives a module of two lines that exports again
//! what the bundled file exports: that file has an address of its own, the same whatever version
//! the script asks for, so that what two modules share is one thing, and so that files import each
//! other by relative paths.

mod files;
mod pattern;
mod remote;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use sojourn_script::Sources;

use self::files::{FILES, MAP};
use self::pattern::fits;
use self::remote::RemoteModules;

/// Where the bundled files are, for each other. No server has such a name (RFC 2606).
const FOLDER: &str = "https://jslib.invalid/";

static KNOWN: LazyLock<Known> = LazyLock::new(Known::read);

/// Where scripts' modules come from that are no files: what is bundled, else the network, once.
pub fn sources() -> Sources {
    let fetch = Arc::new(RemoteModules::new());
    Sources { embedded: Some(embedded), fetch: Some(fetch), ..Sources::default() }
}

/// The source of the module at this URL, if it is bundled.
fn embedded(url: &str) -> Option<&'static str> {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    if let Some(path) = url.strip_prefix(FOLDER) {
        return FILES.iter().find(|(known, _)| *known == path).map(|(_, source)| *source);
    }
    let known = &*KNOWN;
    let (_, file) = known.bundled.iter().find(|(pattern, _)| fits(pattern, url))?;
    known.entries.get(file).map(String::as_str)
}

/// What a known module does that is not bundled, and what to do instead.
fn why_not_bundled(url: &str) -> Option<&'static str> {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let mut known = KNOWN.not_bundled.iter();
    known.find(|(pattern, _)| fits(pattern, url)).map(|(_, reason)| reason.as_str())
}

/// `map.json`.
struct Known {
    /// (pattern, file)
    bundled: Vec<(String, String)>,
    /// (pattern, reason)
    not_bundled: Vec<(String, String)>,
    /// From file to the module that exports it again.
    entries: HashMap<String, String>,
}

impl Known {
    fn read() -> Self {
        let map: Value = serde_json::from_str(MAP).unwrap_or_default();
        let pairs = |list: &str, value: &str| {
            let items = map[list].as_array().into_iter().flatten();
            let text = |item: &Value, name| item[name].as_str().unwrap_or_default().to_owned();
            items.map(|item| (text(item, "url"), text(item, value))).collect()
        };
        let entry = |(path, source): &(&str, &str)| ((*path).to_owned(), entry(path, source));
        Self {
            bundled: pairs("patterns", "file"),
            not_bundled: pairs("not_bundled", "reason"),
            entries: FILES.iter().map(entry).collect(),
        }
    }
}

fn entry(path: &str, source: &str) -> String {
    let mut entry = format!("export * from \"{FOLDER}{path}\";\n");
    if source.contains("export default") || source.contains(" as default") {
        entry.push_str(&format!("export {{ default }} from \"{FOLDER}{path}\";\n"));
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_map_names_is_there() {
        let known = &*KNOWN;
        assert!(known.bundled.len() > 10 && known.not_bundled.len() > 3);
        for (_, file) in &known.bundled {
            assert!(FILES.iter().any(|(path, _)| path == file), "{file}");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_bundled() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("jslib");
        let mut folders = vec![root.clone()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.ends_with("tests") {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "js") {
                    let path = path.strip_prefix(&root).expect("within").to_owned();
                    found.push(path.to_str().expect("text").to_owned());
                }
            }
        }
        found.sort();
        let bundled: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(bundled, found);
    }

    #[test]
    fn urls_of_all_versions_lead_to_one_file() {
        let one = embedded("https://jslib.k6.io/papaparse/5.1.1/index.js?x=1");
        assert_eq!(one, embedded("https://unpkg.com/papaparse@5.4.1/papaparse.min.js"));
        assert!(one.is_some_and(|text| text.contains("export { default }")));
        assert!(embedded("https://jslib.invalid/url/host.js").is_some());
        assert_eq!(embedded("https://jslib.invalid/../map.json"), None);
        assert_eq!(embedded("https://jslib.k6.io/papaparse/5.1.1/x/index.js"), None);
        let aws = "https://jslib.k6.io/aws/0.13.0/s3.js";
        assert_eq!(embedded(aws), None);
        assert!(why_not_bundled(aws).is_some_and(|reason| reason.contains("AWS")));
    }
}
