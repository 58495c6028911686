//! What a run's processes need of the user's machine: files and variables, as a Secret holds them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use crate::ClusterError;

/// Most bytes of all values of a Secret together, as the API server counts them.
pub const SECRET_BYTES_MAX: usize = 1 << 20;

/// The folder in pods of files that stand elsewhere here.
const ELSEWHERE: &str = "from-elsewhere";

/// Files below one folder, and variables. In pods the files stand in the same places below their
/// working folder.
#[derive(Clone, Default)]
pub struct Bundle {
    /// The folder, absolute, without links.
    folder: PathBuf,
    /// Content by path in the folder, with `/`.
    files: BTreeMap<String, Vec<u8>>,
    variables: BTreeMap<String, String>,
}

impl Bundle {
    /// An empty one of the files below a folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn below(folder: &Path) -> Result<Self, ClusterError> {
        let folder = folder.canonicalize().map_err(|it| ClusterError::of_file(folder, it))?;
        Ok(Self { folder, ..Self::default() })
    }

    /// Adds a file of the disk; the place that it has in pods. Links are taken for where they
    /// stand, not for where they lead.
    ///
    /// # Errors
    /// It can't be read, is too large, or is not below the folder.
    pub fn add_file(&mut self, path: &Path) -> Result<String, ClusterError> {
        let place = self.place_of(path)?;
        let of_file = |error| ClusterError::of_file(path, error);
        let length = std::fs::metadata(path).map_err(of_file)?.len();
        if length > SECRET_BYTES_MAX as u64 {
            return Err(too_much(length, &path.display().to_string(), length));
        }
        let bytes = std::fs::read(path).map_err(of_file)?;
        self.files.insert(place.clone(), bytes);
        Ok(place)
    }

    /// Adds a file whose content is known, wherever it is here; the place that it has in pods: its
    /// own where it is below the folder, else one that is free.
    pub fn add_content(&mut self, path: &Path, bytes: Vec<u8>) -> String {
        let mut place = self.place_of(path).unwrap_or_else(|_| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            format!("{ELSEWHERE}/{}", name.unwrap_or_default())
        });
        while self.files.get(&place).is_some_and(|known| *known != bytes) {
            place.push('_');
        }
        self.files.insert(place.clone(), bytes);
        place
    }

    /// Adds a variable of the pods' environment.
    ///
    /// # Errors
    /// No environment of a pod can have one of that name.
    pub fn set_variable(&mut self, name: &str, value: &str) -> Result<(), ClusterError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
        let is_name = name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit());
        if name.is_empty() || !is_name {
            return Err(ClusterError::Wanted(format!(
                "`{name}` can be no variable of a pod: letters, digits, `_`, `-` and `.` can"
            )));
        }
        self.variables.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Errs when a Secret can't hold it, beside `others` bytes.
    pub(crate) fn check(&self, others: usize) -> Result<(), ClusterError> {
        let files: usize = self.files.values().map(Vec::len).sum();
        let variables: usize = self.variables.values().map(String::len).sum();
        let total = files + variables + others;
        if total <= SECRET_BYTES_MAX {
            return Ok(());
        }
        let largest = self.files.iter().max_by_key(|(_, bytes)| bytes.len());
        let (name, length) = largest
            .map_or(("the variables", variables), |(name, bytes)| (name.as_str(), bytes.len()));
        Err(too_much(total as u64, name, length as u64))
    }

    /// Its part of a Secret's `stringData` (texts, so that they can be read in review) and `data`
    /// (everything else).
    pub(crate) fn data(&self) -> (Map<String, Value>, Map<String, Value>) {
        let (mut texts, mut others) = (Map::new(), Map::new());
        for (key, (_, bytes)) in self.file_keys().into_iter().zip(&self.files) {
            // An archive of texts is none: nobody reads the zeroes between them.
            let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            match text {
                Some(text) => texts.insert(key, text.into()),
                None => others.insert(key, BASE64_STANDARD.encode(bytes).into()),
            };
        }
        for (name, value) in &self.variables {
            texts.insert(variable_key(name), value.as_str().into());
        }
        (texts, others)
    }

    /// The keys of its files and their places.
    pub(crate) fn places(&self) -> impl Iterator<Item = (String, &str)> {
        self.file_keys().into_iter().zip(self.files.keys().map(String::as_str))
    }

    /// The names of its variables and their keys.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, String)> {
        self.variables.keys().map(|name| (name.as_str(), variable_key(name)))
    }

    /// A key for each file, in order: what a Secret allows of its place.
    fn file_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for (number, place) in self.files.keys().enumerate() {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || ['-', '.'].contains(&c);
            let plain = place.chars().map(|c| if is_plain(c) { c } else { '_' });
            let plain: String = plain.take(200).collect();
            let key = format!("file.{plain}");
            let is_taken = keys.contains(&key);
            keys.push(if is_taken { format!("file.{plain}.{number}") } else { key });
        }
        keys
    }

    /// Where a file stands below the folder.
    fn place_of(&self, path: &Path) -> Result<String, ClusterError> {
        let absolute = std::path::absolute(path).map_err(|it| ClusterError::of_file(path, it))?;
        let (folder, name) = match (absolute.parent(), absolute.file_name()) {
            (Some(folder), Some(name)) => (folder, name),
            _ => (absolute.as_path(), absolute.as_os_str()),
        };
        let folder = folder.canonicalize().map_err(|it| ClusterError::of_file(path, it))?;
        let full = folder.join(name);
        let inside = full.strip_prefix(&self.folder).ok();
        let parts = inside.map(|inside| {
            inside.components().map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
        });
        let parts: Option<Vec<&str>> = parts.and_then(|parts| parts.collect());
        parts.map(|parts| parts.join("/")).ok_or_else(|| {
            ClusterError::Wanted(format!(
                "{} is not below {}, and pods have only what is: copy it there, or start from a \
                 folder that has both",
                path.display(),
                self.folder.display(),
            ))
        })
    }
}

