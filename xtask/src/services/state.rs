//! `target/services.json`: which servers are up, where, and as which processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sojourn_services::{Kind, PASSWORD, Process, USER, descendants};

use super::kind;
use crate::phase::now;
use crate::shell::root;

/// How long all servers together may take to end before they are killed.
const END_MAX: Duration = Duration::from_secs(30);

/// All servers that are up.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) entries: Vec<Entry>,
}

/// One server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) version: String,
    pub(super) port: u16,
    pub(super) accesses: Vec<(String, String)>,
    pub(super) ca: Option<PathBuf>,
    pub(super) log: PathBuf,
    pub(super) processes: Vec<(Process, PathBuf)>,
}

impl State {
    /// Where it is kept.
    pub(super) fn path() -> PathBuf {
        root().join("target/services.json")
    }

    /// What is up; none without a file.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, String> {
        let explain = |what: String| format!("{}: {what}", path.display());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(explain(error.to_string())),
        };
        let value: Value = serde_json::from_str(&text).map_err(|e| explain(e.to_string()))?;
        Self::from_json(&value)
            .map(Some)
            .ok_or_else(|| explain("not written by this version; remove it by hand".to_owned()))
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), String> {
        let text = format!("{:#}\n", self.to_json());
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(super) fn remove(path: &Path) -> Result<(), String> {
        std::fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Asks every process that is still the one recorded to end, kills it after half a minute, and
    /// removes its folder.
    pub(super) fn end(&self) -> Result<(), String> {
        let deadline = now() + END_MAX;
        for (process, folder) in self.entries.iter().flat_map(|entry| &entry.processes) {
            let family = descendants(*process);
            process.terminate();
            while process.is_alive() && now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
            for left in family {
                left.kill();
            }
            remove_folder(folder)?;
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let servers = self.entries.iter().map(|entry| {
            let accesses =
                entry.accesses.iter().map(|(name, url)| json!({"name": name, "url": url}));
            let processes = entry.processes.iter().map(|(process, folder)| {
                json!({
                    "pid": process.pid,
                    "start_ticks": process.start_ticks,
                    "folder": folder,
                })
            });
            json!({
                "name": entry.name,
                "kind": entry.kind.name(),
                "version": entry.version,
                "port": entry.port,
                "accesses": accesses.collect::<Vec<_>>(),
                "ca": entry.ca,
                "log": entry.log,
                "processes": processes.collect::<Vec<_>>(),
            })
        });
        json!({
            "user": USER,
            "password": PASSWORD,
            "servers": servers.collect::<Vec<_>>(),
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let entries = value.get("servers")?.as_array()?.iter().map(Entry::from_json);
        Some(Self { entries: entries.collect::<Option<_>>()? })
    }
}

impl Entry {
    fn from_json(value: &Value) -> Option<Self> {
        let text = |of: &Value, name: &str| Some(of.get(name)?.as_str()?.to_owned());
        let accesses = value.get("accesses")?.as_array()?.iter();
        let processes = value.get("processes")?.as_array()?.iter();
        Some(Self {
            name: text(value, "name")?,
            kind: kind(&text(value, "kind")?)?,
            version: text(value, "version")?,
            port: value.get("port")?.as_u64()?.try_into().ok()?,
            accesses: accesses
                .map(|a| Some((text(a, "name")?, text(a, "url")?)))
                .collect::<Option<_>>()?,
            ca: text(value, "ca").map(PathBuf::from),
            log: text(value, "log")?.into(),
            processes: processes
                .map(|process| {
                    let pid = process.get("pid")?.as_u64()?.try_into().ok()?;
                    let start_ticks = process.get("start_ticks")?.as_u64()?;
                    Some((Process { pid, start_ticks }, text(process, "folder")?.into()))
                })
                .collect::<Option<_>>()?,
        })
    }
}

/// Only one of ours, whatever the file says.
fn remove_folder(folder: &Path) -> Result<(), String> {
    let name = folder.file_name().and_then(|name| name.to_str());
    if !name.is_some_and(|name| name.starts_with("sojourn-")) {
        return Err(format!("{} is not a folder that we made", folder.display()));
    }
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let process = Process { pid: 7, start_ticks: 99 };
        State {
            entries: vec![Entry {
                name: "redis-password".to_owned(),
                kind: Kind::Redis,
                version: "7.0".to_owned(),
                port: 12_345,
                accesses: vec![("open".to_owned(), "redis://127.0.0.1:12345".to_owned())],
                ca: Some("/tmp/sojourn-x/ca.pem".into()),
                log: "/tmp/sojourn-x/redis.log".into(),
                processes: vec![(process, "/tmp/sojourn-x".into())],
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(State::from_json(&state().to_json()), Some(state()));
        for foreign in [json!({}), json!({"servers": [1]}), json!({"servers": [{"name": "x"}]})] {
            assert_eq!(State::from_json(&foreign), None);
        }
    }

    #[test]
    fn foreign_folders_stay() {
        assert!(remove_folder(Path::new("/tmp/other")).is_err());
        assert!(remove_folder(Path::new("/tmp/sojourn-/..")).is_err());
        assert!(remove_folder(Path::new("/tmp/sojourn-there-is-none-such")).is_ok());
    }
}
