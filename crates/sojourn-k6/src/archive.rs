//! Archives: a script with everything that it imports and opens, its options and its variables, in
//! one tar file.
//!
//! `metadata.json` tells what it is, `data` is the script's text, and every file stands under its
//! address: `file/a/b.js` was `file:///a/b.js`, `https/a.example/b.js` was
//! `https://a.example/b.js`. The script itself may be a link to `data`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tar::{Builder, EntryType, Header};

/// The version of k6 whose archives these are.
const K6_VERSION: &str = "2.2.0";
/// Most bytes of an archive's files together.
const BYTES_MAX: u64 = 1 << 30;
/// Permissions of files and folders.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// See the module's page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archive {
    /// The script's address.
    pub entry: String,
    /// The options, consolidated but for their shortcuts.
    pub options: Value,
    /// Variables for `__ENV`; `None` where they were left out.
    pub env: Option<BTreeMap<String, String>>,
    /// `extended` or `base`.
    pub compatibility_mode: String,
    /// Content by address, the script's too.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// What is no archive, or can't be written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Reading or writing failed, or it is no tar file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// `metadata.json` is missing or is not what it should be.
    #[error("metadata.json: {0}")]
    Metadata(String),
    /// Longer than what is read.
    #[error("it has more than {} MiB", BYTES_MAX >> 20)]
    TooLong,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(rename = "type")]
    kind: String,
    options: Value,
    filename: String,
    pwd: String,
    env: Option<BTreeMap<String, String>>,
    #[serde(default)]
    compatibility_mode: String,
    #[serde(rename = "k6version", default)]
    k6_version: String,
    #[serde(default)]
    goos: String,
    #[serde(default)]
    dependencies: Value,
}

/// Whether a file begins as a tar file does.
pub fn is_tar(beginning: &[u8]) -> bool {
    beginning.get(257..262) == Some(b"ustar")
}

impl Archive {
    /// Writes it; `unix_s` is when its files are said to be from, seconds since 1970.
    ///
    /// # Errors
    /// `out` takes no more.
    pub fn write(&self, out: impl Write, unix_s: u64) -> Result<(), ArchiveError> {
        let folder = self.entry.rsplit_once('/').map_or("", |(folder, _)| folder);
        let metadata = Metadata {
            kind: "js".to_owned(),
            options: self.options.clone(),
            filename: self.entry.clone(),
            pwd: if folder == "file://" { "file:///".to_owned() } else { folder.to_owned() },
            env: self.env.clone(),
            compatibility_mode: self.compatibility_mode.clone(),
            k6_version: K6_VERSION.to_owned(),
            goos: "linux".to_owned(),
            dependencies: serde_json::json!({ "k6": "*" }),
        };
        let metadata = serde_json::to_vec_pretty(&metadata).map_err(io::Error::from)?;
        let mut tar = Builder::new(out);
        let mut add = |path: &str, kind: EntryType, content: &[u8]| {
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_mode(if kind.is_dir() { FOLDER_MODE } else { FILE_MODE });
            header.set_size(content.len() as u64);
            header.set_mtime(unix_s);
            tar.append_data(&mut header, path, content)
        };
        add("metadata.json", EntryType::Regular, &metadata)?;
        let script = self.files.get(&self.entry).map_or(&[][..], Vec::as_slice);
        add("data", EntryType::Regular, script)?;
        let paths: Vec<_> = self.files.keys().map(|address| path_of(address)).collect();
        let folders: BTreeSet<&str> = paths.iter().flat_map(|path| folders_of(path)).collect();
        for folder in folders {
            add(folder, EntryType::Directory, b"")?;
        }
        for (path, content) in paths.iter().zip(self.files.values()) {
            add(path, EntryType::Regular, content)?;
        }
        tar.into_inner()?.flush()?;
        Ok(())
    }

    /// Where the script was; `None` where its address is that of no file.
    pub fn entry_path(&self) -> Option<PathBuf> {
        self.entry.strip_prefix("file://").map(|path| percent_decoded(path).into())
    }