fn variable_key(name: &str) -> String {
    format!("env.{name}")
}

fn too_much(total: u64, largest: &str, length: u64) -> ClusterError {
    ClusterError::Wanted(format!(
        "the run's files and variables are {total} bytes, and a Secret holds {SECRET_BYTES_MAX} \
         (1 MiB): most of it is {largest} ({length} bytes); make it smaller, or build it into an \
         image of your own and name it by its path there (--in-image PATH)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_places_and_have_keys_that_a_secret_allows() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let files: [(&str, &[u8]); 4] = [
            ("a plan.yaml", b"name: x\n"),
            ("a_plan.yaml", b"name: y\n"),
            ("data/rows.csv", b"a,b\n"),
            ("data/image.bin", &[0xff, 0, 1]),
        ];
        let mut bundle = Bundle::below(folder.path()).unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            assert_eq!(bundle.add_file(&folder.path().join(name)).unwrap(), name);
        }
        bundle.set_variable("RATE", "50/s").unwrap();
        let places: Vec<_> = bundle.places().collect();
        let keys = [
            ("file.a_plan.yaml", "a plan.yaml"),
            ("file.a_plan.yaml.1", "a_plan.yaml"),
            ("file.data_image.bin", "data/image.bin"),
            ("file.data_rows.csv", "data/rows.csv"),
        ];
        assert_eq!(places, keys.map(|(key, place)| (key.to_owned(), place)));
        let (texts, others) = bundle.data();
        assert_eq!(texts["file.a_plan.yaml.1"], "name: y\n");
        assert_eq!(texts["env.RATE"], "50/s");
        assert_eq!(others["file.data_image.bin"], "/wAB");
        assert_eq!((texts.len(), others.len()), (4, 1));
    }

    /// Standard input, a certificate of the home folder.
    #[test]
    fn known_content_may_stand_anywhere() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut bundle = Bundle::below(folder.path()).unwrap();
        let mut add = |path: &Path, bytes: &[u8]| bundle.add_content(path, bytes.to_vec());
        assert_eq!(add(&folder.path().join("a.txt"), b"here"), "a.txt");
        assert_eq!(add(Path::new("/dev/stdin"), b"in"), "from-elsewhere/stdin");
        assert_eq!(add(&other.path().join("stdin"), b"other"), "from-elsewhere/stdin_");
        assert_eq!(add(Path::new("/dev/stdin"), b"in"), "from-elsewhere/stdin");
        let (texts, _) = bundle.data();
        assert_eq!(texts["file.from-elsewhere_stdin_"], "other");
        assert_eq!(texts.len(), 3);
    }

    #[test]
    fn what_is_elsewhere_or_missing_is_refused_by_name() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(other.path().join("x"), "x").unwrap();
        let mut bundle = Bundle::below(folder.path()).unwrap();
        let error = bundle.add_file(&other.path().join("x")).unwrap_err().to_string();
        assert!(error.contains("is not below"), "{error}");
        let error = bundle.add_file(&folder.path().join("no.csv")).unwrap_err().to_string();
        assert!(error.contains("no.csv: No such file"), "{error}");
        assert!(bundle.set_variable("A=B", "").is_err());
        assert!(bundle.set_variable("9", "").is_err());
    }

    #[test]
    fn more_than_a_secret_holds_is_refused_with_the_largest_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut bundle = Bundle::below(folder.path()).unwrap();
        for (name, length) in [("small", 100), ("large", SECRET_BYTES_MAX - 150)] {
            std::fs::write(folder.path().join(name), vec![b'x'; length]).unwrap();
            bundle.add_file(&folder.path().join(name)).unwrap();
        }
        bundle.check(50).unwrap();
        let error = bundle.check(51).unwrap_err().to_string();
        assert!(error.contains("1048577 bytes") && error.contains("large (1048426"), "{error}");
        std::fs::write(folder.path().join("huge"), vec![b'x'; SECRET_BYTES_MAX + 1]).unwrap();
        assert!(bundle.add_file(&folder.path().join("huge")).is_err());
    }
}
