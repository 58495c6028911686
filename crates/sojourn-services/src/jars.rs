//! The servers that come as jars from Maven Central, and where they lie on this machine.

use std::io;
use std::path::PathBuf;

use crate::cache::{cached, missing};

/// A server's jar with all that it needs at run time.
#[derive(Debug)]
pub struct JarSet {
    /// What its folder is called.
    pub name: &'static str,
    /// Maven's group.
    pub group: &'static str,
    /// Maven's artifact.
    pub artifact: &'static str,
    /// The version.
    pub version: &'static str,
    /// The SHA-256 and name of every file, a line each, as `sha256sum` writes and checks it.
    pub sums: &'static str,
}

pub(crate) static KAFKA: JarSet = JarSet {
    name: "kafka",
    group: "org.apache.kafka",
    artifact: "kafka_2.13",
    version: "4.1.2",
    sums: include_str!("kafka.sha256"),
};

pub(crate) static ELASTICMQ: JarSet = JarSet {
    name: "elasticmq",
    group: "org.elasticmq",
    artifact: "elasticmq-server_2.13",
    version: "1.6.16",
    sums: include_str!("elasticmq.sha256"),
};

impl JarSet {
    /// All of them.
    pub const ALL: [&'static Self; 2] = [&KAFKA, &ELASTICMQ];

    /// Where it lies once it is installed: in the user's folder for caches, by name and version.
    ///
    /// # Errors
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn folder(&self) -> io::Result<PathBuf> {
        cached(self.name, self.version)
    }

    /// Java's class path to it.
    pub(crate) fn class_path(&self) -> io::Result<String> {
        let folder = self.folder()?;
        if folder.is_dir() {
            return Ok(format!("{}/*", folder.display()));
        }
        Err(missing(self.name, self.version, &folder))
    }
}
