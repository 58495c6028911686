//! What `sojourn -version` says of how the program was built: the compiler, for which machine.

#![allow(clippy::print_stdout, reason = "a build script speaks to cargo")]

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).arg("--version").output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    // `rustc 1.95.0 (…)`
    let version = said.ok().and_then(|line| line.split(' ').nth(1).map(str::to_owned));
    println!("cargo::rustc-env=SOJOURN_COMPILER=rust{}", version.unwrap_or_default().trim());
}
