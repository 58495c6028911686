//! Running other programs, and finding them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    // xtask's own folder lies directly under it.
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// A command that runs in the workspace's root, without input.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Cargo, the one that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    command(&program, arguments)
}

/// Runs to the end, with output where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    eprintln!("  $ {shown}");
    let status = command.status().map_err(|error| format!("`{shown}`: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{shown}` ended with {status}"))
}

/// Runs to the end and returns what it wrote on stdout; stderr goes where ours goes.
pub(crate) fn capture(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("`{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` ended with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether it can be run at all and succeeds, without a word.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Where a program lies on PATH.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into()])
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// The command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.toml").is_file() && root().join("crates").is_dir());
    }

    #[test]
    fn failures_name_the_command() {
        let error = run(&mut command("sh", &["-c", "exit 3"])).unwrap_err();
        assert!(error.contains("sh -c exit 3") && error.contains('3'), "{error}");
        let error = capture(&mut command("/nowhere/tool", &["x"])).unwrap_err();
        assert!(error.contains("tool x"), "{error}");
        assert!(!succeeds(&mut command("/nowhere/tool", &[])));
        assert_eq!(capture(&mut command("echo", &["hello"])).unwrap(), "hello\n");
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find_on_path("sh").is_some());
        assert_eq!(find_on_path("no-such-program-at-all"), None);
    }
}