    /// Reads one.
    ///
    /// # Errors
    /// It is no archive, or too long.
    pub fn read(input: impl Read) -> Result<Self, ArchiveError> {
        let (mut metadata, mut script) = (None, Vec::new());
        let mut files = BTreeMap::new();
        let mut links = Vec::new();
        let mut bytes_left = BYTES_MAX;
        let mut tar = tar::Archive::new(input);
        for entry in tar.entries()? {
            let mut entry = entry?;
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let kind = entry.header().entry_type();
            if kind.is_hard_link() || kind.is_symlink() {
                let target = entry.link_name_bytes().unwrap_or_default();
                links.push((path, String::from_utf8_lossy(&target).into_owned()));
                continue;
            }
            if !kind.is_file() {
                continue;
            }
            let mut content = Vec::new();
            let read = entry.by_ref().take(bytes_left + 1).read_to_end(&mut content)? as u64;
            bytes_left = bytes_left.checked_sub(read).ok_or(ArchiveError::TooLong)?;
            match path.as_str() {
                "metadata.json" => metadata = Some(content),
                "data" => script = content,
                path => drop(files.insert(address_of(path), content)),
            }
        }
        let wrong = |error: &dyn std::fmt::Display| ArchiveError::Metadata(error.to_string());
        let metadata = metadata.ok_or_else(|| wrong(&"there is none"))?;
        let metadata: Metadata =
            serde_json::from_slice(&metadata).map_err(|error| wrong(&error))?;
        if metadata.kind != "js" {
            return Err(wrong(&format!("the type is `{}`, not `js`", metadata.kind)));
        }
        for (path, target) in links {
            let content = match target.as_str() {
                "data" => Some(script.clone()),
                other => files.get(&address_of(other)).cloned(),
            };
            files.extend(content.map(|content| (address_of(&path), content)));
        }
        let entry = metadata.filename;
        files.entry(entry.clone()).or_insert(script);
        Ok(Self {
            entry,
            options: metadata.options,
            env: metadata.env,
            compatibility_mode: metadata.compatibility_mode,
            files,
        })
    }
}

/// `file/a/b.js` of `file:///a/b.js`.
fn path_of(address: &str) -> String {
    let decoded = |rest: &str| percent_decoded(rest);
    match address.strip_prefix("file:///") {
        Some(rest) => format!("file/{}", decoded(rest)),
        None => address.replacen("://", "/", 1),
    }
}

fn address_of(path: &str) -> String {
    let path = path.trim_start_matches("./");
    match path.strip_prefix("file/") {
        Some(rest) => format!("file:///{}", percent_encoded(rest)),
        None => path.replacen('/', "://", 1),
    }
}

/// Folders above a path, the outer ones first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).filter(|folder| !folder.is_empty())
}

/// The letters that addresses of files write as numbers.
fn percent_encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"%\"#<>?`{}^\\".contains(&byte);
    path.bytes()
        .map(
            |byte| {
                if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let coded = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match coded.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Archive {
        let long = format!("file:///a/{}/deep.js", "folder/".repeat(40));
        let files = [
            ("file:///a/main.js", "export default () => {}"),
            ("file:///a/with%20space/%C3%A4.js", "1"),
            ("https://a.example/lib.js", "2"),
            (long.as_str(), "3"),
        ];
        let files = files.map(|(address, text)| (address.to_owned(), text.as_bytes().to_vec()));
        Archive {
            entry: "file:///a/main.js".to_owned(),
            options: serde_json::json!({ "vus": 2, "tags": null }),
            env: Some(BTreeMap::from([("A".to_owned(), "b".to_owned())])),
            compatibility_mode: "extended".to_owned(),
            files: files.into(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        sample().write(&mut bytes, 1_700_000_000).expect("room");
        assert!(is_tar(&bytes));
        assert_eq!(Archive::read(&bytes[..]).expect("an archive"), sample());
        let mut paths = Vec::new();
        let mut tar = tar::Archive::new(&bytes[..]);
        for entry in tar.entries().expect("tar") {
            paths.push(entry.expect("whole").path().expect("text").display().to_string());
        }
        assert_eq!(paths[..4], ["metadata.json", "data", "file", "file/a"]);
        assert!(paths.contains(&"file/a/with space/ä.js".to_owned()), "{paths:?}");
        assert!(paths.contains(&"https/a.example/lib.js".to_owned()), "{paths:?}");
    }

    /// Made by k6 2.2.0 of a script that imports one file and opens another.
    #[test]
    fn an_archive_of_k6_is_read() {
        let bytes = include_bytes!("../tests/archive/k6.tar");
        let archive = Archive::read(&bytes[..]).expect("an archive");
        assert_eq!(archive.entry, "file:///tests/main.js");
        let names: Vec<_> = archive.files.keys().map(String::as_str).collect();
        let expected =
            ["file:///tests/lib/part.js", "file:///tests/lib/text.txt", "file:///tests/main.js"];
        assert_eq!(names, expected);
        assert!(archive.files[&archive.entry].starts_with(b"import"));
        assert_eq!(archive.options["iterations"], 2);
        assert_eq!(archive.env.expect("variables")["A"], "b");
    }

    #[test]
    fn what_is_no_archive_is_an_error_that_says_why() {
        let problem = |bytes: &[u8]| Archive::read(bytes).expect_err("no archive").to_string();
        assert!(problem(b"").contains("there is none"));
        assert!(!problem(b"this is no tar file").is_empty());
        let mut bytes = Vec::new();
        sample().write(&mut bytes, 0).expect("room");
        for cut in (0..bytes.len()).step_by(97) {
            Archive::read(&bytes[..cut]).ok();
        }
        let at = bytes.windows(4).position(|four| four == b"\"js\"").expect("the type");
        bytes[at + 1] = b'x';
        assert!(problem(&bytes).contains("`xs`"));
    }
}
