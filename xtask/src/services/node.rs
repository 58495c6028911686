//! Packages of npm.

use std::path::{Path, PathBuf};

use sojourn_services::NodePackage;

use crate::shell::{command, run};

/// What Debian calls the package with `npm`.
pub(super) const PACKAGE: &str = "npm";

/// Brings a package, by npm, since it knows the user's mirrors and proxies. Its archive must be the
/// one that we know, and none of its scripts is run.
pub(super) fn make(package: &NodePackage) -> Result<(), String> {
    let folder = package.folder().map_err(|error| error.to_string())?;
    let mut unready = folder.clone().into_os_string();
    unready.push(format!(".part{}", std::process::id()));
    let unready = PathBuf::from(unready);
    eprintln!("  {} {} goes to {}", package.name, package.version, folder.display());
    let outcome = fill(package, &unready).and_then(|()| {
        // What is there has no program.
        remove(&folder)?;
        std::fs::rename(&unready, &folder).map_err(|error| format!("{}: {error}", folder.display()))
    });
    remove(&unready)?;
    outcome
}

fn fill(package: &NodePackage, folder: &Path) -> Result<(), String> {
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(explain)?;
    std::fs::write(folder.join("package.json"), package.manifest()).map_err(explain)?;
    std::fs::write(folder.join("package-lock.json"), package.lock()).map_err(explain)?;
    let mut npm =
        command("npm", &["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]);
    run(npm.current_dir(folder))
}

fn remove(folder: &Path) -> Result<(), String> {
    match folder.is_dir() {
        true => std::fs::remove_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display())),
        false => Ok(()),
    }
}
