//! Programs that come as packages of Node's from npm, and where they lie on this machine.

use std::io;
use std::path::PathBuf;

use crate::cache::{cached, missing};

/// A program of Node's with all that it needs at run time.
#[derive(Debug)]
pub struct ModuleSet {
    /// What its folder is called; the package's own name.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// `package.json`: what is wanted.
    pub manifest: &'static str,
    /// `package-lock.json`: every package with its version and the SHA-512 of its archive, as `npm`
    /// reads and checks them. Those that are optional are not installed, and no package may run a
    /// script of its own.
    pub lock: &'static str,
}

/// It speaks SNS and SQS.
pub(crate) static FAUXQS: ModuleSet = ModuleSet {
    name: "fauxqs",
    version: "2.4.1",
    manifest: include_str!("fauxqs.package.json"),
    lock: include_str!("fauxqs.package-lock.json"),
};

pub(crate) static STATSD: ModuleSet = ModuleSet {
    name: "statsd",
    version: "0.9.0",
    manifest: include_str!("statsd.package.json"),
    lock: include_str!("statsd.package-lock.json"),
};

/// Looks at the declarations of what scripts import; its program is `bin/tsc`.
pub static TYPESCRIPT: ModuleSet = ModuleSet {
    name: "typescript",
    version: "5.9.3",
    manifest: include_str!("typescript.package.json"),
    lock: include_str!("typescript.package-lock.json"),
};

impl ModuleSet {
    /// All of them.
    pub const ALL: [&'static Self; 3] = [&STATSD, &TYPESCRIPT, &FAUXQS];

    /// Where it lies once it is installed: in the user's folder for caches, by name and version.
    ///
    /// # Errors
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn folder(&self) -> io::Result<PathBuf> {
        cached(self.name, self.version)
    }

    /// One of its own files.
    ///
    /// # Errors
    /// It is not installed.
    pub fn file(&self, name: &str) -> io::Result<PathBuf> {
        let file = self.folder()?.join("node_modules").join(self.name).join(name);
        match file.is_file() {
            true => Ok(file),
            false => Err(missing(self.name, self.version, &file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_its_sum() {
        for set in ModuleSet::ALL {
            assert!(set.manifest.contains(&format!("\"{}\": \"{}\"", set.name, set.version)));
            let packages = set.lock.split("\n    \"node_modules/").skip(1);
            let packages: Vec<&str> = packages.collect();
            assert!(!packages.is_empty(), "{}", set.lock);
            for package in packages {
                let name = package.split('"').next().unwrap();
                assert!(package.contains("\"integrity\": \"sha512-"), "{name}");
                assert!(!package.contains("\"hasInstallScript\""), "{name}");
            }
        }
    }
}
