//! The shared libraries that a program needs, by the word of the loader that will look for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ClusterError;

/// What glibc before 2.34 loads to look names up, without saying so: beside the library itself.
const NAME_SERVICES: [&str; 2] = ["libnss_dns.so.2", "libnss_files.so.2"];

/// The loader of a program, and the libraries that it finds for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Libraries {
    files: BTreeSet<PathBuf>,
    /// Where libraries are, without the loader.
    folders: BTreeSet<PathBuf>,
}

impl Libraries {
    /// Asks the program's loader, which runs nothing of the program.
    ///
    /// # Errors
    /// The loader can't be run, or does not find a library.
    pub fn of(program: &Path, loader: &Path) -> Result<Self, ClusterError> {
        let asked = Command::new(loader).arg("--list").arg(program).output();
        let output = asked.map_err(|error| ClusterError::of_file(loader, error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(ClusterError::Image(format!(
                "{} --list {} failed: {}",
                loader.display(),
                program.display(),
                complaint.trim(),
            )));
        }
        let mut libraries = Self::default();
        for file in listed(&said).map_err(ClusterError::Image)? {
            libraries.add(&file);
            let folder = file.parent().unwrap_or_else(|| Path::new("/"));
            if file.file_name().is_some_and(|name| name == "libc.so.6") {
                let services = NAME_SERVICES.map(|name| folder.join(name));
                services.iter().filter(|it| it.is_file()).for_each(|it| libraries.add(it));
            }
        }
        libraries.files.insert(loader.to_owned());
        Ok(libraries)
    }

    fn add(&mut self, file: &Path) {
        self.files.insert(file.to_owned());
        self.folders.extend(file.parent().map(Path::to_owned));
    }

    /// The loader and all libraries, in order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// The variable by which the loader finds them where it has no index of this machine's; `None`
    /// where there are none.
    pub fn variable(&self) -> Option<String> {
        let folders: Vec<_> = self.folders.iter().map(|it| it.display().to_string()).collect();
        (!folders.is_empty()).then(|| format!("LD_LIBRARY_PATH={}", folders.join(":")))
    }
}

/// The files in what a loader lists: `libc.so.6 => /lib/libc.so.6 (0x7f…)`, or a file alone. What
/// has no file is the kernel's own.
fn listed(said: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for line in said.lines().map(str::trim) {
        let (name, found) = match line.split_once(" => ") {
            Some((name, found)) => (name, found),
            None => (line, line),
        };
        if found.starts_with("not found") {
            return Err(format!("the loader does not find {name}, which the program needs"));
        }
        let found = found.rsplit_once(" (0x").map_or(found, |(file, _)| file);
        if found.starts_with('/') {
            files.push(PathBuf::from(found));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let said = "\tlinux-vdso.so.1 (0x00007f30)\n\tlibz.so.1 => /lib/a b/libz.so.1 (0x00007f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f3010ba0000)\n";
        let files = ["/lib/a b/libz.so.1", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(listed(said), Ok(files.to_vec()));
        assert_eq!(listed("\tstatically linked\n"), Ok(Vec::new()));
        let missing = listed("\tlibodd.so.3 => not found\n").unwrap_err();
        assert!(missing.contains("libodd.so.3"), "{missing}");
    }
}
