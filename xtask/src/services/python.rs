//! Virtual environments of Python's, for what comes as wheels.

use std::path::{Path, PathBuf};
use std::process::Command;

use sojourn_services::WheelSet;

use crate::shell::{find_on_path, run, succeeds};

/// What Debian calls the package that can make them.
pub(super) const PACKAGE: &str = "python3-venv";

/// A Python that can make one; Debian's cannot without a further package.
pub(super) fn find() -> Option<PathBuf> {
    let can =
        |python: &PathBuf| succeeds(Command::new(python).args(["-c", "import venv, ensurepip"]));
    find_on_path("python3").into_iter().chain([PathBuf::from("/usr/bin/python3")]).find(can)
}

/// Makes the environment of a server, by pip, since it knows the user's mirrors and proxies. Each
/// wheel must be one that we know, and nothing is built from source.
pub(super) fn make(wheels: &WheelSet) -> Result<(), String> {
    let python = find().ok_or_else(|| {
        format!("no Python that can make virtual environments; install `{PACKAGE}`")
    })?;
    let folder = wheels.folder().map_err(|error| error.to_string())?;
    let mut unready = folder.clone().into_os_string();
    unready.push(format!(".part{}", std::process::id()));
    let unready = PathBuf::from(unready);
    eprintln!("  {} {} goes to {}", wheels.name, wheels.version, folder.display());
    let outcome = fill(&python, wheels, &unready).and_then(|()| {
        // One whose Python is gone, or that another one made as quickly.
        remove(&folder)?;
        std::fs::rename(&unready, &folder).map_err(|error| format!("{}: {error}", folder.display()))
    });
    remove(&unready)?;
    outcome
}

fn fill(python: &Path, wheels: &WheelSet, folder: &Path) -> Result<(), String> {
    run(Command::new(python).args(["-m", "venv"]).arg(folder))?;
    let requirements = folder.join("requirements.txt");
    std::fs::write(&requirements, wheels.requirements)
        .map_err(|error| format!("{}: {error}", requirements.display()))?;
    let mut pip = Command::new(folder.join("bin").join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip.args(["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement"]);
    run(pip.arg(&requirements))
}

fn remove(folder: &Path) -> Result<(), String> {
    match folder.is_dir() {
        true => std::fs::remove_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display())),
        false => Ok(()),
    }
}
