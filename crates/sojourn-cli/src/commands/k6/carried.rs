//! What goes along to generators elsewhere: the script as an archive, which has its imports and the
//! files that it opens, and the variables that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sojourn_k6::archive::Archive;
use sojourn_k6::flags::Settings;
use sojourn_k6::options::Environment;
use sojourn_vu::Collected;

use super::script::Failed;
use super::source;
use crate::shelf::Shelf;

/// Variables that are settings of a test, whatever its script.
const OF_SETTINGS: &str = "K6_";
/// The same by their names, which lower case stands for, too.
const OF_PROXIES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/// What begins the addresses of files.
const FILES: &str = "file://";

/// A script as it is sent.
pub(super) struct Carried {
    /// A tar file, as `sojourn k6 archive` makes one.
    pub(super) archive: Vec<u8>,
    /// Names of variables of this process.
    variables: BTreeSet<String>,
}

impl Carried {
    /// Of a script whose top level has run. An archive goes along as it is.
    pub(super) fn of(
        script: &Path,
        settings: &Settings,
        process: &Environment,
        collected: &Collected,
    ) -> Result<Self, Failed> {
        let wrong = |problem: &dyn std::fmt::Display| {
            Failed::config(format!("{} can't be sent to generators: {problem}", script.display()))
        };
        if source::is_archived(script, settings) {
            let archive = std::fs::read(script).map_err(|error| wrong(&error))?;
            let read = Archive::read(&archive[..]).map_err(|error| wrong(&error))?;
            let variables = variables(&read.files, &read.entry, settings, process);
            return Ok(Self { archive, variables });
        }
        let files = collected.contents().map_err(|problem| wrong(&packages(&problem)))?;
        let variables = variables(&files, &collected.entry(), settings, process);
        let mode = settings.compatibility_mode.as_deref().unwrap_or("extended");
        let made = Archive {
            entry: collected.entry(),
            options: collected.options.clone(),
            env: None,
            compatibility_mode: mode.to_owned(),
            files,
        };
        let mut archive = Vec::new();
        // The same script is the same bytes.
        made.write(&mut archive, 0).map_err(|error| wrong(&error))?;
        Ok(Self { archive, variables })
    }

    /// Variables that are settings and proxies, and those that are the script's.
    pub(super) fn variables(&self) -> (Vec<&str>, Vec<&str>) {
        self.variables.iter().map(String::as_str).partition(|name| is_setting(name))
    }

    /// Puts it where it goes along with what was read for settings.
    pub(super) fn put(&self, script: &Path, shelf: &Shelf) -> Result<(), Failed> {
        shelf.put(script, &self.archive).map_err(Failed::config)?;
        for name in &self.variables {
            let _noted = shelf.variable(name);
        }
        Ok(())
    }
}

/// What to do about packages, where that is what is wrong.
fn packages(problem: &str) -> String {
    match problem.contains("node_modules") {
        false => problem.to_owned(),
        true => format!(
            "{problem}; make one file of script and packages first, by esbuild --bundle for one"
        ),
    }
}

/// Names of variables that go along: those of settings and proxies, and what the script's modules
/// name, or all if the script is to have all.
fn variables(
    files: &BTreeMap<String, Vec<u8>>,
    entry: &str,
    settings: &Settings,
    process: &Environment,
) -> BTreeSet<String> {
    let words = match settings.include_system_env_vars {
        None => words(files, entry),
        Some(_) => BTreeSet::new(),
    };
    let has_all = settings.include_system_env_vars == Some(true);
    let is_wanted = |name: &str| has_all || is_setting(name) || words.contains(name);
    process.keys().filter(|name| is_wanted(name)).cloned().collect()
}

fn is_setting(name: &str) -> bool {
    name.starts_with(OF_SETTINGS) || OF_PROXIES.iter().any(|of| of.eq_ignore_ascii_case(name))
}

/// Every word of the script's modules, as far as it could be a variable's name.
fn words<'a>(files: &'a BTreeMap<String, Vec<u8>>, entry: &str) -> BTreeSet<&'a str> {
    let is_module = |address: &str| {
        let name = address.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_script = ["js", "ts", "mjs", "cjs", "jsx", "tsx"].contains(&ending);
        address == entry || is_script || (!address.starts_with(FILES) && ending != "json")
    };
    let modules = files.iter().filter(|(address, _)| is_module(address));
    let texts = modules.filter_map(|(_, content)| std::str::from_utf8(content).ok());
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    texts.flat_map(|text| text.split(move |letter| !is_part(letter))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_the_script_names_go_along() {
        let main = "const { BASE } = __ENV; const word = __ENV.WORD || of('DEEP_1');";
        let files = [("file:///a/main.js", main), ("file:///a/lib.ts", "__ENV[ name ]; `IN_LIB`")];
        let rows = ("file:///a/rows.csv", "SECRET,1");
        let files = files.into_iter().chain([rows]);
        let files: BTreeMap<String, Vec<u8>> =
            files.map(|(name, text)| (name.to_owned(), text.into())).collect();
        let names = ["BASE", "WORD", "DEEP_1", "IN_LIB", "SECRET", "WOR", "K6_VUS", "https_proxy"];
        let process: Environment =
            names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        let of = |include: Option<bool>| {
            let settings = Settings { include_system_env_vars: include, ..Settings::default() };
            let all = variables(&files, "file:///a/main.js", &settings, &process);
            all.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(None), "BASE DEEP_1 IN_LIB K6_VUS WORD https_proxy");
        assert_eq!(of(Some(false)), "K6_VUS https_proxy");
        assert_eq!(of(Some(true)).split(' ').count(), names.len());
    }
}
