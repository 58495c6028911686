//! This program as an image, without Docker: one file that `docker load`, `podman load`,
//! `ctr images import`, `kind load image-archive`, `k3s ctr images import` and `skopeo` take.
//!
//! The image is empty but for the program, the shared libraries that it needs, certificate
//! authorities, and the few lines of `/etc` that name its user. It has no shell. The same program
//! gives the same bytes: every time in it is zero.

mod archive;
mod elf;
mod layer;
mod libraries;

use std::path::{Path, PathBuf};

pub use archive::Archive;
pub use libraries::Libraries;

use crate::ClusterError;
use elf::Elf;
use layer::Layer;

/// Where the program stands in the image.
pub const PROGRAM: &str = "/usr/local/bin/sojourn";
/// The user of the image: nobody that a node knows.
const USER: u32 = 65_532;
/// Where authorities stand in the image: the first place that is looked at.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Where distributions keep them.
const AUTHORITIES_HERE: [&str; 4] = [
    AUTHORITIES,
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What an image is made of.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The program's file.
    pub program: PathBuf,
    /// Certificate authorities (PEM); `None`: the system's.
    pub authorities: Option<PathBuf>,
    /// The image's name with its tag, such as `localhost/sojourn:0.1.0`.
    pub name: String,
    /// The program's version.
    pub version: String,
}

/// Makes the image.
///
/// # Errors
/// A file can't be read, or the program can't run in an empty image.
pub fn make(contents: &Contents) -> Result<Archive, ClusterError> {
    let program = read(&contents.program)?;
    let elf = Elf::parse(&program).map_err(|why| {
        ClusterError::Image(format!("{} can't be put into an image: {why}", shown(contents)))
    })?;
    let libraries = match &elf.interpreter {
        Some(loader) => Libraries::of(&contents.program, Path::new(loader))?,
        None => Libraries::default(),
    };
    let mut layer = Layer::default();
    layer.add(PROGRAM, 0o755, program);
    for file in libraries.files() {
        layer.add(&file.display().to_string(), 0o755, read(file)?);
    }
    layer.add(AUTHORITIES, 0o644, authorities(contents.authorities.as_deref())?);
    let user = format!("sojourn:x:{USER}:");
    let passwd = format!("root:x:0:0::/:/sbin/nologin\n{user}{USER}::/tmp:/sbin/nologin\n");
    layer.add("/etc/passwd", 0o644, passwd.into_bytes());
    layer.add("/etc/group", 0o644, format!("root:x:0:\n{user}\n").into_bytes());
    // Without it older C libraries would never look at /etc/hosts.
    layer.add("/etc/nsswitch.conf", 0o644, b"hosts: files dns\n".to_vec());
    layer.add_folder("/tmp", 0o1777);
    let mut environment =
        vec!["PATH=/usr/local/bin:/usr/bin:/bin".to_owned(), "HOME=/tmp".to_owned()];
    environment.extend(libraries.variable());
    Archive::new(contents, elf.architecture, &layer, &environment)
}

fn authorities(asked: Option<&Path>) -> Result<Vec<u8>, ClusterError> {
    if let Some(asked) = asked {
        return read(asked);
    }
    let found = AUTHORITIES_HERE.iter().find_map(|file| std::fs::read(file).ok());
    found.ok_or_else(|| {
        ClusterError::Image(format!(
            "this machine has no certificate authorities in {}: name a file of them with --ca, \
             or install the package ca-certificates",
            AUTHORITIES_HERE.join(", "),
        ))
    })
}

fn shown(contents: &Contents) -> std::path::Display<'_> {
    contents.program.display()
}

fn read(path: &Path) -> Result<Vec<u8>, ClusterError> {
    std::fs::read(path).map_err(|error| ClusterError::of_file(path, error))
}
