//! What tests need that comes from npm's registry, and where it lies on this machine.

use std::io;
use std::path::PathBuf;

use crate::cache::{cached, missing};

/// A package of npm that needs no other.
#[derive(Debug)]
pub struct NodePackage {
    /// Its name.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// The SHA-512 of its archive, as `npm` reads and checks it.
    pub integrity: &'static str,
    /// Its program, for Node.
    pub program: &'static str,
}

/// Looks at the declarations of what scripts import.
pub static TYPESCRIPT: NodePackage = NodePackage {
    name: "typescript",
    version: "5.9.3",
    integrity: "sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8\
                wtm6M5TgSw==",
    program: "bin/tsc",
};

impl NodePackage {
    /// All of them.
    pub const ALL: [&'static Self; 1] = [&TYPESCRIPT];

    /// Where it lies once it is installed: in the user's folder for caches, by name and version.
    ///
    /// # Errors
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn folder(&self) -> io::Result<PathBuf> {
        cached(self.name, self.version)
    }

    /// Its program's file, for `node`.
    ///
    /// # Errors
    /// It is not installed.
    pub fn program(&self) -> io::Result<PathBuf> {
        let program = self.folder()?.join("node_modules").join(self.name).join(self.program);
        match program.is_file() {
            true => Ok(program),
            false => Err(missing(self.name, self.version, &program)),
        }
    }

    /// `package.json` of a project that needs this package alone.
    pub fn manifest(&self) -> String {
        let Self { name, version, .. } = self;
        format!(r#"{{"private":true,"dependencies":{{"{name}":"{version}"}}}}"#)
    }

    /// `package-lock.json` of the same, which says what its archive must be.
    pub fn lock(&self) -> String {
        let Self { name, version, integrity, .. } = self;
        format!(
            r#"{{"lockfileVersion":3,"requires":true,"packages":{{
"":{{"dependencies":{{"{name}":"{version}"}}}},
"node_modules/{name}":{{"version":"{version}","integrity":"{integrity}"}}}}}}"#
        )
    }
}
