//! What cargo knows of the workspace and of everything it depends on.

use std::path::PathBuf;

use serde_json::Value;

use crate::shell::{capture, cargo};

/// One package, ours or foreign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    /// Where it comes from; none for the workspace's own and other local paths.
    pub(crate) source: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) manifest: PathBuf,
    pub(crate) targets: Vec<Target>,
}

/// One thing that cargo builds of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// `lib`, `bin`, `test`, `bench`, `example`, `custom-build` …
    pub(crate) kind: String,
    pub(crate) source: PathBuf,
}

/// The workspace's own packages; needs no network.
pub(crate) fn workspace() -> Result<Vec<Package>, String> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    parse(&capture(&mut cargo(&arguments))?)
}

/// Every package that a build for one of these targets uses, development included.
pub(crate) fn dependencies(triples: &[String]) -> Result<Vec<Package>, String> {
    let mut arguments = vec!["metadata", "--format-version", "1", "--locked"];
    for triple in triples {
        arguments.extend(["--filter-platform", triple]);
    }
    parse(&capture(&mut cargo(&arguments))?)
}

fn parse(text: &str) -> Result<Vec<Package>, String> {
    let root: Value =
        serde_json::from_str(text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = root["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    packages.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package, String> {
    let targets = value["targets"].as_array().ok_or("a package without targets")?;
    Ok(Package {
        name: text(value, "name")?,
        version: text(value, "version")?,
        license: value["license"].as_str().map(str::to_owned),
        source: value["source"].as_str().map(str::to_owned),
        description: value["description"].as_str().map(str::to_owned),
        manifest: text(value, "manifest_path")?.into(),
        targets: targets.iter().map(target).collect::<Result<_, _>>()?,
    })
}

fn target(value: &Value) -> Result<Target, String> {
    let kind = value["kind"][0].as_str().ok_or("a target without kind")?;
    Ok(Target {
        name: text(value, "name")?,
        kind: kind.to_owned(),
        source: text(value, "src_path")?.into(),
    })
}

fn text(value: &Value, field: &str) -> Result<String, String> {
    let text = value[field].as_str();
    text.map(str::to_owned).ok_or_else(|| format!("cargo metadata: no `{field}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xtask_finds_itself() {
        let packages = workspace().unwrap();
        let own = packages.iter().find(|package| package.name == "xtask").unwrap();
        assert_eq!(own.license.as_deref(), Some("Apache-2.0 OR MIT"));
        assert_eq!(own.source, None);
        assert!(own.manifest.ends_with("xtask/Cargo.toml"));
        assert!(own.targets.iter().any(|target| target.kind == "bin"));
    }

    #[test]
    fn nonsense_is_an_error() {
        for nonsense in ["", "{}", "{\"packages\":[{}]}", "[1]"] {
            assert!(parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
