//! The configuration file: that of `-c` or `K6_CONFIG`, or else the one in the user's own folder,
//! if it is there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sojourn_k6::flags::RunFlags;
use sojourn_k6::options::Environment;

use super::script::{Around, Failed};
use crate::shelf::Shelf;

/// What the user's own file is called where a coordinator sends it along: its folder is another one
/// there.
const SENT: &str = "the user's own k6/config.json";

/// Where it is, if there is one.
pub(super) fn path(flags: &RunFlags, process: &Environment) -> Option<PathBuf> {
    named(flags, process).or_else(|| usual(process).filter(|path| path.is_file()))
}

/// Its JSON; null without one.
pub(super) fn read(flags: &RunFlags, around: &Around<'_>) -> Result<Value, Failed> {
    let shelf = around.shelf;
    if let Some(path) = named(flags, around.process) {
        let text = shelf.read_text(&path).map_err(|error| wrong(&path, &error))?;
        return parsed(&path, &text);
    }
    let path = match shelf {
        Shelf::Sent(_) => PathBuf::from(SENT),
        _ => match usual(around.process) {
            Some(path) => path,
            None => return Ok(Value::Null),
        },
    };
    let text = match shelf.read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Value::Null),
        Err(error) => return Err(wrong(&path, &error)),
    };
    shelf.put(Path::new(SENT), text.as_bytes()).map_err(|error| wrong(&path, &error))?;
    parsed(&path, &text)
}

fn parsed(path: &Path, text: &str) -> Result<Value, Failed> {
    serde_json::from_str(text).map_err(|error| wrong(path, &error))
}

fn wrong(path: &Path, problem: &dyn std::fmt::Display) -> Failed {
    Failed::config(format!("{}: {problem}", path.display()))
}

fn named(flags: &RunFlags, process: &Environment) -> Option<PathBuf> {
    let path = flags.config.clone().or_else(|| process.get("K6_CONFIG").cloned());
    path.filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Where it is usually. A folder that is not absolute is none.
fn usual(process: &Environment) -> Option<PathBuf> {
    let folder = |name: &str| process.get(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    let home = || folder("HOME").map(|home| home.join(".config"));
    let folder = folder("XDG_CONFIG_HOME").or_else(home).filter(|folder| folder.is_absolute());
    folder.map(|folder| folder.join("k6/config.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_file_is_where_k6_looks_for_it() {
        let usual = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| (*name, *value));
            let process: Environment =
                variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            super::usual(&process).map(|path| path.display().to_string())
        };
        let home = ("HOME", "/home/me");
        let of_home = Some("/home/me/.config/k6/config.json".to_owned());
        assert_eq!(usual(&[home]), of_home);
        assert_eq!(usual(&[home, ("XDG_CONFIG_HOME", "")]), of_home);
        let elsewhere = Some("/etc/me/k6/config.json".to_owned());
        assert_eq!(usual(&[home, ("XDG_CONFIG_HOME", "/etc/me")]), elsewhere);
        assert_eq!([usual(&[home, ("XDG_CONFIG_HOME", "here")]), usual(&[])], [None, None]);
    }
}
