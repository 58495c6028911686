//! Checks what the project depends on against `deny.toml`: licences, sources, banned crates, and
//! crates present in more than one version.
//!
//! `cargo deny check` reads the same file and looks more closely. It is not part of a Rust
//! installation though, and a machine that only wants to run the tests should not have to build
//! it, so the parts that the project relies on are checked here.

mod config;
mod license;

use std::collections::BTreeMap;

use crate::deny::config::Config;
use crate::metadata::{Package, dependencies};
use crate::shell::root;

/// One line per dependency that `deny.toml` does not allow.
pub(crate) fn problems() -> Result<Vec<String>, String> {
    let path = root().join("deny.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("deny.toml: {error}"))?;
    let config = Config::read(&text).map_err(|error| format!("deny.toml: {error}"))?;
    Ok(judge(&config, &dependencies(&config.targets)?))
}

fn judge(config: &Config, packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    let usual = usual_source(packages);
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let Package { name, version, .. } = package;
        match &package.license {
            None => problems.push(format!("{name} {version} states no licence")),
            Some(expression) => match license::allowed(expression, &config.licenses) {
                Ok(true) => {}
                Ok(false) => problems.push(format!("{name} {version} is under `{expression}`")),
                Err(error) => problems.push(format!("{name} {version}: {error}")),
            },
        }
        if let Some(source) = &package.source {
            let listed = |registry: &String| source.ends_with(&format!("registry+{registry}"));
            // Without a list, cargo's own registry: the one that everything else comes from.
            let is_known = if config.registries.is_empty() {
                source.starts_with("registry+") && Some(source) == usual
            } else {
                config.registries.iter().any(listed)
            };
            if !is_known {
                problems.push(format!("{name} {version} comes from {source}"));
            }
        }
        if config.denied.iter().any(|spec| spec.matches(name, version)) {
            problems.push(format!("{name} {version} is banned"));
        }
        if !config.skipped.iter().any(|spec| spec.matches(name, version)) {
            versions.entry(name).or_default().push(version);
        }
    }
    for (name, versions) in versions {
        if versions.len() > 1 {
            problems.push(format!("{name} is there in versions {}", versions.join(" and ")));
        }
    }
    problems
}

/// The source that most packages come from.
fn usual_source(packages: &[Package]) -> Option<&String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for source in packages.iter().filter_map(|package| package.source.as_ref()) {
        *counts.entry(source).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(source, _)| source)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
        [graph]
        targets = ["x86_64-unknown-linux-gnu"]
        [licenses]
        allow = ["MIT", "Zlib"]
        [bans]
        multiple-versions = "deny"
        deny = ["openssl"]
        skip = ["syn:2"]
        [sources]
        allow-registry = ["https://example.org/index"]
    "#;

    fn package(name: &str, version: &str, license: &str, source: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: Some(license.to_owned()),
            source: Some(source.to_owned()),
            description: None,
            manifest: "Cargo.toml".into(),
            targets: Vec::new(),
        }
    }

    fn check(packages: &[(&str, &str, &str, &str)]) -> Vec<String> {
        let packages: Vec<Package> = packages
            .iter()
            .map(|(name, version, license, source)| package(name, version, license, source))
            .collect();
        judge(&Config::read(CONFIG).unwrap(), &packages)
    }

    const HOME: &str = "registry+https://example.org/index";

    #[test]
    fn what_is_allowed_passes() {
        let fine = [
            ("a", "1.0.0", "MIT", HOME),
            ("syn", "2.0.1", "GPL-3.0 OR Zlib", HOME),
            ("syn", "3.0.0", "MIT", HOME),
        ];
        assert_eq!(check(&fine), [""; 0]);
    }

    #[test]
    fn without_a_list_the_usual_registry_is_known_and_others_are_not() {
        let unlisted = CONFIG.replace(r#"allow-registry = ["https://example.org/index"]"#, "");
        let packages = [
            package("a", "1.0.0", "MIT", HOME),
            package("b", "1.0.0", "MIT", HOME),
            package("c", "1.0.0", "MIT", "registry+https://elsewhere.example/index"),
        ];
        let problems = judge(&Config::read(&unlisted).unwrap(), &packages);
        assert_eq!(problems, ["c 1.0.0 comes from registry+https://elsewhere.example/index"]);
    }

    #[test]
    fn each_violation_is_named() {
        let bad = [
            ("a", "1.0.0", "GPL-3.0", HOME),
            ("b", "1.0.0", "MIT", "git+https://example.org/b"),
            ("openssl", "0.1.0", "MIT", HOME),
            ("c", "1.0.0", "MIT", HOME),
            ("c", "2.0.0", "MIT", HOME),
        ];
        let expected = [
            "a 1.0.0 is under `GPL-3.0`",
            "b 1.0.0 comes from git+https://example.org/b",
            "openssl 0.1.0 is banned",
            "c is there in versions 1.0.0 and 2.0.0",
        ];
        assert_eq!(check(&bad), expected);
    }
}
