//! Packages of Node's, each in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use sojourn_services::ModuleSet;

use crate::shell::{command, run};

/// Whether it is there.
pub(super) fn is_made(modules: &ModuleSet) -> bool {
    modules.file("package.json").is_ok()
}

/// Brings a program by npm, since it knows the user's mirrors and proxies. Each package must be one
/// that we know; none may run a script of its own, and what is optional stays away.
pub(super) fn make(modules: &ModuleSet) -> Result<(), String> {
    let folder = modules.folder().map_err(|error| error.to_string())?;
    let mut unready = folder.clone().into_os_string();
    unready.push(format!(".part{}", std::process::id()));
    let unready = PathBuf::from(unready);
    eprintln!("  {} {} goes to {}", modules.name, modules.version, folder.display());
    let outcome = fill(modules, &unready).and_then(|()| {
        // One that lacks something.
        if !is_made(modules) {
            remove(&folder)?;
        }
        match std::fs::rename(&unready, &folder) {
            // Another one was as quick.
            Err(_) if is_made(modules) => Ok(()),
            other => other.map_err(|error| format!("{}: {error}", folder.display())),
        }
    });
    remove(&unready)?;
    outcome
}

fn remove(folder: &Path) -> Result<(), String> {
    match folder.is_dir() {
        true => std::fs::remove_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display())),
        false => Ok(()),
    }
}

fn fill(modules: &ModuleSet, folder: &Path) -> Result<(), String> {
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(explain)?;
    for (name, text) in [("package.json", modules.manifest), ("package-lock.json", modules.lock)] {
        std::fs::write(folder.join(name), text).map_err(explain)?;
    }
    let mut npm = command("npm", &["ci", "--ignore-scripts", "--omit=optional", "--omit=dev"]);
    npm.args(["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]);
    run(npm.current_dir(folder).stdout(Stdio::null()))
}
